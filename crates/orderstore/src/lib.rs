//! The data of the order-entry workload in an SQLite file: loading, the five transactions, consistency checks.
//!
//! - `schema`: the statements that make the tables
//! - `load`: a new file with the rows before the first transaction
//! - `store`: the file as it is opened, what it says of itself, the checks
//! - `counts`: counts of what connections meet; `checkpoints`: those of the write-ahead log, as they are made
//! - `session`: the transactions on a connection, with prepared statements and bounded waits for locks
//!
//! The file is in WAL mode: readers see the last commit and never wait, writers take turns. A transaction begins with the
//! lock that it needs (`BEGIN IMMEDIATE` for those that write), so that it never fails halfway because of another.
//! Amounts are whole cents, rates ten-thousandths, and times milliseconds since 1970.

mod checkpoints;
mod columns;
mod counts;
mod error;
mod load;
mod schema;
mod session;
mod store;
mod transaction;

pub use counts::StoreCounts;
pub use error::StoreError;
pub use load::{create, log_of, remove};
pub use session::{PerformedTransaction, StoreSession};
pub use store::{FORMAT, OrderStore, Synchronous, ViolatingRow, Violations, database_name};
