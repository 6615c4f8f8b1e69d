//! The way to a target, where its URL does not say it.

use std::path::PathBuf;

use crate::ClientIdentity;

/// The way to a target: the place that connections go to, and the client certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetAccess {
    /// The place that connections go to.
    pub connect_to: ConnectTo,
    /// The certificate that is shown to a server that asks for one; it is never stored.
    pub identity: Option<ClientIdentity>,
}

/// The place that connections go to. `Host` field and TLS have the name of the target all the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ConnectTo {
    /// Host and port of the target.
    #[default]
    Target,
    /// Another host and port.
    Address {
        /// Name or address; an IPv6 address in brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket of this machine, by its path.
    Socket(PathBuf),
}
