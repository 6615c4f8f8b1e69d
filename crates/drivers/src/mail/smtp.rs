//! Sessions over SMTP and LMTP, in which messages are handed to the server.
//!
//! | state | event | next |
//! |---|---|---|
//! | connected | the greeting; before it TLS, where that is there from the first byte | greeted |
//! | greeted | EHLO or LHLO | introduced |
//! | introduced | STARTTLS, where the client has to ask | connected, over TLS, without a greeting |
//! | | AUTH PLAIN, over SMTP | introduced |
//! | | MAIL, RCPT for each recipient, DATA, the message | introduced |
//! | any | a reply that cannot come, the end of the connection | lost |
//!
//! Where the server takes commands without waiting (PIPELINING), MAIL to DATA are sent at once. Over LMTP the message has a
//! reply for each recipient that was accepted, over SMTP one for all of them.

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail::{Message, MessageIdentity, Recipient};
use mailwire::smtp::{SmtpExtensions, SmtpReader, SmtpReply};

use super::MailContext;
use super::codes::Violation;
use super::failure::MailFailure;
use super::link::{MailLink, MailService, MailTraffic, ReplyProgress};

/// The command with which a session ends that is dropped.
const FAREWELL: &[u8] = b"QUIT\r\n";

/// The name by which a client introduces itself: an address, as it has no name.
const CLIENT: &str = "[127.0.0.1]";

/// The command that a message follows.
const DATA: &str = "DATA\r\n";

/// The line that ends a message.
const END_OF_MESSAGE: &[u8] = b".\r\n";

/// A protocol by which messages are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SmtpProtocol {
    /// Submission by a user.
    Smtp,
    /// Delivery into mailboxes (RFC 2033).
    Lmtp,
}

impl SmtpProtocol {
    /// Returns the command with which a client introduces itself.
    fn introduction(self) -> &'static str {
        match self {
            SmtpProtocol::Smtp => "EHLO",
            SmtpProtocol::Lmtp => "LHLO",
        }
    }
}

/// A function that is given the answer for a recipient, by its place.
pub(super) type EachAnswer<'a> = &'a mut dyn FnMut(usize, Result<(), MailFailure>);

/// A session.
#[derive(Debug)]
pub(super) struct SmtpSession {
    context: Rc<MailContext>,
    protocol: SmtpProtocol,
    link: MailLink,
    reader: SmtpReader,
    extensions: SmtpExtensions,
    n_exchanges: u64,
}

/// A message that is handed over, with those who get it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Envelope<'a> {
    pub(super) identity: MessageIdentity,
    pub(super) message: &'a Message,
    pub(super) recipients: &'a [Recipient],
}

impl SmtpSession {
    /// Connects, and introduces itself.
    ///
    /// # Errors
    /// There is no connection, the server breaks the protocol, or has no TLS where it is wanted.
    pub(super) async fn open(
        context: &Rc<MailContext>,
        service: &MailService,
        protocol: SmtpProtocol,
    ) -> Result<SmtpSession, MailFailure> {
        let mut session = SmtpSession {
            context: Rc::clone(context),
            protocol,
            link: service.connect(context.options.acknowledgment, &context.buffers).await?,
            reader: SmtpReader::new(),
            extensions: SmtpExtensions::default(),
            n_exchanges: 0,
        };
        session.reply(succeeded).await?.map_err(MailFailure::ending)?;
        session.introduce().await?;
        if service.starts_tls() {
            if !session.extensions.start_tls {
                return Err(MailFailure::violation(Violation::NoTls, 0));
            }
            session.command("STARTTLS\r\n", succeeded).await?.map_err(MailFailure::ending)?;
            session.link = service.encrypted(session.link).await?;
            session.introduce().await?;
        }
        session.link.set_farewell(FAREWELL);
        Ok(session)
    }

    /// Says who the client is, and learns the extensions of the server.
    async fn introduce(&mut self) -> Result<(), MailFailure> {
        let introduction = format!("{} {CLIENT}\r\n", self.protocol.introduction());
        let take = |reply: &SmtpReply<'_>| succeeded(reply).map(|()| SmtpExtensions::read(reply));
        self.extensions = self.command(&introduction, take).await?.map_err(MailFailure::ending)?;
        Ok(())
    }

