//! Faults: each is found by a client that reads what comes, and the exchanges beside it are as they should be.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mail::{
    MailMessages, MessageDepth, MessageFault, MessageIdentity, MessageKind, MessageNumber, MessageVerifier,
};
use mailwire::imap::{
    ExchangeFault, ExchangeProgress, ImapError, ImapEvent, ImapExchange, ImapReader, ImapResponse,
    ImapStatus, ImapTag, MailboxFault, SelectedMailbox,
};
use servers::mail::{FAULTS, MailServer};

use super::client::{ImapClient, SmtpClient, faulty, messages};

/// The time after which nothing more is awaited of a server that stalls.
const MOMENT: Duration = Duration::from_millis(250);

/// What a client makes of the replies to a command.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Nothing,
    Refused,
    Stalled,
    /// The connection ended, within a response or not.
    Ended {
        within_response: bool,
    },
    NoReply(ImapError),
    Exchange(ExchangeFault),
    Mailbox(MailboxFault),
    WrongBody(Option<MessageFault>),
}

/// A client that survives what servers do to it.
struct Observer {
    stream: TcpStream,
    reader: ImapReader,
    unread: Vec<u8>,
    messages: MailMessages,
    mailbox: SelectedMailbox,
    tag: ImapTag,
}

fn memo(messages: &MailMessages, number: u32) -> Vec<u8> {
    let identity = MessageIdentity::new(1, MessageKind::Memo, MessageNumber { user: 0, number });
    let message = messages.message(identity);
    let mut bytes = vec![0; message.bytes() as usize];
    message.fill(0, &mut bytes);
    bytes
}

impl Observer {
    fn connect(address: SocketAddr) -> Observer {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(MOMENT)).unwrap();
        Observer {
            stream,
            reader: ImapReader::new(),
            unread: Vec::new(),
            messages: messages(),
            mailbox: SelectedMailbox::default(),
            tag: ImapTag(0),
        }
    }

    fn perform(&mut self, command: &[u8]) -> Finding {
        self.tag = self.tag.next();
        let line = [self.tag.to_string().as_bytes(), b" ", command, b"\r\n"].concat();
        self.stream.write_all(&line).unwrap();
        if command.starts_with(b"SELECT") {
            self.mailbox = SelectedMailbox::new(self.mailbox.validity());
        }
        self.observe(ImapExchange::new(self.tag, 0).with_untagged_max(1000))
    }

    /// Reads the replies to a command; a greeting alone where the tag is 0.
    fn observe(&mut self, mut exchange: ImapExchange) -> Finding {
        let mut verifier = MessageVerifier::new(MessageDepth::Full);
        loop {
            if self.unread.is_empty() {
                let mut buffer = [0; 4096];
                match self.stream.read(&mut buffer) {
                    Ok(0) => return Finding::Ended { within_response: self.reader.is_within_response() },
                    Ok(n) => self.unread.extend_from_slice(&buffer[..n]),
                    Err(_) => return Finding::Stalled,
                }
            }
            let progress = match self.reader.read(&self.unread) {
                Ok(progress) => progress,
                Err(error) => return Finding::NoReply(error),
            };
            let mut wrong = None;
            let mut end = None;
            match progress.event {
                Some(ImapEvent::BodyBegin(_)) => verifier = MessageVerifier::new(MessageDepth::Full),
                Some(ImapEvent::Body(piece)) => verifier.feed(piece, &self.messages),
                Some(ImapEvent::Response(response)) => {
                    if matches!(&response, ImapResponse::Fetch(fetch) if fetch.body.is_some()) {
                        let body = std::mem::replace(&mut verifier, MessageVerifier::new(MessageDepth::Off));
                        wrong = body.finish().fault.map(|fault| Finding::WrongBody(Some(fault)));
                    }
                    let contradiction = self.mailbox.take(&response).err().map(Finding::Mailbox);
                    wrong = wrong.or(contradiction);
                    end = match exchange.take(&response) {
                        Ok(ExchangeProgress::Done(ImapStatus::Ok)) => Some(Finding::Nothing),
                        Ok(ExchangeProgress::Done(_)) => Some(Finding::Refused),
                        Ok(_) if self.tag == ImapTag(0) => Some(Finding::Nothing),
                        Ok(_) => None,
                        Err(fault) => Some(Finding::Exchange(fault)),
                    };
                }
                None => {}
            }
            self.unread.drain(..progress.consumed);
            if let Some(finding) = wrong.or(end) {
                return finding;
            }
        }
    }
}

