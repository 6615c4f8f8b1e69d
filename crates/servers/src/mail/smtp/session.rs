//! A session of a client, from the greeting to the end.
//!
//! | state | command | next |
//! |---|---|---|
//! | new | EHLO, HELO; LHLO by LMTP | greeted |
//! | greeted | AUTH, by submission only | greeted, and logged on if name and password are right |
//! | greeted and logged on; greeted by LMTP | MAIL | a message has begun |
//! | a message has begun | RCPT | the same, with a recipient if it is known |
//! | | DATA, with a recipient | greeted, after the message |
//! | any but new | EHLO, HELO, LHLO, RSET | greeted |
//! | any | QUIT, too many errors | ended |
//!
//! Any other command is answered with 503, and changes nothing.

use std::rc::Rc;

use super::command::{SmtpVerb, path_arguments, read_line};
use super::data::TextDecoder;
use super::delivery::{Delivery, altered};
use crate::mail::connection::{Connection, ConnectionEnd, clear};
use crate::mail::fault::{FaultExchange, MailFaultAction};
use crate::mail::sasl::plain_credentials;
use crate::mail::store::{MailStore, ReceiptError, StoredContent, Trace, today};
use crate::mail::worker::Worker;

/// The most bytes of a line; that of AUTH is the longest (RFC 4954, 4).
const LINE_BYTES_MAX: usize = 12_288;

/// The most recipients of a message: ten times what must be taken (RFC 5321, 4.5.3.1.8).
const RECIPIENTS_MAX: usize = 1000;

/// Errors of a client after which its session ends.
const ERRORS_MAX: u32 = 50;

const SYNTAX: &str = "501 5.5.4 the arguments are wrong";
const SEQUENCE: &str = "503 5.5.1 not in this state of the session";
const FULL: &str = "552 5.2.2 the mailbox is full";
const DELIVERED: &str = "250 2.0.0 delivered";
const NOT_NOW: &str = "451 4.3.0 not now";

/// The service that speaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Users submit messages.
    Submission,
    /// Another server delivers messages, each with a reply for each recipient.
    Lmtp,
}

/// A session of a client.
#[derive(Debug)]
struct SmtpSession {
    connection: Connection,
    worker: Rc<Worker>,
    transport: Transport,
    is_greeted: bool,
    user: Option<u32>,
    /// The message that has begun.
    envelope: Option<MessageEnvelope>,
    n_errors: u32,
}

/// The sender and the recipients of a message; the latter may be there twice.
#[derive(Debug)]
struct MessageEnvelope {
    sender: Box<str>,
    recipients: Vec<u32>,
}

/// Whether a session goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoOn,
    End,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Submission => "ESMTP",
            Transport::Lmtp => "LMTP",
        }
    }

    /// Returns the name of the protocol in trace fields (RFC 3848).
    fn trace_name(self) -> &'static str {
        match self {
            Transport::Submission => "ESMTPA",
            Transport::Lmtp => "LMTP",
        }
    }
}

/// Serves a client until its session ends.
pub(crate) async fn serve_smtp(connection: Connection, transport: Transport) {
    let worker = Rc::clone(connection.worker());
    let (is_greeted, user, envelope, n_errors) = (false, None, None, 0);
    let mut session = SmtpSession { connection, worker, transport, is_greeted, user, envelope, n_errors };
    if let Err(end) = session.run().await {
        let farewell = match end {
            ConnectionEnd::Closed => return,
            ConnectionEnd::Idle => "421 4.4.2 idle for too long",
            ConnectionEnd::LineTooLong => "500 5.5.2 the line is too long",
        };
        session.connection.put_line(farewell);
    }
    session.connection.close().await;
}

impl SmtpSession {
    async fn run(&mut self) -> Result<(), ConnectionEnd> {
        match self.worker.fault(FaultExchange::Greeting).await {
            Some(MailFaultAction::Stall) => return Err(self.connection.read_to_end().await),
            Some(_) => {
                self.reply("421 4.3.2 not now");
                return Ok(());
            }
            None => self.reply(&format!("220 plimsoll.invalid {} Plimsoll mail", self.transport.name())),
        }
        let mut line = Vec::new();
        loop {
            clear(&mut line);
            self.connection.read_line(&mut line, LINE_BYTES_MAX).await?;
            if self.perform(&line).await? == Flow::End {
                return Ok(());
            }
            if ERRORS_MAX <= self.n_errors {
                self.reply("421 4.7.0 too many errors");
                return Ok(());
            }
        }
    }

    fn store(&self) -> &MailStore {
        self.worker.store()
    }

    /// Appends a reply, which counts as an error of the client if it says that one was made.
    fn reply(&mut self, line: &str) {
        self.n_errors += u32::from(line.starts_with('5'));
        self.connection.put_line(line);
    }

