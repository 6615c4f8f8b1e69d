//! The client side of the proxy: load balancing, connections to the origin servers, and their responses.
//!
//! ```text
//! Servers (shared) ── settings, addresses, health of each; run_probes() probes them
//!     ▲
//! OriginClient (one per thread) ── send ─► balance ─► pool or connect ─► upload ─► head ─► UpstreamResponse
//!                                    ▲        │ another server, if the request cannot have taken effect yet
//!                                    └────────┘
//! ```
//!
//! The framing of requests is written here and nowhere else, that of responses is parsed strictly; a connection with
//! any irregularity is closed, never reused.

mod settings;

mod failure;
mod fault;
mod upstream_request;

mod health;
mod probe;
mod report;
mod servers;

mod answers;
mod balance;
mod client;
mod deadline;
mod pool;
mod server_permit;
mod trial;

mod connect;
mod connection;
mod resolve;
mod stream;
mod tls;

mod body;
mod head;
mod tunnel;
mod upload;
mod upstream_response;

pub use body::OriginBody;
pub use client::OriginClient;
pub use failure::OriginFailure;
pub use fault::ServerFault;
pub use head::MalformedHead;
pub use health::ServerState;
pub use probe::run_probes;
pub use report::{OnServerChange, ServerChange, ServerReport};
pub use servers::{OriginSettingsError, Servers};
pub use settings::{
    Balance, HealthSettings, OriginAddressError, OriginServer, OriginSettings, OriginTlsSettings, Probe,
};
pub use tunnel::OriginTunnel;
pub use upstream_request::UpstreamRequest;
pub use upstream_response::UpstreamResponse;
