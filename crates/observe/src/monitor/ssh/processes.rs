//! The processes that are watched on another machine: one more block of files in each answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::{Counter, Reading};
use units::{Clock, Nanos, RealClock};

use super::counts::{CountTexts, PacedCount, RemoteCounts, accept_rooms, unix_queues};
use super::limits::{FileTexts, RemoteLimits, texts_of};
use super::process_view::{ProcessView, of_process};
use super::script::FOUND_LINE;
use super::threads::{RemoteThreads, THREADS_MAX, ThreadKey, ThreadStates};
use crate::kernel_file::keyed_after_colon;
use crate::monitor::RemoteGroupSize;
use crate::monitor::kernel::text::ticks_to_micros;
use crate::monitor::netlink::{Service, report_services};
use crate::monitor::processes::{BACK_ENDS_MAX, GrowingSum};
use crate::process::{ProcessStat, parse_stat};
use crate::thread_use::{self, ThreadPeaks, ThreadUse};
use crate::watch::{CpuLists, Listener, ProcessSelector, accept_queues};

/// The most processes that are read of all groups together. Small groups leave what they do not need to the others.
pub(super) const PROCESSES_MAX: usize = 64;

/// The most files about limits that are read of all groups together.
const FILES_MAX: usize = 256;

/// The number of readings after which processes that have all ended are looked for again.
const FIND_EVERY: u32 = 5;

/// The beginning of a request that has processes looked for, and the word that has names of containers printed, too.
pub(super) const FIND: &str = "find";
pub(super) const CONTAINERS: &str = "containers";

/// The groups that are watched on another machine.
#[derive(Debug)]
pub(super) struct RemoteProcesses {
    /// The groups that the user selected, and behind them the back ends that were found.
    groups: Vec<RemoteGroup>,
    n_selected: usize,
    back_ends: BackEndSearch,
    /// The most processes of a group that are read. It never rises: processes that were left out have used CPU time before,
    /// which is not that of the second in which they are read again.
    most: usize,
    /// The files about limits in the last request.
    files: BTreeSet<PathBuf>,
    /// The last thread whose state was requested.
    last_thread: ThreadKey,
    clock: RealClock,
    readings: u32,
}

/// A selector without a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no process was found for `{label}`, or this account may not see it\nhint: an account sees the sockets of its own \
     processes only; `pid=`, `unit=`, `cgroup=` and `container=` with an id need no privileges; only root can read the \
     names given by docker and nerdctl, and find the container behind a port that docker publishes"
)]
pub(super) struct NoProcessThere {
    label: String,
}

/// The services on that machine to which groups are connected, as far as they are looked for.
#[derive(Debug, Default)]
struct BackEndSearch {
    /// The labels of those that have been looked for, or are to be.
    labels: BTreeSet<String>,
    /// Those of them for which no search has been answered.
    pending: Vec<(String, GroupSource)>,
    pace: PacedCount,
}

/// The way in which the processes of a group are found.
#[derive(Debug, Clone)]
enum GroupSource {
    /// The user selected them.
    Selected(ProcessSelector),
    /// They listen where another group is connected.
    BackEnd {
        service: Service,
        /// The index of the other group.
        client: usize,
    },
}

/// A group with what was last read of it.
#[derive(Debug)]
struct RemoteGroup {
    /// Its instance in series.
    label: String,
    source: GroupSource,
    members: BTreeSet<u32>,
    /// The listening TCP sockets in its network, as last read.
    listeners: Vec<Listener>,
    /// The sockets that they held when they were found; those of a server that opens others later are not seen.
    sockets: BTreeSet<u64>,
    limits: RemoteLimits,
    cpu: GrowingSum,
    minor_faults: GrowingSum,
    major_faults: GrowingSum,
    run_delay: GrowingSum,
    read: GrowingSum,
    written: GrowingSum,
    /// CPU time of the threads, in ns, and when it was read.
    threads: (Nanos, BTreeMap<ThreadKey, ThreadUse>),
    states: RemoteThreads,
    counts: RemoteCounts,
}

/// The files of a process in an answer.
#[derive(Debug, Default)]
struct ProcessTexts {
    stat: Option<ProcessStat>,
    io: String,
    /// CPU time and run delay of each thread, in ns.
    threads: BTreeMap<u32, ThreadUse>,
    states: ThreadStates,
    counts: CountTexts,
    /// The listening sockets near it, as in `/proc/PID/net/tcp`.
    listeners: String,
    children: BTreeSet<u32>,
    /// The CPUs that each thread may use, if they were requested.
    allowed: Vec<String>,
}