    async fn perform(&mut self, line: &[u8]) -> Result<Flow, ConnectionEnd> {
        let Some((verb, arguments)) = read_line(line) else {
            self.reply("500 5.5.2 there is no such command");
            return Ok(Flow::GoOn);
        };
        match verb {
            SmtpVerb::Helo | SmtpVerb::Ehlo | SmtpVerb::Lhlo => self.greet(verb, arguments),
            SmtpVerb::Auth => self.authenticate(arguments).await?,
            SmtpVerb::Mail => self.begin_message(arguments),
            SmtpVerb::Rcpt => self.add_recipient(arguments).await,
            SmtpVerb::Data => return self.data(arguments).await,
            SmtpVerb::Rset => {
                self.envelope = None;
                self.reply("250 2.0.0 forgotten");
            }
            SmtpVerb::Noop => self.reply("250 2.0.0 here"),
            SmtpVerb::Vrfy => self.reply("252 2.1.5 send a message and see"),
            SmtpVerb::Quit => {
                self.reply("221 2.0.0 goodbye");
                return Ok(Flow::End);
            }
        }
        Ok(Flow::GoOn)
    }

    fn greet(&mut self, verb: SmtpVerb, arguments: &str) {
        if (verb == SmtpVerb::Lhlo) != (self.transport == Transport::Lmtp) {
            return self.reply("500 5.5.1 that greeting is another protocol's");
        }
        if arguments.is_empty() {
            return self.reply(SYNTAX);
        }
        self.is_greeted = true;
        self.envelope = None;
        if verb == SmtpVerb::Helo {
            return self.reply("250 plimsoll.invalid");
        }
        let size = format!("250-SIZE {}", self.store().message_bytes_max());
        self.reply("250-plimsoll.invalid");
        self.reply("250-PIPELINING");
        self.reply(&size);
        if self.transport == Transport::Submission {
            self.reply("250-AUTH PLAIN");
        }
        self.reply("250-8BITMIME");
        self.reply("250 ENHANCEDSTATUSCODES");
    }

    async fn authenticate(&mut self, arguments: &str) -> Result<(), ConnectionEnd> {
        if self.transport == Transport::Lmtp {
            self.reply("502 5.5.1 nobody logs on here");
            return Ok(());
        }
        if !self.is_greeted || self.user.is_some() || self.envelope.is_some() {
            self.reply(SEQUENCE);
            return Ok(());
        }
        let (mechanism, initial) = arguments.split_once(' ').unwrap_or((arguments, ""));
        if !mechanism.eq_ignore_ascii_case("PLAIN") {
            self.reply("504 5.5.4 there is only PLAIN");
            return Ok(());
        }
        let mut answer = initial.as_bytes().to_vec();
        if answer.is_empty() {
            self.reply("334 ");
            self.connection.read_line(&mut answer, LINE_BYTES_MAX).await?;
        }
        let Some((name, password)) = plain_credentials(answer.trim_ascii()) else {
            self.reply("501 5.5.2 the answer cannot be read");
            return Ok(());
        };
        let user = self.store().log_on(&name, &password);
        let is_refused = user.is_some() && self.worker.fault(FaultExchange::LogOn).await.is_some();
        self.user = user.filter(|_| !is_refused);
        match self.user {
            Some(_) => self.reply("235 2.7.0 logged on"),
            None => self.reply("535 5.7.8 name or password is wrong"),
        }
        Ok(())
    }

    fn begin_message(&mut self, arguments: &str) {
        if !self.is_greeted || self.envelope.is_some() {
            return self.reply(SEQUENCE);
        }
        if self.transport == Transport::Submission && self.user.is_none() {
            return self.reply("530 5.7.0 log on first");
        }
        let Some(path) = path_arguments(arguments, "FROM:") else { return self.reply(SYNTAX) };
        for (name, value) in path.parameters() {
            match name.to_ascii_uppercase().as_str() {
                "SIZE" => match value.parse::<u64>() {
                    Ok(bytes) if bytes <= self.store().message_bytes_max() => {}
                    Ok(_) => return self.reply("552 5.3.4 the message is too large"),
                    Err(_) => return self.reply(SYNTAX),
                },
                "BODY" if ["7BIT", "8BITMIME"].iter().any(|known| value.eq_ignore_ascii_case(known)) => {}
                // The user on whose behalf it is sent (RFC 4954, 5), which nobody asks for.
                "AUTH" => {}
                _ => return self.reply("555 5.5.4 there is no such parameter"),
            }
        }
        self.envelope = Some(MessageEnvelope { sender: path.address.into(), recipients: Vec::new() });
        self.reply("250 2.1.0 go on");
    }

