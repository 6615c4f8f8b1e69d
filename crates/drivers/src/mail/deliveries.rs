//! The ledger of deliveries, as users enter what they send and see into it.

use std::sync::{MutexGuard, PoisonError};

use mail::{Delivery, DeliveryLedger, MessageIdentity, MessagePlace, Recipient};
use units::Nanos;

use super::target::SharedLedger;

/// The copies of a message that is being submitted, one for each recipient.
///
/// They are in the ledger from the beginning. Those of which nothing was said when this is dropped, as when an operation is
/// given up, are in doubt.
#[derive(Debug)]
pub(super) struct SubmittedCopies<'a> {
    /// Nothing if deliveries are not followed.
    ledger: Option<&'a SharedLedger>,
    /// By the places of their recipients; `None` once they have an answer.
    copies: Vec<Option<Delivery>>,
}

impl<'a> SubmittedCopies<'a> {
    /// Enters the copies of a message.
    pub(super) fn enter(
        ledger: Option<&'a SharedLedger>,
        message: MessageIdentity,
        recipients: &[Recipient],
    ) -> SubmittedCopies<'a> {
        let copies: Vec<_> =
            recipients.iter().map(|recipient| Some(Delivery::new(message, *recipient))).collect();
        if let Some(ledger) = ledger {
            let mut ledger = locked(ledger);
            copies.iter().flatten().for_each(|copy| ledger.submit(*copy));
        }
        SubmittedCopies { ledger, copies }
    }

    /// Notes that the server has accepted the copy for the recipient at a place.
    pub(super) fn accept(&mut self, place: usize, at: Nanos) {
        if let Some((copy, mut ledger)) = self.settle(place) {
            ledger.accept(copy, at);
        }
    }

    /// Notes that the server has refused the copy for the recipient at a place.
    pub(super) fn refuse(&mut self, place: usize) {
        if let Some((copy, mut ledger)) = self.settle(place) {
            ledger.refuse(copy);
        }
    }

    fn settle(&mut self, place: usize) -> Option<(Delivery, MutexGuard<'_, DeliveryLedger>)> {
        let copy = self.copies.get_mut(place)?.take()?;
        Some((copy, locked(self.ledger?)))
    }
}

impl Drop for SubmittedCopies<'_> {
    fn drop(&mut self) {
        let Some(ledger) = self.ledger else { return };
        if self.copies.iter().any(Option::is_some) {
            let mut ledger = locked(ledger);
            self.copies.iter().flatten().for_each(|copy| ledger.doubt(*copy));
        }
    }
}

/// Notes that a message of the run is in its recipient's mailbox.
pub(super) fn see(ledger: &SharedLedger, message: MessageIdentity, user: u32, place: MessagePlace) {
    if message.kind.is_sent() {
        locked(ledger).see(Delivery::new(message, Recipient::User(user)), place);
    }
}

/// Locks a ledger, which no operation on it leaves half done.
fn locked(ledger: &SharedLedger) -> MutexGuard<'_, DeliveryLedger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use mail::{MessageKind, MessageNumber};

    use super::*;

    #[test]
    fn copies_without_an_answer_are_in_doubt() {
        let ledger: SharedLedger = Arc::new(Mutex::new(DeliveryLedger::new(Nanos::from_secs(60))));
        let message = MessageIdentity::new(1, MessageKind::Memo, MessageNumber { user: 1, number: 2 });
        let recipients = [3, 4, 5].map(Recipient::User);
        let mut copies = SubmittedCopies::enter(Some(&ledger), message, &recipients);
        copies.accept(0, Nanos(7));
        copies.refuse(1);
        // Once only, and of no other recipient.
        copies.refuse(0);
        copies.accept(3, Nanos(8));
        drop(copies);
        see(&ledger, message, 3, MessagePlace { validity: 1, number: 9 });
        let totals = locked(&ledger).totals();
        assert_eq!((totals.submitted, totals.in_submission), (3, 0));
        assert_eq!((totals.accepted, totals.delivered, totals.refused, totals.doubtful), (1, 1, 1, 1));
    }

    #[test]
    fn without_a_ledger_nothing_is_followed() {
        let message = MessageIdentity::new(1, MessageKind::Note, MessageNumber::default());
        let mut copies = SubmittedCopies::enter(None, message, &[Recipient::User(1)]);
        copies.accept(0, Nanos(1));
        copies.refuse(0);
    }
}
