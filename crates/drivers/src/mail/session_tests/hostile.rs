//! Servers that break the protocol, each with the outcome and the code that an operation ends with. Whatever a server did, the
//! next operation succeeds, in the same session or in a new one.

use std::fmt::Write as _;
use std::time::Duration;

use mail::{EntryRange, Mailbox};

use super::server::{Act, Protocol, ServerSettings};
use super::*;

/// The longest that an operation with a server may take that sends something without end.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The longest that is waited for a server that says nothing any more.
const SILENCE: Duration = Duration::from_millis(150);

/// The page that documents say what servers do.
const PAGE: &str = include_str!("../../../../../docs/design/hostile-servers.md");

/// The behavior of a server.
struct Behavior {
    name: &'static str,
    /// The behavior, in the words of the page.
    does: &'static str,
    /// The command that it is about, and what it does in place of the answer.
    command: &'static str,
    act: Act,
    outcome: Outcome,
    code: Option<&'static str>,
}

const fn row(
    name: &'static str,
    does: &'static str,
    command: &'static str,
    act: Act,
    end: (Outcome, Option<&'static str>),
) -> Behavior {
    let (outcome, code) = end;
    Behavior { name, does, command, act, outcome, code }
}

const MALFORMED: (Outcome, Option<&str>) = (Outcome::MalformedHead, Some("MAIL_MALFORMED"));
const OTHER_TAG: (Outcome, Option<&str>) = (Outcome::MalformedHead, Some("MAIL_OTHER_TAG"));
const OUT_OF_TURN: (Outcome, Option<&str>) = (Outcome::MalformedHead, Some("MAIL_OUT_OF_TURN"));
const BYE: (Outcome, Option<&str>) = (Outcome::SessionLost, Some("MAIL_BYE"));
const CLOSED: (Outcome, Option<&str>) = (Outcome::SessionLost, None);
const TRUNCATED: (Outcome, Option<&str>) = (Outcome::Truncated, None);
const TIMED_OUT: (Outcome, Option<&str>) = (Outcome::TimedOut, None);
const OK: (Outcome, Option<&str>) = (Outcome::Ok, None);

const fn inconsistent(code: &'static str) -> (Outcome, Option<&'static str>) {
    (Outcome::Inconsistent, Some(code))
}

/// Servers of mailboxes. A check of a mailbox that is selected is `NOOP`, an envelope is asked for where a page is read, and a
/// body where a document is.
const IMAP: &[Behavior] = &[
    row(
        "bye-first",
        "ends the session in place of a greeting",
        "GREETING",
        Act::End("* BYE too many\r\n"),
        BYE,
    ),
    row("no-greeting", "closes without a greeting", "GREETING", Act::End(""), CLOSED),
    row(
        "smtp-greeting",
        "greets as a server of another protocol",
        "GREETING",
        Act::Say("220 mail\r\n"),
        MALFORMED,
    ),
    row("silent", "does not greet", "GREETING", Act::Nothing, TIMED_OUT),
    row("other-tag", "answers with a tag that is none", "NOOP", Act::Say("X1 OK\r\n"), OTHER_TAG),
    row("earlier-tag", "answers an earlier command again", "NOOP", Act::Say("P1 OK\r\n"), OTHER_TAG),
    row(
        "continuation",
        "awaits the rest of a complete command",
        "NOOP",
        Act::Say("+ go on\r\n"),
        OUT_OF_TURN,
    ),
    row(
        "greeting-again",
        "greets in the middle of a session",
        "NOOP",
        Act::Say("* PREAUTH\r\n"),
        OUT_OF_TURN,
    ),
    row("bye", "ends the session in place of an answer", "NOOP", Act::End("* BYE later\r\n"), BYE),
    row("closed", "closes in place of an answer", "NOOP", Act::End(""), CLOSED),
    row("half-closed", "closes its side, and reads on", "NOOP", Act::HalfClose, CLOSED),
    row("half-answer", "closes in the middle of an answer", "NOOP", Act::End("* 3 EXI"), TRUNCATED),
    row("stall", "does not answer", "NOOP", Act::Nothing, TIMED_OUT),
    row(
        "endless-replies",
        "sends untagged replies forever",
        "NOOP",
        Act::Forever("* 1 RECENT\r\n"),
        (Outcome::OversizedHead, Some("MAIL_ENDLESS_REPLY")),
    ),
    row(
        "endless-line",
        "sends a line forever",
        "NOOP",
        Act::Forever("* OK hello "),
        (Outcome::OversizedHead, Some("MAIL_LINE_TOO_LONG")),
    ),
    row(
        "bare-line-feed",
        "ends a line with a line feed alone",
        "NOOP",
        Act::Say("* OK\n$TAG OK\r\n"),
        MALFORMED,
    ),
    row("nul", "sends a NUL", "NOOP", Act::Say("* OK \0\r\n$TAG OK\r\n"), MALFORMED),
    row(
        "deep-lists",
        "nests lists without end",
        "NOOP",
        Act::Say(
            "* 1 FETCH (X (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((\r\n",
        ),
        MALFORMED,
    ),
    row(
        "bad",
        "does not understand",
        "NOOP",
        Act::Say("$TAG BAD what\r\n"),
        (Outcome::WrongStatus, Some("IMAP_BAD")),
    ),
    row("no", "refuses", "NOOP", Act::Say("$TAG NO\r\n"), (Outcome::WrongStatus, Some("IMAP_NO"))),
    row(
        "other-replies",
        "says what nobody asked for, also what nobody knows",
        "NOOP",
        Act::Say(
            "* 1 FETCH (FLAGS (\\Seen))\r\n* OK [ALERT] {5}\r\n* X-OWN {3}\r\na\nb x\r\n* 26 EXISTS\r\n$TAG OK\r\n",
        ),
        OK,
    ),
    row(
        "shrinks",
        "has fewer messages than before",
        "NOOP",
        Act::Say("* 3 EXISTS\r\n$TAG OK\r\n"),
        inconsistent("MAIL_SHRUNK"),
    ),
    row(
        "no-such-message",
        "removes a message that is not there",
        "NOOP",
        Act::Say("* 99 EXPUNGE\r\n$TAG OK\r\n"),
        inconsistent("MAIL_NO_SUCH_MESSAGE"),
    ),
    row(
        "validity-changed",
        "makes the mailbox again while it is selected",
        "NOOP",
        Act::Say("* OK [UIDVALIDITY 78] again\r\n$TAG OK\r\n"),
        inconsistent("MAIL_VALIDITY_CHANGED"),
    ),
    row(
        "next-uid-back",
        "goes back with the UID that is next",
        "NOOP",
        Act::Say("* OK [UIDNEXT 3] next\r\n$TAG OK\r\n"),
        inconsistent("MAIL_NEXT_UID_BACK"),
    ),
    row(
        "uids-back",
        "has UIDs that go back",
        "ENVELOPE",
        Act::Say("* 1 FETCH (UID 5 FLAGS ())\r\n* 2 FETCH (UID 4 FLAGS ())\r\n$TAG OK\r\n"),
        inconsistent("MAIL_UID_ORDER"),
    ),
    row(
        "gone-meanwhile",
        "finds a message that goes before it answers",
        "UID SEARCH",
        Act::Say("* 26 EXISTS\r\n* ESEARCH (TAG \"x\") UID ALL 1:26\r\n* 26 EXPUNGE\r\n$TAG OK\r\n"),
        OK,
    ),
    row(
        "too-many-uids",
        "finds more messages than there are",
        "UID SEARCH",
        Act::Say("* ESEARCH (TAG \"x\") UID ALL 1:4294967295\r\n$TAG OK\r\n"),
        inconsistent("MAIL_NO_SUCH_MESSAGE"),
    ),
    row(
        "gone",
        "has nothing of a message",
        "BODY[]",
        Act::Say("$TAG OK\r\n"),
        (Outcome::Gone, Some("MAIL_GONE")),
    ),
    row(
        "other-message",
        "sends another message",
        "BODY[]",
        Act::Say("* 24 FETCH (UID 24 BODY[] {2}\r\nhi)\r\n$TAG OK\r\n"),
        (Outcome::Gone, Some("MAIL_GONE")),
    ),
    row(
        "foreign-message",
        "has a message of somebody else",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] {23}\r\nMessage-ID: <a@b>\r\n\r\nhi)\r\n$TAG OK\r\n"),
        (Outcome::WrongBytes, Some("MAIL_FOREIGN")),
    ),
    row(
        "quoted-message",
        "quotes a message",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] \"hi\")\r\n$TAG OK\r\n"),
        (Outcome::WrongBytes, Some("MAIL_FOREIGN")),
    ),
    row(
        "no-body",
        "has a message without content",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] NIL)\r\n$TAG OK\r\n"),
        (Outcome::WrongBytes, Some("MAIL_FOREIGN")),
    ),
    row(
        "large-literal",
        "announces a literal of 2 GB",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] {2147483648}\r\n"),
        (Outcome::OversizedHead, Some("MAIL_LITERAL_TOO_LONG")),
    ),
    row(
        "huge-literal",
        "announces a literal beyond 64 bits",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] {99999999999999999999}\r\n"),
        MALFORMED,
    ),
    row(
        "long-literal",
        "sends more than it announces",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] {5}\r\nhello,world)\r\n$TAG OK\r\n"),
        MALFORMED,
    ),
    row(
        "short-literal",
        "closes before the end of a literal",
        "BODY[]",
        Act::End("* 25 FETCH (UID 25 BODY[] {500}\r\nhello)\r\n$TAG OK\r\n"),
        TRUNCATED,
    ),
    row(
        "literal-without-end",
        "sends less than it announces",
        "BODY[]",
        Act::Say("* 25 FETCH (UID 25 BODY[] {500}\r\nhello)\r\n$TAG OK\r\n"),
        TIMED_OUT,
    ),
    row(
        "endless-body",
        "sends messages forever",
        "BODY[]",
        Act::Forever("* 25 FETCH (UID 25 BODY[] {2}\r\nhi)\r\n"),
        (Outcome::OversizedHead, Some("MAIL_ENDLESS_REPLY")),
    ),
];

