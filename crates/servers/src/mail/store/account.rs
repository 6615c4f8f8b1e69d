//! The mailboxes of a user.

use std::sync::{Arc, Mutex, MutexGuard};

use mail::Mailbox;

use super::mailbox::SharedMailbox;
use super::room::Room;

/// The most mailboxes of a user, without the one that all have in common.
const MAILBOXES_MAX: usize = 64;

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 255;

/// The mailboxes of a user.
#[derive(Debug)]
pub(crate) struct Account {
    room: Arc<Room>,
    mailboxes: Mutex<Vec<Arc<SharedMailbox>>>,
    /// That of all users.
    shared: Arc<SharedMailbox>,
}

/// A reason for which a mailbox was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CreateError {
    /// There is one of this name.
    Exists,
    /// No mailbox can have this name.
    Name,
    /// There are too many.
    TooMany,
}

/// A reason for which a mailbox was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeleteError {
    /// There is none of this name.
    Unknown,
    /// It stays: it is the one to which mail is delivered, or that of all users.
    Permanent,
}

impl Account {
    /// Creates an account with the mailboxes that each user has, and the one that all have in common.
    pub(super) fn new(room: Arc<Room>, shared: Arc<SharedMailbox>, validity: impl Fn() -> u32) -> Account {
        let make =
            |mailbox: Mailbox| Arc::new(SharedMailbox::new(mailbox.name(), validity(), Arc::clone(&room)));
        let mailboxes = Mutex::new(Mailbox::OWN.into_iter().map(make).collect());
        Account { room, mailboxes, shared }
    }

    /// Returns the mailbox to which mail is delivered.
    pub(crate) fn inbox(&self) -> Arc<SharedMailbox> {
        Arc::clone(&self.lock()[0])
    }

    /// Returns the mailbox of a name.
    pub(crate) fn mailbox(&self, name: &str) -> Option<Arc<SharedMailbox>> {
        if is_same(name, self.shared.name()) {
            return Some(Arc::clone(&self.shared));
        }
        self.lock().iter().find(|mailbox| is_same(name, mailbox.name())).map(Arc::clone)
    }

    /// Returns the names of all mailboxes.
    pub(crate) fn names(&self) -> Vec<String> {
        let own: Vec<String> = self.lock().iter().map(|mailbox| mailbox.name().to_owned()).collect();
        own.into_iter().chain([self.shared.name().to_owned()]).collect()
    }

    /// Makes a mailbox, whose UIDs have this validity.
    ///
    /// # Errors
    /// There is one, there can be none of this name, or there are too many.
    pub(crate) fn create(&self, name: &str, validity: u32) -> Result<(), CreateError> {
        if !is_name(name) {
            return Err(CreateError::Name);
        }
        let mut mailboxes = self.lock();
        if mailboxes.iter().chain([&self.shared]).any(|mailbox| is_same(name, mailbox.name())) {
            return Err(CreateError::Exists);
        }
        if MAILBOXES_MAX <= mailboxes.len() {
            return Err(CreateError::TooMany);
        }
        mailboxes.push(Arc::new(SharedMailbox::new(name, validity, Arc::clone(&self.room))));
        Ok(())
    }

    /// Deletes a mailbox with its messages.
    ///
    /// # Errors
    /// There is none, or it stays.
    pub(crate) fn delete(&self, name: &str) -> Result<(), DeleteError> {
        if is_same(name, self.shared.name()) || is_same(name, Mailbox::Inbox.name()) {
            return Err(DeleteError::Permanent);
        }
        let mut mailboxes = self.lock();
        let index = mailboxes.iter().position(|mailbox| is_same(name, mailbox.name()));
        let deleted = mailboxes.remove(index.ok_or(DeleteError::Unknown)?);
        drop(mailboxes);
        deleted.expunge(|_| true);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<SharedMailbox>>> {
        self.mailboxes.lock().expect("no thread panics with an account")
    }
}

/// Returns whether two names are the same: case matters but in `INBOX`.
fn is_same(one: &str, other: &str) -> bool {
    let inbox = Mailbox::Inbox.name();
    one == other || one.eq_ignore_ascii_case(inbox) && other.eq_ignore_ascii_case(inbox)
}

/// Returns whether a mailbox can have this name.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| (b' '..=b'~').contains(&byte) && !b"*%\"\\".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(is_letter)
        && name.split('/').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        let room = Arc::new(Room::new(1_000));
        let shared = Arc::new(SharedMailbox::new("Discussion", 1, Arc::clone(&room)));
        Account::new(room, shared, || 2)
    }

    #[test]
    fn mailboxes_are_made_and_deleted() {
        let account = account();
        assert_eq!(account.names(), ["INBOX", "Sent", "Calendar", "Archive", "Discussion"]);
        assert_eq!(account.create("Work/Old", 7), Ok(()));
        assert_eq!(account.mailbox("Work/Old").unwrap().validity(), 7);
        assert!(account.mailbox("work/old").is_none());
        assert_eq!(account.delete("Work/Old"), Ok(()));
        assert_eq!(account.delete("Work/Old"), Err(DeleteError::Unknown));
        for name in ["inbox", "Discussion"] {
            assert_eq!(account.create(name, 7), Err(CreateError::Exists));
            assert_eq!(account.delete(name), Err(DeleteError::Permanent));
        }
    }

    #[test]
    fn names_and_their_number_are_bounded() {
        let account = account();
        for name in ["", "a*", "a/", "/a", "a//b", "a\"b", "a\r\nb", "\u{e9}", &"a".repeat(256)] {
            assert_eq!(account.create(name, 7), Err(CreateError::Name), "{name}");
        }
        for number in Mailbox::OWN.len()..MAILBOXES_MAX {
            assert_eq!(account.create(&format!("m{number}"), 7), Ok(()));
        }
        assert_eq!(account.create("another", 7), Err(CreateError::TooMany));
    }
}
