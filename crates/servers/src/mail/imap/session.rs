//! A session of a client, from the greeting to the end.
//!
//! | state | event | next |
//! |---|---|---|
//! | logged off | LOGIN, AUTHENTICATE | logged on, unless name or password is wrong |
//! | logged on | SELECT, EXAMINE | selected |
//! | selected | the same | selected, or logged on if there is no such mailbox |
//! | | CLOSE, UNSELECT | logged on |
//! | any | LOGOUT, the end of the connection, too many errors | ended |
//!
//! Whatever else a client sends is answered with BAD, and changes nothing. What commands do is in the other modules.

use std::rc::Rc;
use std::sync::Arc;

use super::command::{Command, CommandError, Messages, NeededState, read_command};
use super::mailbox_commands::no_mailbox;
use super::view::{MailboxView, NoSuchMessage};
use crate::mail::connection::{Connection, ConnectionEnd, clear};
use crate::mail::fault::{FaultExchange, MailFaultAction};
use crate::mail::sasl::plain_credentials;
use crate::mail::store::{Account, MailStore, SharedMailbox};
use crate::mail::worker::Worker;

/// The most bytes of a command with its literals, without a message.
const COMMAND_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a line of authentication, and of the end of IDLE.
pub(super) const ANSWER_BYTES_MAX: usize = 4096;

/// Errors of a client after which its session ends.
const ERRORS_MAX: u32 = 50;

/// The capabilities, before the log-on and behind it.
const CAPABILITIES: &str = "IMAP4rev1 SASL-IR LITERAL+ AUTH=PLAIN IDLE UNSELECT UIDPLUS MOVE ESEARCH";

/// Bytes that are no reply.
const GARBAGE: &[u8] = b"\x80\x81 this is no reply (\r\n";

/// A session of a client.
#[derive(Debug)]
pub(super) struct ImapSession {
    pub(super) connection: Connection,
    pub(super) worker: Rc<Worker>,
    pub(super) user: Option<u32>,
    pub(super) view: Option<MailboxView>,
    n_errors: u32,
}

/// The end of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completion {
    Ok(String),
    No(String),
    Bad(&'static str),
    /// The session ends after the reply.
    Logout,
}

impl Completion {
    pub(super) fn ok(text: &str) -> Completion {
        Completion::Ok(text.to_owned())
    }

    pub(super) fn no(text: &str) -> Completion {
        Completion::No(text.to_owned())
    }
}

impl From<NoSuchMessage> for Completion {
    fn from(NoSuchMessage: NoSuchMessage) -> Completion {
        Completion::Bad("there is no such message")
    }
}

/// What a client that is not read before its session ends is told.
fn farewell(end: ConnectionEnd) -> Option<&'static str> {
    match end {
        ConnectionEnd::Closed => None,
        ConnectionEnd::Idle => Some("* BYE idle for too long"),
        ConnectionEnd::LineTooLong => Some("* BYE a command is too long"),
    }
}

/// Serves a client until its session ends.
pub(crate) async fn serve_imap(connection: Connection) {
    let worker = Rc::clone(connection.worker());
    let mut session = ImapSession { connection, worker, user: None, view: None, n_errors: 0 };
    if let Err(end) = session.run().await
        && let Some(farewell) = farewell(end)
    {
        session.connection.put_line(farewell);
    }
    session.connection.close().await;
}

impl ImapSession {
    async fn run(&mut self) -> Result<(), ConnectionEnd> {
        match self.worker.fault(FaultExchange::Greeting).await {
            Some(MailFaultAction::Stall) => return Err(self.connection.read_to_end().await),
            Some(_) => {
                self.connection.put_line("* BYE not now");
                return Ok(());
            }
            None => self.connection.put_line(&format!("* OK [CAPABILITY {CAPABILITIES}] Plimsoll mail")),
        }
        let mut command = Vec::new();
        loop {
            clear(&mut command);
            if self.read_command(&mut command).await? && !self.perform(&command).await? {
                return Ok(());
            }
            // The next command may have arrived: its client need not have read a reply.
            self.connection.flush_some().await?;
            if ERRORS_MAX <= self.n_errors {
                self.connection.put_line("* BYE too many errors");
                return Ok(());
            }
        }
    }

    pub(super) fn store(&self) -> &MailStore {
        self.worker.store()
    }

    /// Returns the account of the user, who is logged on.
    pub(super) fn account(&self) -> Option<&Account> {
        self.user.map(|user| self.store().account(user))
    }

