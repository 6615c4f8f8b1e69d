//! The messages that are there before load.

use thiserror::Error;

use crate::identity::{MessageIdentity, MessageKind, MessageNumber};
use crate::operation::{Mailbox, PAGE_ENTRIES};

/// The most documents of a mailbox before load.
pub const POPULATED_MAX: u32 = 1_000_000;

/// The entries of the first page that are invitations before load.
const INVITATIONS: [u32; 3] = [1, 5, 9];

/// The bit in the numbers of the meetings to which users are invited before load.
const POPULATED_MEETING: u32 = 1 << 30;

/// The messages of all mailboxes before load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailPopulation {
    n_users: u32,
    per_user: u32,
    shared: u32,
}

/// A population that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PopulationError {
    /// A number of documents of each user.
    #[error(
        "a mailbox has {PAGE_ENTRIES} to {POPULATED_MAX} documents before load, not {0}: a page must be full"
    )]
    PerUser(u32),
    /// A number of documents of the shared mailbox.
    #[error(
        "a shared mailbox has {SHARED_MIN} to {POPULATED_MAX} documents before load, or none, not {0}: three pages must be full"
    )]
    Shared(u32),
}

/// The fewest documents of a shared mailbox: three pages.
const SHARED_MIN: u32 = 3 * PAGE_ENTRIES;

/// A message that is there before load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PopulatedMessage {
    /// The mailbox.
    pub mailbox: Mailbox,
    /// The user whose mailbox it is; the first of all if it is the shared one.
    pub owner: u32,
    /// The message.
    pub identity: MessageIdentity,
}

impl MailPopulation {
    /// Makes a population of so many users, each with `per_user` documents, and so many in the shared mailbox.
    ///
    /// # Errors
    ///
    /// When the pages that users read would not be full, or there are more than [`POPULATED_MAX`] in a mailbox.
    pub fn new(n_users: u32, per_user: u32, shared: u32) -> Result<MailPopulation, PopulationError> {
        if !(PAGE_ENTRIES..=POPULATED_MAX).contains(&per_user) {
            return Err(PopulationError::PerUser(per_user));
        }
        if shared != 0 && !(SHARED_MIN..=POPULATED_MAX).contains(&shared) {
            return Err(PopulationError::Shared(shared));
        }
        Ok(MailPopulation { n_users, per_user, shared })
    }

    /// Returns the number of users.
    pub fn n_users(&self) -> u32 {
        self.n_users
    }

    /// Returns the number of messages in all mailboxes.
    pub fn n_messages(&self) -> u64 {
        u64::from(self.n_users) * u64::from(self.per_user) + u64::from(self.shared)
    }

    /// Returns the messages of a user's mailbox, in the order in which they are put there: the oldest first.
    pub fn mailbox(&self, user: u32) -> impl Iterator<Item = PopulatedMessage> {
        let MailPopulation { n_users, per_user, .. } = *self;
        (0..per_user).map(move |number| {
            let message = MessageNumber { user, number };
            let entry = per_user - 1 - number;
            let identity = if INVITATIONS.contains(&entry) {
                // Another user, unless there is none.
                let organizer = (u64::from(user) + 1 + u64::from(entry)) % u64::from(n_users.max(1));
                let meeting = MessageNumber {
                    user: organizer as u32,
                    number: POPULATED_MEETING
                        | (user.wrapping_mul(PAGE_ENTRIES).wrapping_add(entry) & (POPULATED_MEETING - 1)),
                };
                MessageIdentity { epoch: 0, kind: MessageKind::PopulatedInvitation, message, about: meeting }
            } else {
                MessageIdentity::new(0, MessageKind::Populated, message)
            };
            PopulatedMessage { mailbox: Mailbox::Inbox, owner: user, identity }
        })
    }

    /// Returns the messages of the shared mailbox, the oldest first.
    pub fn shared_mailbox(&self) -> impl Iterator<Item = PopulatedMessage> {
        (0..self.shared).map(|number| {
            let message = MessageNumber { user: 0, number };
            let identity = MessageIdentity::new(0, MessageKind::PopulatedShared, message);
            PopulatedMessage { mailbox: Mailbox::Discussion, owner: 0, identity }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn mailboxes_have_their_documents_and_three_invitations_on_the_first_page() {
        let population = MailPopulation::new(3, 25, 60).unwrap();
        let mut all = BTreeSet::new();
        for user in 0..population.n_users() {
            let mailbox: Vec<PopulatedMessage> = population.mailbox(user).collect();
            let invitations: Vec<usize> = mailbox
                .iter()
                .rev()
                .enumerate()
                .filter(|(_, one)| one.identity.kind.is_invitation())
                .map(|(at, _)| at)
                .collect();
            assert_eq!((mailbox.len(), invitations), (25, vec![1, 5, 9]));
            assert!(mailbox.iter().all(|one| one.owner == user && one.mailbox == Mailbox::Inbox));
            all.extend(mailbox.iter().map(|one| one.identity));
        }
        all.extend(population.shared_mailbox().map(|one| one.identity));
        assert_eq!((all.len() as u64, population.n_messages()), (135, 135));
        let meetings: BTreeSet<MessageNumber> =
            all.iter().filter(|one| one.kind.is_invitation()).map(|one| one.about).collect();
        assert_eq!(meetings.len(), 9);
    }

    #[test]
    fn a_user_alone_is_invited_by_itself() {
        let population = MailPopulation::new(1, 20, 0).unwrap();
        let invitation = population.mailbox(0).find(|one| one.identity.kind.is_invitation()).unwrap();
        assert_eq!(invitation.identity.about.user, 0);
        assert_eq!(population.shared_mailbox().count(), 0);
    }

    #[test]
    fn mailboxes_without_full_pages_are_refused() {
        assert_eq!(MailPopulation::new(3, 19, 0), Err(PopulationError::PerUser(19)));
        assert_eq!(MailPopulation::new(3, 1_000_001, 0), Err(PopulationError::PerUser(1_000_001)));
        assert_eq!(
            MailPopulation::new(3, 20, 59).unwrap_err().to_string(),
            "a shared mailbox has 60 to 1000000 documents before load, or none, not 59: three pages must be full"
        );
    }
}
