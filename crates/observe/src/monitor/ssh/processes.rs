//! The processes that are watched on another machine: one more block of files in each answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::{Counter, Reading};
use units::{Clock, Nanos, RealClock};

use super::limits::{FileTexts, RemoteLimits, texts_of};
use super::process_view::{ProcessView, of_process};
use crate::kernel_file::keyed_after_colon;
use crate::monitor::kernel::text::ticks_to_micros;
use crate::monitor::processes::GrowingSum;
use crate::process::{ProcessStat, parse_stat};
use crate::thread_use;
use crate::watch::{CpuLists, ProcessSelector};

/// The most processes that are read of all groups together.
const PROCESSES_MAX: usize = 64;

/// The most files about limits that are read of all groups together.
const FILES_MAX: usize = 256;

/// The number of readings after which processes that have all ended are looked for again.
const FIND_EVERY: u32 = 5;

/// The request that has processes looked for.
pub(super) const FIND: &str = "find";

/// The groups that are watched on another machine.
#[derive(Debug)]
pub(super) struct RemoteProcesses {
    groups: Vec<RemoteGroup>,
    /// The files about limits in the last request.
    files: BTreeSet<PathBuf>,
    clock: RealClock,
    readings: u32,
}

/// A group with what was last read of it.
#[derive(Debug)]
struct RemoteGroup {
    selector: ProcessSelector,
    members: BTreeSet<u32>,
    limits: RemoteLimits,
    cpu: GrowingSum,
    minor_faults: GrowingSum,
    major_faults: GrowingSum,
    run_delay: GrowingSum,
    read: GrowingSum,
    written: GrowingSum,
    /// CPU time of the threads, in ns, and when it was read.
    threads: (Nanos, BTreeMap<String, u64>),
}

/// The files of a process in an answer.
#[derive(Debug, Default)]
struct ProcessTexts {
    stat: Option<ProcessStat>,
    io: String,
    /// CPU time and run delay of each thread, in ns.
    threads: BTreeMap<String, (u64, u64)>,
    children: BTreeSet<u32>,
    /// The CPUs that each thread may use, if they were requested.
    allowed: Vec<String>,
}

impl RemoteProcesses {
    /// Prepares to watch processes that are still to be found.
    pub(super) fn new(selectors: &[ProcessSelector]) -> RemoteProcesses {
        let group = |selector: &ProcessSelector| RemoteGroup {
            selector: selector.clone(),
            members: BTreeSet::new(),
            limits: RemoteLimits::Sought(Vec::new()),
            cpu: GrowingSum::default(),
            minor_faults: GrowingSum::default(),
            major_faults: GrowingSum::default(),
            run_delay: GrowingSum::default(),
            read: GrowingSum::default(),
            written: GrowingSum::default(),
            threads: (Nanos::ZERO, BTreeMap::new()),
        };
        RemoteProcesses {
            groups: selectors.iter().map(group).collect(),
            files: BTreeSet::new(),
            clock: RealClock::start(),
            readings: 0,
        }
    }

    /// Returns the line of the next request: the processes to read, with files about their limits, or the wish to look
    /// for them.
    pub(super) fn question(&mut self) -> String {
        self.readings = self.readings.wrapping_add(1);
        let is_missing = self.groups.iter().any(|group| group.members.is_empty());
        if is_missing && self.readings % FIND_EVERY == 1 {
            return FIND.to_owned();
        }
        let found = || self.groups.iter().filter(|group| !group.members.is_empty());
        let files = found().flat_map(|group| group.limits.files()).filter(|path| is_word(path));
        let files: BTreeSet<PathBuf> = files.take(FILES_MAX).collect();
        let pids: BTreeSet<u32> = found().flat_map(|group| &group.members).copied().collect();
        let pids = pids.iter().take(PROCESSES_MAX).map(u32::to_string);
        let without_limits = found().filter(|group| group.limits.needs_cpus());
        let cpus = without_limits.flat_map(|group| group.members.iter().take(PROCESSES_MAX));
        let cpus = cpus.map(|pid| format!("={pid}"));
        let words = pids.chain(cpus).chain(files.iter().map(|path| path.display().to_string()));
        let line = words.collect::<Vec<String>>().join(" ");
        self.files = files;
        line
    }

