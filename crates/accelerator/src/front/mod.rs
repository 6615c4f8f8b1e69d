//! Where clients come in: listeners, connections, protocols.
//!
//! ```text
//!  listener ─► acceptor ─► entrance ─► PROXY header ─► TLS ─► http2
//!  (one per        │       (admission)                  └───► http1 ─► Exchange::handle ─► Reply
//!   core)          └─► head that is there and remembered: answered at once, without registering the socket
//! ```
//!
//! One thread per core, each with its listeners, its connections and its memory of answered heads. **Why tokio and not
//! a loop of our own over epoll:** the same question was measured for the load generator (100 connections, relative to
//! `wrk`): own codec on tokio's current-thread runtime 0.88, a bare loop 0.89; kernel calls are nine tenths of what a
//! request costs. What decides is to make no call that is not needed, and that is done here: one read and one write
//! per exchange, a short read taken as the end of what has arrived, no timer per request (`watch`), no registration
//! of connections that end with their first reply (`acceptor`), and for a head that has been answered before neither
//! parsing, allocating nor locking (`memo`).

pub mod http2;
pub mod proxy_protocol;
pub mod tls;

mod acceptor;
mod admission;
mod deferred;
mod entrance;
mod fronts;
mod hits;
mod http1;
mod listener;
mod memo;
mod network;
mod patience;
mod peer;
mod prefixed;
mod service;
mod settings;
mod thread;
mod watch;
mod worker;

pub use fronts::{Fronts, Kit, Maker, Plan, start};
pub use network::{Network, NoNetwork};
pub use service::Service;
pub use settings::{FrontSettings, Limits, Listen};
