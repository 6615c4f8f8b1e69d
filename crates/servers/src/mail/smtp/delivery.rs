//! A message on its way into the mailboxes.

use std::sync::Arc;
use std::time::Duration;

use mail::MailMessages;

use crate::mail::fault::MailFaultAction;
use crate::mail::store::{
    MailFlags, MailStore, MailboxFull, NewEntry, SharedMailbox, StoredContent, StoredMessage, Trace,
};

/// The time by which a late delivery is later.
const LATE: Duration = Duration::from_secs(1);

/// A message with room in the mailboxes of its recipients.
#[derive(Debug)]
pub(super) struct Delivery {
    entry: NewEntry,
    mailboxes: Vec<Arc<SharedMailbox>>,
}

impl Delivery {
    /// Makes a delivery to nobody.
    pub(super) fn new(content: StoredContent, trace: Trace) -> Delivery {
        let date = trace.date;
        let message = Arc::new(StoredMessage::new(content, Some(trace)));
        let entry = NewEntry { flags: MailFlags::default(), date, message };
        Delivery { entry, mailboxes: Vec::new() }
    }

    /// Adds a recipient, whose mailbox has room for the message from now on.
    ///
    /// # Errors
    /// The mailbox is full.
    pub(super) fn add_recipient(&mut self, store: &MailStore, user: u32) -> Result<(), MailboxFull> {
        let mailbox = store.account(user).inbox();
        if !mailbox.room().reserve(self.entry.message.charge()) {
            return Err(MailboxFull);
        }
        self.mailboxes.push(mailbox);
        Ok(())
    }

    /// Puts the message into the mailboxes, unless there are too many in one.
    pub(super) fn deliver(mut self) {
        for mailbox in std::mem::take(&mut self.mailboxes) {
            // The room of an account ends long before the number of messages that a mailbox can have.
            let _ = mailbox.add_reserved(self.entry.clone());
        }
    }

    /// Delivers, or does what a fault says instead.
    pub(super) fn deliver_with_fault(mut self, fault: Option<MailFaultAction>) {
        match fault {
            Some(MailFaultAction::Lose) => {}
            Some(MailFaultAction::Delay) => {
                tokio::task::spawn_local(async move {
                    tokio::time::sleep(LATE).await;
                    self.deliver();
                });
            }
            Some(MailFaultAction::Duplicate) => {
                let once = self.mailboxes.clone();
                let charge = self.entry.message.charge();
                self.mailboxes.extend(once.into_iter().filter(|mailbox| mailbox.room().reserve(charge)));
                self.deliver();
            }
            _ => self.deliver(),
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // What was not delivered needs no room.
        let charge = self.entry.message.charge();
        self.mailboxes.iter().for_each(|mailbox| mailbox.room().release(charge));
    }
}

/// Returns a message of which one byte in the middle is another.
pub(super) fn altered(content: StoredContent, messages: Option<&MailMessages>) -> StoredContent {
    let stored = StoredMessage::new(content, None);
    let mut bytes = vec![0; usize::try_from(stored.bytes()).unwrap_or(0)];
    stored.reader(messages).fill(0, &mut bytes);
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
    }
    StoredContent::Bytes(bytes.into())
}
