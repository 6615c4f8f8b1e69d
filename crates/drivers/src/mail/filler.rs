//! The messages that are in mailboxes before load.

use std::rc::Rc;

use mail::{Mailbox, PopulatedMessage, Recipient};
use thiserror::Error;

use super::MailContext;
use super::failure::MailFailure;
use super::imap::ImapSession;
use super::smtp::{Envelope, SmtpProtocol, SmtpSession};

/// A message that could not be put into a mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the mailbox of user {user} cannot be filled: {text}")]
pub struct MailFillError {
    /// The number of the user.
    pub user: u32,
    /// The reason.
    pub text: String,
}

/// A client that fills mailboxes, a message at a time. Several fill them side by side.
///
/// Messages for users' own mailboxes are delivered over one session of LMTP, where the server has that; all others are appended
/// over IMAP. Messages of one user come one after another, so that one session at a time is enough.
#[derive(Debug)]
pub struct MailboxFiller {
    context: Rc<MailContext>,
    delivery: Option<SmtpSession>,
    mailboxes: Option<(u32, ImapSession)>,
}

impl MailboxFiller {
    /// Creates a client without sessions.
    pub fn new(context: Rc<MailContext>) -> MailboxFiller {
        MailboxFiller { context, delivery: None, mailboxes: None }
    }

    /// Puts a message into its mailbox. After an error the next message begins with new sessions.
    ///
    /// # Errors
    /// There is no session, or the server does not take the message.
    pub async fn fill(&mut self, message: &PopulatedMessage) -> Result<(), MailFillError> {
        let filled = if message.mailbox == Mailbox::Inbox && self.context.delivery.is_some() {
            self.deliver(message).await
        } else {
            self.append(message).await
        };
        filled.map_err(|failure| {
            (self.delivery, self.mailboxes) = (None, None);
            MailFillError { user: message.owner, text: self.context.describe_failure(failure) }
        })
    }

    async fn deliver(&mut self, message: &PopulatedMessage) -> Result<(), MailFailure> {
        let Some(service) = &self.context.delivery else { return Ok(()) };
        let session = match &mut self.delivery {
            Some(session) => session,
            none => none.insert(SmtpSession::open(&self.context, service, SmtpProtocol::Lmtp).await?),
        };
        let identity = message.identity;
        let content = self.context.options.messages.message(identity);
        let recipients = &[Recipient::User(message.owner)];
        let mut answered = Ok(());
        let envelope = Envelope { identity, message: &content, recipients };
        session.hand_over(&envelope, &mut |_, answer| answered = answer).await?;
        answered
    }

    async fn append(&mut self, message: &PopulatedMessage) -> Result<(), MailFailure> {
        let user = message.owner;
        let session = match &mut self.mailboxes {
            Some((owner, session)) if *owner == user => session,
            other => {
                let session = ImapSession::open(&self.context, user).await?;
                &mut other.insert((user, session)).1
            }
        };
        let content = self.context.options.messages.message(message.identity);
        session.append(message.mailbox, &content, None).await
    }
}
