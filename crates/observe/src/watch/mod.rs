//! Processes of a server that is there already: found by port, process, unit, control group or container, and
//! followed while they come and go.
//!
//! - `selector`: selectors, as users write them
//! - `sockets`: listening sockets; `holders`: the processes that hold them
//! - `command_line`: command lines of processes
//! - `proxy`: programs that only pass connections on to a container
//! - `container_names`: names of containers
//! - `namespaces`: network namespaces and their addresses
//! - `resolve`: from a selector to processes
//! - `request`: the processes that a monitor is to watch
//! - `table`: all processes of the machine; `group`: those that are watched together
//! - `limits`: their limits in force
//! - `describe`: the groups in words, with the conclusions that cannot be drawn

mod command_line;
mod container_names;
mod describe;
mod group;
mod holders;
mod limits;
mod namespaces;
mod proxy;
mod request;
mod resolve;
mod selector;
mod sockets;
mod table;

pub(crate) use container_names::{is_meant, supervised_by};
pub use describe::{BlindSpot, GroupDescription, LimitDescription};
pub(crate) use group::ProcessGroup;
pub(crate) use holders::{holders_among, own_processes, sockets_held_by};
pub use limits::memory_limit_of;
pub(crate) use limits::{CpuLists, GroupLimits, ONLINE_CPUS, common_directories};
pub(crate) use namespaces::Namespace;
pub use namespaces::is_here;
pub(crate) use proxy::published;
pub use request::WatchedTargets;
pub use resolve::WatchError;
pub(crate) use resolve::{SearchScope, unix_listeners};
pub use selector::{ProcessSelector, ProcessSelectorError};
pub use sockets::is_listening;
pub(crate) use sockets::{Listener, accept_queues, parse as parse_listeners};
pub(crate) use table::ProcessTable;