/// Servers that take messages.
const SMTP: &[Behavior] = &[
    row(
        "smtp-imap-greeting",
        "greets as a server of another protocol",
        "GREETING",
        Act::Say("* OK\r\n"),
        MALFORMED,
    ),
    row(
        "smtp-endless-reply",
        "sends lines of a reply forever",
        "EHLO",
        Act::Forever("250-hello\r\n"),
        (Outcome::OversizedHead, Some("MAIL_ENDLESS_REPLY")),
    ),
    row(
        "smtp-endless-line",
        "sends a line forever",
        "EHLO",
        Act::Forever("250 hello "),
        (Outcome::OversizedHead, Some("MAIL_LINE_TOO_LONG")),
    ),
    row(
        "smtp-other-code",
        "changes its mind within a reply",
        "EHLO",
        Act::Say("250-a\r\n550 b\r\n"),
        MALFORMED,
    ),
    row("smtp-interim", "replies with a code that is none", "EHLO", Act::Say("100 wait\r\n"), MALFORMED),
    row("smtp-two-replies", "replies twice", "AUTH", Act::Say("235 a\r\n235 b\r\n"), OUT_OF_TURN),
    row("smtp-no-wait", "takes a message before it comes", "DATA", Act::Say("250 done\r\n"), OUT_OF_TURN),
    row(
        "smtp-closing",
        "closes, and says so",
        "MAIL",
        Act::End("421 4.3.2 closing\r\n"),
        (Outcome::Busy, Some("SMTP_421")),
    ),
    row("smtp-half-closed", "closes its side, and reads on", "MAIL", Act::HalfClose, CLOSED),
    row("smtp-closed", "closes in place of the last reply", "END", Act::End(""), CLOSED),
    row("smtp-half-reply", "closes in the middle of a reply", "END", Act::End("250 2."), TRUNCATED),
    row("smtp-stall", "does not reply to a message", "END", Act::Nothing, TIMED_OUT),
];

