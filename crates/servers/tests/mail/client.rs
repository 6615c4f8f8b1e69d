//! Clients of the mail server. Replies are read as a client of any server reads them, and none may contradict another.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mail::{MailDate, MailDirectory, MailMessages};
use mailwire::imap::{
    ExchangeProgress, ImapEvent, ImapExchange, ImapReader, ImapResponse, ImapStatus, ImapTag, SelectedMailbox,
};
use mailwire::smtp::SmtpReader;
use servers::mail::{MailFaultPlan, MailServer, MailServerOptions};

pub(crate) const PASSWORD: &str = "secret word";

pub(crate) fn options() -> MailServerOptions {
    MailServerOptions { account_bytes_max: 100_000, ..MailServerOptions::new(20, PASSWORD.to_owned()) }
}

pub(crate) fn start() -> MailServer {
    MailServer::start(options()).unwrap()
}

pub(crate) fn faulty(fault: &str) -> MailServer {
    let faults = MailFaultPlan::parse([fault]).unwrap();
    MailServer::start(MailServerOptions { faults, ..options() }).unwrap()
}

/// Returns the messages of a run whose users are those of the server.
pub(crate) fn messages() -> MailMessages {
    let directory = MailDirectory::numbered("user", 20, "plimsoll.test").unwrap();
    MailMessages::new(42, directory, MailDate::from_unix_seconds(1_796_005_800))
}

/// A connection with what has come on it and was not read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) stream: TcpStream,
    bytes: Vec<u8>,
}

impl Input {
    fn connect(address: SocketAddr) -> Input {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Input { stream, bytes: Vec::new() }
    }

    /// Takes what was read, and more; at the end of the connection, nothing.
    fn take(&mut self) -> Vec<u8> {
        if self.bytes.is_empty() {
            let mut buffer = [0; 4096];
            // A reset is an end, too.
            let n = self.stream.read(&mut buffer).unwrap_or(0);
            return buffer[..n].to_vec();
        }
        std::mem::take(&mut self.bytes)
    }
}

/// The reply to a command of IMAP.
#[derive(Debug, Default)]
pub(crate) struct ImapReply {
    /// Each response as it came, without the tag.
    pub(crate) lines: Vec<String>,
    /// The bodies in the responses.
    pub(crate) bodies: Vec<Vec<u8>>,
}

impl ImapReply {
    /// Returns whether the last line begins so.
    pub(crate) fn ends_with(&self, status: &str) -> bool {
        self.lines.last().is_some_and(|line| line.starts_with(status))
    }
}

/// A client of IMAP, which has commands with tags P1, P2 and so on.
#[derive(Debug)]
pub(crate) struct ImapClient {
    pub(crate) input: Input,
    reader: ImapReader,
    tag: ImapTag,
    mailbox: SelectedMailbox,
    /// The responses to the command that is performed.
    reply: ImapReply,
    body: Option<Vec<u8>>,
    line: Vec<u8>,
}

/// A response, as far as a command needs it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Response {
    Untagged,
    Continuation,
    Done(ImapStatus),
}

impl ImapClient {
    /// Connects and reads the greeting.
    pub(crate) fn connect(address: SocketAddr) -> ImapClient {
        let mut client = ImapClient {
            input: Input::connect(address),
            reader: ImapReader::new(),
            tag: ImapTag(0),
            mailbox: SelectedMailbox::default(),
            reply: ImapReply::default(),
            body: None,
            line: Vec::new(),
        };
        let mut exchange = ImapExchange::new(ImapTag(0), 0);
        assert_eq!(client.respond(&mut exchange), Some(Response::Untagged));
        client
    }

    /// Connects and logs on as a user, by its number from 1.
    pub(crate) fn user(server: &MailServer, number: u32) -> ImapClient {
        let mut client = ImapClient::connect(server.addresses().imap);
        let reply = client.perform(&format!("LOGIN user{number}@plimsoll.test \"{PASSWORD}\""));
        assert!(reply.ends_with("OK [CAPABILITY"), "{reply:?}");
        client
    }

