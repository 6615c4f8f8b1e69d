//! Linux machines that are read through `ssh`: nothing has to run or be installed there.
//!
//! - `account`: whose shell on which machine
//! - `script`: what that shell is told to do, and what it answers
//! - `connection`: the running `ssh`, with time limits
//! - `machine`: asking once a second

mod account;
mod connection;
mod machine;
mod script;

pub use account::{SshAccount, SshAccountError};
pub use connection::SshOptions;
pub use machine::SshMachine;
