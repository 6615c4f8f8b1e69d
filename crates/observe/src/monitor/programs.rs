//! The processes of a system under test, grouped by program name.
//!
//! At most [`READS_MAX`] processes and as many threads are read per reading; beyond that they are read in
//! rotation, and the last values count until the next turn. The CPU time of a process stays with its program
//! after its end; only the control group accounts for its use after its last turn, and for processes that
//! came and went between two turns.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use model::{Counter, Reading};
use units::{Clock, Nanos, RealClock};

use super::kernel::text::ticks_to_micros;
use super::sut::MonitoredSut;
use crate::cgroup::members;
use crate::process::{ProcessStat, family_of, parse_stat};

/// Maximum number of processes, and of threads, read per reading.
const READS_MAX: usize = 64;

/// Maximum number of programs with their own series; processes of others are combined as [`OTHERS`].
const PROGRAMS_MAX: usize = 32;

const OTHERS: &str = "others";

/// Upper bound of a line of `/proc/PID/stat`, about three times the real maximum.
const STAT_BYTES_MAX: usize = 1024;

/// Minimum interval between two samples of a thread: its accounting has ticks of up to 10 ms.
const RATE_INTERVAL_MIN: Nanos = Nanos::from_millis(500);

/// The source of process ids: a control group, or else `/proc`.
#[derive(Debug)]
enum ProcessSource {
    Group(PathBuf),
    Family(Vec<u32>),
}

/// The processes of a system under test.
#[derive(Debug)]
pub(super) struct Programs {
    members: ProcessSource,
    known: HashMap<u32, Process>,
    /// Ticks of ended processes, by program; contains every program ever seen.
    ended: BTreeMap<String, u64>,
    /// The process that was read last.
    last: u32,
    clock: RealClock,
}

/// A process as last read.
#[derive(Debug)]
struct Process {
    program: String,
    stat: ProcessStat,
    /// Of its only thread.
    rate: CpuRate,
    threads: Threads,
}

/// The threads of a multi-threaded process.
#[derive(Debug, Default)]
struct Threads {
    all: Vec<Thread>,
    next: usize,
}

/// A thread as last read.
#[derive(Debug)]
struct Thread {
    number: u32,
    /// `?` before it was first read.
    state: char,
    rate: CpuRate,
}

/// CPU time per second of a thread, between two samples.
#[derive(Debug, Default, Clone, Copy)]
struct CpuRate {
    /// Time of the last sample, and its CPU time in ticks.
    last: Option<(Nanos, u64)>,
    /// In µs per second; `None` before the second sample.
    micros_per_second: Option<u64>,
}

/// The totals of one program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct ProgramTotals {
    ticks: u64,
    resident_pages: u64,
    processes: u64,
    running: u64,
    waiting: u64,
    blocked: u64,
}

impl Programs {
    /// Creates an empty list.
    pub(super) fn new(sut: &MonitoredSut) -> Programs {
        let members = match sut.group_directory() {
            Some(directory) => ProcessSource::Group(directory.to_owned()),
            None => ProcessSource::Family(sut.leaders.clone()),
        };
        Programs {
            members,
            known: HashMap::new(),
            ended: BTreeMap::new(),
            last: 0,
            clock: RealClock::start(),
        }
    }

    /// Reads the next batch of processes and reports all programs; returns the ids of all running processes.
    pub(super) fn read(&mut self, into: &mut Vec<Reading>) -> Vec<u32> {
        let mut pids = self.members(into);
        pids.sort_unstable();
        pids.dedup();
        into.push(Reading::new(Counter::SutProcesses, pids.len() as u64));
        self.retain_processes(&pids);
        let turn = next_batch(&pids, self.last);
        self.last = turn.last().copied().unwrap_or_default();
        for pid in &turn {
            self.sample(*pid);
        }
        self.sample_threads(&turn);
        self.report(into);
        pids
    }