impl RemoteProcesses {
    /// Prepares to watch processes that are still to be found.
    pub(super) fn new(selectors: &[ProcessSelector]) -> RemoteProcesses {
        let group = |selector: &ProcessSelector| {
            RemoteGroup::new(selector.to_string(), GroupSource::Selected(selector.clone()))
        };
        RemoteProcesses {
            groups: selectors.iter().map(group).collect(),
            n_selected: selectors.len(),
            back_ends: BackEndSearch::default(),
            most: PROCESSES_MAX,
            files: BTreeSet::new(),
            last_thread: (0, 0),
            clock: RealClock::start(),
            readings: 0,
        }
    }

    /// Returns the line of the next request: the wish to look for processes, if some are missing, and those to read, with
    /// files about their limits.
    pub(super) fn question(&mut self) -> String {
        self.readings = self.readings.wrapping_add(1);
        let search = self.search();
        let is_search = !search.is_empty();
        let turn = self.turn();
        let groups = self.groups.iter_mut().enumerate();
        let counts = groups.flat_map(|(index, group)| group.counts_due(index == turn));
        let counts: BTreeSet<String> = counts.collect();
        self.most = self.most();
        let found = || self.groups.iter().filter(|group| !group.members.is_empty());
        let files = found().flat_map(|group| group.limits.files()).filter(|path| is_word(path));
        let files: BTreeSet<PathBuf> = files.take(FILES_MAX).collect();
        let each = self.most;
        let pids: BTreeSet<u32> =
            found().flat_map(|group| group.members.iter().take(each)).copied().collect();
        let pids = pids.iter().map(u32::to_string);
        let without_limits = found().filter(|group| group.limits.needs_cpus());
        let cpus = without_limits.flat_map(|group| group.members.iter().take(each));
        let cpus = cpus.map(|pid| format!("={pid}"));
        // Back ends are looked for in the networks of their clients.
        let near = found().filter(|group| !group.sockets.is_empty() || is_search);
        let near = near.filter_map(|group| Some(format!("@{}", group.members.first()?)));
        let threads = next_threads(found().flat_map(|group| group.threads.1.keys()), self.last_thread);
        self.last_thread = threads.last().copied().unwrap_or_default();
        let threads = threads.iter().map(|(pid, number)| format!("{pid}/{number}"));
        let words = search
            .into_iter()
            .chain(pids)
            .chain(cpus)
            .chain(near)
            .chain(counts)
            .chain(threads)
            .chain(files.iter().map(|path| path.display().to_string()));
        let line = words.collect::<Vec<String>>().join(" ");
        self.files = files;
        line
    }

    /// Returns the words that have processes looked for, if that is due.
    fn search(&mut self) -> Vec<String> {
        let missing: Vec<&RemoteGroup> =
            self.groups.iter().filter(|group| group.members.is_empty()).collect();
        let is_due = !missing.is_empty() && self.readings % FIND_EVERY == 1;
        let has_pending = !self.back_ends.pending.is_empty() && self.back_ends.pace.begin();
        if !is_due && !has_pending {
            return Vec::new();
        }
        let is_container = |group: &&RemoteGroup| {
            matches!(group.source, GroupSource::Selected(ProcessSelector::Container(_)))
        };
        let needs_names = missing.iter().any(is_container);
        [FIND].into_iter().chain(needs_names.then_some(CONTAINERS)).map(str::to_owned).collect()
    }

    /// Returns the index of the group whose connections are counted. Each group counts those of its whole network, so that
    /// they take turns: the selected ones at least every other reading, however many back ends there are.
    fn turn(&self) -> usize {
        let round = self.readings as usize;
        match self.groups.len() - self.n_selected {
            0 => round % self.n_selected.max(1),
            _ if round.is_multiple_of(2) => round / 2 % self.n_selected.max(1),
            n_back_ends => self.n_selected + round / 2 % n_back_ends,
        }
    }

    /// Returns the most processes of a group that are read.
    fn most(&self) -> usize {
        fair_level(self.groups.iter().map(|group| group.members.len())).min(self.most)
    }

    /// Takes the answer to a request, and reports what was read. What was found is read from the next request on.
    pub(super) fn take(&mut self, answer: &str, into: &mut Vec<Reading>) {
        let (found, read) =
            answer.split_once(FOUND_LINE).map_or((None, answer), |(found, read)| (Some(found), read));
        if self.groups.iter().any(|group| !group.members.is_empty()) {
            self.read(read, into);
        }
        found.into_iter().for_each(|printed| self.find(printed));
    }

