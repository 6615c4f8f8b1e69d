//! A group of processes that is watched together, followed while its processes come and go.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::limits::GroupLimits;
use super::resolve::{FoundProcesses, SearchScope};
use super::table::ProcessTable;
use crate::cgroup::{CgroupMembership, CgroupMount, Controller, ControllerFiles, all_members, members};

/// The number of readings after which it is checked again that control groups hold the group alone and which CPUs it may use,
/// and after which processes that have all ended are looked for again.
const CHECKED_EVERY: u32 = 4;

/// A group of processes.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    /// Its instance in series: empty for a server that this run started.
    pub(crate) label: String,
    source: Source,
    leaders: Vec<u32>,
    /// The living processes, sorted.
    members: Vec<u32>,
    /// The path of the control group whose processes all belong to it, of a unit or a container, and its directories.
    within: Option<String>,
    whole: Vec<PathBuf>,
    /// The control groups that hold it alone.
    alone: Vec<ControllerFiles>,
    /// The limits in force of processes that this run did not start; `None` before they are found.
    limits: Option<GroupLimits>,
    readings: u32,
}

/// The source of the processes of a group.
#[derive(Debug, Clone)]
enum Source {
    /// This run started them in a control group, and has its files.
    Started(PathBuf),
    /// This run started them, without a control group.
    Family,
    /// They were there already.
    Sought(SearchScope),
}

impl ProcessGroup {
    /// Returns the processes of a server that this run started.
    pub(crate) fn started(group: Vec<ControllerFiles>, leaders: Vec<u32>) -> ProcessGroup {
        let accounted = group.iter().find(|files| files.controllers.contains(&Controller::Cpuacct));
        let source = accounted.map_or(Source::Family, |files| Source::Started(files.directory.clone()));
        ProcessGroup { leaders, alone: group, ..ProcessGroup::new(String::new(), source) }
    }

    /// Returns processes that were there already. They are found by the first update, and found again after they have
    /// all ended.
    pub(crate) fn sought(sought: SearchScope) -> ProcessGroup {
        ProcessGroup::new(sought.to_string(), Source::Sought(sought))
    }

    /// Returns processes that were there already and have just been found; they are found again after they have all ended.
    pub(crate) fn found(sought: SearchScope, found: FoundProcesses) -> ProcessGroup {
        let mut group = ProcessGroup::sought(sought);
        group.adopt(found);
        group
    }

    fn new(label: String, source: Source) -> ProcessGroup {
        ProcessGroup {
            label,
            source,
            leaders: Vec::new(),
            members: Vec::new(),
            within: None,
            whole: Vec::new(),
            alone: Vec::new(),
            limits: None,
            readings: 0,
        }
    }

    fn adopt(&mut self, found: FoundProcesses) {
        self.whole =
            found.whole.as_deref().map(|path| directories_of(path, &found.leaders)).unwrap_or_default();
        self.within = found.whole;
        self.limits = None;
        self.leaders = found.leaders;
    }

    /// Returns the processes that are always examined: their descendants' use becomes theirs.
    pub(crate) fn leaders(&self) -> &[u32] {
        &self.leaders
    }

    /// Returns the living processes as last updated, sorted.
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Returns whether its processes were there already.
    pub(crate) fn is_sought(&self) -> bool {
        matches!(self.source, Source::Sought(_))
    }

    /// Returns whether its update needs a fresh table of the machine's processes.
    pub(crate) fn needs_table(&self) -> bool {
        !matches!(self.source, Source::Started(_))
    }

    /// Returns the control groups that hold it alone, as last updated.
    pub(crate) fn alone(&self) -> &[ControllerFiles] {
        &self.alone
    }

    /// Returns the limits in force, as last updated; none of processes that this run started.
    pub(crate) fn limits(&self) -> &GroupLimits {
        static NONE: GroupLimits = GroupLimits::NONE;
        self.limits.as_ref().unwrap_or(&NONE)
    }

