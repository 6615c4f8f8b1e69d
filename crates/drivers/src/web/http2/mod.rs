//! HTTP/2: users share connections, each with one stream at a time. Over plain TCP with prior knowledge, over
//! TLS by ALPN. The crate `h2` implements the protocol.
//!
//! - `request`: requests in the form that `h2` takes.
//! - `pool`: the shared connections.
//! - `driver`: one operation, one stream.
//! - `failure`: the mapping of `h2` errors to outcomes.

mod driver;
mod failure;
mod fetch;
mod pool;
mod request;

pub use driver::Http2Driver;
pub(super) use fetch::fetch;

pub(crate) use pool::Pool;
