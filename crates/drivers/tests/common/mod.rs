//! What the tests of the web driver share: a small workload, a bench for single operations, runs of the engine.

#![allow(dead_code, unused_imports, reason = "each test program uses its own part")]

mod bench;
mod http2;
mod peer;
mod run;
mod tls;

pub use bench::{
    Bench, EMPTY, LARGE, SMALL, clock, content, object_bytes, origin, protocol, right_reply, server, workload,
};
pub use http2::{Action, Http2Server};
pub use peer::{Peer, connection, read_request, reset, send_for_ever};
pub use run::{Collected, RoundRobin, closed, open, phases, run_drivers, run_point};
pub use tls::{Identity, TlsStream, accept};