    /// Takes what was printed for a search.
    fn find(&mut self, printed: &str) {
        let view = ProcessView::parse(printed);
        for index in 0..self.groups.len() {
            if self.groups[index].members.is_empty() {
                let members = self.members_of(&self.groups[index].source, &view);
                self.groups[index].adopt(members, &view);
            }
        }
        self.back_ends.pace.end(0);
        for (label, source) in std::mem::take(&mut self.back_ends.pending) {
            let members = self.members_of(&source, &view);
            if !members.is_empty() && self.groups.iter().all(|group| group.label != label) {
                let mut group = RemoteGroup::new(label, source);
                group.adopt(members, &view);
                self.groups.push(group);
            }
        }
    }

    /// Returns the processes of a group; empty if there are none, or they cannot be seen. A back end is none if processes of
    /// another group listen there.
    fn members_of(&self, source: &GroupSource, view: &ProcessView) -> BTreeSet<u32> {
        let (service, client) = match source {
            GroupSource::Selected(selector) => return view.select(selector),
            GroupSource::BackEnd { service, client } => (service, *client),
        };
        let near = self.groups.get(client).map_or(&[][..], |group| &group.listeners);
        let leaders = view.listening(service, near);
        let watched: BTreeSet<u32> = self.groups.iter().flat_map(|group| &group.members).copied().collect();
        if !leaders.is_disjoint(&watched) {
            return BTreeSet::new();
        }
        view.with_group(leaders).difference(&watched).copied().collect()
    }

    /// Notes the back ends to which groups are connected, so that they are looked for once.
    fn note_back_ends(&mut self) {
        for (client, group) in self.groups.iter().enumerate() {
            for (service, _) in group.counts.services() {
                let Some(label) = service.back_end().map(|sought| sought.to_string()) else { continue };
                let search = &mut self.back_ends;
                if search.labels.len() < BACK_ENDS_MAX && search.labels.insert(label.clone()) {
                    search.pending.push((label, GroupSource::BackEnd { service: service.clone(), client }));
                }
            }
        }
    }

    /// Returns the groups with their sizes.
    pub(super) fn sizes(&self) -> Vec<RemoteGroupSize> {
        let size = |group: &RemoteGroup| {
            let processes = group.members.len();
            RemoteGroupSize { label: group.label.clone(), processes, read: processes.min(self.most()) }
        };
        self.groups.iter().map(size).collect()
    }

    /// Returns whether every group has processes.
    ///
    /// # Errors
    /// A group has none.
    pub(super) fn missing(&self) -> Result<(), NoProcessThere> {
        match self.groups.iter().find(|group| group.members.is_empty()) {
            Some(group) => Err(NoProcessThere { label: group.label.clone() }),
            None => Ok(()),
        }
    }

    /// Takes what was printed of the processes that were requested.
    fn read(&mut self, printed: &str, into: &mut Vec<Reading>) {
        let mut texts = texts_by_process(printed);
        let files = texts_of(printed, &self.files);
        let queues = unix_queues(printed);
        let rooms = accept_rooms(printed);
        let now = self.clock.now();
        let mut peaks: Vec<ThreadPeaks> = Vec::new();
        for group in &mut self.groups {
            peaks.extend(group.read(&mut texts, &files, self.most, now, into));
            group.counts.report_unix(&queues, &group.sockets, into);
            group.counts.report_rooms(&rooms, &group.sockets, into);
        }
        let peaks = peaks.into_iter().reduce(ThreadPeaks::max);
        peaks.into_iter().for_each(|peaks| peaks.report(into));
        // Groups take turns: what another one had when it was counted last belongs to the sum.
        let counted: Vec<bool> =
            self.groups.iter_mut().map(|group| group.counts.take_new_services()).collect();
        if counted.contains(&true) {
            let counts = self.groups.iter().flat_map(|group| group.counts.services());
            report_services(counts.map(|(service, n)| (service.name(), n)), into);
            self.note_back_ends();
        }
    }
}

impl RemoteGroup {
    /// Prepares to watch a group whose processes are still to be found.
    fn new(label: String, source: GroupSource) -> RemoteGroup {
        RemoteGroup {
            label,
            source,
            members: BTreeSet::new(),
            listeners: Vec::new(),
            sockets: BTreeSet::new(),
            limits: RemoteLimits::Sought(Vec::new()),
            cpu: GrowingSum::default(),
            minor_faults: GrowingSum::default(),
            major_faults: GrowingSum::default(),
            run_delay: GrowingSum::default(),
            read: GrowingSum::default(),
            written: GrowingSum::default(),
            threads: (Nanos::ZERO, BTreeMap::new()),
            states: RemoteThreads::default(),
            counts: RemoteCounts::default(),
        }
    }