    /// Logs a user on, by PLAIN (RFC 4954).
    ///
    /// # Errors
    /// The server does not offer it, does not let the user in, or breaks the protocol.
    pub(super) async fn log_on(&mut self, user: u32) -> Result<(), MailFailure> {
        if !self.extensions.auth_plain {
            return Err(MailFailure::violation(Violation::NoMechanism, 0));
        }
        let context = Rc::clone(&self.context);
        let accounts = &context.options.accounts;
        let name = accounts.name(&context.options.messages, user);
        let answer = STANDARD.encode(format!("\0{name}\0{}", accounts.password(user)));
        let authenticate = format!("AUTH PLAIN {answer}\r\n");
        let answered = self.command(&authenticate, succeeded).await;
        answered.flatten().map_err(MailFailure::of_login)
    }

    /// Returns the commands and bytes so far.
    pub(super) fn traffic(&self) -> MailTraffic {
        self.link.traffic(self.n_exchanges)
    }

    /// Hands a message over. `each` is given the answer for each recipient, by its place.
    ///
    /// # Errors
    /// The session is lost. Recipients of which `each` has heard nothing have no answer: the message may be delivered to them.
    pub(super) async fn hand_over(
        &mut self,
        envelope: &Envelope<'_>,
        each: EachAnswer<'_>,
    ) -> Result<(), MailFailure> {
        let farewell = self.link.take_farewell();
        let mut answers = vec![Ok(()); envelope.recipients.len()];
        let begun = self.begin(envelope, &mut answers).await;
        if let Err(lost) = begun {
            answers.iter_mut().filter(|answer| answer.is_ok()).for_each(|answer| *answer = Err(lost));
        }
        let (accepted, refused): (Vec<_>, Vec<_>) =
            answers.into_iter().enumerate().partition(|(_, answer)| answer.is_ok());
        refused.into_iter().for_each(|(place, answer)| each(place, answer));
        begun?;
        if !accepted.is_empty() {
            self.check_turn()?;
            self.link.send_message(&[], envelope.message, END_OF_MESSAGE).await?;
            self.take_answers(accepted.into_iter().map(|(place, _)| place), each).await?;
        }
        self.link.set_farewell(farewell);
        Ok(())
    }

    /// Names author and recipients, and has the server await the message. An answer of a recipient that is refused becomes
    /// the reason. If all are, nothing is awaited.
    async fn begin(
        &mut self,
        envelope: &Envelope<'_>,
        answers: &mut [Result<(), MailFailure>],
    ) -> Result<(), MailFailure> {
        let commands = self.commands(envelope);
        let is_pipelined = self.extensions.pipelining;
        if is_pipelined {
            self.send(&commands.concat()).await?;
        }
        let (first, recipients) = commands.split_first().expect("MAIL is the first of them");
        let mail = self.step(is_pipelined, first, succeeded).await?;
        for (recipient, answer) in recipients.iter().zip(answers.iter_mut()) {
            // Without MAIL there is nothing that a recipient could be named for.
            let named = match mail {
                Err(_) if !is_pipelined => mail,
                _ => self.step(is_pipelined, recipient, succeeded).await?,
            };
            *answer = mail.and(named);
        }
        let is_refused = answers.iter().all(Result::is_err);
        if is_refused && !is_pipelined {
            return self.reset().await;
        }
        match self.step(is_pipelined, DATA, intermediate).await? {
            // A server that awaits a message for nobody (RFC 2920, section 3.1).
            Ok(()) if is_refused => {
                let _ = self.step(false, ".\r\n", succeeded).await?;
            }
            Ok(()) => return Ok(()),
            Err(failure) => answers.iter_mut().for_each(|answer| *answer = answer.and(Err(failure))),
        }
        self.reset().await
    }

