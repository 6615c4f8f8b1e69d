//! Profiles: the answers of families to a run that has no target yet. Each family states its own in its file.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::{Family, Plan, Secrets, Workload};
use testbed::{Acceleration, DataContents, MemoryLimitProof, RunningSut, SutServer, WebParts};

use super::target::ResolvedTarget;
use super::{app, file, mail, order_entry, sql, web};
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::Observer;
use crate::order::StepOrder;

/// The answers of a family to a run that has no target yet.
pub(crate) struct FamilyProfile {
    /// The order of a load point.
    pub(crate) order: &'static StepOrder,
    /// The longest that a server may take until it answers: some load their data before.
    pub(crate) ready_max: Duration,
    /// The things of which one of every kind is checked before load begins, in the words of the family.
    pub(crate) checked_things: &'static str,
    /// The handling of the files that a server serves; `None` of a family whose servers have data of their own.
    pub(crate) files: Option<ServedFiles>,
    /// Whether the built-in server restores its data from a golden copy before each load point.
    pub(crate) built_in_restores: bool,
    /// Returns the variant of a server that a workload is for, as recipes name it; `None` of servers without one.
    pub(crate) variant: fn(&Workload) -> Option<&'static str>,
    /// The data within this process that can stand in place of a server; `None` of a family without.
    pub(crate) embedded: Option<EmbeddedData>,
    /// Whether a run fills a server that it has started by the protocol, before each load point: its data are neither
    /// loaded once nor read into memory, but taken out of the page cache.
    pub(crate) fills_started: bool,
    /// Has a started server read files until it meets its limit on memory; `None` of a family whose servers meet theirs
    /// under load, or not at all.
    pub(crate) prove_memory_limit: Option<ProveMemoryLimit>,
    /// Returns the target of a server that the run has started; `None` of a family of which none is started.
    pub(crate) started: Option<fn(&RunningSut, Secrets) -> ResolvedTarget>,
    /// Returns the files that users have on a server that a run starts, below a directory; `None` where operations use
    /// none.
    pub(crate) disk_use: fn(&Plan, &Path) -> Option<DiskUse>,
    /// Checks that the disk below a directory has room for the data that a server makes before it answers.
    pub(crate) check_room: fn(&Plan, &Path) -> Result<(), FleetError>,
    /// Returns what a run loads into the data of a server that it starts; `None` where the server makes its data itself,
    /// or has none.
    pub(crate) contents: fn(&Workload) -> Option<DataContents>,
}

/// A function of a started server, the target that it is, and a plan, which has the server meet its limit on memory;
/// `None` if its control group keeps no account.
type ProveMemoryLimit =
    fn(&mut RunningSut, &ResolvedTarget, &Plan, &AtomicBool) -> Result<Option<MemoryLimitProof>, FleetError>;

/// The answers of a family whose data can be within this process, in place of a server.
#[derive(Clone, Copy)]
pub(crate) struct EmbeddedData {
    /// The words for the server that there is not: `none, the database is in this process`.
    pub(crate) described: &'static str,
    /// Whether the data of each load point are restored from a golden copy.
    pub(crate) has_golden: bool,
    /// Makes the data of a plan in a directory, or opens it for them.
    pub(crate) start: fn(&Plan, &Path, &mut dyn Observer, &AtomicBool) -> Result<ResolvedTarget, FleetError>,
}

/// The answers of a family whose servers serve files.
#[derive(Clone, Copy)]
pub(crate) struct ServedFiles {
    /// Lays the files of a server out, or finds them there from a run before, and returns them with the parts that it is
    /// started with.
    pub(crate) lay_out: fn(&ServerStart<'_>, &mut dyn Observer, &AtomicBool) -> Result<WebParts, FleetError>,
    /// Has what stands in front of a server fetch every file once; does nothing without it.
    pub(crate) warm: fn(&mut RunningSut, &Plan, &mut dyn Observer, &AtomicBool) -> Result<(), FleetError>,
}

/// A server that a run is about to start.
pub(crate) struct ServerStart<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// The server.
    pub(crate) server: &'a SutServer,
    /// The accelerator in front of it, if any.
    pub(crate) acceleration: Option<&'a Acceleration>,
    /// The folder in which the server's files are laid out, kept for later runs.
    pub(crate) files_dir: &'a Path,
}

/// The time until a server answers that has nothing to load.
pub(super) const READY_MAX: Duration = Duration::from_secs(20);

/// Returns the profile of a family.
pub(crate) fn profile(family: Family) -> &'static FamilyProfile {
    match family {
        Family::Web => &web::PROFILE,
        Family::App => &app::PROFILE,
        Family::File => &file::PROFILE,
        Family::OrderEntry => &order_entry::PROFILE,
        Family::Sql => &sql::PROFILE,
        Family::Mail => &mail::PROFILE,
        #[cfg(feature = "echo")]
        Family::Echo => &super::echo::PROFILE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_targets_of_started_servers_if_its_servers_are_started() {
        for family in Family::ALL {
            assert_eq!(profile(family).started.is_some(), family.is_started(), "{family}");
        }
    }
}