    /// Without a control group, the process family is also the only source of the server's CPU time.
    fn members(&self, into: &mut Vec<Reading>) -> Vec<u32> {
        match &self.members {
            ProcessSource::Group(directory) => members(directory),
            ProcessSource::Family(leaders) => {
                let family = family_of(leaders);
                let ticks = family.iter().fold(0u64, |sum, one| sum.saturating_add(one.cpu_ticks));
                into.push(Reading::new(Counter::SutCpu, ticks_to_micros(ticks)));
                family.iter().map(|process| process.pid).collect()
            }
        }
    }

    fn retain_processes(&mut self, pids: &[u32]) {
        let ended = &mut self.ended;
        self.known.retain(|pid, process| {
            let lives = pids.binary_search(pid).is_ok();
            if !lives {
                add_ended(ended, process);
            }
            lives
        });
    }

    fn sample(&mut self, pid: u32) {
        let Some(text) = stat_text(&format!("/proc/{pid}/stat")) else { return };
        let Some((name, stat)) = parse_stat(&text) else { return };
        let program = match self.ended.contains_key(name) || self.ended.len() < PROGRAMS_MAX {
            true => name,
            false => OTHERS,
        };
        self.ended.entry(program.to_owned()).or_default();
        let (mut threads, mut rate) = (Threads::default(), CpuRate::default());
        if let Some(before) = self.known.remove(&pid) {
            // The id may have been reused in the meantime.
            match before.stat.start_ticks == stat.start_ticks {
                true => (threads, rate) = (before.threads, before.rate),
                false => add_ended(&mut self.ended, &before),
            }
        }
        rate.sample(self.clock.now(), stat.own_ticks);
        self.known.insert(pid, Process { program: program.to_owned(), stat, rate, threads });
    }

    fn sample_threads(&mut self, turn: &[u32]) {
        let threaded = |known: &HashMap<u32, Process>, pid: &u32| {
            known.get(pid).is_some_and(|process| 1 < process.stat.threads)
        };
        let turn: Vec<u32> = turn.iter().copied().filter(|pid| threaded(&self.known, pid)).collect();
        let now = self.clock.now();
        for pid in &turn {
            if let Some(process) = self.known.get_mut(pid) {
                process.threads.sample(*pid, process.stat.threads, (READS_MAX / turn.len()).max(1), now);
            }
        }
    }

    fn report(&self, into: &mut Vec<Reading>) {
        for (program, sum) in self.sums() {
            let values = [
                (Counter::ProcessCpu, ticks_to_micros(sum.ticks)),
                (
                    Counter::ProcessMemory,
                    sum.resident_pages.saturating_mul(rustix::param::page_size() as u64),
                ),
                (Counter::ProcessCount, sum.processes),
                (Counter::ProcessRunning, sum.running),
                (Counter::ProcessWaiting, sum.waiting),
                (Counter::ProcessBlocked, sum.blocked),
            ];
            into.extend(values.map(|(counter, value)| Reading::of(counter, program, value)));
        }
        let busiest = self.known.values().filter_map(Process::busiest_thread).max();
        into.extend(busiest.map(|micros| Reading::new(Counter::SutBusiestThread, micros)));
    }

    fn sums(&self) -> BTreeMap<&str, ProgramTotals> {
        let ended = self.ended.iter().map(|(program, ticks)| {
            (program.as_str(), ProgramTotals { ticks: *ticks, ..ProgramTotals::default() })
        });
        let mut sums: BTreeMap<&str, ProgramTotals> = ended.collect();
        for Process { program, stat, threads, .. } in self.known.values() {
            let sum = sums.entry(program).or_default();
            sum.ticks = sum.ticks.saturating_add(stat.own_ticks);
            sum.resident_pages = sum.resident_pages.saturating_add(stat.resident_pages);
            sum.processes += 1;
            match stat.threads {
                0 | 1 => sum.count(stat.state),
                _ => threads.all.iter().for_each(|thread| sum.count(thread.state)),
            }
        }
        sums
    }
}