/// Returns the operations with which a user comes to a command: the last one is that of the row.
fn actions(protocol: Protocol, command: &str) -> Vec<MailAction> {
    let open = MailAction::Open(Mailbox::Inbox);
    let view = MailAction::OpenView(Mailbox::Inbox);
    let page = MailAction::ReadPage(Mailbox::Inbox, EntryRange { first: 0, n: 20 });
    match (protocol, command) {
        (Protocol::Imap, "GREETING") => vec![MailAction::Check],
        (Protocol::Imap, "NOOP") => vec![open, MailAction::Check],
        (Protocol::Imap, "UID SEARCH") => vec![open, view],
        (Protocol::Imap, "ENVELOPE") => vec![open, view, page],
        (Protocol::Imap, _) => vec![open, view, page, MailAction::Read(0)],
        _ => vec![MailAction::Send(message(MessageKind::Note, 0, 0))],
    }
}

/// Has a user meet a behavior. Returns how the operation ended, and how the next one did.
fn met(protocol: Protocol, behavior: &Behavior) -> [(Outcome, Option<&'static str>); 2] {
    let server = TestServer::start(ServerSettings::once(protocol, behavior.command, behavior.act));
    let context = context(&server, options());
    let limit = if behavior.outcome == Outcome::TimedOut { SILENCE } else { TIME_LIMIT };
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        let actions = actions(protocol, behavior.command);
        let (last, before) = actions.split_last().unwrap();
        for action in before {
            assert_eq!(perform(&mut driver, *action).await.outcome, Outcome::Ok, "{}", behavior.name);
        }
        let end = match tokio::time::timeout(limit, perform(&mut driver, *last)).await {
            Ok(reply) => {
                let (outcome, code, answer) = summary(&reply);
                assert_eq!(answer.is_success(), outcome == Outcome::Ok);
                let text = driver.describe(&operation(*last), &reply);
                assert!(text.len() < 600 && !text.contains(['\r', '\n', '\0']), "{text}");
                (outcome, code)
            }
            Err(_) => {
                driver.give_up();
                (Outcome::TimedOut, None)
            }
        };
        let next = perform(&mut driver, MailAction::OpenView(Mailbox::Inbox)).await;
        let (outcome, code, _) = summary(&next);
        [end, (outcome, code)]
    })
}

