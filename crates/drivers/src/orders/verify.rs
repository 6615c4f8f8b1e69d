//! The checks of a reply that states no failure: its output is one that the input can have.

use model::Outcome;
use orders::wire::{OrderEntryStatus, WireError, read_output};
use orders::{
    Cents, CustomerDetails, CustomerSelector, LINES_MAX, NewOrderInput, NewOrderOutput, OrderStatusOutput,
    PlacedOrder, RECENT_ORDERS, TransactionInput, TransactionOutput, last_name, order_total,
};

use super::exchange::OrderReply;
use crate::net::{OperationFailure, frames};

// Codes of `wrong bytes`.
const WRONG_END: u64 = 1;
const WRONG_LINES: u64 = 2;
const WRONG_TOTAL: u64 = 3;
const WRONG_CUSTOMER: u64 = 4;
const WRONG_ORDER: u64 = 5;
const WRONG_STOCK: u64 = 6;

/// Returns the failure of a payload that does not have the form of its operation.
pub(super) fn not_of_protocol(error: WireError) -> OperationFailure {
    let (WireError::Truncated(at) | WireError::Trailing(at) | WireError::Value(at)) = error;
    OperationFailure::new(Outcome::WrongLength, at as u64)
}

/// Returns whether a failure is the server's statement that the transaction has changed nothing.
pub(super) fn changed_nothing(failure: OperationFailure) -> bool {
    matches!(failure.outcome, Outcome::WrongStatus | Outcome::Busy)
}

/// Returns whether the session is of use after a failure: not where the server knows nothing of it, or answers another
/// request.
pub(super) fn keeps_session(failure: OperationFailure) -> bool {
    let is_unknown = failure == status_failure(OrderEntryStatus::OutOfPhase);
    !is_unknown && failure.outcome != Outcome::MalformedHead
}

/// Returns the failure of a transaction that ended with a status.
pub(super) fn status_failure(status: OrderEntryStatus) -> OperationFailure {
    OperationFailure::new(Outcome::WrongStatus, status as u64)
}

/// Reads the output of a transaction, and checks it against the input.
pub(super) fn output(
    input: &TransactionInput,
    reply: &OrderReply,
) -> Result<TransactionOutput, OperationFailure> {
    let kind = input.kind().transaction_type();
    let output = read_output(kind, &reply.payload).map_err(not_of_protocol)?;
    match fault(input, &output) {
        None => Ok(output),
        Some(code) => Err(OperationFailure::new(Outcome::WrongBytes, code)),
    }
}

/// Returns the code of what an output has that the input cannot lead to; `None` if it is right.
pub(super) fn fault(input: &TransactionInput, output: &TransactionOutput) -> Option<u64> {
    match (input, output) {
        (TransactionInput::NewOrder(input), TransactionOutput::NewOrder(output)) => new_order(input, output),
        (TransactionInput::Payment(input), TransactionOutput::Payment(output)) => {
            customer(input.customer, &output.customer)
        }
        (TransactionInput::OrderStatus(input), TransactionOutput::OrderStatus(output)) => {
            customer(input.customer, &output.customer).or_else(|| order_status(output))
        }
        (TransactionInput::StockLevel(_), TransactionOutput::StockLevel(output)) => {
            (RECENT_ORDERS * LINES_MAX < output.n_low).then_some(WRONG_STOCK)
        }
        // An output is read by the type of its input; of a delivery nothing is known beforehand.
        _ => None,
    }
}

fn new_order(input: &NewOrderInput, output: &NewOrderOutput) -> Option<u64> {
    match output {
        NewOrderOutput::Placed(order) if !input.is_rolled_back => placed(input, order),
        NewOrderOutput::RolledBack(order) if input.is_rolled_back => {
            let missing = input.items.iter().last().map(|line| line.item);
            (missing != Some(order.missing_item)).then_some(WRONG_LINES)
        }
        _ => Some(WRONG_END),
    }
}

/// Checks the lines of a placed order and its total, which follows from them.
fn placed(input: &NewOrderInput, order: &PlacedOrder) -> Option<u64> {
    let amounts_fit = input.items.iter().zip(&order.lines).all(|(line, priced)| {
        let amount = priced.price.0.checked_mul(i64::from(line.quantity));
        amount == Some(priced.amount.0)
    });
    if order.lines.len() != input.items.len() || !amounts_fit {
        return Some(WRONG_LINES);
    }
    let sum = order.lines.iter().try_fold(0, |sum: i64, line| sum.checked_add(line.amount.0));
    let total =
        sum.map(|sum| order_total(Cents(sum), order.discount, order.warehouse_tax, order.district_tax));
    (total != Some(order.total)).then_some(WRONG_TOTAL)
}

fn customer(selector: CustomerSelector, found: &CustomerDetails) -> Option<u64> {
    let is_right = match selector {
        CustomerSelector::Number(number) => found.id == number,
        CustomerSelector::LastName(number) => found.last == last_name(number),
    };
    (!is_right).then_some(WRONG_CUSTOMER)
}

