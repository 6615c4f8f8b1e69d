//! The processes of a server in groups: those that this run started, and those that were there already.
//!
//! At most [`STATUS_READS_MAX`] processes are read per reading, and the states of [`TASK_READS_MAX`] threads that have run
//! since their state was read; beyond that they are read in rotation, and the last values count until the next turn. The
//! accounting of threads that run is read each time, and that of threads that sleep in rotation where they are many
//! (`turn`), as far as [`KEPT_FILES_MAX`] files can be kept open. The CPU time of a process stays with its program after
//! its end; only the control group accounts for its use after its last turn, and for processes that came and went between
//! two turns.
//!
//! - `process`: a process; `task`: its threads; `turn`: which of them are read
//! - `programs`: the processes of all groups by the name of their program
//! - `totals`: the counters of a group; `group_files`: those of its control groups; `limit_files`: its limits in force
//! - `shared`: what other threads may know of the groups

mod group_files;
mod limit_files;
mod process;
mod programs;
mod sampling_round;
mod shared;
mod task;
mod totals;

use std::collections::{BTreeMap, BTreeSet};

use model::{Counter, Reading};
use rustix::process::{Resource, getrlimit};
use units::{Clock, Nanos, RealClock};

use super::kernel::text::ticks_to_micros;
use super::netlink::Service;
use crate::cgroup::Controller;
use crate::thread_use::ThreadPeaks;
use crate::watch::{Namespace, ProcessGroup, ProcessTable, SearchScope};

use group_files::GroupFiles;
use limit_files::LimitFiles;
pub(super) use limit_files::LimitUses;
pub(super) use process::OpenFiles;
use process::Process;
use programs::Programs;
use sampling_round::SamplingRound;
pub use shared::{ProcessMeter, WatchedGroups};
use task::FileRoom;
pub(super) use task::{channel_name, stat_text};
use totals::GroupTotals;
pub(super) use totals::{GrowingSum, WaitChannels};

/// Maximum number of processes whose status is read per reading.
const STATUS_READS_MAX: usize = 160;

/// Maximum number of processes whose files and disk traffic are read per reading.
const FILES_READS_MAX: usize = 32;

/// Maximum number of threads whose state and wait channel are read per reading.
const TASK_READS_MAX: usize = 64;

/// The same of the first reading of a group, whose threads have all still to be read.
const FIRST_TASK_READS_MAX: usize = 2048;

/// Maximum number of processes of a group that are searched for listening sockets: workers hold those of their parent.
const HOLDERS_MAX: usize = 32;

/// Maximum number of back ends that are looked for.
pub(super) const BACK_ENDS_MAX: usize = 8;

/// Maximum number of accounting files that stay open, and the share of the limit on open files that they may take.
const KEPT_FILES_MAX: usize = 4096;
const KEPT_FILES_SHARE: u64 = 4;

/// The processes of a server.
#[derive(Debug)]
pub(super) struct WatchedProcesses {
    groups: Vec<Group>,
    shared: WatchedGroups,
    table: ProcessTable,
    /// The names of back ends that were looked for.
    back_ends: BTreeSet<String>,
    known: BTreeMap<u32, Process>,
    programs: Programs,
    /// The process that was read last, and the one whose files were.
    last_status: u32,
    last_files: u32,
    last_tasks: u32,
    turn: SamplingRound,
    room: FileRoom,
    clock: RealClock,
}

/// A group with its counters.
#[derive(Debug)]
struct Group {
    processes: ProcessGroup,
    files: GroupFiles,
    limits: LimitFiles,
    totals: GroupTotals,
    /// Whether its processes were sampled.
    is_sampled: bool,
}

impl Group {
    fn new(processes: ProcessGroup) -> Group {
        let files = GroupFiles::default();
        let limits = LimitFiles::default();
        let mut group = Group { processes, files, limits, totals: GroupTotals::default(), is_sampled: false };
        group.open();
        group
    }

    /// Opens the files of its control groups.
    fn open(&mut self) {
        let alone = self.processes.alone();
        let knows_refaults = alone.iter().any(|files| files.controllers.contains(&Controller::Memory));
        self.files = GroupFiles::open(alone);
        self.limits = LimitFiles::open(self.processes.limits(), knows_refaults);
    }
}

