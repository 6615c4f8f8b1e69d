//! Servers that send what they must not.

use mailwire::imap::{ExchangeFault, ImapError, ImapLimits, MailboxFault};
use mailwire::smtp::SmtpError;
use mailwire::{PlaintextBehindUpgrade, check_upgrade};

use crate::support::{SessionEnd, perform, read_imap, read_smtp};

/// Conversations of a command whose tag is P7, in a mailbox with three messages, with lines of at most 10,000 bytes, bodies
/// of at most 1 MiB, and at most 100 untagged responses.
#[test]
fn faults_of_imap_servers_are_told_by_name() {
    use SessionEnd::{Awaited, Done, Exchange, Mailbox, Reader};
    let long_text = format!("* OK {}\r\n", "a".repeat(10_000));
    let endless_line = "a".repeat(10_001);
    let endless = "* 3 EXISTS\r\n".repeat(101);
    let just_enough = format!("{}P7 OK done\r\n", "* 3 EXISTS\r\n".repeat(100));
    let deep = format!("* 1 FETCH (X {}\r\n", "(".repeat(5_000));
    let literals = format!("* LIST {}\r\n", "{4000}\r\n".to_owned() + &"b".repeat(4000) + " {6000}");
    for (name, input, expected) in [
        ("nothing wrong", "* 3 EXISTS\r\nP7 OK done\r\n", Done),
        ("no end", "* 3 EXISTS\r\n", Awaited),
        ("a literal that is longer than what comes", "* 1 FETCH (BODY[] {10}\r\nabc)\r\n", Awaited),
        (
            "a literal that is shorter than what comes",
            "* 1 FETCH (BODY[] {2}\r\nabc)\r\n",
            Reader(ImapError::Malformed("a blank behind the name of an item")),
        ),
        (
            "a body of 2 GiB",
            "* 1 FETCH (BODY[] {2147483648}\r\n",
            Reader(ImapError::LiteralTooLong { announced: 2_147_483_648, most: 1 << 20 }),
        ),
        (
            "a text of 2 GiB",
            "* LIST () \"/\" {2147483648}\r\n",
            Reader(ImapError::LiteralTooLong { announced: 2_147_483_648, most: 9_972 }),
        ),
        (
            "a body of more bytes than can be counted",
            "* 1 FETCH (BODY[] {18446744073709551616}\r\n",
            Reader(ImapError::LiteralLength),
        ),
        ("a body of a negative length", "* 1 FETCH (BODY[] {-1}\r\n", Reader(ImapError::LiteralLength)),
        ("a body without a length", "* 1 FETCH (BODY[] {}\r\n", Reader(ImapError::LiteralLength)),
        ("a brace that was not opened", "* LIST a}\r\n", Reader(ImapError::LiteralLength)),
        (
            "several texts that are too long together",
            &literals,
            Reader(ImapError::LiteralTooLong { announced: 6000, most: 5_976 }),
        ),
        ("endless untagged responses", &endless, Exchange(ExchangeFault::TooManyResponses(100))),
        ("as many untagged responses as there may be", &just_enough, Done),
        ("a line that is too long", &long_text, Reader(ImapError::LineTooLong(10_000))),
        ("a line without end", &endless_line, Reader(ImapError::LineTooLong(10_000))),
        ("lists without end", &deep, Reader(ImapError::TooDeep(64))),
        ("another tag", "P8 OK done\r\n", Exchange(ExchangeFault::AnotherTag)),
        ("an earlier tag", "P6 OK done\r\n", Exchange(ExchangeFault::AnotherTag)),
        ("a tag of no number", "a001 OK done\r\n", Exchange(ExchangeFault::AnotherTag)),
        ("a tag without status", "P7\r\n", Reader(ImapError::Malformed("OK, NO or BAD behind a tag"))),
        (
            "a tag with the status of others",
            "P7 BYE\r\n",
            Reader(ImapError::Malformed("OK, NO or BAD behind a tag")),
        ),
        ("the end of the session", "* BYE shutting down\r\n", Exchange(ExchangeFault::Bye)),
        ("a second greeting", "* PREAUTH hello\r\n", Exchange(ExchangeFault::PreAuth)),
        ("a continuation that nobody awaits", "+ more\r\n", Exchange(ExchangeFault::Continuation)),
        (
            "UIDs that go back",
            "* 1 FETCH (UID 9)\r\n* 2 FETCH (UID 8)\r\n",
            Mailbox(MailboxFault::UidOrder { number: 2, uid: 8 }),
        ),
        (
            "one UID of two messages",
            "* 1 FETCH (UID 9)\r\n* 2 FETCH (UID 9)\r\n",
            Mailbox(MailboxFault::UidOrder { number: 2, uid: 9 }),
        ),
        (
            "two UIDs of one message",
            "* 2 FETCH (UID 9)\r\n* 2 FETCH (UID 10)\r\n",
            Mailbox(MailboxFault::UidOrder { number: 2, uid: 10 }),
        ),
        ("the UID 0", "* 2 FETCH (UID 0)\r\n", Reader(ImapError::Malformed("a UID above 0"))),
        ("a UID of 33 bits", "* 2 FETCH (UID 4294967296)\r\n", Reader(ImapError::NumberTooLarge)),
        ("EXISTS that shrinks", "* 2 EXISTS\r\n", Mailbox(MailboxFault::Shrunk { before: 3, now: 2 })),
        (
            "EXISTS of the mailbox before",
            "* 9 EXISTS\r\n* OK [CLOSED] the other\r\n* 2 EXISTS\r\nP7 OK done\r\n",
            Done,
        ),
        ("EXISTS that shrinks by what has gone", "* 2 EXPUNGE\r\n* 2 EXISTS\r\nP7 OK done\r\n", Done),
        (
            "a message behind the last",
            "* 4 FETCH (FLAGS ())\r\n",
            Mailbox(MailboxFault::NoSuchMessage { number: 4, n: 3 }),
        ),
        ("the message 0", "* 0 EXPUNGE\r\n", Mailbox(MailboxFault::NoSuchMessage { number: 0, n: 3 })),
        (
            "more messages gone than there were",
            "* 1 EXPUNGE\r\n* 1 EXPUNGE\r\n* 1 EXPUNGE\r\n* 1 EXPUNGE\r\n",
            Mailbox(MailboxFault::NoSuchMessage { number: 1, n: 0 }),
        ),
        (
            "a validity that changes",
            "* OK [UIDVALIDITY 2] new\r\n",
            Mailbox(MailboxFault::ValidityChanged { before: 1, now: 2 }),
        ),
        (
            "a next UID that goes back",
            "* OK [UIDNEXT 9]\r\n* OK [UIDNEXT 8]\r\n",
            Mailbox(MailboxFault::NextUidBack { before: 9, now: 8 }),
        ),
        ("a bare line feed", "* 3 EXISTS\n", Reader(ImapError::BareLineFeed)),
        ("a bare carriage return", "* OK a\rb\r\n", Reader(ImapError::ForbiddenByte(b'\r'))),
        (
            "a NUL, which marks bodies here",
            "* 1 FETCH (BODY[] \x005\x00)\r\n",
            Reader(ImapError::ForbiddenByte(0)),
        ),
        ("an empty line", "\r\n", Reader(ImapError::Malformed("a tag"))),
        ("an untagged nothing", "* \r\n", Reader(ImapError::Malformed("the name of a response"))),
        (
            "a number without meaning",
            "* 5 APPLES\r\n",
            Reader(ImapError::Malformed("EXISTS, EXPUNGE, FETCH or RECENT behind a number")),
        ),
        ("a list that does not end", "* 1 FETCH (FLAGS (\\Seen\r\n", Reader(ImapError::Malformed("a value"))),
        (
            "a text that does not end",
            "* 1 FETCH (X \"a\r\n",
            Reader(ImapError::Malformed("the end of a quoted text")),
        ),
        (
            "something behind the list",
            "* 1 FETCH (UID 5) 6\r\n",
            Reader(ImapError::Malformed("the end of the line")),
        ),
        (
            "a code that does not end",
            "* OK [UIDNEXT 5\r\n",
            Reader(ImapError::Malformed("the end of a code")),
        ),
        ("a search for words", "* SEARCH one two\r\n", Reader(ImapError::Malformed("a number"))),
        ("a set with 0", "* ESEARCH ALL 0:5\r\n", Reader(ImapError::Malformed("a number above 0"))),
        ("an open set", "* ESEARCH ALL 1:*\r\n", Reader(ImapError::Malformed("a number"))),
        (
            "an envelope without Message-ID",
            "* 1 FETCH (ENVELOPE (NIL NIL NIL NIL NIL NIL NIL NIL NIL))\r\n",
            Reader(ImapError::Malformed("a text")),
        ),
    ] {
        assert_eq!(perform(input.as_bytes(), 100), expected, "{name}");
    }
}

