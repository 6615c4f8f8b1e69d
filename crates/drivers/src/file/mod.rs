//! The file family: operations on the files of a server, or of a directory of this machine.
//!
//! A driver is one client with its open files. It holds what the server answered against what the operation expects, and
//! what was read against what had been written.
//!
//! - `options`: the settings of clients
//! - `file_set`: the files and folders that are there before load
//! - `path_text`: paths as text
//! - `frame_buffer`: buffers of what is sent and received
//! - `handle_table`: open files by their handles
//! - `content`: the bytes of writes, and the verification of those of reads
//! - `failure`: failures by their meaning, and the replies of operations
//! - `first_data`: the time to the first data of a stream
//! - `name_pattern`: the names that a search matches, where the driver compares them itself
//! - [`directory`]: the files of a directory, by calls of this process
//! - [`smb`]: the files of an SMB share, by sessions of our own
//! - [`nfs`]: the files of an NFS export, likewise

mod content;
pub mod directory;
mod failure;
mod file_set;
mod first_data;
mod frame_buffer;
mod handle_table;
mod name_pattern;
pub mod nfs;
mod options;
mod path_text;
pub mod smb;

pub use file_set::{FileSetPlan, WorkloadFiles};
pub use options::{Durability, FileClientOptions};
