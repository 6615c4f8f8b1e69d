//! The processes that a monitor is to watch.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use super::describe::{GroupDescription, describe};
use super::group::ProcessGroup;
use super::limits::memory_limit_of;
use super::resolve::{SearchScope, WatchError};
use super::selector::ProcessSelector;
use super::sockets::listeners_near;
use super::table::ProcessTable;
use crate::process::user_of;

/// The processes to watch that this run did not start, group by group.
#[derive(Debug, Clone, Default)]
pub struct WatchedTargets {
    sought: Vec<SearchScope>,
    /// The label of the group that the load goes to.
    loaded: Option<String>,
}

impl WatchedTargets {
    /// Finds the processes that the user selected.
    ///
    /// # Errors
    /// Some of them cannot be found or told from others, or this user may not see them.
    pub fn select(selectors: &[ProcessSelector]) -> Result<WatchedTargets, WatchError> {
        let sought: Vec<SearchScope> = selectors.iter().cloned().map(SearchScope::Selected).collect();
        sought.iter().try_for_each(|one| one.find().map(drop))?;
        Ok(WatchedTargets { sought, loaded: None })
    }

    /// Adds the processes that listen at the address that the load goes to, unless they are selected already.
    ///
    /// # Errors
    /// They cannot be found, or this user may not see them; the selected ones are watched all the same.
    pub fn add_target(&mut self, target: SocketAddr) -> Result<(), WatchError> {
        self.add_loaded(SearchScope::Target(target))
    }

    /// Does the same for those that listen on the Unix socket with this path.
    ///
    /// # Errors
    /// As for an address.
    pub fn add_target_socket(&mut self, path: &Path) -> Result<(), WatchError> {
        // The kernel has the path by which the server named it, which need not be that of a link to it.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.add_loaded(SearchScope::Socket(path.display().to_string()))
    }

    fn add_loaded(&mut self, sought: SearchScope) -> Result<(), WatchError> {
        let found = sought.find()?;
        let is_found = |group: &&ProcessGroup| found.leaders.iter().any(|pid| group.members().contains(pid));
        let selected = self.updated().iter().find(is_found).map(|group| group.label.clone());
        if selected.is_none() {
            self.sought.insert(0, sought.clone());
        }
        self.loaded = Some(selected.unwrap_or_else(|| sought.to_string()));
        Ok(())
    }

    /// Returns whether the server at an address is among the processes: the load goes to one of the groups, or, where nobody
    /// may say who listens there, one of the selected processes belongs to the user whose socket it is. A database behind a
    /// server that is not seen is none of these.
    pub fn has_server(&self, target: SocketAddr) -> bool {
        if self.loaded.is_some() {
            return true;
        }
        if self.sought.is_empty() {
            return false;
        }
        let listening = listeners_near(std::process::id()).into_iter().filter(|one| one.accepts(target));
        let owners: BTreeSet<u32> = listening.map(|listener| listener.uid).collect();
        // Connections to it may be passed on to another place, which the user knows.
        let is_owner = |pid: &u32| user_of(*pid).is_some_and(|user| owners.contains(&user));
        owners.is_empty() || self.updated().iter().flat_map(ProcessGroup::members).any(is_owner)
    }

    /// Returns the label of the group that the load goes to; `None` before it was added.
    pub fn loaded(&self) -> Option<&str> {
        self.loaded.as_deref()
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
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;
    use crate::UNUSED_ADDRESS;

    /// Goal: the CPU time of a database is not taken for that of the server before it, which another user has started.
    #[test]
    fn processes_of_another_user_than_the_listeners_are_not_the_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_server = |user: u32| {
            let mut command = Command::new("sleep");
            let mut child = command.arg("60").uid(user).spawn().unwrap();
            let targets = WatchedTargets::select(&[ProcessSelector::Pid(child.id())]).unwrap();
            let found = targets.has_server(address);
            child.kill().unwrap();
            child.wait().unwrap();
            found
        };
        let own = user_of(std::process::id()).unwrap();
        assert!(is_server(own));
        if own == 0 {
            assert!(!is_server(65_534));
        }
        let mut targets = WatchedTargets::default();
        assert!(!targets.has_server(address), "nobody is watched");
        targets.add_target(address).unwrap();
        assert!(targets.has_server(address));
    }

    #[test]
    fn a_target_that_is_selected_already_is_watched_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut targets = WatchedTargets::default();
        targets.add_target(address).unwrap();
        assert_eq!(targets.sought, [SearchScope::Target(address)]);
        assert_eq!(targets.loaded(), Some(&*format!("port={}", address.port())));
        let own = ProcessSelector::Pid(std::process::id());
        let mut targets = WatchedTargets::select(std::slice::from_ref(&own)).unwrap();
        targets.add_target(address).unwrap();
        assert_eq!(targets.loaded(), Some(&*own.to_string()));
        assert_eq!(targets.sought, [SearchScope::Selected(own)]);
        assert!(targets.add_target(UNUSED_ADDRESS.parse().unwrap()).is_err());
    }
}