    /// Takes the processes that were found.
    fn adopt(&mut self, members: BTreeSet<u32>, view: &ProcessView) {
        self.sockets = view.sockets_of(&members);
        self.limits = RemoteLimits::Sought(view.directories_of(&members));
        self.counts = RemoteCounts::default();
        self.members = members;
    }

    /// Reports the group, of which at most `most` processes were requested; returns the most that one of its threads had of the
    /// CPUs. A process belongs to the first group that has it.
    fn read(
        &mut self,
        texts: &mut BTreeMap<u32, ProcessTexts>,
        files: &FileTexts,
        most: usize,
        now: Nanos,
        into: &mut Vec<Reading>,
    ) -> Option<ThreadPeaks> {
        let is_complete = self.members.len() <= most;
        // Those behind the last that was requested may be there still.
        let rest: Vec<u32> = self.members.iter().skip(most).copied().collect();
        let mut read: Vec<ProcessTexts> = Vec::new();
        for pid in &self.members {
            let Some(mut one) = texts.remove(pid) else { continue };
            self.counts.take(*pid, &one.counts);
            if one.stat.is_some() {
                self.states.take(*pid, &mut one.states);
                read.push(one);
            }
        }
        let stats: Vec<ProcessStat> = read.iter().filter_map(|one| one.stat).collect();
        let children = read.iter().flat_map(|one| &one.children).copied();
        self.members = stats.iter().map(|stat| stat.pid).chain(children).chain(rest).collect();
        let sum = |of: fn(&ProcessStat) -> u64| stats.iter().map(of).fold(0, u64::saturating_add);
        let delays = read.iter().flat_map(|one| one.threads.values()).map(|used| used.run_queue.0);
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
        let label = self.label.clone();
        into.extend(values.into_iter().map(|(counter, value)| Reading::of(counter, label.clone(), value)));
        if !read.is_empty() {
            let allowed = read.iter().flat_map(|one| &one.allowed).map(String::as_str);
            self.limits.read(files, &CpuLists::of(allowed, is_complete), &label, into);
        }
        let ports = self.report_accept_queues(&read, into);
        self.counts.report(&self.members, &ports, &label, into);
        let peaks = self.thread_peaks(&read, now);
        self.states.report(&self.threads.1.keys().copied().collect(), &label, into);
        peaks
    }

    /// Returns the words of what is due to be counted; none before its processes are found.
    fn counts_due(&mut self, has_turn: bool) -> Vec<String> {
        if self.members.is_empty() {
            return Vec::new();
        }
        self.counts.words(&self.members, !self.sockets.is_empty(), has_turn)
    }

    /// Reports the accept queues of the sockets that the group holds, by port; returns the ports.
    fn report_accept_queues(&mut self, read: &[ProcessTexts], into: &mut Vec<Reading>) -> BTreeSet<u16> {
        let mut ports: BTreeMap<u16, u64> = BTreeMap::new();
        let queues: Vec<(Listener, u64)> =
            read.iter().flat_map(|one| accept_queues(&one.listeners)).collect();
        self.listeners = queues.iter().map(|(listener, _)| *listener).collect();
        for (listener, waiting) in queues {
            if self.sockets.contains(&listener.inode) {
                let sum = ports.entry(listener.address.port()).or_default();
                *sum = sum.saturating_add(waiting);
            }
        }
        let queue =
            |(port, waiting): (&u16, &u64)| Reading::of(Counter::AcceptQueue, port.to_string(), *waiting);
        into.extend(ports.iter().map(queue));
        ports.into_keys().collect()
    }

    fn thread_peaks(&mut self, read: &[ProcessTexts], now: Nanos) -> Option<ThreadPeaks> {
        let of_process = |one: &ProcessTexts| {
            let pid = one.stat.map_or(0, |stat| stat.pid);
            one.threads.iter().map(move |(number, used)| ((pid, *number), *used)).collect::<Vec<_>>()
        };
        let threads: BTreeMap<ThreadKey, ThreadUse> = read.iter().flat_map(of_process).collect();
        let (before, known) = std::mem::replace(&mut self.threads, (now, threads.clone()));
        let seconds = now.saturating_sub(before).as_secs_f64();
        let mut processes: BTreeMap<u32, ThreadPeaks> = BTreeMap::new();
        for ((pid, number), used) in &threads {
            let peaks = known.get(&(*pid, *number)).and_then(|before| used.per_second(*before, seconds));
            if let Some(peaks) = peaks {
                let process = processes.entry(*pid).or_default();
                *process = process.beside(peaks);
            }
        }
        processes.into_values().reduce(ThreadPeaks::max)
    }
}

