//! What a server is told, and what it says at the end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use model::FileSet;
use units::{Nanos, Ratio};

use super::fault::FaultPlan;
use crate::listener::BACKLOG;

/// The smallest share of a CPU that makes sense: below, every check would be followed by a long pause.
const ALLOWANCE_MIN: f64 = 0.01;

/// How a web server is to be started.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Where to listen; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Whose files to serve.
    pub files: FileSet,
    /// The share of one CPU that the server limits itself to, from 0.01 to 1; `None` for no limit.
    ///
    /// In any window w it uses at most share × (w + 5 ms), pausing for some 2 ms at a time where
    /// it would use more. Making the replies at the start does not count.
    pub cpu_allowance: Option<Ratio>,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// A connection is closed after one to two times this without a finished request or a byte
    /// that the peer took.
    pub idle_timeout: Nanos,
    /// What to do wrong, if anything.
    pub faults: FaultPlan,
    /// What it shows for TLS 1.2 and 1.3; `None` for connections that are not encrypted.
    pub identity: Option<Identity>,
    /// Whether it speaks HTTP/2 besides HTTP/1: over TLS where ALPN agrees on it, else to clients that begin with it.
    pub http2: bool,
}

/// The files by which a server proves who it is, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its certificate, and others that vouch for it.
    pub certificate: PathBuf,
    /// The key of its certificate.
    pub key: PathBuf,
}

impl WebOptions {
    /// Makes options for a well-behaved server on a loopback port of the kernel's choice, without an allowance.
    pub fn new(files: FileSet) -> WebOptions {
        WebOptions {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            files,
            cpu_allowance: None,
            backlog: BACKLOG,
            idle_timeout: Nanos::from_secs(60),
            faults: FaultPlan::default(),
            identity: None,
            http2: false,
        }
    }

    /// Checks what the types leave open.
    pub(super) fn check(&self) -> io::Result<()> {
        let problem = match self.cpu_allowance {
            Some(Ratio(share)) if !(ALLOWANCE_MIN..=1.0).contains(&share) => {
                format!("expected a CPU allowance from {ALLOWANCE_MIN} to 1 of one CPU, found {share}")
            }
            _ => match self.faults.rules.iter().find(|rule| !rule.fault.is_of_connections()) {
                Some(rule) if self.http2 => {
                    format!("`{}` is a fault of HTTP/1, and HTTP/2 is asked for", rule.fault.name)
                }
                _ => return Ok(()),
            },
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

/// What a server did, from ready to stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeReport {
    /// Where it listened.
    pub address: SocketAddr,
    /// From ready to stopped.
    pub elapsed: Nanos,
    /// CPU time that its thread used in it.
    pub cpu: Nanos,
    /// How long it paused because of its allowance.
    pub paused: Nanos,
    /// Connections accepted.
    pub connections: u64,
    /// Requests whose head was complete and well formed, spoiled ones included.
    pub requests: u64,
    /// Requests that were answered wrongly, or not, because of the fault plan.
    pub faults: u64,
    /// Bytes handed to the kernel, heads and what TLS adds included.
    pub bytes_sent: u64,
}
