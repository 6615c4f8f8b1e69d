//! HTTP/1 over TLS: rustls over our own sockets.
//!
//! - `certificate`: which certificates are accepted.
//! - `settings`: how to begin, what each user remembers.
//! - `tickets`: the sessions that a user can resume.
//! - `link`: an encrypted connection.

mod certificate;
mod link;
mod settings;
mod tickets;

pub use certificate::{Authorities, CertificateProblem, Trust};
pub use link::TlsLink;
pub use settings::HandshakeCounts;

pub(crate) use settings::TlsSettings;
