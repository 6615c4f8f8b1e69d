//! The memory limit in force of a server, from which sizes of a workload can follow.

use std::net::SocketAddr;

use observe::{WatchError, WatchedTargets, is_here};
use testbed::RunningSut;
use thiserror::Error;

/// The reason why a server's memory limit is not known.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoMemoryLimit {
    /// The run started the server, and has not limited it.
    #[error("no control group of the server sets a limit")]
    OfStarted,
    /// The server was there already, and runs without one.
    #[error("no control group of the running server sets a limit")]
    OfRunning,
    /// The server is on another machine.
    #[error("the limit of a server on another machine is not read")]
    Elsewhere,
    /// The server is on this machine, and its processes are not found.
    #[error("the server's processes were not found: {0}")]
    Unseen(WatchError),
}

/// Returns the memory limit in force of a server, in bytes: of one that the run started, else of the one at an address; what
/// is in this process has no limit of its own.
///
/// # Errors
/// It has none, or none that is seen.
pub(crate) fn memory_limit(
    sut: Option<&RunningSut>,
    target: Option<SocketAddr>,
) -> Result<u64, NoMemoryLimit> {
    match (sut, target) {
        (Some(sut), _) => sut.memory_limit().ok_or(NoMemoryLimit::OfStarted),
        (None, Some(target)) => of_running(target),
        (None, None) => Err(NoMemoryLimit::OfStarted),
    }
}

/// Returns the limit of a server that was there already.
fn of_running(target: SocketAddr) -> Result<u64, NoMemoryLimit> {
    if !is_here(target.ip()) {
        return Err(NoMemoryLimit::Elsewhere);
    }
    let mut targets = WatchedTargets::default();
    targets.add_target(target).map_err(NoMemoryLimit::Unseen)?;
    targets.memory_limit().ok_or(NoMemoryLimit::OfRunning)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// The address elsewhere is reserved for documents. This process stands for a server that runs.
    #[test]
    fn a_limit_that_is_not_known_has_its_reason() {
        assert_eq!(of_running("192.0.2.1:7000".parse().unwrap()), Err(NoMemoryLimit::Elsewhere));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = observe::memory_limit_of(&[std::process::id()]);
        assert_eq!(of_running(address), own.ok_or(NoMemoryLimit::OfRunning));
        // A port that has been used lately may have been given to another test by now.
        assert!(matches!(of_running("127.0.0.1:1".parse().unwrap()), Err(NoMemoryLimit::Unseen(_))));
    }
}