    /// The same with a mailbox selected.
    pub(crate) fn selected(server: &MailServer, number: u32, mailbox: &str) -> ImapClient {
        let mut client = ImapClient::user(server, number);
        let reply = client.perform(&format!("SELECT {mailbox}"));
        assert!(reply.ends_with("OK [READ-WRITE]"), "{reply:?}");
        client
    }

    /// Performs a command without literals that are awaited.
    pub(crate) fn perform(&mut self, command: &str) -> ImapReply {
        self.perform_parts(&[command.as_bytes()])
    }

    /// Performs a command whose parts but the first are sent when the server awaits them.
    pub(crate) fn perform_parts(&mut self, parts: &[&[u8]]) -> ImapReply {
        let mut exchange = self.begin(parts[0], parts.len() as u32 - 1);
        let mut parts = parts[1..].iter();
        loop {
            match self.respond(&mut exchange) {
                Some(Response::Untagged) => {}
                Some(Response::Continuation) => self.send(&[parts.next().unwrap(), &b"\r\n"[..]].concat()),
                Some(Response::Done(_)) => return std::mem::take(&mut self.reply),
                None => panic!("the session ended: {:?}", self.reply),
            }
        }
    }

    /// Sends the first part of a command with a new tag.
    pub(crate) fn begin(&mut self, part: &[u8], n_awaited: u32) -> ImapExchange {
        self.tag = self.tag.next();
        let is_selection = ["SELECT", "EXAMINE"].iter().any(|name| part.starts_with(name.as_bytes()));
        if is_selection {
            self.mailbox = SelectedMailbox::default();
        }
        self.reply = ImapReply::default();
        self.send(&[self.tag.to_string().as_bytes(), b" ", part, b"\r\n"].concat());
        if part.eq_ignore_ascii_case(b"LOGOUT") {
            return ImapExchange::logout(self.tag);
        }
        ImapExchange::new(self.tag, n_awaited)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.input.stream.write_all(bytes).unwrap();
    }

    /// Puts a message into a mailbox; returns the last line of the reply.
    pub(crate) fn append(&mut self, arguments: &str, message: &[u8]) -> String {
        let announced = format!("APPEND {arguments} {{{}+}}\r\n", message.len());
        let reply = self.perform_parts(&[&[announced.as_bytes(), message].concat()]);
        reply.lines.last().unwrap().clone()
    }

    /// Reads a response to a command; `None` at the end of the connection.
    pub(crate) fn respond(&mut self, exchange: &mut ImapExchange) -> Option<Response> {
        loop {
            let bytes = self.input.take();
            if bytes.is_empty() {
                return None;
            }
            let progress = self.reader.read(&bytes).unwrap();
            self.line.extend_from_slice(&bytes[..progress.consumed]);
            self.input.bytes = bytes[progress.consumed..].to_vec();
            match progress.event {
                Some(ImapEvent::BodyBegin(_)) => {
                    self.reply.bodies.extend(self.body.replace(Vec::new()));
                }
                Some(ImapEvent::Body(piece)) => self.body.as_mut().unwrap().extend_from_slice(piece),
                Some(ImapEvent::Response(response)) => {
                    self.mailbox.take(&response).unwrap_or_else(|fault| panic!("{fault}: {response:?}"));
                    let progress = exchange.take(&response);
                    let progress = progress.unwrap_or_else(|fault| panic!("{fault}: {response:?}"));
                    let is_tagged = matches!(response, ImapResponse::Tagged { .. });
                    let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap();
                    let line = line.strip_suffix("\r\n").unwrap();
                    let line = if is_tagged { line.split_once(' ').unwrap().1 } else { line };
                    self.reply.lines.push(line.to_owned());
                    self.reply.bodies.extend(self.body.take());
                    return Some(match progress {
                        ExchangeProgress::More => Response::Untagged,
                        ExchangeProgress::Continue => Response::Continuation,
                        ExchangeProgress::Done(status) => Response::Done(status),
                    });
                }
                None => {}
            }
        }
    }