/// A body of 1 GiB is announced, taken in pieces, and nothing of it is kept.
#[test]
fn a_large_body_takes_no_memory() {
    let mut reader =
        mailwire::imap::ImapReader::with_limits(ImapLimits { line_bytes: 100, body_bytes: 1 << 30 });
    let begin = b"* 1 FETCH (BODY[] {1073741824}\r\n";
    assert_eq!(reader.read(begin).unwrap().consumed, begin.len());
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..1 << 10 {
        let progress = reader.read(&piece).unwrap();
        assert_eq!(progress.consumed, piece.len());
    }
    let end = b")\r\n";
    assert!(reader.is_within_response());
    assert!(reader.read(end).unwrap().event.is_some());
    assert!(!reader.is_within_response());
}

#[test]
fn faults_of_smtp_servers_are_told_by_name() {
    let many = format!("{}250 end\r\n", "250-a\r\n".repeat(128));
    let long = format!("250 {}\r\n", "a".repeat(4096));
    let large = format!("250-{}\r\n", "a".repeat(4000)).repeat(5);
    for (name, input, expected) in [
        ("a line without code", "hello\r\n", SmtpError::Code),
        ("an empty line", "\r\n", SmtpError::Code),
        ("a code of two digits", "25 hello\r\n", SmtpError::Code),
        ("a code of four digits", "2500 hello\r\n", SmtpError::Code),
        ("a code below 200", "199 hello\r\n", SmtpError::Code),
        ("a code above 599", "600 hello\r\n", SmtpError::Code),
        ("a sign behind the code", "250+hello\r\n", SmtpError::Code),
        ("lines of different codes", "250-hello\r\n251 b\r\n", SmtpError::OtherCode(250, 251)),
        ("too many lines", &many, SmtpError::TooManyLines),
        ("a line that is too long", &long, SmtpError::LineTooLong),
        ("lines that are too long together", &large, SmtpError::TextTooLong),
        ("a bare line feed", "250 hello\n", SmtpError::BareLineFeed),
        ("a bare carriage return", "250 a\rb\r\n", SmtpError::ForbiddenByte(b'\r')),
        ("NUL", "250 a\0\r\n", SmtpError::ForbiddenByte(0)),
    ] {
        assert_eq!(read_smtp(input.as_bytes(), 1000), Err(expected), "{name}");
    }
    let line_without_end = vec![b'2'; 5000];
    assert_eq!(read_smtp(&line_without_end, 100), Err(SmtpError::LineTooLong));
}

