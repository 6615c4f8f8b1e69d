//! The ledger of deliveries: which copies of messages are awaited, and what became of each.
//!
//! A copy is a message for one of its recipients. It is entered before it is submitted, because it can be seen by its
//! recipient before its sender has the server's answer.
//!
//! | state | event | next |
//! |---|---|---|
//! | – | submitted | submitted |
//! | submitted | accepted | awaited; delivered, if it has been seen already |
//! | | refused | – |
//! | | the answer does not come | doubtful: nobody can say whether it must arrive |
//! | awaited | seen | delivered, with the time since it was accepted |
//! | | not seen within the limit | lost |
//! | doubtful | seen | delivered, without a time |
//! | delivered | seen at the same place | |
//! | | seen at another place | delivered twice |
//! | lost | seen | still lost; it is late |
//!
//! Memory is bounded: [`COPIES_MAX`] copies, some 30 MB. When there is no room, the copy that was delivered or lost first
//! is forgotten; where none was, new copies are not followed, which is counted.

use std::collections::{HashMap, VecDeque};

use units::Nanos;

use crate::address::Recipient;
use crate::identity::{MessageIdentity, MessageNumber};

/// The most copies of which a ledger knows something.
pub const COPIES_MAX: usize = 1 << 18;

/// A copy of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delivery {
    /// The load point in which it was sent.
    pub epoch: u32,
    /// The message.
    pub message: MessageNumber,
    /// The one to whom it is to be delivered.
    pub recipient: Recipient,
}

impl Delivery {
    /// Makes the copy of a message for a recipient.
    pub fn new(identity: MessageIdentity, recipient: Recipient) -> Delivery {
        Delivery { epoch: identity.epoch, message: identity.message, recipient }
    }
}

/// The place of a message in a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessagePlace {
    /// The validity of numbers in the mailbox (UIDVALIDITY): places with different ones cannot be compared.
    pub validity: u32,
    /// The number (UID).
    pub number: u32,
}

/// The state of a copy when the server has accepted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// It is awaited.
    Awaited,
    /// It has been seen already: it took no time.
    Delivered,
    /// The ledger does not follow it.
    NotFollowed,
}

/// The meaning of the sight of a message in its recipient's mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSight {
    /// It is seen for the first time.
    First {
        /// The time since the server accepted it, on the clock of the run.
        accepted: Nanos,
    },
    /// It is seen before the server's answer has come to the sender.
    Early,
    /// It is seen for the first time, and nobody knew whether the server had accepted it.
    Doubtful,
    /// It has been seen at this place, or places cannot be compared.
    Again,
    /// It has been seen at another place: it was delivered twice.
    Twice,
    /// It was counted as lost.
    Late,
    /// The ledger does not know it: it is of another load point, was there before, or was forgotten.
    Unfamiliar,
}

/// The copies of a ledger by what became of them.
///
/// Invariants (conservation): submitted = in_submission + refused + doubtful + accepted, and
/// accepted = delivered + lost + awaited. Copies that are not followed are in none of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryTotals {
    /// Were submitted.
    pub submitted: u64,
    /// Are being submitted: the answer has not come.
    pub in_submission: u64,
    /// Were refused by the server.
    pub refused: u64,
    /// Were submitted, and the answer did not come.
    pub doubtful: u64,
    /// Of these, those that were delivered.
    pub doubtful_delivered: u64,
    /// Were accepted.
    pub accepted: u64,
    /// Were accepted and delivered.
    pub delivered: u64,
    /// Were accepted and not delivered within the limit.
    pub lost: u64,
    /// Of these, those that came later.
    pub late: u64,
    /// Were accepted and are awaited.
    pub awaited: u64,
    /// Were delivered more than once.
    pub delivered_twice: u64,
    /// Found no room, and were not followed.
    pub not_followed: u64,
    /// Were delivered or lost, and forgotten to make room: another delivery of these would not be noticed.
    pub forgotten: u64,
}

impl DeliveryTotals {
    /// Returns both sides of both invariants.
    pub fn sides(&self) -> [[u64; 2]; 2] {
        let of_submitted = self.in_submission + self.refused + self.doubtful + self.accepted;
        let of_accepted = self.delivered + self.lost + self.awaited;
        [[self.submitted, of_submitted], [self.accepted, of_accepted]]
    }
}

/// A copy that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedDelivery {
    /// The copy.
    pub delivery: Delivery,
    /// The moment when the server accepted it.
    pub accepted: Nanos,
}

