//! The store: accounts, their mailboxes, and the messages in these, all in memory.
//!
//! - `account`: the mailboxes of a user
//! - `mailbox`, `flags`: messages in a mailbox, and what changes there
//! - `message`, `receiver`: messages, and how they come in
//! - `room`: what bounds them
//! - `date_time`: dates as mailboxes have them

mod account;
mod date_time;
mod flags;
mod mailbox;
mod message;
mod receiver;
mod room;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use mail::{DirectoryError, MailDate, MailDirectory, MailMessages, Mailbox};
use units::wall;

pub(crate) use account::{Account, CreateError, DeleteError};
pub(crate) use date_time::{day_of, days_since_1970, read_date_time, write_date_time};
pub(crate) use flags::{FlagChange, MailFlags, SYSTEM_FLAGS, write_flags};
pub(crate) use mailbox::{MailboxEntry, MailboxFull, MailboxState, NewEntry, SharedMailbox};
pub(crate) use message::{MessageReader, StoredContent, StoredMessage, Trace};
pub(crate) use receiver::{MessageReceiver, ReceiptError};
pub(crate) use room::Room;

/// The names of users, before their numbers from 1 on: those of the accounts that recipes make.
const USER_PREFIX: &str = "user";

/// The most bytes of messages that are on their way in.
const RECEIPT_BYTES_MAX: u64 = 512 << 20;

/// The settings of a store.
#[derive(Debug)]
pub(crate) struct StoreOptions {
    pub(crate) users: u32,
    pub(crate) domain: String,
    pub(crate) password: String,
    pub(crate) messages: Option<MailMessages>,
    pub(crate) account_bytes_max: u64,
    pub(crate) message_bytes_max: u64,
}

/// The mailboxes of all users.
#[derive(Debug)]
pub(crate) struct MailStore {
    directory: MailDirectory,
    password: String,
    messages: Option<MailMessages>,
    account_bytes_max: u64,
    message_bytes_max: u64,
    /// The account of each user, from the time on when it is used.
    accounts: Box<[OnceLock<Account>]>,
    /// The mailbox that all users have in common.
    shared: Arc<SharedMailbox>,
    receipt_room: Arc<Room>,
    next_validity: AtomicU32,
}

impl MailStore {
    /// Creates a store with empty mailboxes.
    ///
    /// # Errors
    /// There can be no such users.
    pub(crate) fn new(options: StoreOptions) -> Result<MailStore, DirectoryError> {
        let directory = MailDirectory::numbered(USER_PREFIX, options.users, &options.domain)?;
        // A store that is started again has other validities.
        let validity = u32::try_from(wall().0 / 1000).unwrap_or(1).max(1);
        let room = Arc::new(Room::new(options.account_bytes_max));
        Ok(MailStore {
            directory,
            password: options.password,
            messages: options.messages,
            account_bytes_max: options.account_bytes_max,
            message_bytes_max: options.message_bytes_max,
            accounts: (0..options.users).map(|_| OnceLock::new()).collect(),
            shared: Arc::new(SharedMailbox::new(Mailbox::Discussion.name(), validity, room)),
            receipt_room: Arc::new(Room::new(RECEIPT_BYTES_MAX)),
            next_validity: AtomicU32::new(validity.wrapping_add(1)),
        })
    }

    /// Returns the messages of a run that are stored by their identities.
    pub(crate) fn messages(&self) -> Option<&MailMessages> {
        self.messages.as_ref()
    }

    /// Returns the most bytes of a message.
    pub(crate) fn message_bytes_max(&self) -> u64 {
        self.message_bytes_max
    }

    /// Returns the domain of all users.
    pub(crate) fn domain(&self) -> &str {
        self.directory.domain()
    }

    /// Returns a receiver of a message.
    pub(crate) fn receiver(&self) -> MessageReceiver {
        MessageReceiver::new(Arc::clone(&self.receipt_room), self.message_bytes_max)
    }

    /// Returns the number of the user of an address, or of its part before the `@`; case is no difference.
    pub(crate) fn user(&self, address: &[u8]) -> Option<u32> {
        let address = std::str::from_utf8(address).ok()?;
        let (name, domain) = address.split_once('@').unwrap_or((address, self.domain()));
        let start = name.get(..USER_PREFIX.len())?;
        let digits = name.get(USER_PREFIX.len()..)?;
        // The number is written in one way only.
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let is_known = start.eq_ignore_ascii_case(USER_PREFIX) && domain.eq_ignore_ascii_case(self.domain());
        let number: u32 = digits.parse().ok().filter(|_| is_number && is_known)?;
        number.checked_sub(1).filter(|user| *user < self.directory.n_users())
    }

    /// Returns the number of the user whose name and password these are.
    pub(crate) fn log_on(&self, name: &[u8], password: &[u8]) -> Option<u32> {
        self.user(name).filter(|_| password == self.password.as_bytes())
    }

    /// Returns the account of a user, which is made if this is its first use.
    pub(crate) fn account(&self, user: u32) -> &Account {
        self.accounts[user as usize].get_or_init(|| {
            let room = Arc::new(Room::new(self.account_bytes_max));
            Account::new(room, Arc::clone(&self.shared), || self.new_validity())
        })
    }

    /// Returns a validity of UIDs that no mailbox has.
    pub(crate) fn new_validity(&self) -> u32 {
        self.next_validity.fetch_add(1, Ordering::Relaxed).max(1)
    }
}

/// Returns the date of now.
pub(crate) fn today() -> MailDate {
    MailDate::from_unix_seconds(u64::try_from(wall().0 / 1000).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> MailStore {
        MailStore::new(StoreOptions {
            users: 20,
            domain: "example.test".to_owned(),
            password: "secret".to_owned(),
            messages: None,
            account_bytes_max: 10_000,
            message_bytes_max: 1_000,
        })
        .unwrap()
    }

    #[test]
    fn users_are_known_by_address_and_by_name() {
        let store = store();
        for (address, user) in [
            ("user1@example.test", Some(0)),
            ("User20@EXAMPLE.test", Some(19)),
            ("user7", Some(6)),
            ("user0", None),
            ("user21", None),
            ("user01", None),
            ("user+1", None),
            ("user", None),
            ("user7@", None),
            ("user7@example.test.", None),
            ("user99999999999", None),
            ("us\u{e9}r7", None),
            ("", None),
        ] {
            assert_eq!(store.user(address.as_bytes()), user, "{address}");
        }
        assert_eq!(store.user(b"user\xFF"), None);
        assert_eq!(store.log_on(b"user7", b"secret"), Some(6));
        assert_eq!([&b""[..], b"Secret", b"secret "].map(|wrong| store.log_on(b"user7", wrong)), [None; 3]);
    }

    #[test]
    fn users_have_mailboxes_of_their_own_and_one_in_common() {
        let store = store();
        let mailbox = |user, name| store.account(user).mailbox(name).unwrap();
        assert!(Arc::ptr_eq(&mailbox(0, "inbox"), &mailbox(0, "INBOX")));
        assert!(!Arc::ptr_eq(&mailbox(0, "INBOX"), &mailbox(1, "INBOX")));
        assert!(Arc::ptr_eq(&mailbox(0, "Discussion"), &mailbox(1, "Discussion")));
        assert_ne!(mailbox(0, "INBOX").validity(), mailbox(0, "Sent").validity());
    }
}
