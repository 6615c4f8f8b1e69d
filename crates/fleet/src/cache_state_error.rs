//! Reasons why a load point on files cannot begin with the state of the cache that a run asks for.

use std::io;

use thiserror::Error;

/// A reason why a load point cannot begin with the state of the cache that a run asks for.
#[derive(Debug, Error)]
pub enum CacheStateError {
    /// The files are those of a server that was there already.
    #[error("the files of a server that was there already cannot be evicted from its cache")]
    OtherServer,
    /// The server is on another machine.
    #[error("the server is not on this machine, whose caches would be dropped")]
    OtherMachine,
    /// The user may not drop the caches.
    #[error("only root can drop the caches of a machine")]
    NotRoot,
    /// The kernel does not drop them.
    #[error("the kernel does not drop its caches: {0}")]
    Kernel(io::Error),
}

impl CacheStateError {
    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            CacheStateError::OtherServer => {
                "restart the server before the run, or choose files that are larger than its memory; `--set cache=auto` loads it \
                 as it is, and `--set cache=warm` reads every file once before each load point"
            }
            CacheStateError::OtherMachine => "use `--set cache=auto` or `--set cache=warm`",
            CacheStateError::NotRoot => {
                "run as root, or use `--set cache=cold`, which evicts the clients’ files alone"
            }
            CacheStateError::Kernel(_) => "use `--set cache=cold`, which evicts the clients’ files alone",
        }
    }
}
