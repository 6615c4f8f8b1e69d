//! The consistency of a mailbox while it is selected.

use thiserror::Error;

use super::number_set::NumberSet;
use super::response::{ImapCode, ImapResponse};

/// A contradiction in what a server says of a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MailboxFault {
    /// Messages are gone of which nobody said so.
    #[error("the mailbox has {now} messages, and had {before}, without a word of those that are gone")]
    Shrunk {
        /// The number before.
        before: u32,
        /// The number now.
        now: u32,
    },
    /// A message is named that is not there.
    #[error("message {number} is named in a mailbox of {n} messages")]
    NoSuchMessage {
        /// The number of the message.
        number: u32,
        /// The number of messages.
        n: u32,
    },
    /// UIDs are not in the order of the messages.
    #[error("message {number} has the UID {uid}, which is out of the order of the others")]
    UidOrder {
        /// The number of the message.
        number: u32,
        /// Its UID.
        uid: u32,
    },
    /// The mailbox was made again: UIDs have no meaning any more.
    #[error("the validity of UIDs changed from {before} to {now}")]
    ValidityChanged {
        /// The validity before.
        before: u32,
        /// The validity now.
        now: u32,
    },
    /// The UID of the next message is one that was given before.
    #[error("the next UID is {now}, and was {before}")]
    NextUidBack {
        /// The next UID before.
        before: u32,
        /// The next UID now.
        now: u32,
    },
}

/// A mailbox that is selected, as far as its server has told of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SelectedMailbox {
    n_messages: Option<u32>,
    validity: Option<u32>,
    next_uid: Option<u32>,
    /// The message of the last FETCH response with a UID, as long as no message has gone since.
    last: Option<(u32, u32)>,
}

impl SelectedMailbox {
    /// Makes a mailbox of which nothing is known. One that is selected again keeps the validity of its UIDs.
    pub fn new(validity: Option<u32>) -> SelectedMailbox {
        SelectedMailbox { validity, ..SelectedMailbox::default() }
    }

    /// Returns the number of messages.
    pub fn n_messages(&self) -> Option<u32> {
        self.n_messages
    }

    /// Returns the validity of UIDs.
    pub fn validity(&self) -> Option<u32> {
        self.validity
    }

    /// Returns the UID of the next message, as the server last said.
    pub fn next_uid(&self) -> Option<u32> {
        self.next_uid
    }

    /// Takes a response.
    ///
    /// # Errors
    ///
    /// When it contradicts what the server said before.
    pub fn take(&mut self, response: &ImapResponse) -> Result<(), MailboxFault> {
        match response {
            ImapResponse::Exists(now) => self.take_number(*now),
            ImapResponse::Expunge(number) => {
                self.check_number(*number)?;
                self.n_messages = self.n_messages.map(|n| n - 1);
                self.last = None;
                Ok(())
            }
            ImapResponse::Vanished { is_earlier: false, uids } => {
                self.take_vanished(uids);
                Ok(())
            }
            ImapResponse::Fetch(fetch) => {
                self.check_number(fetch.number)?;
                fetch.uid.map_or(Ok(()), |uid| self.take_uid(fetch.number, uid))
            }
            ImapResponse::Status { code: Some(code), .. } | ImapResponse::Tagged { code: Some(code), .. } => {
                self.take_code(code)
            }
            _ => Ok(()),
        }
    }

    fn take_number(&mut self, now: u32) -> Result<(), MailboxFault> {
        let before = self.n_messages.replace(now);
        match before {
            Some(before) if now < before => Err(MailboxFault::Shrunk { before, now }),
            _ => Ok(()),
        }
    }

    /// Those of the UIDs that were there are gone; it is not known how many that were.
    fn take_vanished(&mut self, uids: &NumberSet) {
        let n: u64 = uids.ranges().map(|range| range.n()).sum();
        self.n_messages =
            self.n_messages.map(|before| before.saturating_sub(u32::try_from(n).unwrap_or(u32::MAX)));
        self.last = None;
    }

    fn check_number(&self, number: u32) -> Result<(), MailboxFault> {
        match self.n_messages {
            Some(n) if number == 0 || n < number => Err(MailboxFault::NoSuchMessage { number, n }),
            None if number == 0 => Err(MailboxFault::NoSuchMessage { number, n: 0 }),
            _ => Ok(()),
        }
    }

    fn take_uid(&mut self, number: u32, uid: u32) -> Result<(), MailboxFault> {
        if let Some((other, other_uid)) = self.last
            && number.cmp(&other) != uid.cmp(&other_uid)
        {
            return Err(MailboxFault::UidOrder { number, uid });
        }
        self.last = Some((number, uid));
        Ok(())
    }

    fn take_code(&mut self, code: &ImapCode) -> Result<(), MailboxFault> {
        match *code {
            ImapCode::UidValidity(now) => match self.validity.replace(now) {
                Some(before) if before != now => Err(MailboxFault::ValidityChanged { before, now }),
                _ => Ok(()),
            },
            ImapCode::UidNext(now) => match self.next_uid.replace(now) {
                Some(before) if now < before => Err(MailboxFault::NextUidBack { before, now }),
                _ => Ok(()),
            },
            // All numbers so far are of the mailbox that was selected before (RFC 7162, section 3.2.11).
            ImapCode::Other(word) if word.eq_ignore_ascii_case(b"CLOSED") => {
                *self = SelectedMailbox::new(self.validity);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
