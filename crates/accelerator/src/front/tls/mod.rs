//! TLS: which certificate a client is shown, what is agreed on, and how certificates change while connections go on.
//!
//! Nothing is remembered about clients: sessions are resumed by tickets alone, sealed with keys that this process
//! makes, changes every six hours and keeps over reloads. There is no early data (0-RTT), which could be played back.

mod accept;
mod certificates;
mod error;
mod settings;

pub use accept::{Accepted, HandshakeFailure, Tls};
pub use error::TlsError;
pub use settings::{CertificateFiles, TlsSettings, TlsVersion, UnknownNames};