impl WatchedProcesses {
    /// Prepares to watch these groups; a process that belongs to several is counted in the first.
    pub(super) fn new(groups: Vec<ProcessGroup>, shared: WatchedGroups) -> WatchedProcesses {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / KEPT_FILES_SHARE;
        WatchedProcesses {
            groups: groups.into_iter().map(Group::new).collect(),
            shared,
            table: ProcessTable::default(),
            back_ends: BTreeSet::new(),
            known: BTreeMap::new(),
            programs: Programs::default(),
            last_status: 0,
            last_files: 0,
            last_tasks: 0,
            turn: SamplingRound::default(),
            room: FileRoom(usize::try_from(limit).unwrap_or(usize::MAX).min(KEPT_FILES_MAX)),
            clock: RealClock::start(),
        }
    }

    /// Returns whether there is anything to watch.
    pub(super) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns some processes of each group, which hold its listening sockets, sorted.
    pub(super) fn holders(&self) -> Vec<u32> {
        let each = self.groups.iter().map(|group| group.processes.members());
        let mut pids: Vec<u32> = each.flat_map(|members| members.iter().take(HOLDERS_MAX)).copied().collect();
        pids.sort_unstable();
        pids
    }

    /// Returns the processes of each group that is in the network namespace of this process.
    pub(super) fn groups_here(&self) -> Vec<Vec<u32>> {
        let members = self.groups.iter().map(|group| group.processes.members());
        let is_here = |pids: &&[u32]| pids.first().is_some_and(|pid| !Namespace::of(*pid).is_other());
        members.filter(is_here).map(<[u32]>::to_vec).collect()
    }

    /// Adds the processes behind services on this machine as groups of their own, if the server was there already: they make
    /// what it serves, and were started by nobody here.
    pub(super) fn watch_back_ends<'a>(&mut self, services: impl Iterator<Item = &'a Service>) {
        if !self.groups.iter().all(|group| group.processes.is_sought()) {
            return;
        }
        for sought in services.filter_map(Service::back_end) {
            if self.back_ends.len() < BACK_ENDS_MAX && self.back_ends.insert(sought.to_string()) {
                self.add_back_end(sought);
            }
        }
    }

    /// Adds a group, unless its processes cannot be found, are watched already, or include this one.
    fn add_back_end(&mut self, sought: SearchScope) {
        let Ok(found) = sought.find() else { return };
        let is_known = |pid: &u32| self.known.contains_key(pid) || *pid == std::process::id();
        if !found.leaders.iter().any(is_known) {
            self.groups.push(Group::new(ProcessGroup::found(sought, found)));
        }
    }

    /// Reads the next batch of processes and reports all groups and programs; returns the ids of all running
    /// processes, sorted.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, into: &mut Vec<Reading>) -> Vec<u32> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let members = self.update_groups();
        let pids: Vec<u32> = members.keys().copied().collect();
        self.retain_processes(&pids);
        self.sample(&members, &pids);
        for (index, group) in self.groups.iter_mut().enumerate() {
            let label = group.processes.label.as_str();
            let living: Vec<&Process> = self.known.values().filter(|one| one.group == index).collect();
            let n = group.processes.members().len() as u64;
            into.push(Reading::of(Counter::SutProcesses, label, n));
            // Each group's own readings are known by their instance.
            let mut own = Vec::new();
            group.limits.read(label, buffer, &mut own);
            group.files.read(label, buffer, &mut own);
            group.totals.report(label, &living, &mut own);
            into.append(&mut own);
        }
        self.programs.report(self.known.values(), into);
        let peaks = self.known.values().filter_map(Process::cpu_peaks).reduce(ThreadPeaks::max);
        peaks.into_iter().for_each(|peaks| peaks.report(into));
        pids
    }

    /// Updates the groups; returns their processes with the indexes of the groups.
    fn update_groups(&mut self) -> BTreeMap<u32, usize> {
        if self.groups.iter().any(|group| group.processes.needs_table()) {
            self.table.refresh();
        }
        let mut members = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for (index, group) in self.groups.iter_mut().enumerate() {
            if group.processes.update(&self.table, &taken) {
                group.open();
            }
            taken.extend(group.processes.members());
            members.extend(group.processes.members().iter().map(|pid| (*pid, index)));
        }
        self.shared.update(self.groups.iter().map(|group| &group.processes));
        members
    }

    fn retain_processes(&mut self, pids: &[u32]) {
        let ended: Vec<u32> =
            self.known.keys().copied().filter(|pid| pids.binary_search(pid).is_err()).collect();
        for pid in ended {
            if let Some(process) = self.known.remove(&pid) {
                self.end(&process);
            }
        }
    }

    fn end(&mut self, process: &Process) {
        self.programs.end(process);
        if let Some(group) = self.groups.get_mut(process.group) {
            group.totals.end(process);
        }
        self.room.0 += process.tasks.iter().filter(|task| task.is_kept()).count();
    }

    fn sample(&mut self, members: &BTreeMap<u32, usize>, pids: &[u32]) {
        let leaders: Vec<u32> =
            self.groups.iter().flat_map(|group| group.processes.leaders()).copied().collect();
        let new: Vec<u32> = pids.iter().copied().filter(|pid| !self.known.contains_key(pid)).collect();
        let turn = next_batch(pids, self.last_status, STATUS_READS_MAX);
        self.last_status = turn.last().copied().unwrap_or_default();
        let all: BTreeSet<u32> = leaders.into_iter().chain(new).chain(turn).collect();
        for pid in &all {
            if let Some(group) = members.get(pid) {
                self.sample_status(*pid, *group);
            }
        }
        let now = self.clock.now();
        for process in self.known.values_mut() {
            process.account(now, &mut self.turn, &mut self.room);
        }
        self.turn.next();
        let is_first = |(_, group): &(&u32, &usize)| !self.groups[**group].is_sampled;
        let first: Vec<u32> = members.iter().filter(is_first).map(|(pid, _)| *pid).collect();
        self.sample_tasks(if first.is_empty() { TASK_READS_MAX } else { FIRST_TASK_READS_MAX }, now);
        let turn = next_batch(pids, self.last_files, FILES_READS_MAX);
        self.last_files = turn.last().copied().unwrap_or_default();
        // In a new group all have a turn: what a process moved before its first one would count as traffic of then.
        let turn: BTreeSet<u32> = first.into_iter().chain(turn).collect();
        for pid in &turn {
            self.known.get_mut(pid).into_iter().for_each(Process::examine_files);
        }
        members.values().for_each(|group| self.groups[*group].is_sampled = true);
    }

    fn sample_status(&mut self, pid: u32, group: usize) {
        let Some((name, stat)) = Process::read_stat(pid) else { return };
        let program = self.programs.name(&name);
        let mut process = match self.known.remove(&pid) {
            // The id may have been reused in the meantime.
            Some(before) if before.stat.start_ticks == stat.start_ticks => {
                before.seen_again(program, group, stat)
            }
            before => {
                before.iter().for_each(|before| self.end(before));
                Process::new(program, group, stat)
            }
        };
        process.sample_cpu(self.clock.now());
        self.known.insert(pid, process);
    }

    /// Examines the next threads that have run, of processes with several; at most `most`.
    fn sample_tasks(&mut self, most: usize, now: Nanos) {
        let unseen = self.known.iter().filter(|(_, process)| process.needs_examination());
        let unseen: Vec<u32> = unseen.map(|(pid, _)| *pid).collect();
        let turn = next_batch(&unseen, self.last_tasks, most);
        let each = (most / turn.len().max(1)).max(1);
        let mut left = most;
        for pid in &turn {
            let Some(process) = self.known.get_mut(pid) else { continue };
            left = left.saturating_sub(process.examine_tasks(each.min(left), now));
            self.last_tasks = *pid;
        }
    }
}

