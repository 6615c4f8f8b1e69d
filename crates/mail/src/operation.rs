//! The abstract operations of a mail user, as its mail program has them.
//!
//! An operation is what a response time is reported for: a counted item. A driver needs several commands for most.
//!
//! Entries of a view are counted from the newest, which is 0, as they are when the view, or its first page, is read: what
//! comes or goes afterwards moves none. A driver keeps those of the first page until it is read again.

use std::fmt;

use units::mix_bits;

use crate::identity::{MessageIdentity, MessageNumber};
use crate::item::CountedItem;

/// The entries of a page of a view.
pub const PAGE_ENTRIES: u32 = 20;

/// A mailbox. Servers may have other names for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mailbox {
    /// The user's mailbox, to which mail is delivered.
    Inbox,
    /// Copies of sent messages.
    Sent,
    /// The calendar, where the server has none: appointments as messages.
    Calendar,
    /// Moved documents.
    Archive,
    /// The shared mailbox, which all users have in common.
    Discussion,
}

impl Mailbox {
    /// The mailboxes of each user.
    pub const OWN: [Mailbox; 4] = [Mailbox::Inbox, Mailbox::Sent, Mailbox::Calendar, Mailbox::Archive];

    /// Returns its name, without what a server puts before that of a shared one.
    pub fn name(self) -> &'static str {
        match self {
            Mailbox::Inbox => "INBOX",
            Mailbox::Sent => "Sent",
            Mailbox::Calendar => "Calendar",
            Mailbox::Archive => "Archive",
            Mailbox::Discussion => "Discussion",
        }
    }
}

/// Entries of a view, in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRange {
    /// The first, from 0.
    pub first: u32,
    /// The number of entries; fewer are there at the end of a view.
    pub n: u32,
}

/// A random choice of entries, which follows from a number and from how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryDraw(pub u64);

impl EntryDraw {
    /// Returns so many different entries of the first `among`, all if there are no more; in no order.
    ///
    /// Source: R. W. Floyd, A sample of brilliance, CACM 30 (1987).
    pub fn distinct(self, n: u32, among: u32) -> impl Iterator<Item = u32> {
        let n = n.min(among).min(DRAWN_MAX as u32);
        let mut drawn = [0; DRAWN_MAX];
        (0..n as usize).map(move |index| {
            let limit = u64::from(among - n) + index as u64 + 1;
            let bits = mix_bits(self.0 ^ mix_bits(index as u64));
            // Below the limit: multiplication and shift.
            let chosen = ((u128::from(bits) * u128::from(limit)) >> 64) as u32;
            let is_new = !drawn[..index].contains(&chosen);
            drawn[index] = if is_new { chosen } else { (limit - 1) as u32 };
            drawn[index]
        })
    }

    /// Returns an entry of the older half of a view with so many; `None` if it has none.
    pub fn old(self, n_entries: u32) -> Option<u32> {
        let newer = n_entries / 2;
        self.distinct(1, n_entries - newer).next().map(|entry| newer + entry)
    }
}

/// The most entries that are drawn at once.
pub const DRAWN_MAX: usize = 32;

/// An invitation that is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvitationChoice {
    /// The one at this entry of the first page.
    Entry(u32),
    /// One that is not in the mailbox: a number of its organizer. Only the response is sent.
    Number(MessageNumber),
}

/// An action of a mail user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailAction {
    /// Opens a mailbox, and learns what is new.
    Open(Mailbox),
    /// Opens the view of a mailbox: fetches its collection of entries. Answer: [`MailAnswer::View`].
    OpenView(Mailbox),
    /// Reads a page of a view: subject, people, date, size and flags of each entry. Answer: [`MailAnswer::Page`].
    ReadPage(Mailbox, EntryRange),
    /// Reads the document at an entry of the first page.
    Read(u32),
    /// Reads the next document of the shared mailbox that is unread.
    ReadNextUnread,
    /// Gives the document at an entry of the first page a category.
    Categorize(u32),
    /// Marks so many documents of the shared mailbox as unread.
    MarkUnread(EntryDraw, u32),
    /// Puts a message into a mailbox.
    Add(Mailbox, MessageIdentity),
    /// Deletes the document at an entry of the first page, for good.
    Delete(u32),
    /// Deletes an old document of the shared mailbox, for good; one that another user has deleted meanwhile counts.
    DeleteOld(EntryDraw),
    /// Moves the document at an entry of the first page.
    Move(u32, Mailbox),
    /// Looks recipients up, submits a message, and keeps a copy.
    Send(MessageIdentity),
    /// Puts an appointment into the calendar.
    MakeAppointment(MessageIdentity),
    /// Reads an invitation, submits the response with this number, and flags the invitation as answered.
    Respond(InvitationChoice, MessageNumber),
    /// Submits the answer with this number to the author of the document at an entry of the first page, and flags it.
    Answer(u32, MessageNumber),
    /// Closes a mailbox.
    Close(Mailbox),
    /// Lists the mailboxes.
    ListMailboxes,
    /// Logs on, fetches all messages, deletes them and logs off.
    Drain,
    /// Checks for new mail.
    Check,
}

/// An operation: an action, and the item by which it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailOperation {
    /// The item.
    pub item: CountedItem,
    /// The action.
    pub action: MailAction,
}

impl MailOperation {
    /// Returns the message that the operation sends or adds, as far as it is known without the server.
    pub fn message(&self) -> Option<MessageIdentity> {
        match self.action {
            MailAction::Add(_, message)
            | MailAction::Send(message)
            | MailAction::MakeAppointment(message) => Some(message),
            _ => None,
        }
    }
}