/// The second line would be taken for the reply to the first command behind the handshake.
#[test]
fn bytes_behind_the_reply_to_starttls_are_refused() {
    let mut reader = mailwire::smtp::SmtpReader::new();
    let packet = b"220 go ahead\r\n250 injected\r\n";
    let consumed = reader.read(packet).unwrap().consumed;
    assert_eq!(check_upgrade(packet.len() - consumed), Err(PlaintextBehindUpgrade(14)));
    let mut reader = mailwire::imap::ImapReader::new();
    let packet = b"P1 OK begin\r\n* OK injected\r\n";
    let consumed = reader.read(packet).unwrap().consumed;
    let error = check_upgrade(packet.len() - consumed).unwrap_err();
    assert_eq!(
        error.to_string(),
        "15 unencrypted bytes follow the reply to STARTTLS, where the handshake must begin"
    );
    assert_eq!(check_upgrade(0), Ok(()));
}

#[test]
fn messages_of_errors_name_numbers() {
    let limits = ImapLimits { line_bytes: 10, body_bytes: 5 };
    let error = |input: &[u8]| read_imap(input, 100, limits).unwrap_err().to_string();
    assert_eq!(error(b"* OK 1234567890\r\n"), "a line is longer than 10 bytes");
    let wide = ImapLimits { line_bytes: 100, body_bytes: 5 };
    let announced = read_imap(b"* 1 FETCH (RFC822.TEXT {6}\r\n", 100, wide).unwrap_err().to_string();
    assert_eq!(announced, "a literal of 6 bytes is announced, where at most 5 are taken");
}
