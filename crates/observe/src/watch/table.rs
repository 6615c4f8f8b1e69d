//! The processes of the machine with their parents, as they were first seen.

use std::collections::BTreeMap;

use crate::process::{ProcessStat, all_pids};

/// A table of the machine's processes. Only new processes are examined, so that keeping it up to date is cheap: a
/// process stays a descendant of its first parent when that one ends.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    known: BTreeMap<u32, Origin>,
}

/// The origin of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    parent: u32,
    /// Its process group.
    group: u32,
}

impl ProcessTable {
    /// Lists the processes and examines the new ones.
    pub(crate) fn refresh(&mut self) {
        let pids = all_pids();
        self.known.retain(|pid, _| pids.binary_search(pid).is_ok());
        for pid in pids {
            self.known.entry(pid).or_insert_with(|| {
                let stat = ProcessStat::of(pid).unwrap_or_default();
                Origin { parent: stat.parent, group: stat.group }
            });
        }
    }

    /// Adds the living descendants of the members and of the leaders, and those in the leaders' process groups; removes
    /// ended members. The result is sorted.
    pub(crate) fn family(&self, members: &[u32], leaders: &[u32]) -> Vec<u32> {
        let mut family: std::collections::BTreeSet<u32> = members.iter().chain(leaders).copied().collect();
        loop {
            let before = family.len();
            let is_new = |(pid, origin): &(&u32, &Origin)| {
                !family.contains(pid) && (family.contains(&origin.parent) || leaders.contains(&origin.group))
            };
            let new: Vec<u32> = self.known.iter().filter(is_new).map(|(pid, _)| *pid).collect();
            family.extend(new);
            if family.len() == before {
                break;
            }
        }
        family.into_iter().filter(|pid| self.known.contains_key(pid)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(processes: &[(u32, u32, u32)]) -> ProcessTable {
        let known =
            processes.iter().map(|(pid, parent, group)| (*pid, Origin { parent: *parent, group: *group }));
        ProcessTable { known: known.collect() }
    }

    /// 10 leads with its child 11 and grandchild 12, which has a group of its own; 13 is an orphan of its group.
    #[test]
    fn a_family_grows_with_its_children_and_loses_its_dead() {
        let first = table(&[(1, 0, 1), (10, 1, 10), (11, 10, 10), (12, 11, 12), (13, 1, 10), (20, 1, 20)]);
        let members = first.family(&[], &[10]);
        assert_eq!(members, [10, 11, 12, 13]);
        // The leader ends; its child forks.
        let second = table(&[(1, 0, 1), (11, 10, 10), (12, 11, 12), (14, 11, 14), (20, 1, 20)]);
        assert_eq!(second.family(&members, &[10]), [11, 12, 14]);
        assert_eq!(table(&[(1, 0, 1)]).family(&members, &[10]), [0_u32; 0]);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let mut table = ProcessTable::default();
        table.refresh();
        assert!(table.known.contains_key(&std::process::id()));
        assert!(table.family(&[], &[std::process::id()]).contains(&std::process::id()));
    }
}