/// A ledger of the deliveries of a load point.
#[derive(Debug, Clone)]
pub struct DeliveryLedger {
    limit: Nanos,
    copies_max: usize,
    copies: HashMap<Delivery, CopyState>,
    /// In the order of acceptance; some are not awaited any more.
    accepted: VecDeque<AwaitedDelivery>,
    /// In the order in which they were delivered or lost.
    settled: VecDeque<Delivery>,
    totals: DeliveryTotals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyState {
    Submitted { seen: Option<MessagePlace> },
    Awaited { accepted: Nanos },
    Doubtful,
    Delivered { place: MessagePlace, is_twice: bool },
    Lost { is_late: bool },
}

impl DeliveryLedger {
    /// Makes a ledger. A copy that is not seen within the limit is lost.
    pub fn new(limit: Nanos) -> DeliveryLedger {
        DeliveryLedger::with_room(limit, COPIES_MAX)
    }

    fn with_room(limit: Nanos, copies_max: usize) -> DeliveryLedger {
        DeliveryLedger {
            limit,
            copies_max,
            copies: HashMap::new(),
            accepted: VecDeque::new(),
            settled: VecDeque::new(),
            totals: DeliveryTotals::default(),
        }
    }

    /// Enters a copy that is about to be submitted. One that is known already is not entered again.
    pub fn submit(&mut self, delivery: Delivery) {
        if self.copies.contains_key(&delivery) {
            return;
        }
        if self.copies_max <= self.copies.len() && !self.forget_one() {
            self.totals.not_followed += 1;
            return;
        }
        self.copies.insert(delivery, CopyState::Submitted { seen: None });
        self.totals.submitted += 1;
        self.totals.in_submission += 1;
    }

    /// Notes that the server has accepted a copy.
    pub fn accept(&mut self, delivery: Delivery, at: Nanos) -> Acceptance {
        let Some(CopyState::Submitted { seen }) = self.copies.get(&delivery).copied() else {
            return Acceptance::NotFollowed;
        };
        self.totals.in_submission -= 1;
        self.totals.accepted += 1;
        if let Some(place) = seen {
            self.totals.delivered += 1;
            self.settle(delivery, CopyState::Delivered { place, is_twice: false });
            return Acceptance::Delivered;
        }
        self.totals.awaited += 1;
        self.copies.insert(delivery, CopyState::Awaited { accepted: at });
        self.accepted.push_back(AwaitedDelivery { delivery, accepted: at });
        if 2 * self.copies_max < self.accepted.len() {
            let copies = &self.copies;
            self.accepted.retain(|one| is_awaited(copies, one));
        }
        Acceptance::Awaited
    }

    /// Notes that the server has refused a copy. If it has been seen all the same, it stays in doubt.
    pub fn refuse(&mut self, delivery: Delivery) {
        match self.copies.get(&delivery) {
            Some(CopyState::Submitted { seen: None }) => {
                self.copies.remove(&delivery);
                self.totals.in_submission -= 1;
                self.totals.refused += 1;
            }
            Some(CopyState::Submitted { seen: Some(_) }) => self.doubt(delivery),
            _ => {}
        }
    }

    /// Notes that the server's answer to the submission of a copy does not come.
    pub fn doubt(&mut self, delivery: Delivery) {
        let Some(CopyState::Submitted { seen }) = self.copies.get(&delivery).copied() else { return };
        self.totals.in_submission -= 1;
        self.totals.doubtful += 1;
        match seen {
            None => {
                self.copies.insert(delivery, CopyState::Doubtful);
            }
            Some(place) => {
                self.totals.doubtful_delivered += 1;
                self.settle(delivery, CopyState::Delivered { place, is_twice: false });
            }
        }
    }

    /// Notes that a message was seen in the mailbox to which it is delivered; not where its recipient moved it.
    pub fn see(&mut self, delivery: Delivery, place: MessagePlace) -> MessageSight {
        let Some(state) = self.copies.get(&delivery).copied() else { return MessageSight::Unfamiliar };
        match state {
            CopyState::Submitted { seen: None } => {
                self.copies.insert(delivery, CopyState::Submitted { seen: Some(place) });
                MessageSight::Early
            }
            CopyState::Awaited { accepted } => {
                self.totals.awaited -= 1;
                self.totals.delivered += 1;
                self.settle(delivery, CopyState::Delivered { place, is_twice: false });
                MessageSight::First { accepted }
            }
            CopyState::Doubtful => {
                self.totals.doubtful_delivered += 1;
                self.settle(delivery, CopyState::Delivered { place, is_twice: false });
                MessageSight::Doubtful
            }
            CopyState::Submitted { seen: Some(known) } => {
                if is_other(known, place) {
                    MessageSight::Twice
                } else {
                    MessageSight::Again
                }
            }
            CopyState::Delivered { place: known, is_twice } => {
                if !is_other(known, place) {
                    return MessageSight::Again;
                }
                self.totals.delivered_twice += u64::from(!is_twice);
                self.copies.insert(delivery, CopyState::Delivered { place: known, is_twice: true });
                MessageSight::Twice
            }
            CopyState::Lost { is_late } => {
                self.totals.late += u64::from(!is_late);
                self.copies.insert(delivery, CopyState::Lost { is_late: true });
                MessageSight::Late
            }
        }
    }

