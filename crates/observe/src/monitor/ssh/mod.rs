//! Linux machines that are read through `ssh`: nothing has to run or be installed there.
//!
//! - `account`: the account on the other machine
//! - `script`: the script for its shell, and the format of answers
//! - `process_view`: processes found there; `container_names`: names of containers; `processes`: groups of them with their
//!   back ends, and their counters; `threads`: states of their threads; `counts`: their open files, connections and Unix
//!   sockets; `limits`: their limits in force
//! - `ssh_connection`: the running `ssh` process, with time limits
//! - `machine`: one request per second

mod account;
mod container_names;
mod counts;
mod limits;
mod machine;
mod process_view;
mod processes;
mod script;
mod ssh_connection;
mod threads;

pub use account::{SshAccount, SshAccountError};
pub use machine::SshMachine;
pub use ssh_connection::SshOptions;
