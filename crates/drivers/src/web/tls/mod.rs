//! HTTP/1 over TLS: rustls over our own sockets.
//!
//! - `settings`: whom to trust, how to begin, what each user remembers.
//! - `tickets`: the sessions that a user can resume.
//! - `link`: an encrypted connection.

mod link;
mod settings;
mod tickets;

pub use link::TlsLink;
pub use settings::{HandshakeCounts, Trust};

pub(crate) use settings::TlsSettings;
