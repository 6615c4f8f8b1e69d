//! The processes of a system under test, by the name of their program.
//!
//! At most [`READS_MAX`] processes are read at a time, and as many threads; beyond that they take turns, and what was
//! read last counts until the next turn. What a process used stays with its program when it has ended; what it used
//! after its last turn is known to the control group alone, like processes that came and went between two turns.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use model::{Counter, Reading};
use units::{Clock, Nanos, RealClock};

use super::kernel::text::ticks_to_micros;
use super::sut::WatchedSut;
use crate::cgroup::members;
use crate::process::{ProcessStat, family_of, parse_stat};

/// How many processes are read at a time, and how many threads.
const READS_MAX: usize = 64;

/// How many programs are told apart; processes of further ones are called [`OTHERS`].
const PROGRAMS_MAX: usize = 32;

const OTHERS: &str = "others";

/// The longest line of `/proc/PID/stat` is a third of this.
const STAT_BYTES_MAX: usize = 1024;

/// Two looks that are closer than this say nothing of a thread's pace: its account has ticks of up to 10 ms.
const PACE_MIN: Nanos = Nanos::from_millis(500);

/// Where a control group is missing, its processes are looked for in `/proc`.
#[derive(Debug)]
enum Members {
    Group(PathBuf),
    Family(Vec<u32>),
}

/// The processes of a system under test.
#[derive(Debug)]
pub struct Programs {
    members: Members,
    known: HashMap<u32, Process>,
    /// Ticks of processes that have ended, by program; every program that was ever seen is here.
    ended: BTreeMap<String, u64>,
    /// The process that was read last.
    last: u32,
    clock: RealClock,
}

/// A process as it was at its last turn.
#[derive(Debug)]
struct Process {
    program: String,
    stat: ProcessStat,
    /// Of its only thread.
    pace: Pace,
    threads: Threads,
}

/// The threads of a process that has several.
#[derive(Debug, Default)]
struct Threads {
    all: Vec<Thread>,
    next: usize,
}

/// A thread as it was at its last turn.
#[derive(Debug)]
struct Thread {
    number: u32,
    /// `?` before the first turn.
    state: char,
    pace: Pace,
}

/// How much CPU time a thread uses per second, from one look to the next.
#[derive(Debug, Default, Clone, Copy)]
struct Pace {
    /// When it was looked at, and its CPU time in ticks.
    last: Option<(Nanos, u64)>,
    /// In µs per second; `None` before the second look.
    micros_per_second: Option<u64>,
}

/// What is told about one program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sum {
    ticks: u64,
    resident_pages: u64,
    processes: u64,
    running: u64,
    waiting: u64,
    blocked: u64,
}

impl Programs {
    /// Makes the list, yet empty.
    pub fn new(sut: &WatchedSut) -> Programs {
        let members = match sut.group_directory() {
            Some(directory) => Members::Group(directory.to_owned()),
            None => Members::Family(sut.leaders.clone()),
        };
        Programs {
            members,
            known: HashMap::new(),
            ended: BTreeMap::new(),
            last: 0,
            clock: RealClock::start(),
        }
    }

    /// Reads the processes whose turn it is, and tells about all; returns the numbers of all that run.
    pub fn read(&mut self, into: &mut Vec<Reading>) -> Vec<u32> {
        let mut pids = self.members(into);
        pids.sort_unstable();
        pids.dedup();
        into.push(Reading::new(Counter::SutProcesses, pids.len() as u64));
        self.forget_all_but(&pids);
        let turn = turn(&pids, self.last);
        self.last = turn.last().copied().unwrap_or_default();
        for pid in &turn {
            self.look_at(*pid);
        }
        self.look_at_threads(&turn);
        self.tell(into);
        pids
    }

    /// Without a group, the family is also the only account of the server's CPU time.
    fn members(&self, into: &mut Vec<Reading>) -> Vec<u32> {
        match &self.members {
            Members::Group(directory) => members(directory),
            Members::Family(leaders) => {
                let family = family_of(leaders);
                let ticks = family.iter().fold(0u64, |sum, one| sum.saturating_add(one.cpu_ticks));
                into.push(Reading::new(Counter::SutCpu, ticks_to_micros(ticks)));
                family.iter().map(|process| process.pid).collect()
            }
        }
    }