/// Starts a server with a fault and two messages of the first user.
fn with_messages(fault: &str) -> MailServer {
    let server = faulty(fault);
    let mut lmtp = SmtpClient::lmtp(&server);
    for number in [1, 2] {
        assert_eq!(lmtp.submit(&[1], &memo(&messages(), number)), "250 2.0.0 delivered");
    }
    server
}

/// The first command that is affected.
const LOG_ON: &[u8] = b"LOGIN user1 \"secret word\"";
const SELECT: &[u8] = b"SELECT INBOX";
const FETCH: &[u8] = b"UID FETCH 1:* (UID BODY.PEEK[])";

/// Each fault of IMAP with what a client finds that greets, logs on, selects a mailbox twice and reads its messages.
fn findings() -> Vec<(&'static str, &'static [u8], Finding)> {
    let malformed = |what| Finding::NoReply(ImapError::Malformed(what));
    let too_long = ImapError::LiteralTooLong { announced: 2_000_000_000, most: 64 << 20 };
    vec![
        ("bye-greeting:2", b"", Finding::Exchange(ExchangeFault::Bye)),
        ("stalled-greeting:2", b"", Finding::Stalled),
        ("wrong-password", LOG_ON, Finding::Refused),
        ("refusal:3", FETCH, Finding::Refused),
        ("bye:3", FETCH, Finding::Exchange(ExchangeFault::Bye)),
        ("closed-session:3", FETCH, Finding::Ended { within_response: false }),
        ("short-reply:3", FETCH, Finding::Ended { within_response: true }),
        ("garbage:3", FETCH, malformed("OK, NO or BAD behind a tag")),
        ("wrong-tag:3", FETCH, Finding::Exchange(ExchangeFault::AnotherTag)),
        ("stall:3", FETCH, Finding::Stalled),
        ("slow:3", FETCH, Finding::Nothing),
        ("endless-replies:3", FETCH, Finding::Exchange(ExchangeFault::TooManyResponses(1000))),
        ("shrinking:3", FETCH, Finding::Mailbox(MailboxFault::Shrunk { before: 2, now: 0 })),
        ("uid-order", FETCH, Finding::Mailbox(MailboxFault::UidOrder { number: 2, uid: u32::MAX - 2 })),
        ("short-literal:2", FETCH, malformed("a blank behind the name of an item")),
        ("long-literal:2", FETCH, Finding::NoReply(ImapError::BareLineFeed)),
        ("huge-literal:2", FETCH, Finding::NoReply(too_long)),
    ]
}

#[test]
fn faults_of_imap_are_found_where_they_are() {
    for (fault, command, expected) in findings() {
        let server = with_messages(fault);
        // The first greeting was that of LMTP.
        let mut client = Observer::connect(server.addresses().imap);
        let mut found = client.observe(ImapExchange::new(ImapTag(0), 0));
        for next in [LOG_ON, SELECT, SELECT, FETCH] {
            if found != Finding::Nothing {
                assert_eq!(
                    client.tag.0 as usize,
                    position(command),
                    "{fault} met another command: {found:?}"
                );
                break;
            }
            found = client.perform(next);
        }
        assert_eq!(found, expected, "{fault}");
    }
}

/// Returns the number of a command among those that are performed; the greeting is 0.
fn position(command: &[u8]) -> usize {
    [&b""[..], LOG_ON, SELECT, SELECT, FETCH].iter().rposition(|known| *known == command).unwrap()
}

