//! HTTP/1 over TLS: rustls over the crate's own sockets.
//!
//! - `settings`: configuration, and counts of handshakes.
//! - `tickets`: the sessions that a user can resume.
//! - `transport`: a TLS connection.

mod settings;
mod tickets;
mod transport;

pub use settings::HandshakeCounts;
pub(super) use transport::TlsTransport;

pub(crate) use settings::TlsSettings;
