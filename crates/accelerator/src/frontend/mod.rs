//! The frontend: listeners, client connections and their protocols.
//!
//! ```text
//! listener ─► acceptor ─► connection ─► PROXY header ─► TLS ─► http2
//! (one per        │       (limits)                       └───► http1 ─► Exchange::handle ─► Response
//!  core)          └─► fast path: a remembered head is answered at once, without registering the socket
//! ```
//!
//! One thread per core, each with its listeners, its connections and its remembered heads. **Why tokio and not a loop
//! of our own over epoll:** the same question was measured for the load generator (100 connections, relative to
//! `wrk`): own codec on tokio's current-thread runtime 0.88, a bare loop 0.89; system calls are nine tenths of the
//! cost of a request. The number of system calls decides, and this frontend avoids each that is not needed: one read
//! and one write per exchange, a short read taken as the end of the input, no timer per request (`deadline`), no
//! registration of connections that end with their first response (`acceptor`), and no parsing, allocating or locking
//! for a head that has been answered before (`memo`).

pub mod http2;
pub mod proxy_protocol;
pub mod tls;

mod acceptor;
mod connection;
mod connection_limiter;
mod deadline;
mod fast_path;
mod http1;
mod inherited;
mod memo;
mod min_rate;
mod peer;
mod rewind;
mod service;
mod settings;
mod socket;
mod socket_calls;
mod worker;
mod worker_pool;
mod worker_thread;

pub use inherited::InheritedSockets;
pub use service::Service;
pub use settings::{ClientLimits, FrontendSettings, ListenSettings};
pub use worker_pool::{FrontendConfig, WorkerContext, WorkerFactory, WorkerPool, start};
