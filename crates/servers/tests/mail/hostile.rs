//! Clients that send what none should. The server answers or closes, keeps its memory, and goes on.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use servers::mail::{MailAddresses, MailServer, MailServerOptions};
use units::Nanos;

use super::client::{ImapClient, SmtpClient, options, start};

const LOG_ON: &[u8] = b"a LOGIN user1 \"secret word\"\r\nb SELECT INBOX\r\n";
const GREET: &[u8] = b"EHLO me\r\nAUTH PLAIN AHVzZXIxAHNlY3JldCB3b3Jk\r\n";

/// Sends bytes and the end of the connection; returns everything that the server sends until it closes.
fn converse(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let bytes = bytes.to_vec();
    let sender = std::thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).unwrap();
    sender.join().unwrap();
    String::from_utf8_lossy(&replies).into_owned()
}

/// What a client sends, behind a log-on or not, and the begin of the last line of the replies.
struct HostileCase {
    name: &'static str,
    bytes: Vec<u8>,
    last: &'static str,
}

fn case(name: &'static str, parts: &[&[u8]], last: &'static str) -> HostileCase {
    HostileCase { name, bytes: parts.concat(), last }
}

fn imap_cases() -> Vec<HostileCase> {
    let long = b"x".repeat(200_000);
    let too_long = "* BYE a command is too long";
    let arguments = "c BAD the arguments are wrong";
    vec![
        case("nothing", &[], "* OK [CAPABILITY"),
        case("no tag", &[b"\r\n"], "* BAD there is no tag"),
        case("bytes of any kind", &[b"\xff\x00\x80 \x01\r\n"], "* BAD there is no tag"),
        case("HTTP", &[b"GET / HTTP/1.1\r\n"], "GET BAD there is no such command"),
        case("a TLS hello", &[b"\x16\x03\x01\x02\x00\x01\x00\r\n"], "* BAD there is no tag"),
        case("a line without end", &[&long], too_long),
        case("a literal without end", &[b"c LOGIN {60000}\r\nabc"], "+ go on"),
        case("a literal of 2 GB", &[b"c LOGIN {2000000000}\r\n"], "c BAD the literal is too long"),
        case("a literal of 2 GB at once", &[b"c LOGIN {2000000000+}\r\n"], too_long),
        case("a literal beyond all numbers", &[b"c LOGIN {99999999999999999999}\r\n"], arguments),
        case("many literals", &[b"c LOGIN", &b" {30000+}\r\n".repeat(9), &long], too_long),
        case("a message before log-on", &[b"c APPEND INBOX {3+}\r\nabc\r\n"], "c BAD not in this state"),
        case("a message of 2 GB", &[LOG_ON, b"c APPEND INBOX {2000000000}\r\n"], "c NO [TOOBIG]"),
        case("a message of 2 GB at once", &[LOG_ON, b"c APPEND INBOX {2000000000+}\r\n"], too_long),
        case("a message without end", &[LOG_ON, b"c APPEND INBOX {30000}\r\nabc"], "+ go on"),
        case("more behind a message", &[LOG_ON, b"c APPEND INBOX {1+}\r\na {1+}\r\n"], "c BAD the end of the command"),
        case("numbers of messages that are not there", &[LOG_ON, b"c FETCH 4294967295 FLAGS\r\n"], "c BAD there is no such message"),
        case("ranges of all UIDs", &[LOG_ON, b"c UID FETCH ", &b"1:4294967295,".repeat(4000), b"1 UID\r\n"], "c OK done"),
        case("brackets within brackets", &[LOG_ON, b"c SEARCH ", &b"(".repeat(30_000), b"\r\n"], arguments),
        case("NOT of NOT", &[LOG_ON, b"c SEARCH ", &b"NOT ".repeat(10_000), b"ALL\r\n"], arguments),
        case("wildcards", &[LOG_ON, b"c LIST \"\" \"", &b"*%".repeat(10_000), b"x\"\r\n"], "c OK done"),
        case("a name of a mailbox that is a command", &[LOG_ON, b"c CREATE {9+}\r\na\r\nb NOOP\r\n"], "c NO [CANNOT]"),
        case("many keywords", &[LOG_ON, b"c APPEND INBOX (a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4 b5 b6 b7 b8 b9 c1 c2 c3 c4 c5 c6 c7 c8 c9 d1) {1+}\r\nx\r\n"], "c NO [LIMIT]"),
        case("many errors", &[&b"c FROB\r\n".repeat(60)], "* BYE too many errors"),
        case("many passwords", &[&b"c LOGIN user1 x\r\n".repeat(60)], "* BYE too many errors"),
        case("something else than DONE", &[LOG_ON, b"c IDLE\r\nd NOOP\r\n"], "c BAD DONE was expected"),
        case("many commands without reading", &[LOG_ON, &b"c NOOP\r\n".repeat(20_000)], "c OK done"),
    ]
}

