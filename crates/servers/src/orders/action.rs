//! Requests as they are read: the action that each asks for.

use orders::wire::{
    CHECK_TOTALS, ExpectedData, LOAD_ANEW, LOAD_RESTORE, OrderEntryOperation, OrderEntryStatus,
    checked_condition, read_input,
};
use orders::{ConsistencyCondition, TransactionInput};

use crate::framed::FrameRequest;

/// The action that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// To open the session of a terminal.
    Hello { terminal: u64, expected: Option<ExpectedData> },
    /// To bring the data back to their first state.
    Load { is_anew: bool },
    /// To perform a transaction.
    Transaction(TransactionInput),
    /// To check a consistency condition.
    Check(ConsistencyCondition),
    /// To count the orders.
    Totals,
    /// To end the session.
    Bye,
}

impl Action {
    /// Reads a request.
    ///
    /// # Errors
    /// The status of the reply: it is none, or its payload has another checksum.
    pub(super) fn read<T>(request: &FrameRequest<T>) -> Result<Action, OrderEntryStatus> {
        let header = &request.header;
        let operation =
            OrderEntryOperation::from_number(header.operation).ok_or(OrderEntryStatus::BadRequest)?;
        if header.flags != 0 {
            return Err(OrderEntryStatus::BadRequest);
        }
        if !request.has_right_checksum() {
            return Err(OrderEntryStatus::WrongChecksum);
        }
        Action::of(operation, header.argument, request.payload()).ok_or(OrderEntryStatus::BadRequest)
    }

    /// Returns what an operation asks for with its argument and payload; `None` if it does not have these.
    fn of(operation: OrderEntryOperation, argument: u64, payload: &[u8]) -> Option<Action> {
        if let Some(kind) = operation.transaction() {
            let input = read_input(kind, payload).ok()?;
            return (argument == 0).then_some(Action::Transaction(input));
        }
        if operation == OrderEntryOperation::Hello {
            return Some(Action::Hello { terminal: argument, expected: ExpectedData::read(payload).ok()? });
        }
        if !payload.is_empty() {
            return None;
        }
        match (operation, argument) {
            (OrderEntryOperation::Load, LOAD_RESTORE) => Some(Action::Load { is_anew: false }),
            (OrderEntryOperation::Load, LOAD_ANEW) => Some(Action::Load { is_anew: true }),
            (OrderEntryOperation::Check, CHECK_TOTALS) => Some(Action::Totals),
            (OrderEntryOperation::Check, number) => checked_condition(number).map(Action::Check),
            (OrderEntryOperation::Bye, 0) => Some(Action::Bye),
            _ => None,
        }
    }
}
