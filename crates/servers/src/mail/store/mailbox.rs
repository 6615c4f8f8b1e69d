//! A mailbox: its messages by UID, and a count of changes by which sessions learn what is new to them.
//!
//! Each change has a number, the *modification*. A session remembers the last that it has told its client of, and compares.

use std::sync::{Arc, Mutex, MutexGuard};

use mail::MailDate;
use tokio::sync::Notify;

use super::flags::{FlagChange, KEYWORD_BYTES_MAX, KEYWORDS_MAX, MailFlags};
use super::message::StoredMessage;
use super::room::Room;

/// The most messages of a mailbox.
const ENTRIES_MAX: usize = 2_000_000;

/// A mailbox that sessions share.
#[derive(Debug)]
pub(crate) struct SharedMailbox {
    name: Box<str>,
    validity: u32,
    /// The room of the account that it belongs to.
    room: Arc<Room>,
    state: Mutex<MailboxState>,
    /// Notified of each change.
    changed: Notify,
}

/// The messages of a mailbox.
#[derive(Debug)]
pub(crate) struct MailboxState {
    /// Ascending by UID.
    entries: Vec<MailboxEntry>,
    keywords: Vec<Box<str>>,
    next_uid: u32,
    /// The first UID that no session has been told of.
    recent_uid: u32,
    modification: u64,
    /// The last modification that removed messages.
    expunged: u64,
}

/// A message in a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct MailboxEntry {
    /// The number that it keeps; above 0.
    pub(crate) uid: u32,
    pub(crate) flags: MailFlags,
    /// The modification that changed its flags last, or added it.
    pub(crate) modification: u64,
    pub(crate) date: MailDate,
    pub(crate) message: Arc<StoredMessage>,
}

/// A message for a mailbox.
#[derive(Debug, Clone)]
pub(crate) struct NewEntry {
    pub(crate) flags: MailFlags,
    pub(crate) date: MailDate,
    pub(crate) message: Arc<StoredMessage>,
}

