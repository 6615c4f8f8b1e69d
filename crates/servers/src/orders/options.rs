//! The settings of an order-entry server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use orders::DataScale;
use orderstore::{StoreError, Synchronous};
use thiserror::Error;
use units::Ratio;

use crate::framed::{DataDirectoryError, FrameFaultPlan};

/// The most threads that perform transactions that read.
pub const READERS_MAX: u32 = 64;

/// The settings of an order-entry server.
#[derive(Debug, Clone)]
pub struct OrderOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Size of the data.
    pub scale: DataScale,
    /// Seed of the rows.
    pub seed: u64,
    /// Directory for the golden copy, and below it for the data, on a disk.
    pub directory: PathBuf,
    /// Number of threads that perform transactions that read, from 1 to [`READERS_MAX`]; another one performs those that
    /// write.
    pub readers: u32,
    /// The moment at which a commit is on the disk.
    pub synchronous: Synchronous,
    /// Number of requests that may wait for a service thread; any further one is answered with `busy`.
    pub queue_max: u32,
    /// Number of terminals: theirs are numbers below it.
    pub terminals_max: u32,
    /// CPUs that all threads of the server together limit themselves to; `None` for no limit.
    pub cpu_allowance: Option<Ratio>,
    /// Misbehavior.
    pub faults: FrameFaultPlan,
}

/// A reason why an order-entry server did not start, or why its data could not be loaded.
#[derive(Debug, Error)]
pub enum OrderServerError {
    /// The directory for the data cannot be used.
    #[error(transparent)]
    Directory(#[from] DataDirectoryError),
    /// The data need more room.
    #[error(
        "the data needs {} MiB in `{}`, more than nine tenths of the free space\n\
         hint: free some space, choose another directory, or use fewer warehouses or a larger divisor",
        .bytes >> 20, .path.display()
    )]
    Room {
        /// The directory.
        path: PathBuf,
        /// The room that they need, in bytes.
        bytes: u64,
    },
    /// A file cannot be copied, moved or read.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    File {
        /// The action that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system's error: an address that cannot be listened on, or no further thread.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl OrderOptions {
    /// Returns the settings of a server with data of a size, on a free port of loopback.
    pub fn new(scale: DataScale, directory: PathBuf) -> OrderOptions {
        OrderOptions {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            scale,
            seed: 1,
            directory,
            readers: 2,
            synchronous: Synchronous::Normal,
            queue_max: 1024,
            terminals_max: 1024,
            cpu_allowance: None,
            faults: FrameFaultPlan::default(),
        }
    }
}