/// Returns the most processes of each group that are read, of groups with these sizes: as many as possible so that they are
/// [`PROCESSES_MAX`] together at most (max-min fairness), and at least one.
fn fair_level(sizes: impl Iterator<Item = usize> + Clone) -> usize {
    let n_read = |level: usize| sizes.clone().map(|size| size.min(level)).sum::<usize>();
    (1..=PROCESSES_MAX).rev().find(|level| n_read(*level) <= PROCESSES_MAX).unwrap_or(1)
}

/// Returns the threads behind the last one, at most [`THREADS_MAX`], and then the first ones.
fn next_threads<'a>(known: impl Iterator<Item = &'a ThreadKey>, last: ThreadKey) -> Vec<ThreadKey> {
    let known: BTreeSet<ThreadKey> = known.copied().collect();
    let (first, behind): (Vec<ThreadKey>, Vec<ThreadKey>) = known.iter().partition(|key| **key <= last);
    behind.into_iter().chain(first).take(THREADS_MAX).collect()
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
        match name.split_once('/') {
            None if name == "stat" => {
                one.stat = parse_stat(text).map(|(_, stat)| stat).filter(|stat| stat.state != 'Z');
            }
            None if name == "io" => one.io.extend([text, "\n"]),
            Some(("net", _)) => one.listeners.extend([text, "\n"]),
            Some(("task", rest)) => {
                let thread =
                    rest.split_once('/').and_then(|(number, file)| Some((number.parse().ok()?, file)));
                thread.into_iter().for_each(|(number, file)| one.take_thread(number, file, text));
            }
            _ => one.counts.take(name, text),
        }
    }
    texts
}

impl ProcessTexts {
    /// Takes a line of a file of a thread.
    fn take_thread(&mut self, number: u32, file: &str, text: &str) {
        match file {
            "status" => self.allowed.push(text.to_owned()),
            "stat" => self.states.take_stat(number, text),
            "wchan" => self.states.take_channel(number, text),
            "schedstat" => {
                self.threads.extend(thread_use::parse(text).map(|used| (number, used)));
            }
            "children" => {
                self.children.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            _ => {}
        }
    }
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
        let error = remote.missing().unwrap_err().to_string();
        assert!(error.starts_with("no process was found for `pid=10`"), "{error}");
        assert_eq!(remote.question(), "");
        remote.find(&stat(10, 10));
        assert_eq!(remote.missing(), Ok(()));
        assert_eq!(remote.question(), "10 =10 +10 >10 /sys/devices/system/cpu/online");
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
        assert_eq!(remote.question(), "10 11 10/10 10/12");
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
        assert_eq!(remote.question(), "11 +11 >11");
    }

    /// By hand, within 2 s: a thread that was 1 s on a CPU, one that waited 1.8 s for one, and one that began meanwhile.
    #[test]
    fn the_most_that_a_thread_had_of_the_cpus_is_that_since_the_last_answer() {
        let mut group =
            RemoteGroup::new("pid=10".to_owned(), GroupSource::Selected("pid=10".parse().unwrap()));
        let mut peaks = |seconds, schedstats: &[(u32, u64, u64)]| {
            let line = |(number, cpu, waited): &(u32, u64, u64)| {
                format!("/proc/10/task/{number}/schedstat:{cpu}000000 {waited}000000 1\n")
            };
            let stat = "/proc/10/stat:10 (x) S 1 10 10 0 -1 4 7 0 1 0 10 5 0 0 20 0 2 0 5 5 6 7\n".to_owned();
            let printed = schedstats.iter().map(line).fold(stat, |printed, line| printed + &line);
            let read: Vec<ProcessTexts> = texts_by_process(&printed).into_values().collect();
            group.thread_peaks(&read, Nanos::from_secs(seconds))
        };
        assert_eq!(peaks(1, &[(10, 500, 0), (11, 0, 100)]), None);
        let found = peaks(3, &[(10, 1500, 0), (11, 20, 1900), (12, 5000, 5000)]);
        assert_eq!(found, Some(ThreadPeaks { cpu: 500_000, demand: 910_000, process: 510_000 }));
    }