    /// Receives the answers to a message: one for each recipient that was accepted, or one for all of them.
    async fn take_answers(
        &mut self,
        accepted: impl Iterator<Item = usize>,
        each: EachAnswer<'_>,
    ) -> Result<(), MailFailure> {
        let mut of_all = None;
        for place in accepted {
            let answer = match of_all {
                Some(answer) => answer,
                None => self.reply(succeeded).await?,
            };
            each(place, answer);
            if self.protocol == SmtpProtocol::Smtp {
                of_all = Some(answer);
            }
        }
        Ok(())
    }

    /// Returns MAIL, a RCPT for each recipient, and DATA.
    fn commands(&self, envelope: &Envelope<'_>) -> Vec<String> {
        let Envelope { identity, message, recipients } = *envelope;
        let messages = &self.context.options.messages;
        let address = |recipient| messages.directory.address(recipient);
        let author = address(Recipient::User(messages.author(identity)));
        let size = match self.extensions.size_max {
            Some(_) => format!(" SIZE={}", message.bytes()),
            None => String::new(),
        };
        let mail = format!("MAIL FROM:<{author}>{size}\r\n");
        let named = recipients.iter().map(|recipient| format!("RCPT TO:<{}>\r\n", address(*recipient)));
        std::iter::once(mail).chain(named).chain([DATA.to_owned()]).collect()
    }

    /// Forgets a message that was begun. A session over SMTP has no other.
    async fn reset(&mut self) -> Result<(), MailFailure> {
        if self.protocol == SmtpProtocol::Lmtp {
            self.step(false, "RSET\r\n", succeeded).await?.map_err(MailFailure::ending)?;
        }
        Ok(())
    }

    /// Sends a command, unless that was done, and takes the reply.
    async fn step(
        &mut self,
        is_sent: bool,
        command: &str,
        take: fn(&SmtpReply<'_>) -> Result<(), MailFailure>,
    ) -> Result<Result<(), MailFailure>, MailFailure> {
        self.n_exchanges += 1;
        if !is_sent {
            self.send(command).await?;
        }
        self.reply(take).await
    }

    /// Sends a command and takes the reply.
    async fn command<T>(
        &mut self,
        command: &str,
        take: impl FnMut(&SmtpReply<'_>) -> Result<T, MailFailure>,
    ) -> Result<Result<T, MailFailure>, MailFailure> {
        self.n_exchanges += 1;
        self.send(command).await?;
        self.reply(take).await
    }

    async fn send(&mut self, commands: &str) -> Result<(), MailFailure> {
        self.check_turn()?;
        self.link.send(commands.as_bytes()).await
    }

    /// Checks that the server has not replied to something that it was not told: it would be taken for the next reply.
    fn check_turn(&self) -> Result<(), MailFailure> {
        if self.link.has_unread() { Err(MailFailure::violation(Violation::OutOfTurn, 0)) } else { Ok(()) }
    }

    /// Receives a reply. A refusal is what `take` says of it; one after which the server ends the session is an error.
    async fn reply<T>(
        &mut self,
        mut take: impl FnMut(&SmtpReply<'_>) -> Result<T, MailFailure>,
    ) -> Result<Result<T, MailFailure>, MailFailure> {
        let SmtpSession { link, reader, context, .. } = self;
        let mut take_bytes = |bytes: &[u8]| -> Result<ReplyProgress<Result<T, MailFailure>>, MailFailure> {
            let progress = reader.read(bytes)?;
            let reply = progress.reply.map(|reply| {
                take(&reply).inspect_err(|failure| {
                    context.texts.note(failure.code, reply.lines().next().unwrap_or_default());
                })
            });
            Ok(ReplyProgress { n_taken: progress.consumed, reply })
        };
        match link.receive(&mut take_bytes).await? {
            Err(failure) if failure.ends_session => Err(failure),
            answer => Ok(answer),
        }
    }
}

/// Takes a reply that is a success.
fn succeeded(reply: &SmtpReply<'_>) -> Result<(), MailFailure> {
    if reply.is_success() { Ok(()) } else { Err(MailFailure::smtp(reply)) }
}

/// Takes a reply by which the server awaits a message.
fn intermediate(reply: &SmtpReply<'_>) -> Result<(), MailFailure> {
    if reply.is_intermediate() { Ok(()) } else { Err(MailFailure::smtp(reply)) }
}
