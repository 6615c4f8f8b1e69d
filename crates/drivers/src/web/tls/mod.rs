//! HTTP/1 over TLS: rustls over the crate's own sockets.
//!
//! - `certificate`: verification of certificates.
//! - `settings`: configuration, and counts of handshakes.
//! - `tickets`: the sessions that a user can resume.
//! - `transport`: a TLS connection.

mod certificate;
mod settings;
mod tickets;
mod transport;

pub use certificate::{Authorities, CertificateProblem, Trust};
pub use settings::HandshakeCounts;
pub(super) use transport::TlsTransport;

pub(crate) use settings::TlsSettings;
