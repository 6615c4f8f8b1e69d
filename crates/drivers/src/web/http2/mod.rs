//! HTTP/2: users share connections, each with one stream at a time. Over plain TCP with prior knowledge, over TLS
//! as agreed by ALPN. The protocol itself is the crate `h2`.
//!
//! - `request`: requests as `h2` takes them.
//! - `pool`: the shared connections, and who makes them.
//! - `driver`: one operation, one stream.
//! - `failure`: what an error of `h2` comes to.

mod driver;
mod failure;
mod pool;
mod request;

pub use driver::Http2Driver;

pub(crate) use pool::Pool;