fn smtp_cases() -> Vec<HostileCase> {
    let long = b"x".repeat(200_000);
    let message: &[u8] = b"MAIL FROM:<a@b>\r\nRCPT TO:<user1@plimsoll.test>\r\nDATA\r\n";
    vec![
        case("nothing", &[], "220 "),
        case("bytes of any kind", &[b"\xff\x00\x80\r\n"], "500 5.5.2"),
        case("HTTP", &[b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"], "500 5.5.2"),
        case("a line without end", &[&long], "500 5.5.2 the line is too long"),
        case("a path without end", &[GREET, b"MAIL FROM:<", &b"a".repeat(10_000), b">\r\n"], "501 5.5.4"),
        case("a message without end", &[GREET, message, b"abc\r\n"], "354 "),
        case("a dot without a carriage return", &[GREET, message, b"abc\n.\nQUIT\r\n"], "354 "),
        case(
            "a password without end",
            &[b"EHLO me\r\nAUTH PLAIN\r\n", &long],
            "500 5.5.2 the line is too long",
        ),
        case("many errors", &[&b"FROB\r\n".repeat(60)], "421 4.7.0"),
        case("many greetings without reading", &[&b"EHLO me\r\n".repeat(20_000)], "250 ENHANCEDSTATUSCODES"),
    ]
}

fn check(address: SocketAddr, cases: &[HostileCase]) {
    for HostileCase { name, bytes, last } in cases {
        let replies = converse(address, bytes);
        let line = replies.lines().next_back().unwrap_or_default();
        assert!(line.starts_with(last), "{name}: {line:?}");
    }
}

#[test]
fn hostile_clients_are_answered_or_closed() {
    let server = start();
    let MailAddresses { imap, submission, lmtp } = server.addresses();
    check(imap, &imap_cases());
    check(submission, &smtp_cases());
    check(lmtp, &[case("another protocol", &[b"a LOGIN x y\r\n"], "500 5.5.2")]);
    // It serves others as before.
    let mut client = ImapClient::selected(&server, 1, "INBOX");
    client.check("NOOP", &["OK done"]);
    assert_eq!(SmtpClient::logged_on(&server).submit(&[1], b"x\r\n"), "250 2.0.0 delivered");
    server.stop().unwrap();
}

#[test]
fn connections_are_bounded_by_all_protocols_together() {
    let server = MailServer::start(MailServerOptions { connections_max: 2, ..options() }).unwrap();
    let first = ImapClient::connect(server.addresses().imap);
    let _second = SmtpClient::connect(server.addresses().lmtp);
    assert_eq!(converse(server.addresses().imap, b""), "* BYE too many connections\r\n");
    assert_eq!(converse(server.addresses().submission, b""), "421 4.3.2 too many connections\r\n");
    drop(first);
    // The end of the first is known in a moment.
    while converse(server.addresses().lmtp, b"").starts_with("421") {}
}

#[test]
fn idle_sessions_end() {
    let idle_timeout = Nanos::from_millis(50);
    let server = MailServer::start(MailServerOptions { idle_timeout, ..options() }).unwrap();
    for (address, last) in [
        (server.addresses().imap, "* BYE idle for too long"),
        (server.addresses().submission, "421 4.4.2 idle for too long"),
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut replies = String::new();
        stream.read_to_string(&mut replies).unwrap();
        assert_eq!(replies.lines().next_back(), Some(last));
    }
}
