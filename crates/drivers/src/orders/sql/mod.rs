//! Order entry in SQL: what the drivers of all databases share.
//!
//! - `columns`: typed values of a result row
//! - `client`, `reading`: the form `client`, and transactions that only read; `batched`: statements of several rows;
//!   `output`: what forms share
//! - `schema`, `rows`, `load`: the tables, their rows, loading them by several connections
//! - `control`: the data as the schema describes them, and their consistency
//! - `session`: a transaction from its begin to its end, again where another one was in the way
//! - `driver`: what terminals of a load thread share

pub(crate) mod batched;
pub(crate) mod client;
pub(crate) mod columns;
pub(crate) mod control;
pub(crate) mod driver;
pub(crate) mod load;
pub(crate) mod output;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod session;