#[test]
fn a_wrong_byte_and_another_validity_are_found() {
    let server = with_messages("wrong-byte:2");
    let mut client = Observer::connect(server.addresses().imap);
    let steps = [&b""[..], LOG_ON, SELECT, FETCH];
    let mut found = client.observe(ImapExchange::new(ImapTag(0), 0));
    for step in &steps[1..] {
        assert_eq!(found, Finding::Nothing);
        found = client.perform(step);
    }
    assert!(matches!(found, Finding::WrongBody(Some(MessageFault::Altered { .. }))), "{found:?}");

    let server = with_messages("new-validity:2");
    let mut client = Observer::connect(server.addresses().imap);
    client.observe(ImapExchange::new(ImapTag(0), 0));
    let found = [LOG_ON, SELECT, SELECT].map(|step| client.perform(step));
    assert_eq!(found[..2], [Finding::Nothing, Finding::Nothing]);
    let Finding::Mailbox(MailboxFault::ValidityChanged { before, now }) = found[2] else {
        panic!("{found:?}")
    };
    assert_ne!(before, now);
}

#[test]
fn faults_of_submission_are_found_by_replies() {
    let message = memo(&messages(), 1);
    for (fault, reply) in [
        ("full", "552 5.2.2 the mailbox is full"),
        ("deferred", "451 4.3.0 not now"),
        ("closing", "421 4.3.2 not now"),
        ("lost-reply", ""),
    ] {
        let server = faulty(fault);
        let mut client = SmtpClient::logged_on(&server);
        assert_eq!(client.submit(&[2], &message), reply, "{fault}");
        let n_delivered = u32::from(fault == "lost-reply");
        assert_eq!(ImapClient::user(&server, 2).n_messages("INBOX"), n_delivered, "{fault}");
    }
    let server = faulty("refused-recipient:2");
    SmtpClient::logged_on(&server).check(&[
        ("MAIL FROM:<a@b>", "250"),
        ("RCPT TO:<user2@plimsoll.test>", "250"),
        ("RCPT TO:<user3@plimsoll.test>", "450 4.2.0"),
        ("RCPT TO:<user3@plimsoll.test>", "250"),
    ]);
    let server = faulty("full");
    let mut lmtp = SmtpClient::lmtp(&server);
    assert_eq!(lmtp.submit(&[1, 2], &message), "552 5.2.2 the mailbox is full");
    assert_eq!(lmtp.reply(), "552 5.2.2 the mailbox is full");
}

/// Messages that are taken and do not arrive as they were sent: only their recipients find out.
#[test]
fn faults_of_delivery_are_found_by_recipients() {
    let message = memo(&messages(), 1);
    for (fault, n_at_once, n_later) in
        [("lost", 0, 0), ("duplicate", 2, 2), ("late", 0, 1), ("altered", 1, 1)]
    {
        let server = faulty(fault);
        let mut reader = ImapClient::user(&server, 2);
        assert_eq!(SmtpClient::logged_on(&server).submit(&[2], &message), "250 2.0.0 delivered");
        assert_eq!(reader.n_messages("INBOX"), n_at_once, "{fault}");
        while reader.n_messages("INBOX") < n_later {
            std::thread::yield_now();
        }
        reader.perform("SELECT INBOX");
        for body in reader.perform("UID FETCH 1:* BODY[]").bodies {
            let mut verifier = MessageVerifier::new(MessageDepth::Full);
            verifier.feed(&body, &messages());
            let found = verifier.finish();
            assert_eq!(found.fault.is_some(), fault == "altered", "{fault}: {found:?}");
        }
    }
}

#[test]
fn every_fault_has_a_test() {
    let file = include_str!("faults.rs");
    let quoted = |name: &str| file.contains(&format!("\"{name}\"")) || file.contains(&format!("\"{name}:"));
    let missing: BTreeSet<&str> =
        FAULTS.iter().map(|fault| fault.name).filter(|name| !quoted(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
