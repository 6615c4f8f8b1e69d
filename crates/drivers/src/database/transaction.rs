//! The rules of transactions that all users of databases share.

/// The most times that a transaction is begun again with the same input: after as many deadlocks it has failed.
pub(crate) const RETRIES_MAX: u64 = 100;

/// Whether the changes of transactions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    Kept,
    Undone,
}
