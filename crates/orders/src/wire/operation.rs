//! The operations of an order-entry server, and the statuses of its replies.

use crate::TransactionType;

/// An operation of an order-entry server, with its number on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OrderEntryOperation {
    /// Opens a session: the argument is the number of the terminal, the payload states the data that it expects. The reply
    /// describes the data.
    Hello = 1,
    /// Brings the data back to their first state ([`super::LOAD_RESTORE`], [`super::LOAD_ANEW`]). The reply describes them.
    Load = 2,
    /// Enters an order.
    NewOrder = 3,
    /// Enters a payment.
    Payment = 4,
    /// Asks for a customer's last order.
    OrderStatus = 5,
    /// Has orders delivered.
    Delivery = 6,
    /// Counts the items with low stock.
    StockLevel = 7,
    /// Checks a consistency condition, or counts the orders ([`super::check_argument`], [`super::CHECK_TOTALS`]).
    Check = 8,
    /// Asks for the load of the server; without a session, and never queued.
    Stats = 9,
    /// Ends a session.
    Bye = 10,
}

/// The status of a reply of an order-entry server. With any but [`OrderEntryStatus::Ok`], a transaction has changed
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum OrderEntryStatus {
    /// The operation succeeded; a transaction that writes is committed, or rolled back as its output says.
    Ok = 0,
    /// The queue was full; nothing was done.
    Busy = 1,
    /// The operation does not exist, or not with these flags, this argument or this payload.
    BadRequest = 2,
    /// The payload has another checksum than its header says.
    WrongChecksum = 3,
    /// The operation needs `HELLO` before it.
    OutOfPhase = 4,
    /// A number of the input is not in the data, or that of the terminal is above what the server allows.
    OverLimit = 5,
    /// The data are other ones than those that `HELLO` expects.
    OtherData = 6,
    /// The disk is full, or would be.
    StorageFull = 7,
    /// The database refused.
    StorageFailed = 8,
    /// Another transaction held a lock for too long.
    Locked = 9,
    /// The data lack a row that the transaction needs.
    MissingRow = 10,
    /// There are no data: the last `LOAD` failed.
    NoData = 11,
}

use OrderEntryOperation as O;
use OrderEntryStatus as S;

impl OrderEntryOperation {
    /// All operations, in the order of their numbers.
    pub const ALL: [OrderEntryOperation; 10] = [
        O::Hello,
        O::Load,
        O::NewOrder,
        O::Payment,
        O::OrderStatus,
        O::Delivery,
        O::StockLevel,
        O::Check,
        O::Stats,
        O::Bye,
    ];

    /// Returns the operation with a number; `None` if there is none.
    pub fn from_number(number: u8) -> Option<OrderEntryOperation> {
        O::ALL.into_iter().find(|one| *one as u8 == number)
    }

    /// Returns the operation that performs a type of transaction.
    pub fn of_transaction(kind: TransactionType) -> OrderEntryOperation {
        match kind {
            TransactionType::NewOrder => O::NewOrder,
            TransactionType::Payment => O::Payment,
            TransactionType::OrderStatus => O::OrderStatus,
            TransactionType::Delivery => O::Delivery,
            TransactionType::StockLevel => O::StockLevel,
        }
    }

    /// Returns the type of transaction that the operation performs; `None` if none.
    pub fn transaction(self) -> Option<TransactionType> {
        TransactionType::ALL.into_iter().find(|kind| O::of_transaction(*kind) == self)
    }

    /// Returns the name: `NEW-ORDER`.
    pub fn name(self) -> &'static str {
        match self {
            O::Hello => "HELLO",
            O::Load => "LOAD",
            O::NewOrder => "NEW-ORDER",
            O::Payment => "PAYMENT",
            O::OrderStatus => "ORDER-STATUS",
            O::Delivery => "DELIVERY",
            O::StockLevel => "STOCK-LEVEL",
            O::Check => "CHECK",
            O::Stats => "STATS",
            O::Bye => "BYE",
        }
    }
}

impl OrderEntryStatus {
    /// All statuses, in the order of their numbers.
    pub const ALL: [OrderEntryStatus; 12] = [
        S::Ok,
        S::Busy,
        S::BadRequest,
        S::WrongChecksum,
        S::OutOfPhase,
        S::OverLimit,
        S::OtherData,
        S::StorageFull,
        S::StorageFailed,
        S::Locked,
        S::MissingRow,
        S::NoData,
    ];

    /// Returns the status with a number; `None` if there is none.
    pub fn from_number(number: u16) -> Option<OrderEntryStatus> {
        S::ALL.get(usize::from(number)).copied()
    }

    /// Returns a clause for people.
    pub fn describe(self) -> &'static str {
        match self {
            S::Ok => "the operation succeeded",
            S::Busy => "its queue is full",
            S::BadRequest => "it does not understand the request",
            S::WrongChecksum => "the payload arrived with another checksum",
            S::OutOfPhase => "the session has not been opened",
            S::OverLimit => "a number is above its limits",
            S::OtherData => "it has other data",
            S::StorageFull => "its disk is full",
            S::StorageFailed => "its database refused",
            S::Locked => "the data were locked for too long",
            S::MissingRow => "the data lack a row",
            S::NoData => "it has no data, because loading them failed",
        }
    }
}