    /// Takes the answer to [`FIND`].
    pub(super) fn find(&mut self, printed: &str) {
        let view = ProcessView::parse(printed);
        for group in self.groups.iter_mut().filter(|group| group.members.is_empty()) {
            group.members = view.select(&group.selector);
            group.limits = RemoteLimits::Sought(view.directories_of(&group.members));
        }
    }

    /// Returns whether every group has processes.
    ///
    /// # Errors
    /// The selector without a process, with a remedy.
    pub(super) fn missing(&self) -> Result<(), String> {
        let Some(group) = self.groups.iter().find(|group| group.members.is_empty()) else { return Ok(()) };
        Err(format!(
            "no process was found for `{}`, or this account may not see it\nhint: an account sees the sockets of its own \
             processes only; `pid=`, `unit=` and `cgroup=` need no rights; `container=` takes an id there",
            group.selector
        ))
    }

    /// Takes the answer to a request for processes.
    pub(super) fn read(&mut self, printed: &str, into: &mut Vec<Reading>) {
        let mut texts = texts_by_process(printed);
        let files = texts_of(printed, &self.files);
        let now = self.clock.now();
        let mut busiest = None;
        for group in &mut self.groups {
            busiest = busiest.max(group.read(&mut texts, &files, now, into));
        }
        into.extend(busiest.map(|micros| Reading::new(Counter::SutBusiestThread, micros)));
    }
}

impl RemoteGroup {
    /// Reports the group; returns the CPU time of its busiest thread, in µs per second. A process belongs to the first
    /// group that has it.
    fn read(
        &mut self,
        texts: &mut BTreeMap<u32, ProcessTexts>,
        files: &FileTexts,
        now: Nanos,
        into: &mut Vec<Reading>,
    ) -> Option<u64> {
        let is_complete = self.members.len() <= PROCESSES_MAX;
        let mut read: Vec<ProcessTexts> = Vec::new();
        for pid in &self.members {
            read.extend(texts.remove(pid).filter(|one| one.stat.is_some()));
        }
        let stats: Vec<ProcessStat> = read.iter().filter_map(|one| one.stat).collect();
        let children = read.iter().flat_map(|one| &one.children).copied();
        self.members = stats.iter().map(|stat| stat.pid).chain(children).collect();
        let sum = |of: fn(&ProcessStat) -> u64| stats.iter().map(of).fold(0, u64::saturating_add);
        let delays = read.iter().flat_map(|one| one.threads.values()).map(|(_, delay)| *delay);
        let mut values = vec![
            (Counter::SutProcesses, stats.len() as u64),
            (Counter::SutCpu, ticks_to_micros(self.cpu.add(sum(|one| one.cpu_ticks)))),
            (Counter::SutMinorFaults, self.minor_faults.add(sum(|one| one.minor_faults))),
            (Counter::SutMajorFaults, self.major_faults.add(sum(|one| one.major_faults))),
            (Counter::SutRunDelay, self.run_delay.add(delays.fold(0, u64::saturating_add)) / 1000),
            (Counter::SutThreads, sum(|one| one.threads.into())),
        ];
        let io =
            |key| read.iter().filter_map(|one| keyed_after_colon(&one.io, key)).reduce(u64::saturating_add);
        values.extend(io("read_bytes").map(|bytes| (Counter::SutReadBytes, self.read.add(bytes))));
        values.extend(io("write_bytes").map(|bytes| (Counter::SutWriteBytes, self.written.add(bytes))));
        let label = self.selector.to_string();
        into.extend(values.into_iter().map(|(counter, value)| Reading::of(counter, label.clone(), value)));
        if !read.is_empty() {
            let allowed = read.iter().flat_map(|one| &one.allowed).map(String::as_str);
            self.limits.read(files, &CpuLists::of(allowed, is_complete), &label, into);
        }
        self.busiest(&read, now)
    }