    /// Goal: a search for a group leaves no gap in what is read of another one.
    #[test]
    fn missing_processes_are_looked_for_while_others_are_read() {
        let stat = |pid: u32| {
            format!("/proc/{pid}/stat:{pid} (x) S 1 {pid} {pid} 0 -1 4 7 0 1 0 10 5 0 0 20 0 1 0 5 5 6 7\n")
        };
        let selectors = ["pid=10".parse().unwrap(), "container=web".parse().unwrap()];
        let mut remote = RemoteProcesses::new(&selectors);
        assert_eq!(remote.question(), "find containers");
        let mut readings = Vec::new();
        remote.take(&format!("{}{FOUND_LINE}", stat(10)), &mut readings);
        assert_eq!(readings, [], "it is read from the next request on");
        let questions: Vec<String> = (0..5).map(|_| remote.question()).collect();
        let is_search = |question: &String| question.starts_with("find containers 10 =10");
        assert_eq!(questions.iter().filter(|one| is_search(one)).count(), 1, "{questions:?}");
        remote.take(&format!("{}{}{FOUND_LINE}{}", stat(10), stat(11), stat(10)), &mut readings);
        assert_eq!(of(&readings, Counter::SutProcesses), Some(1));
    }

    /// Goal: a group of many processes takes no other group's place, and forgets none of its own.
    #[test]
    fn many_processes_of_one_group_leave_room_for_another() {
        let stat = |pid: u32, group: u32| {
            format!(
                "/proc/{pid}/stat:{pid} (x) S 1 {group} {group} 0 -1 4 7 0 1 0 10 5 0 0 20 0 2 0 5 5 6 7\n\
                 /proc/{pid}/cgroup:0::/{group}\n"
            )
        };
        let selectors = ["cgroup=/1".parse().unwrap(), "cgroup=/2".parse().unwrap()];
        let mut remote = RemoteProcesses::new(&selectors);
        let web: Vec<String> = (100..180).map(|pid| stat(pid, 1)).collect();
        let database: Vec<String> = (200..203).map(|pid| stat(pid, 2)).collect();
        assert_eq!(remote.question(), FIND);
        remote.find(&[web.concat(), database.concat()].concat());
        for _ in 0..3 {
            let question = remote.question();
            let words: BTreeSet<&str> = question.split(' ').collect();
            let requested = |stats: &[String], first: usize| -> Vec<String> {
                let is_requested =
                    |(index, _): &(usize, &String)| words.contains(&*(first + index).to_string());
                stats.iter().enumerate().filter(is_requested).map(|(_, text)| text.clone()).collect()
            };
            let of_web = requested(&web, 100);
            let of_database = requested(&database, 200);
            assert_eq!((of_web.len(), of_database.len()), (PROCESSES_MAX - 3, 3));
            let mut readings = Vec::new();
            remote.read(&[of_web.concat(), of_database.concat()].concat(), &mut readings);
            let sizes: Vec<(usize, usize)> =
                remote.sizes().iter().map(|one| (one.processes, one.read)).collect();
            assert_eq!(sizes, [(80, PROCESSES_MAX - 3), (3, 3)]);
            let n = |label: &str| {
                let of = |one: &&Reading| one.counter == Counter::SutProcesses && one.instance == label;
                readings.iter().find(of).map(|one| one.value)
            };
            assert_eq!((n("cgroup=/1"), n("cgroup=/2")), (Some(PROCESSES_MAX as u64 - 3), Some(3)));
        }
    }