/// The part of a reply that the user sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailAnswer {
    /// It is done.
    Done,
    /// It failed: the user waits a while and begins its loop again.
    Failed,
    /// The session ended: the same, and the user begins as at first.
    SessionLost,
    /// A view was opened, which has so many entries.
    View(u32),
    /// A page was read.
    Page {
        /// The number of its entries.
        n: u8,
        /// The entries of the page that are invitations which the user has not answered: bit i stands for the i-th.
        invitations: u32,
    },
}

/// The bits that say which answer a number is, and those of the number of entries of a page.
const ANSWER_BITS: u32 = 3;
const PAGE_BITS: u32 = 8;

impl MailAnswer {
    /// Returns the number that stands for it in the value of a reply.
    ///
    /// 0, the value of replies to operations that were cut off, is [`MailAnswer::SessionLost`]: with such an operation the
    /// session ends.
    pub fn to_u64(self) -> u64 {
        match self {
            MailAnswer::SessionLost => 0,
            MailAnswer::Done => 1,
            MailAnswer::Failed => 2,
            MailAnswer::View(n) => 3 | u64::from(n) << ANSWER_BITS,
            MailAnswer::Page { n, invitations } => {
                4 | u64::from(n) << ANSWER_BITS | u64::from(invitations) << (ANSWER_BITS + PAGE_BITS)
            }
        }
    }

    /// Returns the answer of a number; a number that is none's is a session that ended.
    pub fn from_u64(number: u64) -> MailAnswer {
        let value = number >> ANSWER_BITS;
        match number & ((1 << ANSWER_BITS) - 1) {
            1 if value == 0 => MailAnswer::Done,
            2 if value == 0 => MailAnswer::Failed,
            3 => u32::try_from(value).map_or(MailAnswer::SessionLost, MailAnswer::View),
            4 => u32::try_from(value >> PAGE_BITS).map_or(MailAnswer::SessionLost, |invitations| {
                MailAnswer::Page { n: (value & 0xFF) as u8, invitations }
            }),
            _ => MailAnswer::SessionLost,
        }
    }

    /// Returns whether the operation succeeded.
    pub fn is_success(self) -> bool {
        !matches!(self, MailAnswer::Failed | MailAnswer::SessionLost)
    }
}

impl fmt::Display for MailOperation {
    /// Writes the operation as a line of a log: `read document: entry 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.item.name())?;
        match self.action {
            MailAction::Open(mailbox) | MailAction::OpenView(mailbox) | MailAction::Close(mailbox) => {
                write!(f, ": {}", mailbox.name())
            }
            MailAction::ReadPage(mailbox, EntryRange { first, n }) => {
                write!(f, ": {n} from {first} of {}", mailbox.name())
            }
            MailAction::Read(entry)
            | MailAction::Categorize(entry)
            | MailAction::Delete(entry)
            | MailAction::Answer(entry, _)
            | MailAction::Respond(InvitationChoice::Entry(entry), _) => write!(f, ": entry {entry}"),
            MailAction::Move(entry, mailbox) => write!(f, ": entry {entry} to {}", mailbox.name()),
            MailAction::MarkUnread(_, n) => write!(f, ": {n}"),
            MailAction::Add(_, message)
            | MailAction::Send(message)
            | MailAction::MakeAppointment(message) => {
                write!(f, ": {}", message.message.number)
            }
            MailAction::Respond(InvitationChoice::Number(of), _) => {
                write!(f, ": {} of user {}", of.number, of.user)
            }
            MailAction::ReadNextUnread
            | MailAction::DeleteOld(_)
            | MailAction::ListMailboxes
            | MailAction::Drain
            | MailAction::Check => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_read_back_from_their_numbers() {
        let answers = [
            MailAnswer::Done,
            MailAnswer::Failed,
            MailAnswer::SessionLost,
            MailAnswer::View(0),
            MailAnswer::View(u32::MAX),
            MailAnswer::Page { n: 0, invitations: 0 },
            MailAnswer::Page { n: 20, invitations: 0x8_0001 },
            MailAnswer::Page { n: 255, invitations: u32::MAX },
        ];
        for answer in answers {
            assert_eq!(MailAnswer::from_u64(answer.to_u64()), answer);
        }
        for number in [u64::MAX, 7, 5, 9, 10, 3 | 1 << 40] {
            assert_eq!(MailAnswer::from_u64(number), MailAnswer::SessionLost, "{number}");
        }
    }

    /// 40,000 draws of 5 of 20: each entry in a quarter, within four deviations, 4 · √(40,000 · ¼ · ¾) = 346.
    #[test]
    fn every_entry_is_drawn_equally_often() {
        let mut counts = [0_u32; 20];
        for number in 0..40_000_u64 {
            for entry in EntryDraw(mix_bits(number)).distinct(5, 20) {
                counts[entry as usize] += 1;
            }
        }
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 346), "{counts:?}");
    }

    proptest! {
        #[test]
        fn drawn_entries_are_different_and_in_the_view(bits in any::<u64>(), n in 0..50_u32, among in 0..60_u32) {
            let entries: Vec<u32> = EntryDraw(bits).distinct(n, among).collect();
            let different: std::collections::BTreeSet<&u32> = entries.iter().collect();
            prop_assert_eq!(entries.len() as u32, n.min(among).min(DRAWN_MAX as u32));
            prop_assert_eq!(different.len(), entries.len());
            prop_assert!(entries.iter().all(|entry| *entry < among));
            let old = EntryDraw(bits).old(among);
            prop_assert_eq!(old.is_some(), 0 < among);
            prop_assert!(old.is_none_or(|entry| among / 2 <= entry && entry < among));
        }

        #[test]
        fn any_number_is_an_answer(number in any::<u64>()) {
            let answer = MailAnswer::from_u64(number);
            prop_assert_eq!(MailAnswer::from_u64(answer.to_u64()), answer);
        }
    }
}