/// Checks the last order of a customer, who has had one from the beginning: it is delivered as a whole or not at all.
fn order_status(output: &OrderStatusOutput) -> Option<u64> {
    let Some(order) = &output.order else { return Some(WRONG_ORDER) };
    let is_whole = order.lines.iter().all(|line| line.delivered.is_some() == order.carrier.is_some());
    (order.lines.is_empty() || !is_whole).then_some(WRONG_ORDER)
}

/// Returns the code of a failed transaction, as `docs/benchmarks/orderentry.md` lists them: the status of the reply, or
/// the check that found it wrong. 0 without one.
pub(super) fn code(failure: &OperationFailure) -> u32 {
    match failure.outcome {
        Outcome::WrongBytes => u32::try_from(failure.detail).unwrap_or(0),
        _ => frames::code(failure),
    }
}

#[cfg(test)]
mod tests {
    use orders::{
        BasisPoints, Credit, DistrictKey, OrderedItem, OrderedItems, PricedLine, RolledBackOrder, ShortText,
    };
    use units::WallTime;

    use super::*;

    fn input(is_rolled_back: bool) -> NewOrderInput {
        let line = |item, quantity| OrderedItem { item, supply_warehouse: 1, quantity };
        NewOrderInput {
            district: DistrictKey { warehouse: 1, district: 1 },
            customer: 1,
            items: OrderedItems::new(&[line(1, 2), line(2, 3)]).unwrap(),
            is_rolled_back,
        }
    }

    /// 2 · 1.00 + 3 · 2.00 = 8.00, less 50 %, plus 10 % and 5 %: 4.60.
    fn order() -> PlacedOrder {
        let line = |price, amount| PricedLine {
            name: ShortText::default(),
            in_stock: 50,
            is_original: false,
            price: Cents(price),
            amount: Cents(amount),
        };
        PlacedOrder {
            order: 3001,
            entered: WallTime(0),
            customer_last: ShortText::default(),
            credit: Credit::Good,
            discount: BasisPoints(5000),
            warehouse_tax: BasisPoints(1000),
            district_tax: BasisPoints(500),
            lines: vec![line(100, 200), line(200, 600)],
            total: Cents(460),
        }
    }

    #[test]
    fn placed_orders_have_the_lines_and_the_total_of_their_input() {
        let check = |order: PlacedOrder| new_order(&input(false), &NewOrderOutput::Placed(order));
        assert_eq!(check(order()), None);
        let changed = |change: fn(&mut PlacedOrder)| {
            let mut order = order();
            change(&mut order);
            check(order)
        };
        assert_eq!(changed(|order| order.total = Cents(461)), Some(WRONG_TOTAL));
        assert_eq!(changed(|order| order.lines[0].amount = Cents(201)), Some(WRONG_LINES));
        assert_eq!(changed(|order| order.lines[1].price = Cents(i64::MAX)), Some(WRONG_LINES));
        assert_eq!(changed(|order| order.lines.truncate(1)), Some(WRONG_LINES));
        assert_eq!(new_order(&input(true), &NewOrderOutput::Placed(order())), Some(WRONG_END));
    }

    #[test]
    fn orders_are_rolled_back_where_their_last_item_is_missing() {
        let rolled_back = |missing_item| {
            let customer_last = ShortText::default();
            let credit = Credit::Good;
            NewOrderOutput::RolledBack(RolledBackOrder { order: 1, customer_last, credit, missing_item })
        };
        assert_eq!(new_order(&input(true), &rolled_back(2)), None);
        assert_eq!(new_order(&input(true), &rolled_back(1)), Some(WRONG_LINES));
        assert_eq!(new_order(&input(false), &rolled_back(2)), Some(WRONG_END));
    }

    #[test]
    fn customers_are_those_that_were_asked_for() {
        let found = CustomerDetails {
            id: 7,
            first: ShortText::default(),
            middle: ShortText::default(),
            last: last_name(371),
            balance: Cents(0),
        };
        assert_eq!(customer(CustomerSelector::Number(7), &found), None);
        assert_eq!(customer(CustomerSelector::LastName(371), &found), None);
        for other in [CustomerSelector::Number(8), CustomerSelector::LastName(370)] {
            assert_eq!(customer(other, &found), Some(WRONG_CUSTOMER));
        }
    }

    #[test]
    fn only_a_status_says_that_nothing_has_changed() {
        assert!(changed_nothing(status_failure(OrderEntryStatus::Locked)));
        for outcome in [Outcome::SessionLost, Outcome::Inconsistent, Outcome::TimedOut] {
            assert!(!changed_nothing(OperationFailure::new(outcome, 0)), "{outcome:?}");
        }
        assert!(!keeps_session(status_failure(OrderEntryStatus::OutOfPhase)));
        assert!(keeps_session(status_failure(OrderEntryStatus::Locked)));
    }
}
