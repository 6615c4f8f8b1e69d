//! Options and final report of a web server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use model::FileSet;
use units::{Nanos, Ratio};

use super::fault::FaultPlan;
use crate::listener::BACKLOG;

/// The smallest useful share of a CPU: below it, every check would be followed by a long pause.
const ALLOWANCE_MIN: f64 = 0.01;

/// Options of a web server.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// The workload whose files are served.
    pub files: FileSet,
    /// The share of one CPU that the server limits itself to, from 0.01 to 1; `None` for no limit.
    ///
    /// In any window w it uses at most share × (w + 5 ms), pausing for some 2 ms at a time where it would use
    /// more. Building the replies at startup does not count.
    pub cpu_allowance: Option<Ratio>,
    /// Accept backlog.
    pub backlog: u32,
    /// Idle timeout: a connection is closed after one to two times this without a completed request or a byte
    /// that the peer accepted.
    pub idle_timeout: Nanos,
    /// Faults to inject, if any.
    pub faults: FaultPlan,
    /// Certificate and key for TLS 1.2 and 1.3; `None` for plain connections.
    pub identity: Option<Identity>,
    /// Whether it speaks HTTP/2 besides HTTP/1: over TLS by ALPN, otherwise with clients that start with it.
    pub http2: bool,
}

/// The certificate and key files of a server, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl WebOptions {
    /// Returns options for a well-behaved server on a loopback port of the kernel's choice, without an
    /// allowance.
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

    /// Checks values that the types do not constrain.
    pub(super) fn check(&self) -> io::Result<()> {
        let problem = match self.cpu_allowance {
            Some(Ratio(share)) if !(ALLOWANCE_MIN..=1.0).contains(&share) => {
                format!("expected a CPU allowance from {ALLOWANCE_MIN} to 1 of one CPU, found {share}")
            }
            _ => match self.faults.rules.iter().find(|rule| !rule.fault.affects_connections()) {
                Some(rule) if self.http2 => {
                    format!("`{}` is a fault of HTTP/1 and cannot be combined with HTTP/2", rule.fault.name)
                }
                _ => return Ok(()),
            },
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

/// Totals of a server, from ready to stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeReport {
    /// Address it listened on.
    pub address: SocketAddr,
    /// Time from ready to stopped.
    pub elapsed: Nanos,
    /// CPU time of its thread in that period.
    pub cpu: Nanos,
    /// Total time paused because of the allowance.
    pub paused: Nanos,
    /// Connections accepted.
    pub connections: u64,
    /// Requests whose head was complete and well formed, including those that met a fault.
    pub requests: u64,
    /// Requests that were answered wrongly, or not at all, because of the fault plan.
    pub faults: u64,
    /// Bytes written to the kernel, including heads and TLS overhead.
    pub bytes_sent: u64,
}
