//! Data within this process, or that it calls itself, in place of a server.

use std::path::PathBuf;

use crate::exit::Failure;

/// The answers of a family about data within this process, or that it calls itself, in place of a server.
#[derive(Debug)]
pub(crate) struct EmbeddedServer {
    /// The name in plans, in place of that of a server.
    pub(crate) plan_name: &'static str,
    /// The name for people.
    pub(crate) name: &'static str,
    /// Whether it is loaded unless the run names a server.
    pub(crate) is_default: bool,
    /// The reason why it has no quota: a clause.
    pub(crate) place: &'static str,
    /// Returns the directory of the data.
    pub(crate) data_dir: fn() -> Result<PathBuf, Failure>,
}