fn add_ended(ended: &mut BTreeMap<String, u64>, process: &Process) {
    let ticks = ended.entry(process.program.clone()).or_default();
    *ticks = ticks.saturating_add(process.stat.own_ticks);
}

/// Returns the next batch: processes after the last one, wrapping around.
fn next_batch(pids: &[u32], last: u32) -> Vec<u32> {
    let first = pids.partition_point(|pid| *pid <= last);
    pids[first..].iter().chain(&pids[..first]).take(READS_MAX).copied().collect()
}

impl ProgramTotals {
    fn count(&mut self, state: char) {
        match state {
            'R' => self.running += 1,
            'S' => self.waiting += 1,
            'D' => self.blocked += 1,
            // Threads that are stopped, have ended or were not read yet.
            _ => {}
        }
    }
}

impl Process {
    /// Returns the CPU rate of its busiest thread; `None` before the second sample.
    fn busiest_thread(&self) -> Option<u64> {
        match self.stat.threads {
            0 | 1 => self.rate.micros_per_second,
            _ => self.threads.all.iter().filter_map(|thread| thread.rate.micros_per_second).max(),
        }
    }
}

impl CpuRate {
    /// Adds a sample of the CPU time in ticks.
    fn sample(&mut self, now: Nanos, ticks: u64) {
        if let Some((at, before)) = self.last {
            let seconds = now.saturating_sub(at).as_secs_f64();
            if seconds < RATE_INTERVAL_MIN.as_secs_f64() {
                return;
            }
            let micros = ticks_to_micros(ticks.saturating_sub(before)) as f64;
            self.micros_per_second = Some((micros / seconds).round() as u64);
        }
        self.last = Some((now, ticks));
    }
}

impl Threads {
    /// Reads the next threads of a process that has `count`. Their list is refreshed when the count has
    /// changed.
    fn sample(&mut self, pid: u32, count: u32, reads_max: usize, now: Nanos) {
        if self.all.len() != count as usize {
            let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let numbers = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
            self.all =
                numbers.map(|number| Thread { number, state: '?', rate: CpuRate::default() }).collect();
        }
        for _ in 0..reads_max.min(self.all.len()) {
            self.next = (self.next + 1) % self.all.len();
            let thread = &mut self.all[self.next];
            let text = stat_text(&format!("/proc/{pid}/task/{}/stat", thread.number));
            let stat = text.as_deref().and_then(parse_stat).map(|(_, stat)| stat);
            thread.state = stat.map_or('?', |stat| stat.state);
            if let Some(stat) = stat {
                thread.rate.sample(now, stat.own_ticks);
            }
        }
    }
}