    #[test]
    fn groups_share_what_small_ones_leave() {
        let level = |sizes: &[usize]| fair_level(sizes.iter().copied());
        assert_eq!((level(&[]), level(&[5, 64])), (PROCESSES_MAX, PROCESSES_MAX - 5));
        assert_eq!((level(&[100, 100]), level(&[100, 10, 40])), (32, 27));
        assert_eq!((level(&[1; 100]), level(&[0, 64])), (1, PROCESSES_MAX));
        // Processes that were left out once stay out.
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap(), "pid=20".parse().unwrap()]);
        remote.groups[0].members = (100..180).collect();
        remote.groups[1].members = (200..240).collect();
        remote.question();
        remote.groups[1].members = BTreeSet::from([200]);
        assert_eq!(remote.sizes().iter().map(|one| one.read).collect::<Vec<_>>(), [32, 1]);
    }

    /// Returns a process with its number as its group, 10 ticks and its control group.
    fn process(pid: u32) -> String {
        format!(
            "/proc/{pid}/stat:{pid} (x) S 1 {pid} {pid} 0 -1 4 7 0 1 0 10 5 0 0 20 0 2 0 5 5 6 7\n\
             /proc/{pid}/cgroup:0::/user.slice\n"
        )
    }

    /// Returns a listening socket in the network of process 10.
    fn listener(port: &str, inode: u32) -> String {
        format!(
            "/proc/10/net/tcp:   0: 00000000:{port} 00000000:0000 0A 00000000:00000002 00:00000000 00000000     0 \
             0 {inode} 1 0 100 0 0 10 0\n"
        )
    }

    /// By hand: a proxy (10) in another network than the account, with a socket of its own, a database on port 5432 (20), PHP
    /// on a Unix socket (30), a service on another machine, and one that nobody can see.
    #[test]
    fn back_ends_are_watched_as_groups_of_their_own() {
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        let mut take = |answer: &str| {
            let question = remote.question();
            let mut readings = Vec::new();
            remote.take(answer, &mut readings);
            let groups: Vec<String> = remote.sizes().into_iter().map(|one| one.label).collect();
            (question, readings, groups)
        };
        let all = [10, 20, 30].map(process).concat();
        let found = format!(
            "{all}/proc/net/tcp:   0: 00000000:1538 00000000:0000 0A 0:0 0:0 0     0        0 98 1 0 100 0 0 10 0\n\
             /proc/net/unix:0000000000000000: 00000002 00000000 00010000 0001 01 31 /run/php.sock\n\
             /proc/10/fd:\nsocket:[11]\n/proc/20/fd:\nsocket:[21]\n/proc/30/fd:\nsocket:[31]\n{FOUND_LINE}"
        );
        take(&found);
        let services = "/proc/10/services:4 here 1538\n/proc/10/services:2 socket /run/php.sock\n\
                        /proc/10/services:1 here 1F91\n/proc/10/services:1 port 1F92\n/proc/10/services:rows 9\n";
        let (question, _, groups) = take(&[&*process(10), services].concat());
        assert!(question.contains(" >10 ") && !question.contains(FIND), "{question}");
        assert_eq!(groups, ["pid=10"]);
        let sockets = [listener("1F90", 11), listener("1538", 21)].concat();
        let (question, readings, groups) = take(&[&*found, &*process(10), &*sockets].concat());
        assert!(question.starts_with("find 10 ") && question.contains(" @10"), "{question}");
        assert_eq!(groups, ["pid=10", "port=5432", "socket=/run/php.sock"]);
        assert!(
            readings.iter().all(|one| !one.instance.contains("5432")),
            "from the next reading on: {readings:?}"
        );
        let (question, readings, _) = take(&[&*all, &*listener("1538", 21).replace("/10/", "/20/")].concat());
        assert!(question.starts_with("10 20 30 ") && question.contains(" @20"), "{question}");
        for label in ["port=5432", "socket=/run/php.sock"] {
            assert!(
                readings.contains(&Reading::of(Counter::SutCpu, label, ticks_to_micros(15))),
                "{readings:?}"
            );
        }
        assert!(readings.contains(&Reading::of(Counter::AcceptQueue, "5432", 2)), "{readings:?}");
        // They are looked for once.
        let (question, _, groups) = take(&[&*all, services].concat());
        assert!(!question.contains(FIND), "{question}");
        let (question, _, _) = take(&all);
        assert!(!question.contains(FIND) && groups.len() == 3, "{question}");
    }

    /// Goal: a back end that is restarted is found again, on the port that its client is still connected to.
    #[test]
    fn a_back_end_that_is_restarted_is_found_again() {
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        remote.groups[0].members = BTreeSet::from([10]);
        let services = "/proc/10/services:1 here 1538\n/proc/10/services:rows 9\n";
        let mut readings = Vec::new();
        remote.take(&[&*process(10), services].concat(), &mut readings);
        let found = |pid: u32| {
            let socket = listener("1538", 21);
            format!("{}/proc/{pid}/fd:\nsocket:[21]\n{FOUND_LINE}{}{socket}", process(pid), process(10))
        };
        assert!(remote.question().starts_with(FIND));
        remote.take(&found(20), &mut readings);
        assert_eq!(remote.groups[1].members, [20].into());
        remote.take(&process(10), &mut readings);
        assert!(remote.groups[1].members.is_empty());
        let is_search = (0..FIND_EVERY).any(|_| remote.question().starts_with(FIND));
        remote.take(&found(22), &mut readings);
        assert!(is_search && remote.groups[1].members == [22].into());
    }

    /// Goal: a machine that says that it is connected to ever more has few searches, and the processes of the server are no
    /// back end of it.
    #[test]
    fn few_back_ends_are_looked_for() {
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        remote.groups[0].members = BTreeSet::from([10]);
        let found = format!("{}/proc/10/fd:\nsocket:[11]\n{FOUND_LINE}", process(10));
        let mut n_searches = 0;
        // The server listens on all of these ports.
        let sockets: String = (100_u16..200).map(|port| listener(&format!("{port:04X}"), 11)).collect();
        for port in 100_u16..200 {
            let services = format!(
                "/proc/10/services:1 here {port:X}\n/proc/10/services:1 socket /run/{port}\n/proc/10/services:rows 9\n"
            );
            let is_search = remote.question().starts_with(FIND);
            n_searches += usize::from(is_search);
            let read = [&*process(10), &*sockets, &*services].concat();
            let answer = if is_search { [&*found, &*read].concat() } else { read };
            remote.take(&answer, &mut Vec::new());
        }
        assert!((1..=BACK_ENDS_MAX).contains(&n_searches), "{n_searches}");
        assert_eq!(remote.sizes().len(), 1);
    }

    /// Goal: a search whose answer comes too late is made again, ever more rarely. By hand: as for counts.
    #[test]
    fn a_search_without_an_answer_is_made_again() {
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        remote.groups[0].members = BTreeSet::from([10]);
        let services = "/proc/10/services:1 here 1538\n/proc/10/services:rows 9\n";
        remote.take(&[&*process(10), services].concat(), &mut Vec::new());
        let searches: Vec<usize> = (0..10).filter(|_| remote.question().starts_with(FIND)).collect();
        assert_eq!(searches, [0, 2, 5]);
    }

    #[test]
    fn selected_groups_count_connections_every_other_reading() {
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap(), "pid=11".parse().unwrap()]);
        let turns = |remote: &mut RemoteProcesses| -> Vec<usize> {
            let turn = |readings| {
                remote.readings = readings;
                remote.turn()
            };
            (0..8).map(turn).collect()
        };
        assert_eq!(turns(&mut remote), [0, 1, 0, 1, 0, 1, 0, 1]);
        for number in 0..3 {
            let source = GroupSource::Selected("pid=12".parse().unwrap());
            remote.groups.push(RemoteGroup::new(number.to_string(), source));
        }
        assert_eq!(turns(&mut remote), [0, 2, 1, 3, 0, 4, 1, 2]);
    }

    /// By hand: a process that holds one of two listening sockets, with three connections in the accept queue.
    #[test]
    fn accept_queues_are_those_of_sockets_that_the_group_holds() {
        let stat = "/proc/10/stat:10 (nginx) S 1 10 10 0 -1 4 7 0 1 0 1 5 0 0 20 0 1 0 5 5 6 7\n";
        let row = |port: &str, inode: u32| {
            format!(
                "/proc/10/net/tcp:   0: 00000000:{port} 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0 \
                 0 {inode} 1 0 100 0 0 10 0\n"
            )
        };
        let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap()]);
        assert_eq!(remote.question(), FIND);
        remote.find(&format!("{stat}/proc/10/fd:\nsocket:[4711]\n"));
        assert_eq!(remote.question(), "10 =10 @10 +10 :10 >10 tcp unix /sys/devices/system/cpu/online");
        let mut readings = Vec::new();
        remote.read(&[stat, &row("1F90", 4711), &row("0016", 4712)].concat(), &mut readings);
        readings.retain(|one| one.counter == Counter::AcceptQueue);
        assert_eq!(readings, [Reading::of(Counter::AcceptQueue, "8080", 3)]);
    }

    #[test]
    fn states_of_many_threads_are_requested_in_rotation() {
        let known: Vec<ThreadKey> = (1..=200).map(|number| (10, number)).collect();
        let first = next_threads(known.iter(), (0, 0));
        assert_eq!((first.len(), first[0], first[127]), (THREADS_MAX, (10, 1), (10, 128)));
        let second = next_threads(known.iter(), first[127]);
        assert_eq!(
            (second.len(), second[0], second[71], second[72]),
            (THREADS_MAX, (10, 129), (10, 200), (10, 1))
        );
        assert_eq!(next_threads(known[..3].iter(), (10, 2)), [(10, 3), (10, 1), (10, 2)]);
        assert_eq!(next_threads([].iter(), (10, 2)), []);
    }

    proptest! {
        #[test]
        fn any_answer_is_parsed_without_panic(text in "(plimsoll-found\n|/var/lib/(docker|nerdctl)[a-z/]{0,30}:|/proc/[0-9]{1,2}/(stat|cmdline|io|fd|cgroup|net/tcp|open|limits|connections|services|net/unix|task/1/(schedstat|children|status|stat|wchan)):|socket:\\[|unix:u_str LISTEN |[0-9]{1,3} |\\PC|\n){0,40}") {
            let mut remote = RemoteProcesses::new(&["pid=10".parse().unwrap(), "port=80".parse().unwrap()]);
            remote.find(&text);
            for _ in 0..3 {
                remote.question();
                remote.take(&text, &mut Vec::new());
            }
        }
    }
}
