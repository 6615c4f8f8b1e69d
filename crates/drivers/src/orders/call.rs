//! Requests: operation, argument and payload.

use frame::{FrameFormat, REQUEST_BYTES};
use orders::wire::{self, ExpectedData, OrderEntryOperation};
use orders::{ConsistencyCondition, TransactionInput};

use crate::net::frames;

/// The format of the frames.
pub(super) const FORMAT: FrameFormat =
    FrameFormat { magic: wire::MAGIC, version: wire::VERSION, payload_max: wire::PAYLOAD_MAX };

/// A request.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderCall<'a> {
    pub(super) operation: OrderEntryOperation,
    argument: u64,
    payload: CallPayload<'a>,
}

/// The payload of a request.
#[derive(Debug, Clone, Copy)]
enum CallPayload<'a> {
    None,
    Data(ExpectedData),
    Input(&'a TransactionInput),
}

impl<'a> OrderCall<'a> {
    /// Makes the request that opens the session of a terminal.
    pub(super) fn hello(terminal: u32, expected: ExpectedData) -> OrderCall<'a> {
        let payload = CallPayload::Data(expected);
        OrderCall { operation: OrderEntryOperation::Hello, argument: terminal.into(), payload }
    }

    /// Makes the request of a transaction.
    pub(super) fn transaction(input: &'a TransactionInput) -> OrderCall<'a> {
        let kind = input.kind().transaction_type();
        let operation = OrderEntryOperation::of_transaction(kind);
        OrderCall { operation, argument: 0, payload: CallPayload::Input(input) }
    }

    /// Makes the request that brings the data back to their first state.
    pub(super) fn restore() -> OrderCall<'a> {
        OrderCall::plain(OrderEntryOperation::Load, wire::LOAD_RESTORE)
    }

    /// Makes the request for the rows that violate a condition.
    pub(super) fn check(condition: ConsistencyCondition) -> OrderCall<'a> {
        OrderCall::plain(OrderEntryOperation::Check, wire::check_argument(condition))
    }

    /// Makes the request for the totals of the orders.
    pub(super) fn totals() -> OrderCall<'a> {
        OrderCall::plain(OrderEntryOperation::Check, wire::CHECK_TOTALS)
    }

    fn plain(operation: OrderEntryOperation, argument: u64) -> OrderCall<'a> {
        OrderCall { operation, argument, payload: CallPayload::None }
    }

    /// Writes the request to the end of an empty buffer.
    pub(super) fn write(&self, number: u64, buffer: &mut Vec<u8>) {
        buffer.resize(REQUEST_BYTES, 0);
        match self.payload {
            CallPayload::None => {}
            CallPayload::Data(expected) => expected.write(buffer),
            CallPayload::Input(input) => wire::write_input(input, buffer),
        }
        frames::write_header(FORMAT, (self.operation as u8, number, self.argument), buffer);
    }
}
