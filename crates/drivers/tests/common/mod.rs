//! Shared by the tests of the drivers: small workloads, a fixture for single operations of the web, operations
//! of sessions, runs of the engine.

#![allow(dead_code, unused_imports, reason = "each test program uses its own part")]

mod app;
mod fixture;
mod http2;
mod peer;
mod run;
mod session;
mod tls;

pub(crate) use app::{APP_MESSAGE_BYTES, app_workload};
pub(crate) use fixture::{
    EMPTY, Fixture, LARGE, SMALL, body_bytes, clock, connect_time, content, context, first_byte_time,
    object_bytes, protocol, reply_bytes, right_reply, server, workload,
};
pub(crate) use http2::{Action, Http2Server};
pub(crate) use peer::{Peer, connection, read_request, reset, send_endlessly};
pub(crate) use run::{CollectedRecords, RoundRobin, closed, open, phases, run_drivers, run_point};
pub(crate) use session::{TRANSACTION_MAX, block_on, perform_all};
pub(crate) use tls::{Identity, TlsStream, accept};
