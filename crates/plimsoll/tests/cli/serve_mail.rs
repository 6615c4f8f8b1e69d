//! The built-in mail server as a program: its addresses, its password, its end, and its memory.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{Fixture, RunningCommand};

/// A client that sends lines and reads lines.
struct LineClient(BufReader<TcpStream>);

impl LineClient {
    fn connect(address: &str) -> LineClient {
        LineClient(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    /// Reads lines up to one that begins so, and returns it.
    fn wait_for(&mut self, begin: &str) -> String {
        let mut lines = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "{begin} does not come: {lines}");
            if line.starts_with(begin) {
                return line.trim_end().to_owned();
            }
            lines.push_str(&line);
        }
    }
}

/// Returns the addresses by their names.
fn addresses(server: &RunningCommand) -> [String; 3] {
    let ready = server.ready();
    ["address", "submission", "lmtp"].map(|name| ready[name].as_str().unwrap().to_owned())
}

#[test]
fn a_message_that_is_submitted_is_read_by_its_recipient() {
    let fixture = Fixture::new();
    let arguments = ["serve", "mail", "--users", "3", "--domain", "example.test", "--threads", "2"];
    let server = fixture.start_with(&arguments, &[("PLIMSOLL_PASSWORD", "pass")]);
    let [imap, submission, lmtp] = addresses(&server);

    let mut sender = LineClient::connect(&submission);
    sender.send("EHLO me\r\nAUTH PLAIN AHVzZXIxAHBhc3M=\r\nMAIL FROM:<user1@example.test>");
    sender.send("RCPT TO:<user3@example.test>\r\nRCPT TO:<user4@example.test>\r\nDATA");
    sender.wait_for("235 2.7.0");
    sender.wait_for("550 5.1.1");
    sender.wait_for("354 ");
    sender.send("Subject: hello\r\n\r\nworld\r\n.");
    sender.wait_for("250 2.0.0");

    let mut reader = LineClient::connect(&imap);
    reader.send("a LOGIN user3 plimsoll\r\nb LOGIN user3 pass\r\nc SELECT INBOX\r\nd FETCH 1 BODY[TEXT]");
    assert_eq!(reader.wait_for("a "), "a NO [AUTHENTICATIONFAILED] name or password is wrong");
    assert_eq!(reader.wait_for("world"), "world", "the message is there");
    assert!(reader.wait_for("d ").starts_with("d OK"));

    let mut other = LineClient::connect(&lmtp);
    other.send("LHLO me\r\nQUIT");
    other.wait_for("221 ");
    server.signal(Signal::TERM);
    server.end().expect(0);
}

#[test]
fn mistakes_have_a_remedy() {
    let fixture = Fixture::new();
    let serve = |arguments: &[&str]| fixture.run(&[&["serve", "mail"][..], arguments].concat());
    serve(&["--users", "0"]).expect(2);
    serve(&["--fault", "dublicate"]).expect(2).expect_stderr("hint: did you mean `duplicate`?");
    serve(&["--domain", "a b"])
        .expect(2)
        .expect_stderr("`--domain`: `a b` cannot be a domain")
        .expect_stderr("hint: write a domain");
    for option in ["--listen", "--submission", "--lmtp"] {
        serve(&[option, "0.0.0.0:0"]).expect(2).expect_stderr("hint: set `PLIMSOLL_PASSWORD`");
    }
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    serve(&["--lmtp", &taken]).expect(4).expect_stderr(&format!("cannot listen on {taken} for LMTP"));
}

/// Goal: a password that nobody has set is never one that everybody can type.
#[test]
fn passwords_that_cannot_be_are_refused() {
    let fixture = Fixture::new();
    let serve = |listen: &str, password: &OsStr| {
        let mut command = fixture.command(&["serve", "mail", "--listen", listen]);
        let output = command.env("PLIMSOLL_PASSWORD", password).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        assert!(serve(listen, OsStr::new("")).contains("`PLIMSOLL_PASSWORD` is set, and empty"));
        assert!(serve(listen, OsStr::from_bytes(b"\xff")).contains("`PLIMSOLL_PASSWORD` is not UTF-8"));
    }
}

/// By measurement some 5 KiB for each session and its account; a session that kept the buffers of a large message would have
/// more than 64.
#[test]
fn idle_sessions_need_little_memory() {
    const SESSIONS: usize = 1_000;
    units::raise_open_files();
    let fixture = Fixture::new();
    let server = fixture.start(&["serve", "mail", "--users", "1000"]);
    let [imap, ..] = addresses(&server);
    let log_on = |number: usize| {
        let mut client = LineClient::connect(&imap);
        client.send(&format!("a LOGIN user{} plimsoll\r\nb SELECT INBOX", number + 1));
        client.send(&format!("c NOOP {}\r\nd NOOP", "x".repeat(40_000)));
        client.wait_for("d ");
        client
    };
    let warm: Vec<LineClient> = (0..50).map(log_on).collect();
    let before = resident_bytes(server.pid());
    let sessions: Vec<LineClient> = (0..SESSIONS).map(log_on).collect();
    let grown = resident_bytes(server.pid()).saturating_sub(before);
    assert!(grown / SESSIONS as u64 <= 16 << 10, "{} bytes for each session", grown / SESSIONS as u64);
    drop((warm, sessions));
    server.end().expect(0);
}

/// Returns the resident memory of the program that `env` has become.
fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() << 10
}