/// Returns the next batch: processes after the last one, wrapping around.
fn next_batch(pids: &[u32], last: u32, most: usize) -> Vec<u32> {
    let first = pids.partition_point(|pid| *pid <= last);
    pids[first..].iter().chain(&pids[..first]).take(most).copied().collect()
}

#[cfg(test)]
mod testing {
    use super::process::Process;
    use super::task::{FileRoom, Task};
    use crate::process::ProcessStat;
    use units::Nanos;

    /// Makes a process with one thread and two pages of memory. No process has its number: the kernel's maximum is 2²².
    pub(super) fn process(program: &str, state: char, ticks: u64) -> Process {
        let stat = ProcessStat {
            state,
            own_ticks: ticks,
            cpu_ticks: ticks,
            threads: 1,
            resident_pages: 2,
            ..ProcessStat::default()
        };
        let mut process = Process::new(program.to_owned(), 0, stat);
        let mut task = Task::first(1 << 22, 1, Nanos::ZERO, &mut FileRoom(0));
        task.state = state;
        process.tasks.push(task);
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_use::ThreadUse;

    fn watching(leaders: Vec<u32>) -> WatchedProcesses {
        WatchedProcesses::new(vec![ProcessGroup::started(Vec::new(), leaders)], WatchedGroups::default())
    }

    #[test]
    fn every_process_has_its_turn() {
        let pids: Vec<u32> = (1..=150).collect();
        let first = next_batch(&pids, 0, 64);
        assert_eq!((first.len(), first[0], first[63]), (64, 1, 64));
        let third = next_batch(&pids, 128, 64);
        assert_eq!((third.len(), third[0], third[21], third[22]), (64, 129, 150, 1));
        assert_eq!(next_batch(&pids[..3], 2, 64), [3, 1, 2]);
        assert!(next_batch(&[], 7, 64).is_empty());
    }

    /// Goal: this test's process is found with its threads. The other thread waits for this one.
    #[test]
    fn a_process_is_read_with_its_threads() {
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || receiver.recv().is_err());
        let mut processes = watching(vec![std::process::id()]);
        let mut readings = Vec::new();
        // Threads of other tests come and go.
        for _ in 0..3 {
            readings.clear();
            processes.read(&mut Vec::new(), &mut readings);
        }
        let own = &processes.known[&std::process::id()];
        let sum = processes.programs.sums(processes.known.values())[own.program.as_str()];
        assert!(2 <= sum.running + sum.waiting && 1 <= sum.running, "{sum:?}");
        assert!(0 < sum.resident_pages && 1 <= sum.processes, "{sum:?}");
        let of = |counter| readings.iter().find(|reading| reading.counter == counter).unwrap().value;
        // Other tests have children, which are this process's, too.
        let program = Reading::of(Counter::ProcessCount, own.program.clone(), sum.processes);
        assert!(readings.contains(&program), "{program:?} in {readings:?}");
        assert!(1 <= of(Counter::SutProcesses) && 2 <= of(Counter::SutThreads));
        assert!(0 < of(Counter::SutMinorFaults) && of(Counter::SutOpenFiles) < of(Counter::SutOpenFilesMax));
        drop(_sender);
        assert!(thread.join().unwrap());
    }