    /// Counts copies as lost that were accepted longer ago than the limit, and returns the next of them; `None` when there
    /// is no other.
    pub fn next_lost(&mut self, now: Nanos) -> Option<AwaitedDelivery> {
        while let Some(oldest) = self.accepted.front().copied() {
            let awaited = is_awaited(&self.copies, &oldest);
            if awaited && now <= oldest.accepted.saturating_add(self.limit) {
                return None;
            }
            self.accepted.pop_front();
            if awaited {
                self.totals.awaited -= 1;
                self.totals.lost += 1;
                self.settle(oldest.delivery, CopyState::Lost { is_late: false });
                return Some(oldest);
            }
        }
        None
    }

    /// Returns the copies that are awaited, those that were accepted first before others.
    pub fn awaited(&self) -> impl Iterator<Item = AwaitedDelivery> {
        self.accepted.iter().copied().filter(|one| is_awaited(&self.copies, one))
    }

    /// Returns the copies by what became of them.
    pub fn totals(&self) -> DeliveryTotals {
        self.totals
    }

    fn settle(&mut self, delivery: Delivery, state: CopyState) {
        self.copies.insert(delivery, state);
        self.settled.push_back(delivery);
    }

    /// Forgets the copy that was delivered or lost first. Returns whether there was one.
    fn forget_one(&mut self) -> bool {
        let Some(delivery) = self.settled.pop_front() else { return false };
        self.copies.remove(&delivery);
        self.totals.forgotten += 1;
        true
    }
}

fn is_awaited(copies: &HashMap<Delivery, CopyState>, one: &AwaitedDelivery) -> bool {
    copies.get(&one.delivery) == Some(&CopyState::Awaited { accepted: one.accepted })
}

/// Returns whether two places are different ones of a mailbox.
fn is_other(one: MessagePlace, other: MessagePlace) -> bool {
    one.validity == other.validity && one.number != other.number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: Nanos = Nanos::from_secs(60);

    fn copy(number: u32) -> Delivery {
        Delivery { epoch: 3, message: MessageNumber { user: 1, number }, recipient: Recipient::User(2) }
    }

    fn place(number: u32) -> MessagePlace {
        MessagePlace { validity: 7, number }
    }

    fn at(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    fn balanced(ledger: &DeliveryLedger) -> DeliveryTotals {
        for [one, other] in ledger.totals().sides() {
            assert_eq!(one, other, "{:?}", ledger.totals());
        }
        ledger.totals()
    }

    /// Five copies: delivered, delivered twice, lost, refused, and awaited at the end.
    #[test]
    fn each_copy_has_its_end() {
        let mut ledger = DeliveryLedger::new(LIMIT);
        (0..5).for_each(|number| ledger.submit(copy(number)));
        for number in [0, 1, 2] {
            assert_eq!(ledger.accept(copy(number), at(10)), Acceptance::Awaited);
        }
        ledger.refuse(copy(3));
        assert_eq!(ledger.accept(copy(4), at(100)), Acceptance::Awaited);
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::First { accepted: at(10) });
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::Again);
        assert_eq!(ledger.see(copy(1), place(2)), MessageSight::First { accepted: at(10) });
        assert_eq!(ledger.see(copy(1), place(3)), MessageSight::Twice);
        assert_eq!(ledger.see(copy(1), place(4)), MessageSight::Twice);
        assert_eq!(ledger.next_lost(at(70)), None, "the limit itself is in time");
        let lost = AwaitedDelivery { delivery: copy(2), accepted: at(10) };
        assert_eq!((ledger.next_lost(at(71)), ledger.next_lost(at(71))), (Some(lost), None));
        assert_eq!(ledger.see(copy(2), place(5)), MessageSight::Late);
        assert_eq!(ledger.see(copy(3), place(6)), MessageSight::Unfamiliar);
        let of_another_load_point = Delivery { epoch: 2, ..copy(4) };
        assert_eq!(ledger.see(of_another_load_point, place(7)), MessageSight::Unfamiliar);
        assert_eq!(ledger.awaited().map(|one| one.delivery).collect::<Vec<_>>(), [copy(4)]);
        let expected = DeliveryTotals {
            submitted: 5,
            refused: 1,
            accepted: 4,
            delivered: 2,
            lost: 1,
            late: 1,
            awaited: 1,
            delivered_twice: 1,
            ..DeliveryTotals::default()
        };
        assert_eq!(balanced(&ledger), expected);
    }