    /// Performs a command; the responses are these, with the validity of UIDs as `V`.
    #[track_caller]
    pub(crate) fn check(&mut self, command: &str, expected: &[&str]) {
        let reply = self.perform(command);
        let validity = self.mailbox.validity().map_or("none".to_owned(), |validity| validity.to_string());
        let lines: Vec<String> = reply.lines.iter().map(|line| line.replace(&validity, "V")).collect();
        assert_eq!(lines, expected, "{command}");
    }

    /// Returns the messages in a mailbox.
    pub(crate) fn n_messages(&mut self, mailbox: &str) -> u32 {
        let reply = self.perform(&format!("STATUS {mailbox} (MESSAGES)"));
        let number = reply.lines[0].split_once("(MESSAGES ").unwrap().1.strip_suffix(")").unwrap();
        number.parse().unwrap()
    }
}

/// A client of SMTP or LMTP.
#[derive(Debug)]
pub(crate) struct SmtpClient {
    pub(crate) input: Input,
    reader: SmtpReader,
}

impl SmtpClient {
    /// Connects and reads the greeting.
    pub(crate) fn connect(address: SocketAddr) -> SmtpClient {
        let mut client = SmtpClient { input: Input::connect(address), reader: SmtpReader::new() };
        let greeting = client.reply();
        assert!(greeting.starts_with("220 "), "{greeting}");
        client
    }

    /// Connects for submission and logs on as the first user.
    pub(crate) fn logged_on(server: &MailServer) -> SmtpClient {
        let mut client = SmtpClient::connect(server.addresses().submission);
        client.check(&[("EHLO me", "250 "), ("AUTH PLAIN AHVzZXIxAHNlY3JldCB3b3Jk", "235 2.7.0")]);
        client
    }

    /// Connects for delivery and greets.
    pub(crate) fn lmtp(server: &MailServer) -> SmtpClient {
        let mut client = SmtpClient::connect(server.addresses().lmtp);
        client.check(&[("LHLO me", "250 ")]);
        client
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.input.stream.write_all(bytes).unwrap();
    }

    /// Reads a reply: its code, and its lines with bars between; nothing at the end of the connection.
    pub(crate) fn reply(&mut self) -> String {
        loop {
            let bytes = self.input.take();
            if bytes.is_empty() {
                return String::new();
            }
            let progress = self.reader.read(&bytes).unwrap();
            let reply = progress.reply.map(|reply| {
                let lines: Vec<_> = reply.lines().map(String::from_utf8_lossy).collect();
                format!("{} {}", reply.code, lines.join(" | "))
            });
            self.input.bytes = bytes[progress.consumed..].to_vec();
            if let Some(reply) = reply {
                return reply;
            }
        }
    }

    pub(crate) fn perform(&mut self, command: &str) -> String {
        self.send(format!("{command}\r\n").as_bytes());
        self.reply()
    }

    /// Performs commands; each reply begins so.
    #[track_caller]
    pub(crate) fn check(&mut self, commands: &[(&str, &str)]) {
        for (command, expected) in commands {
            let reply = self.perform(command);
            assert!(reply.starts_with(expected), "{command}: {reply}");
        }
    }

    /// Sends a message to users; returns the first reply to it.
    #[track_caller]
    pub(crate) fn submit(&mut self, recipients: &[u32], message: &[u8]) -> String {
        self.check(&[("MAIL FROM:<user1@plimsoll.test>", "250 2.1.0")]);
        for number in recipients {
            self.check(&[(&format!("RCPT TO:<user{number}@plimsoll.test>"), "250 2.1.5")]);
        }
        self.check(&[("DATA", "354 ")]);
        self.send(&[message, b".\r\n"].concat());
        self.reply()
    }
}