    /// Goal: what processes did before they are watched is no traffic of the run, however many they are.
    #[test]
    fn all_processes_of_a_new_group_are_examined() {
        use std::process::{Command, Stdio};
        let start = |_| Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let mut children: Vec<_> = (0..FILES_READS_MAX + 8).map(start).collect();
        let mut processes = watching(children.iter().map(std::process::Child::id).collect());
        let n_examined = |processes: &mut WatchedProcesses| {
            processes.read(&mut Vec::new(), &mut Vec::new());
            processes.known.values().filter(|one| one.disk.is_some()).count()
        };
        assert_eq!(n_examined(&mut processes), children.len());
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// A server with one process that waits for a CPU, and one with a busy thread among several.
    #[test]
    fn the_most_that_a_thread_of_any_process_had_is_reported() {
        let now = [Nanos::ZERO, Nanos::from_secs(1)];
        let mut processes = watching(Vec::new());
        for (pid, millis) in [(1, vec![(400, 550)]), (2, vec![(90, 0), (900, 10)])] {
            let mut process = testing::process("nginx", 'R', 10);
            let first = process.tasks.remove(0);
            drop(first);
            for (cpu, run_queue) in millis {
                let mut task = testing::process("nginx", 'R', 10).tasks.remove(0);
                task.rate.sample(now[0], ThreadUse::default());
                let cpu = Nanos::from_millis(cpu);
                let run_queue = Nanos::from_millis(run_queue);
                task.rate.sample(now[1], ThreadUse { cpu, run_queue });
                process.tasks.push(task);
            }
            processes.known.insert(pid, process);
        }
        let peaks = processes.known.values().filter_map(Process::cpu_peaks).reduce(ThreadPeaks::max);
        assert_eq!(peaks, Some(ThreadPeaks { cpu: 900_000, demand: 950_000, process: 990_000 }));
    }

    /// Goal: a child that is started while its parent is watched joins the group, and its end loses nothing.
    #[test]
    fn processes_that_come_and_go_are_followed() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let mut shell = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        let pid = shell.id();
        let mut input = shell.stdin.take().unwrap();
        let mut run = |line: &str| {
            input.write_all(format!("{line}\necho done\n").as_bytes()).unwrap();
            let mut answer = String::new();
            std::io::BufRead::read_line(&mut output, &mut answer).unwrap();
        };
        let mut processes = watching(vec![pid]);
        let mut read = || {
            let mut readings = Vec::new();
            let pids = processes.read(&mut Vec::new(), &mut readings);
            let of = |counter| readings.iter().find(|one| one.counter == counter).unwrap().value;
            (pids.len(), of(Counter::SutCpu), of(Counter::SutMinorFaults))
        };
        assert_eq!(read().0, 1);
        run("sleep 1000 &");
        let (n, cpu, faults) = read();
        assert_eq!(n, 2);
        run("kill $!; wait $! 2>/dev/null");
        let after = read();
        assert!(after.0 == 1 && cpu <= after.1 && faults <= after.2, "{faults} faults, then {after:?}");
        drop(input);
        shell.wait().unwrap();
        assert_eq!(read(), (0, after.1, after.2));
    }
}
