//! Sessions with mail servers: mailboxes over IMAP4rev1, submission over SMTP, and delivery into mailboxes over LMTP.
//!
//! A virtual user is a mail program: a session over IMAP, opened before the load point begins, and a connection for each
//! message that it submits. An operation is a counted item of [`mail`], for which the program needs several commands; their
//! number is a measure. Replies are read by [`mailwire`], bodies are compared while they pass and not kept, and a message that
//! is sent is made a buffer at a time.
//!
//! - `target`: a server, accounts, and the settings of mail programs
//! - `failure`, `codes`: what servers answer, and what is wrong with what they send
//! - `link`: a connection: sending, and taking replies as they come
//! - `imap`, `mailbox`: a session over IMAP, and commands on mailboxes
//! - `smtp`: sessions over SMTP and LMTP
//! - `deliveries`: what users send and see, in the ledger
//! - `actions`: the actions of users as commands
//! - `filler`: messages before load, by LMTP

mod actions;
mod codes;
mod deliveries;
mod failure;
mod filler;
mod imap;
mod link;
mod mailbox;
mod smtp;
mod target;

#[cfg(test)]
mod session_tests;

use std::net::IpAddr;
use std::rc::Rc;

use engine::{Driver, SessionError};
use mail::{MailAnswer, MailOperation};
use model::{MeasuredValues, Outcome, Reply, mail_measure};
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use self::actions::UserSession;
use self::failure::{AnswerTexts, MailFailure};
use self::imap::ServerCapabilities;
use self::link::{MailBuffers, MailService, MailTraffic};
use crate::net::{ClientTlsError, SourceAddressError};

pub use codes::code_name;
pub use filler::{MailFillError, MailboxFiller};
pub use target::{
    Acknowledgment, MailAccounts, MailClientOptions, MailEncryption, MailEndpoint, MailLogin, MailPassword,
    MailTarget, MailboxNames, SharedLedger,
};

/// A reason why sessions with a mail server cannot be set up.
#[derive(Debug, Error)]
pub enum MailSetupError {
    /// They cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// They cannot be encrypted.
    #[error("TLS to the mail server: {0}")]
    Tls(#[from] ClientTlsError),
}

/// The state that all users of a load thread share.
#[derive(Debug)]
pub struct MailContext {
    options: MailClientOptions,
    clock: RealClock,
    mailboxes: MailService,
    submission: MailService,
    /// Of a server whose mailboxes are filled.
    delivery: Option<MailService>,
    buffers: Rc<MailBuffers>,
    capabilities: ServerCapabilities,
    texts: AnswerTexts,
}

impl MailContext {
    /// Prepares the sessions of users of a server.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses, or not be encrypted.
    pub fn new(
        target: &MailTarget,
        source_addresses: &[IpAddr],
        options: MailClientOptions,
        clock: RealClock,
    ) -> Result<Rc<MailContext>, MailSetupError> {
        let service = |place| MailService::new(target, place, source_addresses);
        Ok(Rc::new(MailContext {
            mailboxes: service(target.mailboxes)?,
            submission: service(target.submission)?,
            delivery: target.delivery.map(service).transpose()?,
            options,
            clock,
            buffers: Rc::default(),
            capabilities: ServerCapabilities::default(),
            texts: AnswerTexts::default(),
        }))
    }

    /// Describes a failure, as a reply has it, for people: a clause without a full stop.
    fn describe(&self, outcome: Outcome, code: u32, detail: u64) -> String {
        let services = [Some(&self.mailboxes), Some(&self.submission), self.delivery.as_ref()];
        let problem = services.into_iter().flatten().find_map(MailService::certificate_problem);
        match problem {
            Some(problem) if outcome == Outcome::TlsFailed && code == 0 => {
                format!("its certificate is not accepted: {problem}")
            }
            _ => self.texts.describe(outcome, code, detail),
        }
    }

    fn describe_failure(&self, failure: MailFailure) -> String {
        self.describe(failure.outcome, failure.code, failure.detail)
    }
}

/// A driver of a mail user, with its session.
#[derive(Debug)]
pub struct MailDriver {
    context: Rc<MailContext>,
    /// The number of the user.
    user: u32,
    session: Option<Box<UserSession>>,
}

impl MailDriver {
    /// Creates the driver of the user of this number, without a session.
    pub fn new(context: Rc<MailContext>, user: u32) -> MailDriver {
        MailDriver { context, user, session: None }
    }

    async fn open_session(&self) -> Result<Box<UserSession>, MailFailure> {
        UserSession::open(&self.context, self.user).await.map(Box::new)
    }

    /// Performs the action of an operation; returns the commands and bytes that it took, too.
    async fn act(&mut self, operation: &MailOperation) -> (MailTraffic, Result<MailAnswer, MailFailure>) {
        let (session, before) = match &mut self.session {
            Some(session) => {
                let before = session.traffic();
                (session, before)
            }
            none => match UserSession::open(&self.context, self.user).await {
                Ok(session) => (none.insert(Box::new(session)), MailTraffic::default()),
                Err(failure) => return (MailTraffic::default(), Err(failure)),
            },
        };
        let result = session.perform(operation.action).await;
        (session.traffic() - before, result)
    }
}

impl Driver for MailDriver {
    type Operation = MailOperation;

    const OPENS_WHEN_NEEDED: bool = true;

    /// Opens the session, so that no operation waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let opened = Box::pin(self.open_session()).await;
        let of_failure = |failure| SessionError::Exchange(self.context.describe_failure(failure));
        self.session = Some(opened.map_err(of_failure)?);
        Ok(())
    }

    async fn perform(&mut self, operation: &MailOperation, sent: Nanos) -> Reply {
        // Boxed, so that the task of a user who thinks is small.
        let (traffic, result) = Box::pin(self.act(operation)).await;
        let done = self.context.clock.now();
        let mut measured = MeasuredValues::default();
        measured.set(mail_measure::SENT_BYTES, traffic.sent_bytes);
        measured.set(mail_measure::RECEIVED_BYTES, traffic.received_bytes);
        measured.set(mail_measure::EXCHANGES, traffic.n_exchanges);
        match result {
            Ok(answer) => {
                let answer = answer.to_u64();
                Reply { outcome: Outcome::Ok, sent, done, measured, answer, code: 0, detail: 0 }
            }
            Err(MailFailure { outcome, code, detail, ends_session }) => {
                let answer = if ends_session { MailAnswer::SessionLost } else { MailAnswer::Failed };
                if ends_session {
                    self.session = None;
                }
                Reply { outcome, sent, done, measured, answer: answer.to_u64(), code, detail }
            }
        }
    }

    fn give_up(&mut self) {
        self.session = None;
    }

    fn describe(&self, operation: &MailOperation, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut if reply.code == 0 => {
                format!("no complete reply after {}", reply.done - reply.sent)
            }
            outcome => self.context.describe(outcome, reply.code, reply.detail),
        };
        format!("user {}: {operation}: {text}", self.user)
    }
}
