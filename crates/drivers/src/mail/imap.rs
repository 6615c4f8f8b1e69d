//! A session over IMAP: its opening, and commands with the responses to them.
//!
//! | state | event | next |
//! |---|---|---|
//! | connected | the greeting; before it TLS, where that is there from the first byte | greeted |
//! | greeted | STARTTLS, where the client has to ask | encrypted |
//! | greeted, encrypted | AUTHENTICATE PLAIN, or LOGIN where that is not offered | logged on |
//! | logged on | SELECT | selected |
//! | selected | UNSELECT or CLOSE, a SELECT that fails | logged on |
//! | any | a contradiction, BYE, the end of the connection | lost |
//!
//! A load thread asks a server once for the capabilities that it has in a state, unless it tells them by itself.

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail::{Mailbox, Message};
use mailwire::imap::{
    CommandWriter, ExchangeFault, ExchangeProgress, ImapCapabilities, ImapCapability, ImapCode, ImapCommand,
    ImapEvent, ImapExchange, ImapReader, ImapResponse, ImapStatus, ImapTag, LiteralForm, SelectedMailbox,
    UNTAGGED_MAX,
};

use super::MailContext;
use super::codes::Violation;
use super::failure::{AnswerTexts, MailFailure};
use super::link::{MailLink, MailTraffic, ReplyProgress};

/// The command with which a session ends that is dropped; no other has its tag.
const FAREWELL: &[u8] = b"Q LOGOUT\r\n";

/// The most untagged responses to a command in a mailbox without messages, and those that each message may have besides.
const UNTAGGED_LEAST: u32 = 10_000;
const UNTAGGED_PER_MESSAGE: u32 = 4;

/// A state in which a server has capabilities of its own.
#[derive(Debug, Clone, Copy)]
enum SessionState {
    Greeted,
    Encrypted,
    LoggedOn,
}

/// The capabilities of a server, as far as it has told them, by the states in which it has them.
#[derive(Debug, Default)]
pub(super) struct ServerCapabilities([Cell<Option<ImapCapabilities>>; 3]);

