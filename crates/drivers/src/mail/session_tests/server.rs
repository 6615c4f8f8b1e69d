//! A mail server in the test, a thread for each connection.
//!
//! It does what its capabilities say, and answers BAD or 502 to everything else, so that a client is found that asks for
//! what is not there. A test may have it do something else in place of its answer to a command.

use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::store::MailStore;
use super::{PASSWORD, messages, population};
use crate::net::{Authorities, Trust};

/// The capabilities of a server with all that a client makes use of.
pub(super) const ALL_CAPABILITIES: &str =
    "IMAP4rev1 AUTH=PLAIN SASL-IR LITERAL+ UIDPLUS MOVE ESEARCH UNSELECT PIPELINING";

/// The most bytes that a server sends that does not stop.
const ENDLESS_BYTES_MAX: usize = 256 << 20;

/// A protocol of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Imap,
    Smtp,
    Lmtp,
}

/// The act of a server in place of its answer to a command. `$TAG` in texts is the tag of the command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// It says this.
    Say(&'static str),
    /// It says this, and then the usual.
    Prefix(&'static str),
    /// It says this, and ends the connection.
    End(&'static str),
    /// It says this again and again.
    Forever(&'static str),
    /// It does not answer.
    Nothing,
    /// It ends its side of the connection, and goes on reading.
    HalfClose,
}

/// The act of a server when a command with this text comes for the first time; the text of a greeting is `GREETING`, that of the end of a
/// message `END`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deviation {
    pub(super) protocol: Protocol,
    pub(super) command: &'static str,
    pub(super) act: Act,
    /// The number of times that it does so; from the first command on.
    pub(super) times: usize,
}

/// A certificate with its key.
pub(super) struct Identity {
    config: Arc<ServerConfig>,
    /// Trust in this certificate, and in those that it has signed.
    pub(super) trust: Trust,
    pub(super) authority: Trust,
}

impl Identity {
    pub(super) fn create() -> Identity {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let certificate = made.cert.der().clone();
        let trust = Trust::Certificate(certificate.to_vec());
        let authority = Trust::Authorities(Authorities::new([certificate.to_vec()]).unwrap());
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = builder.with_single_cert(vec![certificate], key).unwrap();
        Identity { config: Arc::new(config), trust, authority }
    }
}

/// The settings of a server.
#[derive(Clone)]
pub(super) struct ServerSettings {
    pub(super) capabilities: &'static str,
    pub(super) deviation: Option<Deviation>,
    /// Encryption from the first byte.
    pub(super) implicit: Option<Arc<ServerConfig>>,
    /// Encryption that clients can ask for; without it they cannot log on.
    pub(super) start_tls: Option<Arc<ServerConfig>>,
    /// The users whose mail is refused.
    pub(super) refused: &'static [&'static str],
    /// Whether answers are sent in parts, each of which waits for the acknowledgment of the one before.
    pub(super) in_parts: bool,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings {
            capabilities: ALL_CAPABILITIES,
            deviation: None,
            implicit: None,
            start_tls: None,
            refused: &[],
            in_parts: false,
        }
    }
}

impl ServerSettings {
    pub(super) fn with_start_tls(identity: &Identity) -> ServerSettings {
        ServerSettings { start_tls: Some(Arc::clone(&identity.config)), ..ServerSettings::default() }
    }

    pub(super) fn with_implicit_tls(identity: &Identity) -> ServerSettings {
        ServerSettings { implicit: Some(Arc::clone(&identity.config)), ..ServerSettings::default() }
    }

    /// Has the server do something once, when a command comes.
    pub(super) fn once(protocol: Protocol, command: &'static str, act: Act) -> ServerSettings {
        let deviation = Deviation { protocol, command, act, times: 1 };
        ServerSettings { deviation: Some(deviation), ..ServerSettings::default() }
    }
}

