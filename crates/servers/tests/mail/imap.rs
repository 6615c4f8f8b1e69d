//! Sessions of IMAP, command by command.

use mailwire::imap::{ImapExchange, ImapStatus, ImapTag};
use servers::mail::{MailServer, MailServerOptions};

use super::client::{ImapClient, Response, options, start};

const FLAGS: &str = "* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft)";
const PERMANENT: &str =
    "* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft \\*)] flags that stay";
const NO_MAILBOX: &str = "NO [NONEXISTENT] there is no such mailbox";

/// Returns a message of 27 bytes and a body.
fn message(body: &str) -> Vec<u8> {
    format!("From: a@b.c\r\nSubject: s\r\n\r\n{body}").into_bytes()
}

const DATE: &str = "\"30-Nov-2026 02:30:00 +0000\"";

#[test]
fn a_user_logs_on_lists_mailboxes_and_makes_them() {
    let server = start();
    let mut client = ImapClient::connect(server.addresses().imap);
    let capabilities = "IMAP4rev1 SASL-IR LITERAL+ AUTH=PLAIN IDLE UNSELECT UIDPLUS MOVE ESEARCH";
    client.check("CAPABILITY", &[&format!("* CAPABILITY {capabilities}"), "OK done"]);
    client.check("SELECT INBOX", &["BAD not in this state of the session"]);
    let refused = "NO [AUTHENTICATIONFAILED] name or password is wrong";
    client.check("LOGIN user1 wrong", &[refused]);
    client.check("LOGIN user21 \"secret word\"", &[refused]);
    client.check("LOGIN user20 \"secret word\"", &[&format!("OK [CAPABILITY {capabilities}] logged on")]);
    client.check("LOGIN user20 \"secret word\"", &["BAD not in this state of the session"]);
    let own = ["INBOX", "Sent", "Calendar", "Archive", "Discussion"];
    let list: Vec<String> =
        own.iter().map(|name| format!("* LIST (\\HasNoChildren) \"/\" \"{name}\"")).collect();
    let list: Vec<&str> = list.iter().map(String::as_str).chain(["OK done"]).collect();
    client.check("LIST \"\" *", &list);
    client.check("LIST \"\" \"\"", &["* LIST (\\Noselect) \"/\" \"\"", "OK done"]);
    client.check("CREATE Work/Old/", &["OK created"]);
    client.check("CREATE Work", &["OK created"]);
    client.check("CREATE Work", &["NO [ALREADYEXISTS] there is a mailbox of this name"]);
    client.check("LIST Work %", &["* LIST (\\HasChildren) \"/\" \"Work\"", "OK done"]);
    client.check("LSUB \"Work/\" *", &["* LSUB (\\HasNoChildren) \"/\" \"Work/Old\"", "OK done"]);
    client.check("DELETE Work/Old", &["OK deleted"]);
    client.check("DELETE Work/Old", &[NO_MAILBOX]);
    client.check("DELETE INBOX", &["NO [CANNOT] this mailbox stays"]);
    client.check("SUBSCRIBE Work", &["OK done"]);
    client.check("LOGOUT", &["* BYE goodbye", "OK goodbye"]);
    server.stop().unwrap();
}

#[test]
fn names_and_passwords_come_in_any_form() {
    let server = start();
    for parts in [
        &[&b"AUTHENTICATE PLAIN AHVzZXIxAHNlY3JldCB3b3Jk"[..]][..],
        &[b"AUTHENTICATE PLAIN", b"AHVzZXIxAHNlY3JldCB3b3Jk"],
        &[b"LOGIN {5}", b"user1 {11}", b"secret word"],
        &[b"LOGIN {5+}\r\nuser1 {11+}\r\nsecret word"],
        &[b"login USER1@plimsoll.TEST \"secret word\""],
    ] {
        let mut client = ImapClient::connect(server.addresses().imap);
        let reply = client.perform_parts(parts);
        assert!(reply.ends_with("OK [CAPABILITY"), "{reply:?}");
    }
    let mut client = ImapClient::connect(server.addresses().imap);
    let reply = client.perform_parts(&[b"AUTHENTICATE PLAIN", b"*"]);
    assert_eq!(reply.lines.last().unwrap(), "BAD the answer cannot be read");
    client.check("AUTHENTICATE LOGIN", &["BAD the arguments are wrong"]);
}