/// A function that is given bodies and responses as they come: all but those by which a command fails.
pub(super) type EachEvent<'a> = &'a mut dyn FnMut(&ImapEvent<'_>) -> Result<(), MailFailure>;

/// Takes nothing of the responses to a command of which only success counts.
pub(super) fn nothing(_: &ImapEvent<'_>) -> Result<(), MailFailure> {
    Ok(())
}

/// A session of a user.
#[derive(Debug)]
pub(super) struct ImapSession {
    context: Rc<MailContext>,
    link: MailLink,
    responses: ResponseState,
    tag: ImapTag,
    capabilities: ImapCapabilities,
    /// The validity of UIDs in mailboxes that have been selected, by their places in the list of all.
    validities: [Option<u32>; 5],
    n_exchanges: u64,
}

/// The responses of a server, as far as they are about more than a command.
#[derive(Debug, Default)]
struct ResponseState {
    reader: ImapReader,
    /// The capabilities that were told since they were last asked for.
    told: Option<ImapCapabilities>,
    /// The mailbox that is selected, or being selected.
    selected: Option<(Mailbox, SelectedMailbox)>,
}

/// The progress of a command.
enum CommandStep {
    /// The server awaits the rest of it.
    Continue,
    /// It has ended.
    Done(Result<(), MailFailure>),
}

impl ImapSession {
    /// Connects, and logs a user on.
    ///
    /// # Errors
    /// There is no connection, the server breaks the protocol, has no TLS where it is wanted, or does not let the user in.
    pub(super) async fn open(context: &Rc<MailContext>, user: u32) -> Result<ImapSession, MailFailure> {
        let service = &context.mailboxes;
        let mut session = ImapSession {
            context: Rc::clone(context),
            link: service.connect(context.options.acknowledgment, &context.buffers).await?,
            responses: ResponseState::default(),
            tag: ImapTag::default(),
            capabilities: ImapCapabilities::default(),
            validities: [None; 5],
            n_exchanges: 0,
        };
        session.greeting().await?;
        let mut state = SessionState::Greeted;
        if service.starts_tls() {
            session.start_tls().await?;
            session.link = service.encrypted(session.link).await?;
            // Capabilities that were told without encryption may be somebody else's.
            session.responses.told = None;
            state = SessionState::Encrypted;
        }
        let offered = session.capabilities_in(state).await?;
        session.log_on(offered, user).await.map_err(MailFailure::of_login)?;
        session.capabilities = session.capabilities_in(SessionState::LoggedOn).await?;
        session.link.set_farewell(FAREWELL);
        Ok(session)
    }

    /// Receives what a server says first.
    async fn greeting(&mut self) -> Result<(), MailFailure> {
        let ImapSession { link, responses, context, .. } = self;
        link.receive(&mut |bytes| responses.take_greeting(bytes, &context.texts)).await
    }

    async fn start_tls(&mut self) -> Result<(), MailFailure> {
        if !self.capabilities_in(SessionState::Greeted).await?.has(ImapCapability::StartTls) {
            return Err(MailFailure::violation(Violation::NoTls, 0));
        }
        let start = self.command("STARTTLS").finish();
        self.perform(&start, &mut nothing).await.map_err(MailFailure::ending)
    }

    /// Returns the capabilities of the server in a state.
    async fn capabilities_in(&mut self, state: SessionState) -> Result<ImapCapabilities, MailFailure> {
        let context = Rc::clone(&self.context);
        let ServerCapabilities(known) = &context.capabilities;
        let known = &known[state as usize];
        if let Some(capabilities) = known.get() {
            return Ok(capabilities);
        }
        if self.responses.told.is_none() {
            let ask = self.command("CAPABILITY").finish();
            self.perform(&ask, &mut nothing).await.map_err(MailFailure::ending)?;
        }
        let missing = MailFailure::violation(Violation::Missing, 0).ending();
        let told = self.responses.told.take().ok_or(missing)?;
        known.set(Some(told));
        Ok(told)
    }

    async fn log_on(&mut self, offered: ImapCapabilities, user: u32) -> Result<(), MailFailure> {
        // Those that follow are of the user.
        self.responses.told = None;
        let context = Rc::clone(&self.context);
        let accounts = &context.options.accounts;
        let name = accounts.name(&context.options.messages, user);
        let password = accounts.password(user);
        if offered.has(ImapCapability::AuthPlain) {
            let answer = STANDARD.encode(format!("\0{name}\0{password}"));
            return self.authenticate(offered, &answer).await;
        }
        if offered.has(ImapCapability::LoginDisabled) {
            return Err(MailFailure::violation(Violation::NoMechanism, 0));
        }
        self.tag = self.tag.next();
        let login = CommandWriter::new(self.tag, LiteralForm::of(offered), "LOGIN");
        let login = login.text(&name).text(password).finish();
        self.perform(&login, &mut nothing).await
    }

    /// Authenticates by PLAIN (RFC 4616), whose answer is part of the command where the server takes that.
    async fn authenticate(&mut self, offered: ImapCapabilities, answer: &str) -> Result<(), MailFailure> {
        self.tag = self.tag.next();
        let tag = self.tag;
        let parts = if offered.has(ImapCapability::InitialResponse) {
            vec![format!("{tag} AUTHENTICATE PLAIN {answer}\r\n")]
        } else {
            vec![format!("{tag} AUTHENTICATE PLAIN\r\n"), format!("{answer}\r\n")]
        };
        let exchange = ImapExchange::new(tag, parts.len() as u32 - 1);
        self.exchange(exchange, parts.iter().map(String::as_bytes), None, &mut nothing).await
    }

    /// Returns the name of a mailbox on the server.
    pub(super) fn mailbox_name(&self, mailbox: Mailbox) -> String {
        self.context.options.names.name(mailbox)
    }

    /// Returns whether the server has a capability, now that the user is logged on.
    pub(super) fn has(&self, capability: ImapCapability) -> bool {
        self.capabilities.has(capability)
    }

    /// Returns the mailbox that is selected.
    pub(super) fn selected(&self) -> Option<(Mailbox, SelectedMailbox)> {
        self.responses.selected
    }

    /// Returns the commands and bytes so far.
    pub(super) fn traffic(&self) -> MailTraffic {
        self.link.traffic(self.n_exchanges)
    }

    /// Begins a command: its name, and what belongs to it, such as `UID FETCH`.
    pub(super) fn command(&mut self, name: &'static str) -> CommandWriter {
        self.tag = self.tag.next();
        CommandWriter::new(self.tag, LiteralForm::of(self.capabilities), name)
    }

    /// Performs a command.
    ///
    /// # Errors
    /// The server does not do what it is told, breaks the protocol or ends the session, or `each` fails.
    pub(super) async fn perform(
        &mut self,
        command: &ImapCommand,
        each: EachEvent<'_>,
    ) -> Result<(), MailFailure> {
        self.exchange(command.exchange(), command.parts(), None, each).await
    }

    /// Performs a command whose last literal is a message.
    ///
    /// # Errors
    /// As [`ImapSession::perform`].
    pub(super) async fn perform_with_message(
        &mut self,
        command: &ImapCommand,
        message: &Message,
    ) -> Result<(), MailFailure> {
        self.exchange(command.exchange(), command.parts(), Some(message), &mut nothing).await
    }

    /// Selects a mailbox.
    ///
    /// # Errors
    /// The server does not do it, or its UIDs are others than before.
    pub(super) async fn select(&mut self, mailbox: Mailbox) -> Result<(), MailFailure> {
        let name = self.mailbox_name(mailbox);
        let select = self.command("SELECT").text(&name).finish();
        let before = self.validities[mailbox as usize];
        self.responses.selected = Some((mailbox, SelectedMailbox::new(before)));
        if let Err(failure) = self.perform(&select, &mut nothing).await {
            self.responses.selected = None;
            return Err(failure);
        }
        if let Some((_, selected)) = &self.responses.selected {
            self.validities[mailbox as usize] = selected.validity();
        }
        Ok(())
    }

    /// Closes the mailbox that is selected, if there is one.
    ///
    /// # Errors
    /// The server does not do it.
    pub(super) async fn unselect(&mut self) -> Result<(), MailFailure> {
        if self.responses.selected.is_none() {
            return Ok(());
        }
        // CLOSE removes what is marked as deleted, of which we leave nothing.
        let name = if self.has(ImapCapability::Unselect) { "UNSELECT" } else { "CLOSE" };
        let close = self.command(name).finish();
        self.perform(&close, &mut nothing).await?;
        self.responses.selected = None;
        Ok(())
    }

    /// Ends the session, and waits for the server's last word.
    ///
    /// # Errors
    /// The server breaks the protocol.
    pub(super) async fn log_out(mut self) -> Result<MailTraffic, MailFailure> {
        self.tag = self.tag.next();
        let logout = format!("{} LOGOUT\r\n", self.tag);
        let exchange = ImapExchange::logout(self.tag);
        self.exchange(exchange, [logout.as_bytes()].into_iter(), None, &mut nothing).await?;
        self.link.take_farewell();
        Ok(self.traffic())
    }

    /// Returns the most untagged responses that a command may have.
    fn untagged_max(&self) -> u32 {
        let n_messages = self.selected().and_then(|(_, selected)| selected.n_messages()).unwrap_or(0);
        UNTAGGED_LEAST.saturating_add(n_messages.saturating_mul(UNTAGGED_PER_MESSAGE)).min(UNTAGGED_MAX)
    }

    /// Sends the parts of a command as the server awaits them, the last one with the message that it has as a literal, and
    /// takes the responses.
    async fn exchange<'p>(
        &mut self,
        exchange: ImapExchange,
        parts: impl Iterator<Item = &'p [u8]>,
        message: Option<&Message>,
        each: EachEvent<'_>,
    ) -> Result<(), MailFailure> {
        self.n_exchanges += 1;
        let mut exchange = exchange.with_untagged_max(self.untagged_max());
        let farewell = self.link.take_farewell();
        let mut parts = parts.peekable();
        let answer = loop {
            let part = parts.next().unwrap_or_default();
            match message.filter(|_| parts.peek().is_none()) {
                Some(message) => self.link.send_message(part, message, b"\r\n").await?,
                None => self.link.send(part).await?,
            }
            let ImapSession { link, responses, context, .. } = self;
            let take = &mut |bytes: &[u8]| responses.take(bytes, &mut exchange, &context.texts, each);
            match link.receive(take).await? {
                CommandStep::Continue => {}
                CommandStep::Done(answer) => break answer,
            }
        };
        self.link.set_farewell(farewell);
        answer
    }
}