    fn forget_all_but(&mut self, pids: &[u32]) {
        let ended = &mut self.ended;
        self.known.retain(|pid, process| {
            let lives = pids.binary_search(pid).is_ok();
            if !lives {
                keep(ended, process);
            }
            lives
        });
    }

    fn look_at(&mut self, pid: u32) {
        let Some(text) = stat_text(&format!("/proc/{pid}/stat")) else { return };
        let Some((name, stat)) = parse_stat(&text) else { return };
        let program = match self.ended.contains_key(name) || self.ended.len() < PROGRAMS_MAX {
            true => name,
            false => OTHERS,
        };
        self.ended.entry(program.to_owned()).or_default();
        let (mut threads, mut pace) = (Threads::default(), Pace::default());
        if let Some(before) = self.known.remove(&pid) {
            // Another one may have got the number in the meantime.
            match before.stat.start_ticks == stat.start_ticks {
                true => (threads, pace) = (before.threads, before.pace),
                false => keep(&mut self.ended, &before),
            }
        }
        pace.look(self.clock.now(), stat.own_ticks);
        self.known.insert(pid, Process { program: program.to_owned(), stat, pace, threads });
    }

    fn look_at_threads(&mut self, turn: &[u32]) {
        let threaded = |known: &HashMap<u32, Process>, pid: &u32| {
            known.get(pid).is_some_and(|process| 1 < process.stat.threads)
        };
        let turn: Vec<u32> = turn.iter().copied().filter(|pid| threaded(&self.known, pid)).collect();
        let now = self.clock.now();
        for pid in &turn {
            if let Some(process) = self.known.get_mut(pid) {
                process.threads.look(*pid, process.stat.threads, (READS_MAX / turn.len()).max(1), now);
            }
        }
    }