#[test]
fn messages_are_appended_read_flagged_and_removed() {
    let server = start();
    let mut client = ImapClient::user(&server, 1);
    client.check(
        "SELECT INBOX",
        &[
            FLAGS,
            PERMANENT,
            "* 0 EXISTS",
            "* 0 RECENT",
            "* OK [UIDVALIDITY V] validity of UIDs",
            "* OK [UIDNEXT 1] next UID",
            "OK [READ-WRITE] selected",
        ],
    );
    for (flags, body) in [("()", "one\r\n"), ("(\\Seen $Label1)", "two\r\n"), ("()", "three\r\n")] {
        let reply = client.append(&format!("INBOX {flags} {DATE}"), &message(body));
        assert!(reply.starts_with("OK [APPENDUID "), "{reply}");
    }
    client.check(
        "FETCH 1:2 (UID FLAGS RFC822.SIZE INTERNALDATE)",
        &[
            &format!("* 1 FETCH (UID 1 FLAGS (\\Recent) RFC822.SIZE 32 INTERNALDATE {DATE})"),
            &format!("* 2 FETCH (UID 2 FLAGS (\\Seen $Label1 \\Recent) RFC822.SIZE 32 INTERNALDATE {DATE})"),
            "OK done",
        ],
    );
    let person = "((NIL NIL \"a\" \"b.c\"))";
    client.check("UID FETCH 3 (ENVELOPE BODY.PEEK[TEXT]<1.2>)", &[
        &format!(
            "* 3 FETCH (UID 3 ENVELOPE (NIL \"s\" {person} {person} {person} NIL NIL NIL NIL NIL) BODY[TEXT]<1> {{2}}\r\nhr)"
        ),
        "OK done",
    ]);
    let reply = client.perform("UID FETCH 3 BODY[]");
    assert_eq!(reply.bodies, [message("three\r\n")]);
    assert!(reply.lines[0].ends_with(" FLAGS (\\Seen \\Recent))"), "{reply:?}");
    client.check("UID SEARCH UNSEEN", &["* SEARCH 1", "OK done"]);
    client.check(
        "UID SEARCH RETURN (MIN MAX COUNT ALL) SEEN",
        &["* ESEARCH (TAG \"P10\") UID MIN 2 MAX 3 COUNT 2 ALL 2:3", "OK done"],
    );
    client.check("STORE 1 +FLAGS (\\Deleted)", &["* 1 FETCH (FLAGS (\\Deleted \\Recent))", "OK done"]);
    client.check("UID STORE 2 -FLAGS.SILENT ($Label1)", &["OK done"]);
    client.check(
        "UID STORE 3 FLAGS ($New)",
        &[
            "* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $Label1 $New)",
            "* 3 FETCH (UID 3 FLAGS ($New \\Recent))",
            "OK done",
        ],
    );
    client.check("UID EXPUNGE 2:3", &["OK done"]);
    client.check("EXPUNGE", &["* 1 EXPUNGE", "OK done"]);
    client.check("FETCH * FLAGS", &["* 2 FETCH (FLAGS ($New \\Recent))", "OK done"]);
    client.check("FETCH 3 FLAGS", &["BAD there is no such message"]);
    client.check("UID FETCH 1 FLAGS", &["OK done"]);
    client.check(
        "STATUS INBOX (MESSAGES UNSEEN UIDNEXT UIDVALIDITY)",
        &["* STATUS \"INBOX\" (MESSAGES 2 UNSEEN 1 UIDNEXT 4 UIDVALIDITY V)", "OK done"],
    );
    client.check("CLOSE", &["OK closed"]);
    client.check("NOOP", &["OK done"]);
    client.check("FETCH 1 FLAGS", &["BAD not in this state of the session"]);
}

#[test]
fn messages_are_copied_and_moved_with_their_flags() {
    let server = start();
    let mut client = ImapClient::selected(&server, 1, "INBOX");
    for body in ["a", "b", "c"] {
        client.append("INBOX ($x \\Seen)", &message(body));
    }
    let reply = client.perform("COPY 1,3 Archive");
    assert!(reply.ends_with("OK [COPYUID ") && reply.lines[0].contains(" 1,3 1:2]"), "{reply:?}");
    let reply = client.perform("UID MOVE 2 Archive");
    assert!(reply.lines[0].contains("[COPYUID ") && reply.lines[0].contains(" 2 3]"), "{reply:?}");
    assert_eq!(reply.lines[1..], ["* 2 EXPUNGE", "OK done"]);
    client.check("COPY 1 Nowhere", &["NO [TRYCREATE] there is no such mailbox"]);
    client.check("UID COPY 2 Archive", &["OK there is nothing left to do"]);
    assert!(client.append("Nowhere", &message("x")).starts_with("NO [TRYCREATE]"));
    client.perform("EXAMINE Archive");
    client.check(
        "FETCH 1:* (FLAGS BODY[TEXT])",
        &[
            "* 1 FETCH (FLAGS (\\Seen $x \\Recent) BODY[TEXT] {1}\r\na)",
            "* 2 FETCH (FLAGS (\\Seen $x \\Recent) BODY[TEXT] {1}\r\nc)",
            "* 3 FETCH (FLAGS (\\Seen $x \\Recent) BODY[TEXT] {1}\r\nb)",
            "OK done",
        ],
    );
    for command in ["STORE 1 FLAGS ()", "EXPUNGE", "MOVE 1 INBOX"] {
        client.check(command, &["NO [READ-ONLY] the mailbox was only examined"]);
    }
    client.check("UNSELECT", &["OK closed"]);
}