    /// Reads a command with its literals, without the end of its last line. Returns false for one that has been answered.
    async fn read_command(&mut self, command: &mut Vec<u8>) -> Result<bool, ConnectionEnd> {
        // The begin of the part behind the last literal.
        let mut part = 0;
        loop {
            self.connection.read_line(command, COMMAND_BYTES_MAX).await?;
            let Some(literal) = announced_literal(&command[part..]) else {
                command.pop();
                command.pop_if(|byte| *byte == b'\r');
                return Ok(true);
            };
            if self.append(command, literal).await? {
                return Ok(false);
            }
            let room = (COMMAND_BYTES_MAX - command.len()) as u64;
            if room < literal.bytes {
                return self.refuse_literal(command, literal);
            }
            if !literal.is_at_once {
                self.connection.put_line("+ go on");
            }
            let end = command.len() + literal.bytes as usize;
            while command.len() < end {
                let bytes = self.connection.read_some().await?;
                let n = bytes.len().min(end - command.len());
                command.extend_from_slice(&bytes[..n]);
                self.connection.consume(n);
            }
            part = end;
        }
    }

    fn refuse_literal(&mut self, command: &[u8], literal: Literal) -> Result<bool, ConnectionEnd> {
        if literal.is_at_once {
            return Err(ConnectionEnd::LineTooLong);
        }
        let tag = tag_of(command).to_owned();
        self.complete(&tag, Completion::Bad("the literal is too long"));
        Ok(false)
    }

    /// Performs a command; returns whether the session goes on.
    async fn perform(&mut self, line: &[u8]) -> Result<bool, ConnectionEnd> {
        let Some(parsed) = read_command(line) else {
            self.n_errors += 1;
            self.connection.put_line("* BAD there is no tag");
            return Ok(true);
        };
        let (tag, completion) = match parsed.command {
            Ok((needs, command)) if self.is_in(needs) => {
                return self.perform_with_fault(parsed.tag, command).await;
            }
            Ok(_) => (parsed.tag, Completion::Bad("not in this state of the session")),
            Err(CommandError::Unknown) => (parsed.tag, Completion::Bad("there is no such command")),
            Err(CommandError::Arguments) => (parsed.tag, Completion::Bad("the arguments are wrong")),
        };
        self.complete(tag, completion);
        Ok(true)
    }

    fn is_in(&self, needs: NeededState) -> bool {
        match needs {
            NeededState::Any => true,
            NeededState::LoggedOff => self.user.is_none(),
            NeededState::LoggedOn => self.user.is_some(),
            NeededState::Selected => self.view.is_some(),
        }
    }

    async fn perform_with_fault(&mut self, tag: &str, command: Command) -> Result<bool, ConnectionEnd> {
        let is_measured = self.user.is_some() && command != Command::Logout;
        let fault = if is_measured { self.worker.fault(FaultExchange::Command).await } else { None };
        let wrong_tag = format!("{tag}x");
        let mut answered = tag;
        match fault {
            Some(MailFaultAction::Refuse) => {
                self.complete(tag, Completion::no("[UNAVAILABLE] not now"));
                return Ok(true);
            }
            Some(MailFaultAction::Bye) => {
                self.connection.put_line("* BYE not now");
                return Ok(false);
            }
            Some(MailFaultAction::Close) => return Ok(false),
            Some(MailFaultAction::Stall) => return Err(self.connection.read_to_end().await),
            Some(MailFaultAction::EndlessReplies) => loop {
                self.connection.put_line("* OK still here");
                self.connection.flush_some().await?;
            },
            Some(MailFaultAction::Garbage) => self.connection.output().extend_from_slice(GARBAGE),
            Some(MailFaultAction::Shrink) => self.connection.put_line("* 0 EXISTS"),
            Some(MailFaultAction::WrongTag) => answered = &wrong_tag,
            _ => {}
        }
        let start = self.connection.output().len();
        let completion = self.execute(tag, command).await?;
        let goes_on = completion != Completion::Logout;
        self.complete(answered, completion);
        if fault == Some(MailFaultAction::ShortReply) {
            let output = self.connection.output();
            let start = start.min(output.len());
            output.truncate(start + (output.len() - start) / 2);
            return Ok(false);
        }
        Ok(goes_on)
    }

    /// Appends the end of a command to the replies.
    pub(super) fn complete(&mut self, tag: &str, completion: Completion) {
        let line = match completion {
            Completion::Ok(text) => format!("{tag} OK {text}"),
            Completion::No(text) => format!("{tag} NO {text}"),
            Completion::Bad(text) => {
                self.n_errors += 1;
                format!("{tag} BAD {text}")
            }
            Completion::Logout => format!("{tag} OK goodbye"),
        };
        self.connection.put_line(&line);
    }

    /// Tells the client what is new in its mailbox.
    pub(super) fn sync(&mut self, with_expunges: bool) {
        if let Some(view) = &mut self.view {
            view.sync(with_expunges, self.connection.output());
        }
    }