    /// Updates its processes, those that are `taken` left out. Returns whether its control groups or limits have
    /// changed.
    pub(crate) fn update(&mut self, table: &ProcessTable, taken: &BTreeSet<u32>) -> bool {
        let source = self.source.clone();
        let sought = match source {
            Source::Started(directory) => {
                self.members = sorted(members(&directory));
                return false;
            }
            Source::Family => {
                self.follow(table);
                return false;
            }
            Source::Sought(sought) => sought,
        };
        self.follow(table);
        let is_due = self.readings.is_multiple_of(CHECKED_EVERY);
        if self.members.is_empty()
            && is_due
            && let Ok(found) = sought.find()
        {
            self.adopt(found);
            self.follow(table);
        }
        self.members.retain(|pid| !taken.contains(pid));
        self.readings = self.readings.wrapping_add(1);
        let has_other_limits = self.update_limits(is_due);
        is_due && self.check_alone() || has_other_limits
    }

    /// Reads the limits in force, which somebody may change at any time; returns whether they have changed.
    fn update_limits(&mut self, is_due: bool) -> bool {
        match &mut self.limits {
            // Limits of a group whose processes have all ended hold nothing back.
            _ if self.members.is_empty() => false,
            Some(limits) => limits.update(Some(&self.members[..]).filter(|_| is_due)),
            None => {
                self.limits = Some(GroupLimits::of(&self.members));
                true
            }
        }
    }

    fn follow(&mut self, table: &ProcessTable) {
        let family = table.family(&self.members, &self.leaders);
        self.leaders.retain(|leader| family.binary_search(leader).is_ok());
        let adopted = self.whole.iter().flat_map(|directory| all_members(directory));
        self.members = sorted(family.into_iter().chain(adopted).collect());
    }

    /// Looks for the control groups that have no other processes.
    fn check_alone(&mut self) -> bool {
        let Some(sample) = self.leaders.first().or(self.members.first()) else { return false };
        let groups = CgroupMembership::of(*sample);
        let is_alone = |files: &ControllerFiles| {
            let all = all_members(&files.directory);
            !all.is_empty() && all.iter().all(|pid| self.members.binary_search(pid).is_ok())
        };
        let found = groups.directories(&CgroupMount::all(), self.within.as_deref());
        let alone: Vec<ControllerFiles> = found.into_iter().filter(is_alone).collect();
        let has_changed = alone != self.alone;
        self.alone = alone;
        has_changed
    }
}

/// Returns the directories of a control group in all hierarchies in which one of its processes is there.
fn directories_of(path: &str, leaders: &[u32]) -> Vec<PathBuf> {
    let mounts = CgroupMount::all();
    let below = path.trim_start_matches('/');
    let found = leaders.iter().flat_map(|pid| CgroupMembership::of(*pid).directories(&mounts, Some(path)));
    let directories: BTreeSet<PathBuf> =
        found.map(|files| files.directory).filter(|directory| directory.ends_with(below)).collect();
    directories.into_iter().collect()
}

fn sorted(mut pids: Vec<u32>) -> Vec<u32> {
    pids.sort_unstable();
    pids.dedup();
    pids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: what was found is followed without another search, which would find nothing here.
    #[test]
    fn processes_that_were_found_are_not_searched_again() {
        let own = std::process::id();
        let sought = SearchScope::Socket("/no/such/socket".to_owned());
        let mut table = ProcessTable::default();
        table.refresh();
        let mut group = ProcessGroup::sought(sought.clone());
        group.update(&table, &BTreeSet::new());
        assert!(group.members().is_empty());
        let mut group = ProcessGroup::found(sought, FoundProcesses { leaders: vec![own], whole: None });
        group.update(&table, &BTreeSet::new());
        assert!(group.members().contains(&own) && group.is_sought(), "{group:?}");
    }
}