    fn busiest(&mut self, read: &[ProcessTexts], now: Nanos) -> Option<u64> {
        let threads: BTreeMap<String, u64> =
            read.iter().flat_map(|one| &one.threads).map(|(path, (cpu, _))| (path.clone(), *cpu)).collect();
        let (before, known) = std::mem::replace(&mut self.threads, (now, threads.clone()));
        let seconds = now.saturating_sub(before).as_secs_f64();
        let grown = threads.iter().filter_map(|(path, cpu)| Some(cpu.saturating_sub(*known.get(path)?)));
        let most = grown.max().filter(|_| 0.0 < seconds)?;
        Some((most as f64 / 1000.0 / seconds).round() as u64)
    }
}

/// Returns whether a path is one word of a request.
fn is_word(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// Sorts the lines of an answer by process.
fn texts_by_process(printed: &str) -> BTreeMap<u32, ProcessTexts> {
    let mut texts: BTreeMap<u32, ProcessTexts> = BTreeMap::new();
    for (pid, name, text) in printed.lines().filter_map(of_process) {
        let one = texts.entry(pid).or_default();
        match name.rsplit_once('/').map_or(name, |(_, last)| last) {
            "stat" => one.stat = parse_stat(text).map(|(_, stat)| stat).filter(|stat| stat.state != 'Z'),
            "status" => one.allowed.push(text.to_owned()),
            "io" => one.io.extend([text, "\n"]),
            "schedstat" => {
                let used = thread_use::parse(text).map(|used| (used.cpu.0, used.run_queue.0));
                one.threads.extend(used.map(|used| (format!("{pid}/{name}"), used)));
            }
            "children" => {
                one.children.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            _ => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(readings: &[Reading], counter: Counter) -> Option<u64> {
        readings.iter().find(|one| one.counter == counter).map(|one| one.value)
    }

    /// By hand: 15 ticks, then 30 in two processes, of which one is a new child; then the parent has ended.
    #[test]
    fn a_group_is_followed_from_answer_to_answer() {
        let stat = |pid: u32, ticks: u32| {
            format!(
                "/proc/{pid}/stat:{pid} (nginx) S 1 10 10 0 -1 4 7 0 1 0 {ticks} 5 0 0 20 0 2 0 5 5 6 7\n"
            )
        };
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        assert_eq!(remote.question(), FIND);
        remote.find("nothing");
        assert!(remote.missing().unwrap_err().starts_with("no process was found for `pid=10`"));
        assert_eq!(remote.question(), "");
        remote.find(&stat(10, 10));
        assert_eq!(remote.missing(), Ok(()));
        assert_eq!(remote.question(), "10 =10 /sys/devices/system/cpu/online");
        let mut readings = Vec::new();
        let more = "/proc/10/io:read_bytes: 4096\n/proc/10/io:write_bytes: 1\n\
                    /proc/10/task/10/schedstat:5000 3000 1\n/proc/10/task/12/schedstat:5000 4000 1\n\
                    /proc/10/task/10/children:11 \n";
        remote.read(&(stat(10, 10) + more), &mut readings);
        for (counter, value) in [
            (Counter::SutProcesses, 1),
            (Counter::SutThreads, 2),
            (Counter::SutCpu, ticks_to_micros(15)),
            (Counter::SutRunDelay, 7),
            (Counter::SutMinorFaults, 7),
            (Counter::SutReadBytes, 4096),
        ] {
            assert_eq!(of(&readings, counter), Some(value), "{counter}");
        }
        assert_eq!(remote.question(), "10 11");
        readings.clear();
        remote.read(&(stat(10, 10) + &stat(11, 10)), &mut readings);
        assert_eq!(
            (of(&readings, Counter::SutProcesses), of(&readings, Counter::SutCpu)),
            (Some(2), Some(ticks_to_micros(30)))
        );
        readings.clear();
        remote.read(&stat(11, 20), &mut readings);
        assert_eq!(
            (of(&readings, Counter::SutProcesses), of(&readings, Counter::SutCpu)),
            (Some(1), Some(ticks_to_micros(30)))
        );
        assert_eq!(remote.question(), "11");
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed_without_panic(text in "(/proc/[0-9]{1,2}/(stat|io|fd|cgroup|task/1/schedstat|children|status):|socket:\\[|\\PC|\n){0,40}") {
            let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap(), "port=80".parse().unwrap()]);
            remote.find(&text);
            remote.question();
            remote.read(&text, &mut Vec::new());
        }
    }
}