    #[test]
    fn a_copy_that_is_seen_before_the_answer_took_no_time() {
        let mut ledger = DeliveryLedger::new(LIMIT);
        ledger.submit(copy(0));
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::Early);
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::Again);
        assert_eq!(ledger.accept(copy(0), at(3)), Acceptance::Delivered);
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::Again);
        let totals = balanced(&ledger);
        assert_eq!((totals.delivered, totals.awaited, totals.delivered_twice), (1, 0, 0));
    }

    #[test]
    fn without_an_answer_a_copy_may_come_and_need_not() {
        let mut ledger = DeliveryLedger::new(LIMIT);
        for number in 0..3 {
            ledger.submit(copy(number));
        }
        ledger.doubt(copy(0));
        ledger.doubt(copy(1));
        assert_eq!(ledger.see(copy(1), place(1)), MessageSight::Doubtful);
        // One that was refused, and is there all the same.
        assert_eq!(ledger.see(copy(2), place(2)), MessageSight::Early);
        ledger.refuse(copy(2));
        assert_eq!(ledger.next_lost(at(1_000)), None);
        let totals = balanced(&ledger);
        assert_eq!((totals.doubtful, totals.doubtful_delivered, totals.refused), (3, 2, 0));
    }

    #[test]
    fn places_of_a_mailbox_that_was_made_again_cannot_be_compared() {
        let mut ledger = DeliveryLedger::new(LIMIT);
        ledger.submit(copy(0));
        ledger.accept(copy(0), at(1));
        ledger.see(copy(0), place(5));
        let other = MessagePlace { validity: 8, number: 1 };
        assert_eq!(ledger.see(copy(0), other), MessageSight::Again);
        assert_eq!(balanced(&ledger).delivered_twice, 0);
    }

    #[test]
    fn memory_is_bounded_and_awaited_copies_are_not_forgotten() {
        let mut ledger = DeliveryLedger::with_room(LIMIT, 4);
        for number in 0..4 {
            ledger.submit(copy(number));
            ledger.accept(copy(number), at(1));
        }
        ledger.submit(copy(4));
        assert_eq!(ledger.accept(copy(4), at(1)), Acceptance::NotFollowed);
        assert_eq!(ledger.see(copy(4), place(4)), MessageSight::Unfamiliar);
        ledger.see(copy(2), place(2));
        ledger.submit(copy(5));
        assert_eq!(ledger.see(copy(2), place(9)), MessageSight::Unfamiliar, "it was forgotten");
        assert_eq!(ledger.see(copy(0), place(1)), MessageSight::First { accepted: at(1) });
        let totals = balanced(&ledger);
        assert_eq!((totals.not_followed, totals.forgotten, totals.submitted), (1, 1, 5));
    }

    proptest! {
        /// Any order of events keeps the balance and the bounds.
        #[test]
        fn nothing_is_lost_but_what_is_lost(events in prop::collection::vec((0_u8..6, 0_u32..12, 0_u32..3), 0..400)) {
            let mut ledger = DeliveryLedger::with_room(Nanos::from_secs(20), 6);
            for (time, (event, number, mark)) in (0..).zip(events) {
                match event {
                    0 => ledger.submit(copy(number)),
                    1 => drop(ledger.accept(copy(number), at(time))),
                    2 => ledger.refuse(copy(number)),
                    3 => ledger.doubt(copy(number)),
                    4 => drop(ledger.see(copy(number), place(mark))),
                    _ => while ledger.next_lost(at(time)).is_some() {},
                }
                balanced(&ledger);
                prop_assert!(ledger.copies.len() <= 6 && ledger.accepted.len() <= 12);
                prop_assert!(ledger.settled.len() <= 6);
                prop_assert_eq!(ledger.awaited().count() as u64, ledger.totals().awaited);
            }
        }
    }
}
