//! The servers behind: which of them gets a request, over what connection, and what came back.
//!
//! ```text
//!  Servers (shared) ── settings, names, health of each; watch() probes them
//!     ▲
//!  Origins (one per thread) ── send ─► balance ─► pool or connect ─► upload ─► head ─► OriginReply
//!                                ▲        │ another server, if nothing can have happened yet
//!                                └────────┘
//! ```
//!
//! Framing of requests is written here and nowhere else, framing of replies is read strictly; a connection on which
//! anything was out of order is closed, never used again.

mod settings;

mod failure;
mod outgoing;

mod health;
mod probe;
mod report;
mod servers;

mod balance;
mod deadline;
mod origins;
mod pool;
mod seat;

mod connect;
mod connection;
mod resolve;
mod stream;
mod tls;

mod body;
mod head;
mod reply;
mod tunnel;
mod upload;

pub use body::OriginBody;
pub use failure::OriginFailure;
pub use health::Condition;
pub use origins::Origins;
pub use outgoing::Outgoing;
pub use probe::watch;
pub use reply::OriginReply;
pub use report::{Change, Notice, ServerReport};
pub use servers::{Servers, SettingsError};
pub use settings::{AddressError, Balance, HealthSettings, OriginServer, OriginSettings, Probe, TlsSettings};
pub use tunnel::OriginTunnel;
