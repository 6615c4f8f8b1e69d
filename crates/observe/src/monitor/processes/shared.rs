//! The groups that a monitor follows, for other threads: their processes, and the CPU time they used.

use std::sync::{Arc, Mutex, PoisonError};

use model::SutUse;
use units::Nanos;

use super::process::Process;
use super::totals::GrowingSum;
use crate::cgroup::{Controller, ControllerFiles, CpuAccount};
use crate::watch::ProcessGroup;

/// The maximum number of processes whose status is read at once for their CPU time.
const READS_MAX: usize = 128;

/// The groups that a monitor follows, as last updated.
#[derive(Debug, Clone, Default)]
pub struct WatchedGroups(Arc<Mutex<Vec<SharedGroup>>>);

/// A group as last updated.
#[derive(Debug, Default)]
struct SharedGroup {
    label: String,
    pids: Vec<u32>,
    alone: Vec<ControllerFiles>,
}

/// A meter of the CPU time of all groups, for another thread than the monitor's.
#[derive(Debug)]
pub struct ProcessMeter {
    groups: WatchedGroups,
    meters: Vec<GroupMeter>,
}

/// The meter of one group.
#[derive(Debug, Default)]
struct GroupMeter {
    /// The control groups that were looked at for an account; `None` if they are to be looked at again.
    looked_at: Option<Vec<ControllerFiles>>,
    /// The account of one of them.
    account: Option<CpuAccount>,
    /// Whether it begins after others, with what its processes use from then on.
    joins: bool,
    /// In ns.
    cpu: GrowingSum,
    throttled: GrowingSum,
    /// Position of the rotation, and the CPU time of the processes as last read, in ticks.
    last: u32,
    ticks: std::collections::BTreeMap<u32, u64>,
}

impl WatchedGroups {
    /// Returns a meter of the CPU time of these groups; it begins with its first reading.
    pub fn meter(&self) -> ProcessMeter {
        ProcessMeter { groups: self.clone(), meters: Vec::new() }
    }

    /// Returns the labels of the groups with their processes.
    pub fn processes(&self) -> Vec<(String, Vec<u32>)> {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        groups.iter().map(|group| (group.label.clone(), group.pids.clone())).collect()
    }

    pub(super) fn update<'a>(&self, groups: impl Iterator<Item = &'a ProcessGroup>) {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.clear();
        shared.extend(groups.map(|group| SharedGroup {
            label: group.label.clone(),
            pids: group.members().to_vec(),
            alone: group.alone().to_vec(),
        }));
    }
}

impl ProcessMeter {
    /// Returns what the processes have used so far; `None` while none of them is seen. Costs some microseconds for
    /// each process.
    pub fn read(&mut self) -> Option<SutUse> {
        let groups = self.groups.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A group that is found during the run has used CPU time before, which does not count.
        let joins = !self.meters.is_empty();
        self.meters.resize_with(groups.len(), || GroupMeter { joins, ..GroupMeter::default() });
        let is_seen = groups.iter().any(|group| !group.pids.is_empty());
        let used: Vec<SutUse> =
            self.meters.iter_mut().zip(groups.iter()).map(|(meter, group)| meter.read(group)).collect();
        let sum =
            |of: fn(&SutUse) -> Nanos| Nanos(used.iter().map(|one| of(one).0).fold(0, u64::saturating_add));
        is_seen.then(|| SutUse { cpu: sum(|one| one.cpu), throttled: sum(|one| one.throttled) })
    }
}

impl GroupMeter {
    fn read(&mut self, group: &SharedGroup) -> SutUse {
        let is_new = self.looked_at.as_ref() != Some(&group.alone);
        if is_new {
            self.looked_at = Some(group.alone.clone());
            self.account = account(&group.alone);
        }
        let used = match &self.account {
            None => self.of_processes(&group.pids),
            Some(account) => match account.read() {
                Some(used) => used,
                // The group was removed, perhaps to be made again.
                None => {
                    self.looked_at = None;
                    return self.total();
                }
            },
        };
        if is_new {
            self.continue_from(used);
        }
        SutUse {
            cpu: Nanos(self.cpu.add(used.cpu.0)),
            throttled: Nanos(self.throttled.add(used.throttled.0)),
        }
    }

    /// Goes on with an account of another source, so that the total neither jumps nor falls.
    fn continue_from(&mut self, used: SutUse) {
        if self.cpu.has_begun() || self.joins {
            self.cpu.restart(used.cpu.0);
            self.throttled.restart(used.throttled.0);
        }
    }

    fn total(&self) -> SutUse {
        SutUse { cpu: Nanos(self.cpu.total()), throttled: Nanos(self.throttled.total()) }
    }

    /// Returns the CPU time of the processes, with that of their reaped children.
    fn of_processes(&mut self, pids: &[u32]) -> SutUse {
        self.ticks.retain(|pid, _| pids.binary_search(pid).is_ok());
        let turn = super::next_batch(pids, self.last, READS_MAX);
        self.last = turn.last().copied().unwrap_or_default();
        for pid in turn {
            if let Some((_, stat)) = Process::read_stat(pid) {
                self.ticks.insert(pid, stat.cpu_ticks);
            }
        }
        let ticks = self.ticks.values().copied().fold(0, u64::saturating_add);
        SutUse { cpu: Nanos(super::ticks_to_micros(ticks).saturating_mul(1000)), throttled: Nanos::ZERO }
    }
}

/// Opens the CPU account of control groups; `None` without one.
fn account(groups: &[ControllerFiles]) -> Option<CpuAccount> {
    let of = |controller| groups.iter().find(|files| files.controllers.contains(&controller));
    let cpu = of(Controller::Cpu)?;
    let cpuacct = of(Controller::Cpuacct)?;
    CpuAccount::open(cpuacct.version, &[cpu.directory.clone(), cpuacct.directory.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: this process's CPU time is metered from wherever it is counted, and never falls.
    #[test]
    fn the_meter_grows_with_the_processes() {
        let groups = WatchedGroups::default();
        let mut meter = groups.meter();
        assert_eq!(meter.read(), None);
        let own = ProcessGroup::started(Vec::new(), vec![std::process::id()]);
        groups.update([&own].into_iter());
        // It has no members before its first update.
        assert_eq!(meter.read(), None);
        let set = |pids: Vec<u32>| groups.0.lock().unwrap()[0].pids = pids;
        set(vec![std::process::id()]);
        let before = meter.read().unwrap().cpu;
        let start = units::thread_cpu();
        while units::thread_cpu() - start < Nanos::from_millis(50) {
            std::hint::black_box(0);
        }
        let after = meter.read().unwrap().cpu;
        // Ticks of 10 ms.
        assert!(Nanos::from_millis(30) <= after - before, "{before} {after}");
        set(Vec::new());
        assert_eq!(meter.read(), None);
    }

    /// Goal: a back end that is found during a run adds what it uses from then on, not what it used before.
    #[test]
    fn a_group_that_is_found_later_begins_with_nothing() {
        let groups = WatchedGroups::default();
        let idle = ProcessGroup::started(Vec::new(), Vec::new());
        groups.update([&idle].into_iter());
        let mut meter = groups.meter();
        meter.read();
        let start = units::thread_cpu();
        while units::thread_cpu() - start < Nanos::from_millis(50) {
            std::hint::black_box(0);
        }
        groups.update([&idle, &idle].into_iter());
        groups.0.lock().unwrap()[1].pids = vec![std::process::id()];
        let first = meter.read().unwrap().cpu;
        assert_eq!(first, Nanos::ZERO);
    }
}