    fn tell(&self, into: &mut Vec<Reading>) {
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

    fn sums(&self) -> BTreeMap<&str, Sum> {
        let ended = self
            .ended
            .iter()
            .map(|(program, ticks)| (program.as_str(), Sum { ticks: *ticks, ..Sum::default() }));
        let mut sums: BTreeMap<&str, Sum> = ended.collect();
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

fn keep(ended: &mut BTreeMap<String, u64>, process: &Process) {
    let ticks = ended.entry(process.program.clone()).or_default();
    *ticks = ticks.saturating_add(process.stat.own_ticks);
}

/// Returns whose turn it is: those after the last one, and from the front again.
fn turn(pids: &[u32], last: u32) -> Vec<u32> {
    let first = pids.partition_point(|pid| *pid <= last);
    pids[first..].iter().chain(&pids[..first]).take(READS_MAX).copied().collect()
}

impl Sum {
    fn count(&mut self, state: char) {
        match state {
            'R' => self.running += 1,
            'S' => self.waiting += 1,
            'D' => self.blocked += 1,
            // Those that are stopped, have ended or were not looked at yet.
            _ => {}
        }
    }
}

impl Process {
    /// Returns the pace of its busiest thread; `None` before the second look.
    fn busiest_thread(&self) -> Option<u64> {
        match self.stat.threads {
            0 | 1 => self.pace.micros_per_second,
            _ => self.threads.all.iter().filter_map(|thread| thread.pace.micros_per_second).max(),
        }
    }
}

impl Pace {
    /// Takes a look: so many ticks by now.
    fn look(&mut self, now: Nanos, ticks: u64) {
        if let Some((at, before)) = self.last {
            let seconds = now.saturating_sub(at).as_secs_f64();
            if seconds < PACE_MIN.as_secs_f64() {
                return;
            }
            let micros = ticks_to_micros(ticks.saturating_sub(before)) as f64;
            self.micros_per_second = Some((micros / seconds).round() as u64);
        }
        self.last = Some((now, ticks));
    }
}

impl Threads {
    /// Reads the next threads of a process that has `count`. Their list is made anew when that number has changed.
    fn look(&mut self, pid: u32, count: u32, reads_max: usize, now: Nanos) {
        if self.all.len() != count as usize {
            let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let numbers = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
            self.all = numbers.map(|number| Thread { number, state: '?', pace: Pace::default() }).collect();
        }
        for _ in 0..reads_max.min(self.all.len()) {
            self.next = (self.next + 1) % self.all.len();
            let thread = &mut self.all[self.next];
            let text = stat_text(&format!("/proc/{pid}/task/{}/stat", thread.number));
            let stat = text.as_deref().and_then(parse_stat).map(|(_, stat)| stat);
            thread.state = stat.map_or('?', |stat| stat.state);
            if let Some(stat) = stat {
                thread.pace.look(now, stat.own_ticks);
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
        Programs::new(&WatchedSut { leaders, ..WatchedSut::default() })
    }

    fn process(program: &str, state: char, own_ticks: u64) -> Process {
        let stat = ProcessStat { state, own_ticks, threads: 1, resident_pages: 2, ..ProcessStat::default() };
        let (pace, threads) = (Pace::default(), Threads::default());
        Process { program: program.to_owned(), stat, pace, threads }
    }

    #[test]
    fn everyone_has_a_turn() {
        let pids: Vec<u32> = (1..=150).collect();
        let first = turn(&pids, 0);
        assert_eq!((first.len(), first[0], first[63]), (64, 1, 64));
        let third = turn(&pids, 128);
        assert_eq!((third.len(), third[0], third[21], third[22]), (64, 129, 150, 1));
        assert_eq!(turn(&pids[..3], 2), [3, 1, 2]);
        assert!(turn(&[], 7).is_empty());
    }

    #[test]
    fn what_has_ended_stays_with_its_program() {
        let mut programs = programs(Vec::new());
        programs.known.insert(1, process("nginx", 'S', 10));
        programs.known.insert(2, process("nginx", 'R', 20));
        programs.known.insert(3, process("php", 'D', 40));
        let nginx = Sum { ticks: 30, resident_pages: 4, processes: 2, running: 1, waiting: 1, blocked: 0 };
        assert_eq!(programs.sums()["nginx"], nginx);
        programs.forget_all_but(&[1]);
        assert_eq!(programs.sums()["nginx"], Sum { processes: 1, resident_pages: 2, running: 0, ..nginx });
        assert_eq!(programs.sums()["php"], Sum { ticks: 40, ..Sum::default() });
    }

    /// By hand: 0 to 90 ticks in a second are 900 ms of a CPU where a tick is 10 ms. A look too soon changes nothing.
    #[test]
    fn a_pace_is_told_from_two_looks() {
        let mut pace = Pace::default();
        pace.look(Nanos::from_secs(1), 10);
        assert_eq!(pace.micros_per_second, None);
        pace.look(Nanos::from_millis(1100), 10);
        pace.look(Nanos::from_secs(2), 100);
        assert_eq!(pace.micros_per_second, Some(ticks_to_micros(90)));
        pace.look(Nanos::from_secs(4), 100);
        assert_eq!(pace.micros_per_second, Some(0));
    }

    /// A server with one busy process and one with a busy thread among several.
    #[test]
    fn the_busiest_thread_of_all_processes_is_told() {
        let mut programs = programs(Vec::new());
        let paced = |micros| Pace { last: None, micros_per_second: Some(micros) };
        let mut one = process("nginx", 'R', 10);
        one.pace = paced(400_000);
        let mut several = process("nginx", 'R', 10);
        several.stat.threads = 2;
        several.pace = paced(990_000);
        let thread = |number, micros| Thread { number, state: 'R', pace: paced(micros) };
        several.threads.all = vec![thread(1, 90_000), thread(2, 900_000)];
        programs.known.extend([(1, one), (2, several)]);
        let mut readings = Vec::new();
        programs.tell(&mut readings);
        assert!(readings.contains(&Reading::new(Counter::SutBusiestThread, 900_000)), "{readings:?}");
    }

    /// Goal: names that a server makes up do not make series without end.
    #[test]
    fn programs_beyond_the_limit_are_counted_together() {
        let mut programs = programs(Vec::new());
        programs.ended.extend((0..PROGRAMS_MAX).map(|number| (format!("program{number}"), 0)));
        programs.look_at(std::process::id());
        assert_eq!(programs.sums()[OTHERS].processes, 1);
    }

    /// Goal: this test's own process is found with its threads. The other thread waits for this one.
    #[test]
    fn a_process_is_seen_with_its_threads() {
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || receiver.recv().is_err());
        let mut programs = programs(vec![std::process::id()]);
        let mut readings = Vec::new();
        // Those of other tests come and go.
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