/// Reads a line of `/proc/PID/stat` with as few calls as possible.
pub(super) fn stat_text(path: &str) -> Option<String> {
    let mut buffer = [0; STAT_BYTES_MAX];
    let length = File::open(path).ok()?.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(leaders: Vec<u32>) -> Programs {
        Programs::new(&MonitoredSut { leaders, ..MonitoredSut::default() })
    }

    fn process(program: &str, state: char, own_ticks: u64) -> Process {
        let stat = ProcessStat { state, own_ticks, threads: 1, resident_pages: 2, ..ProcessStat::default() };
        let (rate, threads) = (CpuRate::default(), Threads::default());
        Process { program: program.to_owned(), stat, rate, threads }
    }

    #[test]
    fn every_process_has_its_turn() {
        let pids: Vec<u32> = (1..=150).collect();
        let first = next_batch(&pids, 0);
        assert_eq!((first.len(), first[0], first[63]), (64, 1, 64));
        let third = next_batch(&pids, 128);
        assert_eq!((third.len(), third[0], third[21], third[22]), (64, 129, 150, 1));
        assert_eq!(next_batch(&pids[..3], 2), [3, 1, 2]);
        assert!(next_batch(&[], 7).is_empty());
    }

    #[test]
    fn ended_processes_stay_with_their_program() {
        let mut programs = programs(Vec::new());
        programs.known.insert(1, process("nginx", 'S', 10));
        programs.known.insert(2, process("nginx", 'R', 20));
        programs.known.insert(3, process("php", 'D', 40));
        let nginx =
            ProgramTotals { ticks: 30, resident_pages: 4, processes: 2, running: 1, waiting: 1, blocked: 0 };
        assert_eq!(programs.sums()["nginx"], nginx);
        programs.retain_processes(&[1]);
        assert_eq!(
            programs.sums()["nginx"],
            ProgramTotals { processes: 1, resident_pages: 2, running: 0, ..nginx }
        );
        assert_eq!(programs.sums()["php"], ProgramTotals { ticks: 40, ..ProgramTotals::default() });
    }

    /// By hand: 90 ticks in a second are 900 ms of CPU time if a tick is 10 ms. A sample too soon changes
    /// nothing.
    #[test]
    fn a_rate_takes_two_samples() {
        let mut rate = CpuRate::default();
        rate.sample(Nanos::from_secs(1), 10);
        assert_eq!(rate.micros_per_second, None);
        rate.sample(Nanos::from_millis(1100), 10);
        rate.sample(Nanos::from_secs(2), 100);
        assert_eq!(rate.micros_per_second, Some(ticks_to_micros(90)));
        rate.sample(Nanos::from_secs(4), 100);
        assert_eq!(rate.micros_per_second, Some(0));
    }

    /// A server with one busy process, and one with a busy thread among several.
    #[test]
    fn the_busiest_thread_of_all_processes_is_reported() {
        let mut programs = programs(Vec::new());
        let paced = |micros| CpuRate { last: None, micros_per_second: Some(micros) };
        let mut one = process("nginx", 'R', 10);
        one.rate = paced(400_000);
        let mut several = process("nginx", 'R', 10);
        several.stat.threads = 2;
        several.rate = paced(990_000);
        let thread = |number, micros| Thread { number, state: 'R', rate: paced(micros) };
        several.threads.all = vec![thread(1, 90_000), thread(2, 900_000)];
        programs.known.extend([(1, one), (2, several)]);
        let mut readings = Vec::new();
        programs.report(&mut readings);
        assert!(readings.contains(&Reading::new(Counter::SutBusiestThread, 900_000)), "{readings:?}");
    }

    /// Goal: program names chosen by a server cannot create unbounded series.
    #[test]
    fn programs_beyond_the_limit_are_counted_together() {
        let mut programs = programs(Vec::new());
        programs.ended.extend((0..PROGRAMS_MAX).map(|number| (format!("program{number}"), 0)));
        programs.sample(std::process::id());
        assert_eq!(programs.sums()[OTHERS].processes, 1);
    }

    /// Goal: this test's process is found with its threads. The other thread waits for this one.
    #[test]
    fn a_process_is_read_with_its_threads() {
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || receiver.recv().is_err());
        let mut programs = programs(vec![std::process::id()]);
        let mut readings = Vec::new();
        // Threads of other tests come and go.
        for _ in 0..3 {
            readings.clear();
            programs.read(&mut readings);
        }
        let own = &programs.known[&std::process::id()];
        let sum = programs.sums()[own.program.as_str()];
        assert!(2 <= sum.running + sum.waiting && 1 <= sum.running, "{sum:?}");
        assert!(0 < sum.resident_pages && 1 <= sum.processes, "{sum:?}");
        let of = |counter| readings.iter().find(|reading| reading.counter == counter).unwrap();
        assert_eq!(of(Counter::ProcessCount).value, sum.processes);
        assert!(1 <= of(Counter::SutProcesses).value);
        drop(_sender);
        assert!(thread.join().unwrap());
    }
}