/// What a change of flags has done.
#[derive(Debug)]
pub(crate) struct FlagsChange {
    /// Those of the messages that are there, as they are now.
    pub(crate) entries: Vec<MailboxEntry>,
    /// The last modification before it, and after it.
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// A mailbox has no room for what would be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MailboxFull;

impl SharedMailbox {
    /// Creates an empty mailbox.
    pub(crate) fn new(name: &str, validity: u32, room: Arc<Room>) -> SharedMailbox {
        let state = MailboxState {
            entries: Vec::new(),
            keywords: Vec::new(),
            next_uid: 1,
            recent_uid: 1,
            modification: 0,
            expunged: 0,
        };
        SharedMailbox { name: name.into(), validity, room, state: Mutex::new(state), changed: Notify::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the validity of its UIDs.
    pub(crate) fn validity(&self) -> u32 {
        self.validity
    }

    /// Returns the room that its messages are charged to.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// Returns what is notified of each change.
    pub(crate) fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Returns the messages, locked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, MailboxState> {
        self.state.lock().expect("no thread panics with a mailbox")
    }

    /// Adds a message, and returns its UID.
    ///
    /// # Errors
    /// There is no room, and nothing was added.
    pub(crate) fn add(&self, entry: NewEntry) -> Result<u32, MailboxFull> {
        let charge = entry.message.charge();
        if !self.room.reserve(charge) {
            return Err(MailboxFull);
        }
        self.add_reserved(entry)
    }

    /// Adds a message for which there is room already; gives the room back if there are too many.
    ///
    /// # Errors
    /// There are too many messages, and nothing was added.
    pub(crate) fn add_reserved(&self, entry: NewEntry) -> Result<u32, MailboxFull> {
        let charge = entry.message.charge();
        let added = self.lock().add(entry);
        match added {
            Some(_) => self.changed.notify_waiters(),
            None => self.room.release(charge),
        }
        added.ok_or(MailboxFull)
    }

    /// Changes the flags of messages.
    pub(crate) fn change_flags(
        &self,
        uids: impl Iterator<Item = u32>,
        change: FlagChange,
        flags: MailFlags,
    ) -> FlagsChange {
        let mut state = self.lock();
        let before = state.modification;
        let entries = uids.filter_map(|uid| state.change_flags(uid, change, flags)).collect();
        let after = state.modification;
        drop(state);
        if before != after {
            self.changed.notify_waiters();
        }
        FlagsChange { entries, before, after }
    }

    /// Removes the messages that are chosen.
    pub(crate) fn expunge(&self, is_chosen: impl Fn(&MailboxEntry) -> bool) {
        let released = self.lock().expunge(is_chosen);
        if 0 < released {
            self.room.release(released);
            self.changed.notify_waiters();
        }
    }
}

impl MailboxState {
    /// Returns all messages, ascending by UID.
    pub(crate) fn entries(&self) -> &[MailboxEntry] {
        &self.entries
    }

    /// Returns the messages from a UID on.
    pub(crate) fn entries_from(&self, uid: u32) -> &[MailboxEntry] {
        &self.entries[self.entries.partition_point(|entry| entry.uid < uid)..]
    }

    /// Returns the message with a UID.
    pub(crate) fn entry(&self, uid: u32) -> Option<&MailboxEntry> {
        self.entries_from(uid).first().filter(|entry| entry.uid == uid)
    }

    pub(crate) fn keywords(&self) -> &[Box<str>] {
        &self.keywords
    }

    pub(crate) fn next_uid(&self) -> u32 {
        self.next_uid
    }

    pub(crate) fn modification(&self) -> u64 {
        self.modification
    }

    /// Returns the last modification that removed messages; 0 if none did.
    pub(crate) fn expunged(&self) -> u64 {
        self.expunged
    }

    /// Returns the first UID that no session has been told of.
    pub(crate) fn recent_uid(&self) -> u32 {
        self.recent_uid
    }

    /// Takes note that a session has been told of all messages.
    pub(crate) fn notice_all(&mut self) {
        self.recent_uid = self.next_uid;
    }

    /// Returns the flag of a keyword, which it adds; `None` if there are too many, or its name is too long.
    pub(crate) fn keyword(&mut self, name: &str) -> Option<MailFlags> {
        let known = self.keywords.iter().position(|keyword| keyword.eq_ignore_ascii_case(name));
        let is_refused = KEYWORDS_MAX <= self.keywords.len() || KEYWORD_BYTES_MAX < name.len();
        if known.is_none() && is_refused {
            return None;
        }
        let index = known.unwrap_or_else(|| {
            self.keywords.push(name.into());
            self.keywords.len() - 1
        });
        Some(MailFlags::keyword(index))
    }

    fn add(&mut self, NewEntry { flags, date, message }: NewEntry) -> Option<u32> {
        let uid = self.next_uid;
        let next_uid = uid.checked_add(1)?;
        if ENTRIES_MAX <= self.entries.len() {
            return None;
        }
        self.next_uid = next_uid;
        self.modification += 1;
        self.entries.push(MailboxEntry { uid, flags, modification: self.modification, date, message });
        Some(uid)
    }

    fn change_flags(&mut self, uid: u32, change: FlagChange, flags: MailFlags) -> Option<MailboxEntry> {
        let index = self.entries.binary_search_by_key(&uid, |entry| entry.uid).ok()?;
        let entry = &mut self.entries[index];
        let changed = entry.flags.changed(change, flags);
        if changed != entry.flags {
            self.modification += 1;
            entry.flags = changed;
            entry.modification = self.modification;
        }
        Some(entry.clone())
    }

    /// Removes messages; returns the bytes that they were charged.
    fn expunge(&mut self, is_chosen: impl Fn(&MailboxEntry) -> bool) -> u64 {
        let mut released = 0;
        self.entries.retain(|entry| {
            let is_removed = is_chosen(entry);
            released += if is_removed { entry.message.charge() } else { 0 };
            !is_removed
        });
        if 0 < released {
            self.modification += 1;
            self.expunged = self.modification;
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::StoredContent;
    use super::*;

    /// A mailbox with room for three messages, which are charged 129 bytes each.
    fn mailbox() -> (SharedMailbox, Arc<Room>) {
        let room = Arc::new(Room::new(3 * 129));
        (SharedMailbox::new("INBOX", 9, Arc::clone(&room)), room)
    }

    fn message() -> NewEntry {
        let content = StoredContent::Bytes(b"x".as_slice().into());
        let message = Arc::new(StoredMessage::new(content, None));
        NewEntry { flags: MailFlags::default(), date: MailDate::from_unix_seconds(0), message }
    }

    fn uids(mailbox: &SharedMailbox) -> Vec<u32> {
        mailbox.lock().entries().iter().map(|entry| entry.uid).collect()
    }

    #[test]
    fn uids_are_never_given_again_and_removal_gives_room_back() {
        let (mailbox, _room) = mailbox();
        let added = [(); 4].map(|()| mailbox.add(message()));
        assert_eq!(added, [Ok(1), Ok(2), Ok(3), Err(MailboxFull)]);
        mailbox.expunge(|entry| entry.uid != 2);
        assert_eq!((uids(&mailbox), mailbox.lock().expunged()), (vec![2], 4));
        assert_eq!([(); 3].map(|()| mailbox.add(message())), [Ok(4), Ok(5), Err(MailboxFull)]);
        assert_eq!(uids(&mailbox), [2, 4, 5]);
        mailbox.expunge(|_| false);
        assert_eq!(mailbox.lock().expunged(), 4, "nothing was removed");
    }

    #[test]
    fn what_was_changed_has_a_later_modification() {
        let (mailbox, _room) = mailbox();
        assert_eq!([(); 3].map(|()| mailbox.add(message())), [Ok(1), Ok(2), Ok(3)]);
        let changed = mailbox.change_flags([2, 7].into_iter(), FlagChange::Add, MailFlags::SEEN);
        let entries: Vec<_> = changed.entries.iter().map(|entry| (entry.uid, entry.modification)).collect();
        assert_eq!((entries, changed.before, changed.after), (vec![(2, 4)], 3, 4));
        mailbox.change_flags([2].into_iter(), FlagChange::Add, MailFlags::SEEN);
        let state = mailbox.lock();
        assert_eq!((state.modification(), state.entry(1).unwrap().modification), (4, 1));
        assert!(state.entry(7).is_none());
    }

    #[test]
    fn keywords_are_bounded_and_have_no_case() {
        let (mailbox, _room) = mailbox();
        let mut state = mailbox.lock();
        assert_eq!(state.keyword(&"k".repeat(KEYWORD_BYTES_MAX + 1)), None);
        assert_eq!(state.keyword("$Label1"), Some(MailFlags::keyword(0)));
        for index in 1..KEYWORDS_MAX {
            assert_eq!(state.keyword(&format!("k{index}")), Some(MailFlags::keyword(index)));
        }
        assert_eq!(state.keyword("$LABEL1"), Some(MailFlags::keyword(0)));
        assert_eq!(state.keyword("another"), None);
    }
}
