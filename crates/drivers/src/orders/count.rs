//! Counts of what became of the transactions that write.

use std::cell::Cell;

use orders::{NewOrderOutput, TransactionInput, TransactionOutput};

/// The most orders that a delivery delivers: one in each district.
const ORDERS_PER_DELIVERY: u64 = orders::DISTRICTS as u64;

/// Counts of transactions by what became of them, ramps and all. Those *in doubt* were sent and have no answer that can
/// be believed: the database may have committed them or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderCounts {
    /// Orders that were placed, by the server's answer.
    pub placed: u64,
    /// New orders in doubt.
    pub placed_in_doubt: u64,
    /// Orders that were delivered, by the server's answer.
    pub delivered: u64,
    /// Orders that deliveries in doubt may have delivered: ten each.
    pub delivered_in_doubt: u64,
    /// Districts in which a delivery found no order.
    pub skipped: u64,
}

impl OrderCounts {
    /// Adds the counts of other transactions.
    pub(super) fn add(&mut self, other: OrderCounts) {
        let OrderCounts { placed, placed_in_doubt, delivered, delivered_in_doubt, skipped } = other;
        self.placed += placed;
        self.placed_in_doubt += placed_in_doubt;
        self.delivered += delivered;
        self.delivered_in_doubt += delivered_in_doubt;
        self.skipped += skipped;
    }
}

/// The counts of one thread.
#[derive(Debug, Default)]
pub(super) struct Counters(Cell<OrderCounts>);

impl Counters {
    pub(super) fn get(&self) -> OrderCounts {
        self.0.get()
    }

    fn add(&self, counts: OrderCounts) {
        let mut sum = self.0.get();
        sum.add(counts);
        self.0.set(sum);
    }
}

/// A transaction that has been sent: counted as in doubt when it is dropped without an end.
pub(super) struct OpenTransaction<'a> {
    counters: &'a Counters,
    /// The counts that it is counted with when it is dropped; 0 of transactions that write no orders.
    counts: OrderCounts,
}

impl<'a> OpenTransaction<'a> {
    /// Begins a transaction, before it is sent.
    pub(super) fn begin(counters: &'a Counters, input: &TransactionInput) -> OpenTransaction<'a> {
        OpenTransaction { counters, counts: in_doubt(input) }
    }

    /// Ends it with an output.
    pub(super) fn end(mut self, output: &TransactionOutput) {
        self.counts = committed(output);
    }

    /// Ends it: the server says that nothing has changed.
    pub(super) fn end_without_changes(mut self) {
        self.counts = OrderCounts::default();
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        self.counters.add(self.counts);
    }
}

/// Returns the counts of a transaction without an answer.
fn in_doubt(input: &TransactionInput) -> OrderCounts {
    let none = OrderCounts::default();
    match input {
        // A rolled-back order may have been placed all the same, by a server that is wrong.
        TransactionInput::NewOrder(_) => OrderCounts { placed_in_doubt: 1, ..none },
        TransactionInput::Delivery(_) => OrderCounts { delivered_in_doubt: ORDERS_PER_DELIVERY, ..none },
        _ => none,
    }
}

/// Returns the counts of a transaction with an output.
fn committed(output: &TransactionOutput) -> OrderCounts {
    let none = OrderCounts::default();
    match output {
        TransactionOutput::NewOrder(NewOrderOutput::Placed(_)) => OrderCounts { placed: 1, ..none },
        TransactionOutput::Delivery(delivery) => {
            let delivered = delivery.n_delivered() as u64;
            let skipped = delivery.n_skipped() as u64;
            OrderCounts { delivered, skipped, ..none }
        }
        _ => none,
    }
}

#[cfg(test)]
mod tests {
    use orders::{DeliveryInput, DeliveryOutput};

    use super::*;

    fn delivery() -> TransactionInput {
        TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier: 1 })
    }

    #[test]
    fn transactions_without_an_end_are_in_doubt() {
        let counters = Counters::default();
        drop(OpenTransaction::begin(&counters, &delivery()));
        OpenTransaction::begin(&counters, &delivery()).end_without_changes();
        assert_eq!(counters.get(), OrderCounts { delivered_in_doubt: 10, ..OrderCounts::default() });
    }

    #[test]
    fn deliveries_count_their_orders_and_the_districts_without_one() {
        let counters = Counters::default();
        let mut orders = [Some(7); 10];
        orders[3] = None;
        let output = TransactionOutput::Delivery(DeliveryOutput { orders });
        OpenTransaction::begin(&counters, &delivery()).end(&output);
        assert_eq!(counters.get(), OrderCounts { delivered: 9, skipped: 1, ..OrderCounts::default() });
    }
}