/// Two sessions of one mailbox: what one does, the other learns, and message numbers stay while it may use them.
#[test]
fn sessions_of_a_mailbox_learn_what_others_do() {
    let server = start();
    let mut one = ImapClient::selected(&server, 1, "INBOX");
    (0..3).for_each(|_| drop(one.append("INBOX", &message("x"))));
    one.check("NOOP", &["OK done"]);
    let mut other = ImapClient::selected(&server, 1, "INBOX");
    other.check("STORE 1 +FLAGS (\\Flagged)", &["* 1 FETCH (FLAGS (\\Flagged))", "OK done"]);
    one.check("NOOP", &["* 1 FETCH (UID 1 FLAGS (\\Flagged \\Recent))", "OK done"]);
    other.perform("STORE 2 +FLAGS.SILENT (\\Deleted)");
    other.check("EXPUNGE", &["* 2 EXPUNGE", "OK done"]);
    other.append("INBOX", &message("y"));
    one.check(
        "UID FETCH 3 FLAGS",
        &["* 3 FETCH (UID 3 FLAGS (\\Recent))", "* 4 EXISTS", "* 4 RECENT", "OK done"],
    );
    one.check("FETCH 2 FLAGS", &["NO [EXPUNGEISSUED] some of the messages are gone"]);
    one.check("NOOP", &["* 2 EXPUNGE", "OK done"]);
    one.check("FETCH 3 UID", &["* 3 FETCH (UID 4)", "OK done"]);
}

#[test]
fn an_idle_session_is_told_at_once() {
    let server = start();
    let mut one = ImapClient::selected(&server, 1, "INBOX");
    let mut other = ImapClient::user(&server, 1);
    let mut idle = one.begin(b"IDLE", 1);
    assert_eq!(one.respond(&mut idle), Some(Response::Continuation));
    for number in 1..=3 {
        other.append("INBOX", &message("x"));
        let seen = [one.respond(&mut idle), one.respond(&mut idle)];
        assert_eq!(seen, [Some(Response::Untagged), Some(Response::Untagged)]);
        assert!(format!("{one:?}").contains(&format!("* {number} EXISTS")));
    }
    one.send(b"DONE\r\n");
    assert!(matches!(one.respond(&mut idle), Some(Response::Done(_))));
    one.check("NOOP", &["OK done"]);
    // Without a mailbox, there is only the end to wait for.
    let mut idle = other.begin(b"IDLE", 1);
    assert_eq!(other.respond(&mut idle), Some(Response::Continuation));
    other.send(b"done\r\n");
    assert!(matches!(other.respond(&mut idle), Some(Response::Done(_))));
}

#[test]
fn commands_that_come_together_are_answered_in_order() {
    let server = start();
    let mut client = ImapClient::selected(&server, 1, "INBOX");
    let mut first = client.begin(b"NOOP\r\nP4 STATUS Sent (MESSAGES)\r\nP5 FROB", 0);
    assert!(matches!(client.respond(&mut first), Some(Response::Done(_))));
    let mut second = ImapExchange::new(ImapTag(4), 0);
    assert_eq!(client.respond(&mut second), Some(Response::Untagged));
    assert!(matches!(client.respond(&mut second), Some(Response::Done(_))));
    let mut third = ImapExchange::new(ImapTag(5), 0);
    let bad = Some(Response::Done(ImapStatus::Bad));
    assert_eq!(client.respond(&mut third), bad);
}

/// The mailbox of all users, with flags in common.
#[test]
fn the_shared_mailbox_is_the_same_for_all() {
    let server = start();
    let mut one = ImapClient::selected(&server, 1, "Discussion");
    one.append("Discussion", &message("topic"));
    let mut other = ImapClient::selected(&server, 2, "Discussion");
    assert_eq!(other.perform("FETCH 1 BODY[TEXT]").bodies, [b"topic"]);
    one.check("UID SEARCH UNSEEN", &["* SEARCH", "* 1 FETCH (UID 1 FLAGS (\\Seen \\Recent))", "OK done"]);
}

/// By hand: each message is charged 128 bytes beside its own 27 + 1,000.
#[test]
fn an_account_has_a_limit() {
    let server = MailServer::start(MailServerOptions { account_bytes_max: 2 * 1155, ..options() }).unwrap();
    let mut client = ImapClient::selected(&server, 1, "INBOX");
    let large = message(&"x".repeat(1_000));
    assert_eq!(large.len(), 1_027);
    let added = [(); 3].map(|()| client.append("INBOX", &large).starts_with("OK "));
    assert_eq!(added, [true, true, false]);
    client.check("COPY 1 Archive", &["NO [OVERQUOTA] the mailbox is full"]);
    client.perform("STORE 1 +FLAGS (\\Deleted)");
    client.perform("EXPUNGE");
    assert!(client.perform("COPY 1 Archive").ends_with("OK [COPYUID"));
}

#[test]
fn messages_have_a_greatest_size() {
    let server = MailServer::start(MailServerOptions { message_bytes_max: 100, ..options() }).unwrap();
    let mut client = ImapClient::user(&server, 1);
    let too_large = "NO [TOOBIG] the message is too large";
    assert_eq!(client.append("INBOX", &[b'x'; 101]), too_large);
    // A client that waits need not send it.
    client.check("APPEND INBOX {101}", &[too_large]);
    assert!(client.append("INBOX", &[b'x'; 100]).starts_with("OK "));
}