    async fn add_recipient(&mut self, arguments: &str) {
        let Some(envelope) = &self.envelope else { return self.reply(SEQUENCE) };
        if RECIPIENTS_MAX <= envelope.recipients.len() {
            return self.reply("452 4.5.3 there are too many recipients");
        }
        let Some(path) = path_arguments(arguments, "TO:") else { return self.reply(SYNTAX) };
        if path.parameters().next().is_some() {
            return self.reply("555 5.5.4 there is no such parameter");
        }
        let Some(user) = self.store().user(path.address.as_bytes()) else {
            let is_ours = path.address.rsplit_once('@').is_none_or(|(_, domain)| self.is_own_domain(domain));
            let refusal = if is_ours {
                "550 5.1.1 there is no such user"
            } else {
                "550 5.7.1 that is no domain of this server"
            };
            return self.reply(refusal);
        };
        if self.worker.fault(FaultExchange::Recipient).await.is_some() {
            return self.reply("450 4.2.0 not now");
        }
        if let Some(envelope) = &mut self.envelope {
            envelope.recipients.push(user);
        }
        self.reply("250 2.1.5 go on");
    }

    fn is_own_domain(&self, domain: &str) -> bool {
        domain.eq_ignore_ascii_case(self.store().domain())
    }

    async fn data(&mut self, arguments: &str) -> Result<Flow, ConnectionEnd> {
        if !arguments.is_empty() {
            self.reply(SYNTAX);
            return Ok(Flow::GoOn);
        }
        let Some(envelope) = self.envelope.take() else {
            self.reply(SEQUENCE);
            return Ok(Flow::GoOn);
        };
        if envelope.recipients.is_empty() {
            self.envelope = Some(envelope);
            self.reply("503 5.5.1 there are no recipients");
            return Ok(Flow::GoOn);
        }
        self.reply("354 go on");
        let received = self.receive().await?;
        let fault = self.worker.fault(FaultExchange::Submission).await;
        // By LMTP, each recipient has a reply.
        let n_replies = if self.transport == Transport::Lmtp { envelope.recipients.len() } else { 1 };
        let refusal = match (fault, &received) {
            (_, Err(ReceiptError::TooLarge)) => Some("552 5.3.4 the message is too large"),
            (_, Err(ReceiptError::NoMemory)) => Some("452 4.3.1 there is no memory for the message now"),
            (Some(MailFaultAction::Full), _) => Some(FULL),
            (Some(MailFaultAction::Defer), _) => Some(NOT_NOW),
            (Some(MailFaultAction::Bye), _) => {
                self.reply("421 4.3.2 not now");
                return Ok(Flow::End);
            }
            _ => None,
        };
        match (refusal, received) {
            (None, Ok(content)) => self.deliver(content, &envelope, fault),
            (refusal, _) => (0..n_replies).for_each(|_| self.reply(refusal.unwrap_or(NOT_NOW))),
        }
        if fault == Some(MailFaultAction::Close) {
            self.connection.output().clear();
            return Ok(Flow::End);
        }
        Ok(Flow::GoOn)
    }

    async fn receive(&mut self) -> Result<Result<StoredContent, ReceiptError>, ConnectionEnd> {
        let mut receiver = self.store().receiver();
        let mut decoder = TextDecoder::default();
        loop {
            let messages = self.worker.store().messages();
            let input = self.connection.read_some().await?;
            let (n, has_ended) = decoder.decode(input, |bytes| receiver.feed(bytes, messages));
            self.connection.consume(n);
            if has_ended {
                return Ok(receiver.finish());
            }
        }
    }

    /// Delivers a message: by SMTP to all or nobody, by LMTP to each who has room.
    fn deliver(
        &mut self,
        content: StoredContent,
        envelope: &MessageEnvelope,
        fault: Option<MailFaultAction>,
    ) {
        let content = if fault == Some(MailFaultAction::Alter) {
            altered(content, self.store().messages())
        } else {
            content
        };
        let (sender, protocol) = (envelope.sender.clone(), self.transport.trace_name());
        let mut delivery = Delivery::new(content, Trace { sender, protocol, date: today() });
        let mut are_reached: Vec<(u32, bool)> = Vec::with_capacity(envelope.recipients.len());
        for user in &envelope.recipients {
            let known =
                are_reached.iter().find(|(other, _)| other == user).map(|(_, is_reached)| *is_reached);
            // Who is named twice gets one.
            let is_reached = known.unwrap_or_else(|| delivery.add_recipient(self.store(), *user).is_ok());
            are_reached.push((*user, is_reached));
        }
        let reply = |is_reached: bool| if is_reached { DELIVERED } else { FULL };
        match self.transport {
            Transport::Lmtp => {
                delivery.deliver_with_fault(fault);
                are_reached.iter().for_each(|(_, is_reached)| self.reply(reply(*is_reached)));
            }
            Transport::Submission => {
                let is_whole = are_reached.iter().all(|(_, is_reached)| *is_reached);
                if is_whole {
                    delivery.deliver_with_fault(fault);
                }
                self.reply(reply(is_whole));
            }
        }
    }
}