    async fn execute(&mut self, tag: &str, command: Command) -> Result<Completion, ConnectionEnd> {
        // Message numbers stay as they are while a client may use them (RFC 3501, 7.4.1).
        let with_expunges =
            !matches!(command, Command::Fetch { .. } | Command::Store { .. } | Command::Search(_));
        let completion = match command {
            Command::Capability => {
                self.connection.put_line(&format!("* CAPABILITY {CAPABILITIES}"));
                Completion::ok("done")
            }
            Command::Noop => Completion::ok("done"),
            Command::Logout => {
                self.connection.put_line("* BYE goodbye");
                return Ok(Completion::Logout);
            }
            Command::LogOn { name, password } => self.log_on(&name, &password).await,
            Command::Authenticate { initial } => self.authenticate(initial).await?,
            Command::List { response, pattern } => self.list(response, &pattern),
            Command::Status { mailbox, items } => self.status(&mailbox, &items),
            Command::Select { mailbox, is_read_only } => self.select(&mailbox, is_read_only).await,
            Command::Create(name) => self.create(&name),
            Command::Delete(name) => self.delete(&name),
            Command::Subscribe(name) => match self.mailbox(&name) {
                Some(_) => Completion::ok("done"),
                None => no_mailbox(),
            },
            Command::Idle => self.idle().await?,
            Command::Close => self.close(true),
            Command::Unselect => self.close(false),
            Command::Expunge { uids } => self.expunge(uids.map(|set| Messages { set, is_uid: true })),
            Command::Search(request) => self.search(tag, &request),
            Command::Fetch { messages, items } => self.fetch(&messages, &items).await?,
            Command::Store { messages, change, is_silent, flags } => {
                self.change_flags(&messages, change, is_silent, &flags).await?
            }
            Command::Copy { messages, mailbox, is_move } => self.copy(&messages, &mailbox, is_move),
        };
        self.sync(with_expunges);
        Ok(completion)
    }

    async fn log_on(&mut self, name: &[u8], password: &[u8]) -> Completion {
        let Some(user) = self.store().log_on(name, password) else {
            self.n_errors += 1;
            return Completion::no("[AUTHENTICATIONFAILED] name or password is wrong");
        };
        if self.worker.fault(FaultExchange::LogOn).await.is_some() {
            return Completion::no("[AUTHENTICATIONFAILED] name or password is wrong");
        }
        self.user = Some(user);
        Completion::Ok(format!("[CAPABILITY {CAPABILITIES}] logged on"))
    }

    async fn authenticate(&mut self, initial: Option<Vec<u8>>) -> Result<Completion, ConnectionEnd> {
        let answer = if let Some(initial) = initial {
            initial
        } else {
            self.connection.put_line("+ ");
            let mut line = Vec::new();
            self.connection.read_line(&mut line, ANSWER_BYTES_MAX).await?;
            line.trim_ascii().to_vec()
        };
        let Some((name, password)) = plain_credentials(&answer) else {
            return Ok(Completion::Bad("the answer cannot be read"));
        };
        Ok(self.log_on(&name, &password).await)
    }

    pub(super) fn mailbox(&self, name: &str) -> Option<Arc<SharedMailbox>> {
        self.account()?.mailbox(name)
    }
}

/// A literal that is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) bytes: u64,
    /// Whether its client does not wait.
    pub(super) is_at_once: bool,
}

/// Returns the literal that a line with its end announces: `{12}` or `{12+}`.
fn announced_literal(line: &[u8]) -> Option<Literal> {
    let inner = line.strip_suffix(b"}\r\n")?;
    let open = inner.iter().rposition(|byte| *byte == b'{')?;
    let (digits, is_at_once) = match inner[open + 1..].strip_suffix(b"+") {
        Some(digits) => (digits, true),
        None => (&inner[open + 1..], false),
    };
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let bytes = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    Some(Literal { bytes, is_at_once })
}

/// Returns the tag of a command that was not read otherwise; `*` if it has none.
fn tag_of(command: &[u8]) -> &str {
    read_command(command).map_or("*", |parsed| parsed.tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_announced_at_the_end_of_a_line() {
        let literal = |bytes, is_at_once| Some(Literal { bytes, is_at_once });
        for (line, announced) in [
            (&b"a LOGIN {12}\r\n"[..], literal(12, false)),
            (b"{0+}\r\n", literal(0, true)),
            (b"{18446744073709551615}\r\n", literal(u64::MAX, false)),
            (b"{18446744073709551616}\r\n", None),
            (b"{}\r\n", None),
            (b"{+}\r\n", None),
            (b"{+1}\r\n", None),
            (b"{1}\n", None),
            (b"12}\r\n", None),
            (b"\r\n", None),
        ] {
            assert_eq!(announced_literal(line), announced, "{line:?}");
        }
    }
}
