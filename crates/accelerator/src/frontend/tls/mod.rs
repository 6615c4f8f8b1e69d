//! TLS: certificates by server name, ALPN, and reloading of certificates while connections go on.
//!
//! No state is kept about clients: sessions are resumed by tickets alone, encrypted with keys that this process
//! makes, rotates every six hours and keeps over reloads. There is no early data (0-RTT), which could be replayed.

mod accept;
mod certificates;
mod error;
mod settings;

pub use accept::{AcceptedTls, HandshakeFailure, TlsContext};
pub use error::TlsError;
pub use settings::{CertificateFiles, MinTlsVersion, TlsSettings, UnknownNames};
