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
//! - `found_names`: the number of names that a search finds
//! - `marker`: the file that says whose the folder of a run is
//! - `run_folder`: the folder of a run on a server, the same over every protocol
//! - `first_data`: the time to the first data of a stream
//! - `window`: the operations in flight of a client that has several
//! - `name_pattern`: the names that a search matches, where the driver compares them itself
//! - [`directory`]: the files of a directory, by calls of this process
//! - [`smb`]: the files of an SMB share, by sessions of our own
//! - [`nfs`]: the files of an NFS export, likewise

mod content;
pub mod directory;
mod failure;
mod file_set;
mod first_data;
mod found_names;
mod frame_buffer;
mod handle_table;
mod marker;
mod name_pattern;
pub mod nfs;
mod options;
mod path_text;
mod run_folder;
pub mod smb;
mod window;

pub use file_set::{FileSetPlan, WorkloadFiles};
pub use options::{Durability, FileClientOptions};
pub use run_folder::RunFolder;