#[test]
fn each_behavior_of_a_server_ends_in_its_outcome_and_the_next_operation_succeeds() {
    for (protocol, behaviors) in [(Protocol::Imap, IMAP), (Protocol::Smtp, SMTP)] {
        for behavior in behaviors {
            let expected = [(behavior.outcome, behavior.code), OK];
            assert_eq!(met(protocol, behavior), expected, "{}: {}", behavior.name, behavior.does);
        }
    }
}

/// The page has the rows as they are.
#[test]
fn the_page_says_what_servers_do() {
    let mut table = String::new();
    for Behavior { name, does, outcome, code, .. } in IMAP.iter().chain(SMTP) {
        let code = code.map(|code| format!("`{code}`")).unwrap_or_default();
        writeln!(table, "| `{name}` | {does} | {} | {code} |", outcome.name()).unwrap();
    }
    let missing = table.lines().map(|line| line.replace("|  |", "| |"));
    let missing: Vec<String> = missing.filter(|line| !PAGE.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/design/hostile-servers.md:\n{}", missing.join("\n"));
}

/// A change of a message.
type Change = fn(&mut Vec<u8>);

/// Messages that are not as they were sent: a byte is another, some are missing, some are more.
#[test]
fn a_message_that_was_changed_is_found() {
    let changes: [(Change, Outcome, &str); 3] = [
        (|text| *text.last_mut().unwrap() ^= 1, Outcome::WrongBytes, "MAIL_ALTERED"),
        (|text| text.truncate(text.len() - 10), Outcome::Truncated, "MAIL_SHORT"),
        (|text| text.extend(b"more\r\n"), Outcome::WrongLength, "MAIL_LONG"),
    ];
    for (change, outcome, code) in changes {
        let server = TestServer::start(ServerSettings::default());
        let change_newest = |mailbox: &mut store::StoredMailbox| {
            change(&mut mailbox.messages.last_mut().unwrap().text);
        };
        change_newest(server.store().mailbox("mail1", "INBOX").unwrap());
        let context = context(&server, options());
        run(async {
            let mut driver = MailDriver::new(Rc::clone(&context), 0);
            let actions = actions(Protocol::Imap, "BODY[]");
            let (last, before) = actions.split_last().unwrap();
            for action in before {
                assert_eq!(perform(&mut driver, *action).await.outcome, Outcome::Ok);
            }
            let reply = perform(&mut driver, *last).await;
            assert_eq!(summary(&reply), (outcome, Some(code), MailAnswer::Failed));
            // The session goes on.
            let other = perform(&mut driver, MailAction::Read(2)).await;
            assert_eq!(summary(&other), (Outcome::Ok, None, MailAnswer::Done));
        });
    }
}