/// The state that all connections share.
struct Shared {
    settings: ServerSettings,
    store: Mutex<MailStore>,
    n_deviations: AtomicUsize,
    is_stopped: AtomicBool,
    /// The names of the commands that came.
    commands: Mutex<Vec<String>>,
}

/// A server.
pub(super) struct TestServer {
    pub(super) imap: SocketAddr,
    pub(super) smtp: SocketAddr,
    pub(super) lmtp: SocketAddr,
    shared: Arc<Shared>,
    listeners: Vec<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a server with the mailboxes of the population.
    pub(super) fn start(settings: ServerSettings) -> TestServer {
        let shared = Arc::new(Shared {
            settings,
            store: Mutex::new(MailStore::of(&population(), &messages())),
            n_deviations: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            commands: Mutex::default(),
        });
        let mut listeners = Vec::new();
        let mut listen = |protocol| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let shared = Arc::clone(&shared);
            listeners.push(thread::spawn(move || accept(&listener, protocol, &shared)));
            address
        };
        let [imap, smtp, lmtp] = [Protocol::Imap, Protocol::Smtp, Protocol::Lmtp].map(&mut listen);
        TestServer { imap, smtp, lmtp, shared, listeners }
    }

    /// Returns the mailboxes.
    pub(super) fn store(&self) -> MutexGuard<'_, MailStore> {
        self.shared.store()
    }

    /// Returns the names of the commands that came since this was last asked.
    pub(super) fn take_commands(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.commands.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        for address in [self.imap, self.smtp, self.lmtp] {
            drop(TcpStream::connect(address));
        }
        self.listeners.drain(..).for_each(|listener| listener.join().unwrap());
    }
}

fn accept(listener: &TcpListener, protocol: Protocol, shared: &Arc<Shared>) {
    loop {
        let (stream, _) = listener.accept().unwrap();
        if shared.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let shared = Arc::clone(shared);
        // It ends with its client; one that breaks off is an error for nobody.
        thread::spawn(move || drop(Connection::serve(stream, protocol, &shared)));
    }
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, MailStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, command: &str) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command.to_owned());
    }

    fn has(&self, capability: &str) -> bool {
        self.settings.capabilities.split(' ').any(|one| one == capability)
    }

    /// Returns what is to be done in place of the answer to a command.
    fn deviation(&self, protocol: Protocol, command: &str) -> Option<Act> {
        let deviation = self.settings.deviation?;
        let is_meant = deviation.protocol == protocol && command.contains(deviation.command);
        let is_left = is_meant && self.n_deviations.fetch_add(1, Ordering::Relaxed) < deviation.times;
        is_left.then_some(deviation.act)
    }
}

/// The bytes of a connection.
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    fn tls(stream: TcpStream, config: &Arc<ServerConfig>) -> Stream {
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        Stream::Tls(Box::new(StreamOwned::new(connection, stream)))
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }
}

/// A connection with its client.
struct Connection<'a> {
    stream: Option<Stream>,
    protocol: Protocol,
    shared: &'a Shared,
    received: Vec<u8>,
    is_encrypted: bool,
    user: String,
    /// The mailbox that is selected, and the UIDs that the client knows of it.
    mailbox: String,
    known: Vec<u32>,
    /// Whether a message was begun, and its recipients.
    has_author: bool,
    recipients: Vec<String>,
}

/// The end of a connection, as the server wants it or because the client has ended it.
fn end() -> std::io::Error {
    std::io::ErrorKind::ConnectionAborted.into()
}