impl ResponseState {
    /// Takes what has arrived of the responses to a command.
    fn take(
        &mut self,
        bytes: &[u8],
        exchange: &mut ImapExchange,
        texts: &AnswerTexts,
        each: EachEvent<'_>,
    ) -> Result<ReplyProgress<CommandStep>, MailFailure> {
        let mut n_taken = 0;
        while n_taken < bytes.len() {
            let progress = self.reader.read(&bytes[n_taken..])?;
            n_taken += progress.consumed;
            let Some(event) = progress.event else { continue };
            let ImapEvent::Response(response) = &event else {
                each(&event)?;
                continue;
            };
            note_capabilities(response, &mut self.told);
            let step = exchange.take(response).map_err(|fault| of_exchange(fault, response, texts))?;
            if step == ExchangeProgress::Continue {
                return Ok(ReplyProgress { n_taken, reply: Some(CommandStep::Continue) });
            }
            if let Some((_, selected)) = &mut self.selected {
                selected.take(response)?;
            }
            let answer = match step {
                ExchangeProgress::Done(status) => Some(answer(status, response, texts)),
                ExchangeProgress::More | ExchangeProgress::Continue => None,
            };
            if !matches!(answer, Some(Err(_))) {
                each(&event)?;
            }
            if let Some(answer) = answer {
                return Ok(ReplyProgress { n_taken, reply: Some(CommandStep::Done(answer)) });
            }
        }
        Ok(ReplyProgress { n_taken, reply: None })
    }

