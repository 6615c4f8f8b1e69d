//! The files of a directory of this machine, local or of a mounted share, by calls of this process.
//!
//! All files are below a folder that the run makes ([`FileRoot`]); no path leads out of it. What the operations of a client
//! ask for is what a file server asks of its file system: paths are resolved from that folder each time, and handles are
//! descriptors.
//!
//! | operation | calls |
//! |---|---|
//! | open, create | `openat2`; `mkdirat` before, for a folder |
//! | close | `close` |
//! | read, write | `pread`, `pwrite` until all is done |
//! | flush | `fsync`, unless durability is relaxed |
//! | path query | `openat2` with `O_PATH`, `fstat`, `close` |
//! | file query, set | `fstat`, `futimens` |
//! | volume query | `fstatvfs` |
//! | search | `openat2`, `getdents` until there are enough names, `close`; without a pattern a path query |
//! | rename, delete, make or remove a folder | `openat2` of the parent, `renameat` or the like, `close` |
//! | lock, unlock | `fcntl`, a lock that belongs to the open file and waits for others |
//!
//! A call that blocks cannot be cut off by a time limit: it counts as timed out when it returns.
//! The bytes of a write are made within its time; those of a read are verified after it.
//!
//! - `root`: the folder of the run
//! - `resolve`: paths below it
//! - `tree`: the entries of folders, and their removal
//! - `populate`: the files before load
//! - `driver`: the operations of a client
//! - `descriptor`: locks, and the errors of closing
//! - `errno`: errors of the kernel by their meaning

mod descriptor;
mod driver;
mod errno;
mod populate;
mod resolve;
mod root;
mod tree;

pub use driver::DirectoryDriver;
pub use errno::errno_name;
pub use populate::{Eviction, FilePopulationError, PopulationCheck, PopulationSummary};
pub use root::{FOLDER_NAME, FileRoot, FileRootError};