impl Connection<'_> {
    fn serve(stream: TcpStream, protocol: Protocol, shared: &Shared) -> Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.set_nodelay(!shared.settings.in_parts)?;
        let implicit = shared.settings.implicit.as_ref();
        let stream = match implicit {
            Some(config) => Stream::tls(stream, config),
            None => Stream::Plain(stream),
        };
        let mut connection = Connection {
            stream: Some(stream),
            protocol,
            shared,
            received: Vec::new(),
            is_encrypted: implicit.is_some(),
            user: String::new(),
            mailbox: String::new(),
            known: Vec::new(),
            has_author: false,
            recipients: Vec::new(),
        };
        let greeting = match protocol {
            Protocol::Imap => "* OK ready\r\n",
            Protocol::Smtp | Protocol::Lmtp => "220-ready\r\n220 for mail\r\n",
        };
        if connection.deviate("*", "GREETING")? {
            connection.write(greeting.as_bytes())?;
        }
        loop {
            let line = connection.line()?;
            match protocol {
                Protocol::Imap => connection.imap(&line)?,
                Protocol::Smtp | Protocol::Lmtp => connection.smtp(&line)?,
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let stream = self.stream.as_mut().ok_or_else(end)?;
        if !self.shared.settings.in_parts {
            return stream.write(bytes);
        }
        // The first is sent at once, the second when the first is acknowledged.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        stream.write(first)?;
        stream.write(second)
    }

    fn read(&mut self) -> Result<()> {
        let mut buffer = [0; 16 * 1024];
        let n = self.stream.as_mut().ok_or_else(end)?.read(&mut buffer)?;
        self.received.extend_from_slice(&buffer[..n]);
        if n == 0 { Err(end()) } else { Ok(()) }
    }

    fn line(&mut self) -> Result<String> {
        loop {
            if let Some(end) = self.received.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.received.drain(..end + 2).collect();
                return Ok(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            self.read()?;
        }
    }

    fn bytes(&mut self, n: usize) -> Result<Vec<u8>> {
        while self.received.len() < n {
            self.read()?;
        }
        Ok(self.received.drain(..n).collect())
    }

    /// Does what the test says in place of the answer. Returns whether the usual answer follows.
    fn deviate(&mut self, tag: &str, command: &str) -> Result<bool> {
        let Some(act) = self.shared.deviation(self.protocol, command) else { return Ok(true) };
        let said = |text: &str| text.replace("$TAG", tag).into_bytes();
        match act {
            Act::Say(text) => self.write(&said(text)).map(|()| false),
            Act::Prefix(text) => self.write(&said(text)).map(|()| true),
            Act::End(text) => self.write(&said(text)).and_then(|()| Err(end())),
            Act::Forever(text) => {
                let text = said(text).repeat(1 + 4096 / text.len());
                for _ in 0..ENDLESS_BYTES_MAX / text.len() {
                    self.write(&text)?;
                }
                Err(end())
            }
            Act::Nothing => Ok(false),
            Act::HalfClose => {
                if let Some(Stream::Plain(stream)) = &self.stream {
                    stream.shutdown(Shutdown::Write)?;
                }
                Ok(false)
            }
        }
    }

    fn encrypt(&mut self) -> Result<()> {
        let config = self.shared.settings.start_tls.clone().ok_or_else(end)?;
        match self.stream.take() {
            Some(Stream::Plain(stream)) => self.stream = Some(Stream::tls(stream, &config)),
            _ => return Err(end()),
        }
        self.is_encrypted = true;
        Ok(())
    }

    /// Returns whether a client may log on: in the clear only where nothing else is offered.
    fn may_log_on(&self) -> bool {
        self.is_encrypted || self.shared.settings.start_tls.is_none()
    }

    /// Takes the answer of a client to PLAIN. Returns whether it is right.
    fn log_on(&mut self, answer: &str) -> bool {
        let answer = String::from_utf8(STANDARD.decode(answer).unwrap()).unwrap();
        let parts: Vec<&str> = answer.split('\0').collect();
        let [_, user, password] = parts[..] else { return false };
        self.user = user.to_owned();
        password == PASSWORD && self.shared.store().has_user(user)
    }

    // IMAP

    fn imap(&mut self, line: &str) -> Result<()> {
        let (tag, command) = line.split_once(' ').unwrap();
        // The literal of an APPEND, which is awaited unless it is announced with a plus.
        let (command, literal) = match command.strip_suffix('}').and_then(|rest| rest.rsplit_once('{')) {
            Some((before, length)) => {
                let n: usize = length.trim_end_matches('+').parse().unwrap();
                if !length.ends_with('+') {
                    if !self.deviate(tag, "AWAIT")? {
                        return Ok(());
                    }
                    self.write(b"+ go on\r\n")?;
                }
                let literal = self.bytes(n)?;
                assert_eq!(self.line()?, "", "nothing follows the message");
                (before.trim_end(), literal)
            }
            None => (command, Vec::new()),
        };
        let mut words = command.split(' ');
        let name = match words.next().unwrap() {
            "UID" => format!("UID {}", words.next().unwrap()),
            name => name.to_owned(),
        };
        let arguments: Vec<&str> = words.collect();
        self.shared.note(&name);
        if !self.deviate(tag, command)? {
            return Ok(());
        }
        if name == "AUTHENTICATE" {
            return self.authenticate(tag, &arguments);
        }
        if name == "STARTTLS" {
            self.write(format!("{tag} OK begin\r\n").as_bytes())?;
            return self.encrypt();
        }
        let (mut responses, answer) = self.perform(&name, &arguments, literal);
        responses.extend(format!("{tag} {answer}\r\n").into_bytes());
        self.write(&responses)?;
        if name == "LOGOUT" { Err(end()) } else { Ok(()) }
    }

    fn authenticate(&mut self, tag: &str, arguments: &[&str]) -> Result<()> {
        let answer = match arguments {
            ["PLAIN", answer] => (*answer).to_owned(),
            _ => {
                self.write(b"+ \r\n")?;
                self.line()?
            }
        };
        let is_right = self.may_log_on() && self.log_on(&answer);
        let status =
            if is_right { "OK logged on" } else { "NO [AUTHENTICATIONFAILED] user or password is wrong" };
        self.write(format!("{tag} {status}\r\n").as_bytes())
    }

    /// Performs a command. Returns the untagged responses, and the rest of the tagged one.
    fn perform(&mut self, name: &str, arguments: &[&str], literal: Vec<u8>) -> (Vec<u8>, String) {
        let none = |answer: &str| (Vec::new(), answer.to_owned());
        let shared = self.shared;
        let named = |index: usize| arguments.get(index).map_or("", |name| name.trim_matches('"')).to_owned();
        match name {
            "CAPABILITY" => {
                let tls = if self.may_log_on() { "" } else { " STARTTLS LOGINDISABLED" };
                let all = shared.settings.capabilities;
                let all = if self.may_log_on() { all.to_owned() } else { all.replace("AUTH=PLAIN", "") };
                (format!("* CAPABILITY {all}{tls}\r\n").into_bytes(), "OK".to_owned())
            }
            "LOGIN" => {
                self.user = named(0);
                let password = arguments[1..].join(" ");
                let is_right = self.may_log_on() && password.trim_matches('"') == PASSWORD;
                none(if is_right { "OK logged on" } else { "NO [AUTHENTICATIONFAILED] wrong" })
            }
            "LOGOUT" => (b"* BYE until later\r\n".to_vec(), "OK".to_owned()),
            "NOOP" if self.mailbox.is_empty() => none("OK"),
            "LIST" => (b"* LIST () \"/\" INBOX\r\n".to_vec(), "OK listed".to_owned()),
            "STATUS" => (b"* STATUS \"INBOX\" (MESSAGES 1 UNSEEN 0 UIDNEXT 2)\r\n".to_vec(), "OK".to_owned()),
            "CREATE" => {
                shared.store().create(&self.user, &named(0));
                none("OK made")
            }
            "SELECT" => {
                self.mailbox = named(0);
                match shared.store().mailbox(&self.user, &self.mailbox) {
                    Some(mailbox) => {
                        self.known = mailbox.uids();
                        (mailbox.selected().into_bytes(), "OK [READ-WRITE] selected".to_owned())
                    }
                    None => {
                        self.mailbox.clear();
                        none("NO [NONEXISTENT] no such mailbox")
                    }
                }
            }
            "UNSELECT" | "CLOSE" if name == "CLOSE" || shared.has("UNSELECT") => {
                self.mailbox.clear();
                none("OK")
            }
            "APPEND" => {
                let flags: Vec<&str> =
                    arguments[1..].iter().map(|flag| flag.trim_matches(['(', ')'])).collect();
                match shared.store().put(&self.user, &named(0), literal, &flags) {
                    Some(_) => none("OK appended"),
                    None => none("NO [TRYCREATE] no such mailbox"),
                }
            }
            _ => self.perform_selected(name, arguments),
        }
    }

    fn perform_selected(&mut self, name: &str, arguments: &[&str]) -> (Vec<u8>, String) {
        let shared = self.shared;
        let mut store = shared.store();
        let Some(mailbox) = store.mailbox(&self.user, &self.mailbox) else {
            return (Vec::new(), "BAD nothing is selected".to_owned());
        };
        let places = arguments.first().filter(|set| set.starts_with(|c: char| c.is_ascii_digit()));
        let places = places.map(|set| mailbox.places(set, name.starts_with("UID"))).unwrap_or_default();
        let mut responses = mailbox.news(&self.known).into_bytes();
        match name {
            "NOOP" => {}
            "UID SEARCH" => {
                let is_extended = arguments[0] == "RETURN";
                if is_extended && !shared.has("ESEARCH") {
                    return (Vec::new(), "BAD no such search".to_owned());
                }
                let is_unseen = arguments.contains(&"UNSEEN");
                let last = arguments.last().copied().unwrap_or_default();
                let set = if is_unseen { last } else { "1:4294967295" };
                let found = mailbox.places(set, true).into_iter().map(|place| &mailbox.messages[place - 1]);
                let found = found.filter(|one| !is_unseen || !one.flags.contains("\\Seen"));
                let uids: Vec<String> = found.map(|one| one.uid.to_string()).collect();
                let text = match (is_extended, uids.first()) {
                    (false, _) => format!("* SEARCH {}\r\n", uids.join(" ")),
                    (true, None) => "* ESEARCH (TAG \"x\") UID\r\n".to_owned(),
                    (true, Some(first)) if is_unseen => format!("* ESEARCH (TAG \"x\") UID MIN {first}\r\n"),
                    (true, Some(_)) => format!("* ESEARCH (TAG \"x\") UID ALL {}\r\n", uids.join(",")),
                };
                responses.extend(text.into_bytes());
            }
            "FETCH" | "UID FETCH" => {
                let has_body = arguments.iter().any(|word| word.contains("BODY"));
                let is_peek = arguments.iter().any(|word| word.contains("PEEK"));
                for place in places {
                    if has_body && !is_peek {
                        mailbox.messages[place - 1].flags.insert("\\Seen".to_owned());
                    }
                    responses.extend(mailbox.fetched(place, has_body));
                }
            }
            "UID STORE" => {
                let flag = arguments[2].trim_matches(['(', ')']);
                for place in places {
                    let flags = &mut mailbox.messages[place - 1].flags;
                    match arguments[1] {
                        "+FLAGS.SILENT" => drop(flags.insert(flag.to_owned())),
                        _ => drop(flags.remove(flag)),
                    }
                }
            }
            "UID EXPUNGE" if shared.has("UIDPLUS") => {
                responses.extend(mailbox.expunge(&places).into_bytes());
            }
            "EXPUNGE" => {
                let deleted = mailbox.deleted();
                responses.extend(mailbox.expunge(&deleted).into_bytes());
            }
            "UID COPY" | "UID MOVE" if name == "UID COPY" || shared.has("MOVE") => {
                let target = arguments[1].trim_matches('"');
                let texts: Vec<_> =
                    places.iter().map(|place| mailbox.messages[place - 1].text.clone()).collect();
                self.known = mailbox.uids();
                if store.mailbox(&self.user, target).is_none() {
                    return (responses, "NO [TRYCREATE] no such mailbox".to_owned());
                }
                for text in texts {
                    store.put(&self.user, target, text, &[]);
                }
                if name == "UID MOVE"
                    && let Some(mailbox) = store.mailbox(&self.user, &self.mailbox)
                {
                    responses.extend(mailbox.expunge(&places).into_bytes());
                }
            }
            _ => return (Vec::new(), "BAD no such command".to_owned()),
        }
        self.known =
            store.mailbox(&self.user, &self.mailbox).map(|mailbox| mailbox.uids()).unwrap_or_default();
        (responses, "OK done".to_owned())
    }

    // SMTP and LMTP

    fn smtp(&mut self, line: &str) -> Result<()> {
        let name = line.split([' ', ':']).next().unwrap().to_owned();
        self.shared.note(&name);
        if !self.deviate("", line)? {
            return Ok(());
        }
        let shared = self.shared;
        let reply = match name.as_str() {
            "EHLO" if self.protocol == Protocol::Smtp => self.extensions(),
            "LHLO" if self.protocol == Protocol::Lmtp => self.extensions(),
            "STARTTLS" => {
                self.write(b"220 begin\r\n")?;
                return self.encrypt();
            }
            "AUTH" => {
                let is_right = self.may_log_on() && self.log_on(line.rsplit(' ').next().unwrap());
                let reply = if is_right { "235 2.7.0 ok\r\n" } else { "535 5.7.8 wrong\r\n" };
                reply.to_owned()
            }
            "MAIL" => {
                self.recipients.clear();
                self.has_author = true;
                "250 2.1.0 ok\r\n".to_owned()
            }
            "RCPT" if !self.has_author => "503 5.5.1 of whom\r\n".to_owned(),
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1).unwrap();
                let (user, _) = address.split_once('@').unwrap();
                if shared.settings.refused.contains(&user) || !shared.store().has_user(user) {
                    "550-5.1.1 nobody\r\n550 5.1.1 of that name\r\n".to_owned()
                } else {
                    self.recipients.push(user.to_owned());
                    "250 2.1.5 ok\r\n".to_owned()
                }
            }
            "DATA" if self.recipients.is_empty() => "554 5.5.1 for nobody\r\n".to_owned(),
            "DATA" => return self.take_message(),
            "RSET" => {
                self.has_author = false;
                "250 2.0.0 ok\r\n".to_owned()
            }
            "QUIT" => {
                self.write(b"221 2.0.0 bye\r\n")?;
                return Err(end());
            }
            _ => "502 5.5.2 no such command\r\n".to_owned(),
        };
        self.write(reply.as_bytes())
    }

    fn extensions(&self) -> String {
        let mut reply = "250-mail.test\r\n250-SIZE 0\r\n".to_owned();
        if self.shared.has("PIPELINING") {
            reply.push_str("250-PIPELINING\r\n");
        }
        reply.push_str(if self.may_log_on() { "250-AUTH PLAIN\r\n" } else { "250-STARTTLS\r\n" });
        reply.push_str("250 8BITMIME\r\n");
        reply
    }

    fn take_message(&mut self) -> Result<()> {
        self.write(b"354 go on\r\n")?;
        let mut text = Vec::new();
        loop {
            let line = self.line()?;
            if line == "." {
                break;
            }
            // A line that begins with a dot has got another one.
            text.extend_from_slice(line.strip_prefix('.').unwrap_or(&line).as_bytes());
            text.extend_from_slice(b"\r\n");
        }
        if !self.deviate("", "END")? {
            return Ok(());
        }
        self.has_author = false;
        let recipients = std::mem::take(&mut self.recipients);
        let n_replies = if self.protocol == Protocol::Lmtp { recipients.len() } else { 1 };
        for user in recipients {
            self.shared.store().deliver(&user, &text);
        }
        self.write("250 2.0.0 taken\r\n".repeat(n_replies).as_bytes())
    }
}