    /// Takes what has arrived of a greeting.
    fn take_greeting(&mut self, bytes: &[u8], texts: &AnswerTexts) -> Result<ReplyProgress<()>, MailFailure> {
        let mut n_taken = 0;
        while n_taken < bytes.len() {
            let progress = self.reader.read(&bytes[n_taken..])?;
            n_taken += progress.consumed;
            let Some(ImapEvent::Response(response)) = progress.event else { continue };
            note_capabilities(&response, &mut self.told);
            return match response {
                ImapResponse::Status { status: ImapStatus::Ok, .. } => {
                    Ok(ReplyProgress { n_taken, reply: Some(()) })
                }
                ImapResponse::Status { status: ImapStatus::Bye, .. } => {
                    Err(of_exchange(ExchangeFault::Bye, &response, texts))
                }
                // One that lets us in as somebody without asking, too.
                _ => Err(MailFailure::violation(Violation::OutOfTurn, 0)),
            };
        }
        Ok(ReplyProgress { n_taken, reply: None })
    }
}

/// Returns the answer that ends a command.
fn answer(status: ImapStatus, response: &ImapResponse<'_>, texts: &AnswerTexts) -> Result<(), MailFailure> {
    let ImapResponse::Tagged { code, text, .. } = response else { return Ok(()) };
    if status == ImapStatus::Ok {
        return Ok(());
    }
    let failure = MailFailure::imap(status, *code);
    texts.note(failure.code, text);
    Err(failure)
}

/// Returns the failure of a command that had a response which it cannot have.
fn of_exchange(fault: ExchangeFault, response: &ImapResponse<'_>, texts: &AnswerTexts) -> MailFailure {
    let failure = MailFailure::from(fault);
    if let ImapResponse::Status { text, .. } = response {
        texts.note(failure.code, text);
    }
    failure
}

/// Keeps the capabilities that a response tells, by itself or in its code.
fn note_capabilities(response: &ImapResponse<'_>, told: &mut Option<ImapCapabilities>) {
    match response {
        ImapResponse::Capability(text)
        | ImapResponse::Status { code: Some(ImapCode::Capability(text)), .. }
        | ImapResponse::Tagged { code: Some(ImapCode::Capability(text)), .. } => {
            *told = Some(ImapCapabilities::read(text));
        }
        _ => {}
    }
}
