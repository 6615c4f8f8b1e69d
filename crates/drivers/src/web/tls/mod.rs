//! TLS: its configuration, and what its users keep.
//!
//! - `settings`: configuration, and counts of handshakes.
//! - `tickets`: the sessions that a user can resume.

mod settings;
mod tickets;

pub use settings::HandshakeCounts;

pub(crate) use settings::TlsSettings;
