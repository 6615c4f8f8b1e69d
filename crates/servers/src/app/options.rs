//! The settings of an application server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use frame::app::APPENDED_BYTES_MAX;
use thiserror::Error;
use units::Ratio;

use crate::framed::{DataDirectoryError, FrameFaultPlan};

/// The most service threads.
pub const SERVICE_THREADS_MAX: u32 = 256;

/// The settings of an application server.
#[derive(Debug, Clone)]
pub struct AppOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Number of service threads, from 1 to [`SERVICE_THREADS_MAX`].
    pub service_threads: u32,
    /// Number of requests that may wait for a service thread; any further one is answered with `busy`.
    pub queue_max: u32,
    /// Number of clients: theirs are numbers below it.
    pub clients_max: u32,
    /// Longest data file of a client, in bytes.
    pub file_bytes_max: u64,
    /// Length in bytes at which a client's second file, which is appended to, begins anew: at least a block.
    pub append_bytes_max: u64,
    /// Directory below which the files of clients are made, on a disk; `None` for a server without files.
    pub directory: Option<PathBuf>,
    /// CPUs that all threads of the server together limit themselves to; `None` for no limit.
    pub cpu_allowance: Option<Ratio>,
    /// Misbehavior.
    pub faults: FrameFaultPlan,
}

/// A reason why an application server did not start.
#[derive(Debug, Error)]
pub enum AppServerError {
    /// The directory for data files cannot be used.
    #[error(transparent)]
    Directory(#[from] DataDirectoryError),
    /// The system's error: an address that cannot be listened on, or no further thread.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl AppOptions {
    /// Returns the settings of a server for up to 60 clients on two CPUs, on a free port of loopback, without files.
    pub fn new() -> AppOptions {
        AppOptions {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            service_threads: service_threads(60, 2),
            queue_max: 1024,
            clients_max: 1024,
            file_bytes_max: 1 << 30,
            append_bytes_max: APPENDED_BYTES_MAX,
            directory: None,
            cpu_allowance: None,
            faults: FrameFaultPlan::default(),
        }
    }
}

impl Default for AppOptions {
    fn default() -> AppOptions {
        AppOptions::new()
    }
}

/// Returns the number of service threads for a number of clients on a number of CPUs: T = ⌈0.75·C⌉ + 2 + CPUs, at most
/// [`SERVICE_THREADS_MAX`].
///
/// Source: a report on ServerBench 4 has 47 threads for 60 clients and one for each processor; the line in between is
/// ours.
pub fn service_threads(clients: u32, cpus: u32) -> u32 {
    let threads = (u64::from(clients) * 3).div_ceil(4) + 2 + u64::from(cpus);
    u32::try_from(threads).unwrap_or(u32::MAX).min(SERVICE_THREADS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_those_of_the_original_at_60_clients_on_2_cpus() {
        assert_eq!(service_threads(60, 2), 49);
        assert_eq!(service_threads(1, 1), 4);
        assert_eq!(service_threads(u32::MAX, u32::MAX), SERVICE_THREADS_MAX);
    }
}
