//! Control groups, as far as they are read: mount points, accounting, groups left behind.
//!
//! Version 1 has a hierarchy per controller, version 2 has one for all.
//!
//! - `hierarchy`: mount points and possible parent groups
//! - `group`: the directories of a group, and its processes
//! - `membership`: the groups of a process, its unit and its container
//! - `limits`: the limits that groups and those above them set
//! - `stat`: CPU accounting; `memory`: memory accounting
//! - `stale`: groups left behind by killed runs

mod group;
mod hierarchy;
mod limits;
mod membership;
mod memory;
mod stale;
mod stat;

pub use group::{ControllerFiles, all_members, members};
pub use hierarchy::{CgroupVersion, Controller, Hierarchy, hierarchies};
pub(crate) use limits::{CgroupLimit, CgroupLimitKind, ReadFile, group_with_cpus, limit_files, memory_limit};
pub(crate) use membership::GroupDirectory;
pub use membership::{CgroupMembership, CgroupMount};
pub use memory::MemoryUse;
pub use stale::stale_groups;
pub use stat::CpuAccount;

/// The prefix of the names of all groups of Plimsoll; the id of the creating process and a number follow.
pub const PREFIX: &str = "plimsoll-";
