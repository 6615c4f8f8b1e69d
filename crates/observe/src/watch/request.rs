//! The processes that a monitor is to watch.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::describe::{GroupDescription, describe};
use super::group::ProcessGroup;
use super::limits::memory_limit_of;
use super::resolve::{Sought, WatchError};
use super::selector::ProcessSelector;
use super::table::ProcessTable;

/// The processes to watch that this run did not start, group by group.
#[derive(Debug, Clone, Default)]
pub struct WatchedTargets {
    sought: Vec<Sought>,
}

impl WatchedTargets {
    /// Finds the processes that the user selected.
    ///
    /// # Errors
    /// Some of them cannot be found or told from others, or this user may not see them.
    pub fn select(selectors: &[ProcessSelector]) -> Result<WatchedTargets, WatchError> {
        let sought: Vec<Sought> = selectors.iter().cloned().map(Sought::Selected).collect();
        sought.iter().try_for_each(|one| one.find().map(drop))?;
        Ok(WatchedTargets { sought })
    }

    /// Adds the processes that listen at the address that the load goes to, unless they are selected already.
    ///
    /// # Errors
    /// They cannot be found, or this user may not see them; the selected ones are watched all the same.
    pub fn add_target(&mut self, target: SocketAddr) -> Result<(), WatchError> {
        let sought = Sought::Target(target);
        let found = sought.find()?;
        let selected = self.processes();
        if !found.leaders.iter().any(|pid| selected.contains(pid)) {
            self.sought.insert(0, sought);
        }
        Ok(())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sought.is_empty()
    }

    /// Returns the groups, to be followed.
    pub(crate) fn groups(&self) -> impl Iterator<Item = ProcessGroup> {
        self.sought.iter().cloned().map(ProcessGroup::sought)
    }

    /// Describes the groups as they are now.
    pub fn describe(&self) -> Vec<GroupDescription> {
        self.updated().iter().map(describe).collect()
    }

    /// Returns the memory limit in force of the first group, in bytes; `None` without one.
    pub fn memory_limit(&self) -> Option<u64> {
        memory_limit_of(self.updated().first()?.members())
    }

    /// Returns the processes of all groups.
    fn processes(&self) -> BTreeSet<u32> {
        self.updated().iter().flat_map(ProcessGroup::members).copied().collect()
    }

    /// Returns the groups with their processes.
    fn updated(&self) -> Vec<ProcessGroup> {
        let mut table = ProcessTable::default();
        table.refresh();
        let mut taken = BTreeSet::new();
        let mut groups: Vec<ProcessGroup> = self.groups().collect();
        for group in &mut groups {
            group.update(&table, &taken);
            taken.extend(group.members());
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_target_that_is_selected_already_is_watched_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut targets = WatchedTargets::default();
        targets.add_target(address).unwrap();
        assert_eq!(targets.sought, [Sought::Target(address)]);
        let own = ProcessSelector::Pid(std::process::id());
        let mut targets = WatchedTargets::select(std::slice::from_ref(&own)).unwrap();
        targets.add_target(address).unwrap();
        assert_eq!(targets.sought, [Sought::Selected(own)]);
        drop(listener);
        assert!(targets.add_target(address).is_err());
    }
}
