//! Other programs: CPU use on this machine by programs that are neither the server nor Plimsoll.
//!
//! The first reading examines all processes, as does one after a pause; others examine new and busy ones, and some of the idle
//! ones in rotation, so that monitoring stays cheap. Kernel threads are left out: they work on behalf of others. Processes
//! that begin and end between two readings are in the account of the parent that reaps them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{Counter, Reading};
use units::{Clock, Nanos, RealClock};

use super::kernel::text::ticks_to_micros;
use super::processes::stat_text;
use crate::process::{ProcessStat, all_pids, parse_stat};

/// Maximum number of idle processes, and of new or busy ones, examined per reading.
const IDLE_READS_MAX: usize = 48;
const BUSY_READS_MAX: usize = 96;

/// The pause after which all processes are examined: what they used in it belongs to no reading after it.
const PAUSE_MAX: Nanos = Nanos::from_secs(2);

/// CPU time since the first reading from which a program gets its own series, in ticks.
const SERIES_TICKS_MIN: u64 = 5;

/// Maximum number of programs with their own series; others are combined as [`REST`].
const PROGRAMS_MAX: usize = 16;

const REST: &str = "further programs";

/// The process whose children are the kernel threads.
const KERNEL: u32 = 2;

/// The process that reaps those whose parents have ended, with all that they used in their lives.
const INIT: u32 = 1;

/// A monitor of other programs on this machine.
#[derive(Debug)]
pub(super) struct OtherPrograms {
    known: HashMap<u32, SeenProcess>,
    /// Ticks of ended processes that their parents have still to account for, by parent.
    owed: HashMap<u32, u64>,
    /// The processes that are or were the server's.
    of_server: BTreeSet<u32>,
    totals: Totals,
    /// Position of the rotation.
    last: u32,
    clock: RealClock,
    /// The time of the last reading; `None` before the first.
    read_at: Option<Nanos>,
}

/// A process as last seen.
#[derive(Debug)]
struct SeenProcess {
    program: String,
    parent: u32,
    start_ticks: u64,
    /// Its own ticks, and those of its reaped children.
    ticks: u64,
    reaped_ticks: u64,
    /// Those that are in the totals.
    counted: u64,
    seen_at: Nanos,
    was_busy: bool,
    /// Whether it is a kernel thread or a child of this process.
    is_left_out: bool,
}

/// The ticks since the first reading, by program.
#[derive(Debug, Default)]
struct Totals {
    programs: BTreeMap<String, ProgramTotal>,
    n_named: usize,
    /// The total of programs without a series, which only grows: what a program used before it had one stays here.
    rest: u64,
}

#[derive(Debug, Default)]
struct ProgramTotal {
    ticks: u64,
    /// Those of them that the rest has.
    in_rest: u64,
    is_named: bool,
}

impl Default for OtherPrograms {
    fn default() -> OtherPrograms {
        OtherPrograms {
            known: HashMap::new(),
            owed: HashMap::new(),
            of_server: BTreeSet::new(),
            totals: Totals::default(),
            last: 0,
            clock: RealClock::start(),
            read_at: None,
        }
    }
}

impl OtherPrograms {
    /// Reads and reports each program's CPU use since the first reading. `server` is the sorted list of the
    /// server's processes.
    pub(super) fn read(&mut self, server: &[u32], into: &mut Vec<Reading>) {
        let all = all_pids();
        self.exclude(server, &all);
        let own = std::process::id();
        let is_other = |pid: &u32| *pid != own && !self.of_server.contains(pid);
        let pids: Vec<u32> = all.into_iter().filter(is_other).collect();
        self.forget_ended(&pids);
        let now = self.clock.now();
        for pid in self.next_batch(&pids, now) {
            self.sample(pid, own, now);
        }
        self.read_at = Some(now);
        self.totals.report(&self.known, into);
    }

    /// Takes out the server's processes, also when they are no longer in its list, such as when it is stopped. What they have
    /// used until they were in it is not that of another program.
    fn exclude(&mut self, server: &[u32], all: &[u32]) {
        self.of_server.retain(|pid| all.binary_search(pid).is_ok());
        for pid in server.iter().filter(|pid| all.binary_search(pid).is_ok()) {
            if self.of_server.insert(*pid)
                && let Some(seen) = self.known.remove(pid)
            {
                self.totals.withdraw(&seen.program, seen.counted);
            }
        }
    }

    /// Forgets ended processes; their parents will account for what they used.
    fn forget_ended(&mut self, pids: &[u32]) {
        let has_ended = |pid: &u32| pids.binary_search(pid).is_err();
        self.owed.retain(|parent, _| !has_ended(parent));
        let ended: Vec<u32> = self.known.keys().copied().filter(has_ended).collect();
        for pid in ended {
            if let Some(seen) = self.known.remove(&pid)
                && pids.binary_search(&seen.parent).is_ok()
            {
                *self.owed.entry(seen.parent).or_default() += seen.ticks.saturating_add(seen.reaped_ticks);
            }
        }
    }

    /// Returns the processes to examine next.
    fn next_batch(&mut self, pids: &[u32], now: Nanos) -> Vec<u32> {
        if self.read_at.is_none_or(|at| PAUSE_MAX < now.saturating_sub(at)) {
            return pids.to_vec();
        }
        let is_pressing = |pid: &&u32| {
            self.owed.contains_key(*pid) || self.known.get(*pid).is_none_or(|seen| seen.was_busy)
        };
        let mut turn: Vec<u32> = pids.iter().filter(is_pressing).copied().take(BUSY_READS_MAX).collect();
        let is_idle =
            |pid: &&u32| self.known.get(*pid).is_some_and(|seen| !seen.was_busy && !seen.is_left_out);
        let first = pids.partition_point(|pid| *pid <= self.last);
        let idle = pids[first..].iter().chain(&pids[..first]).filter(is_idle).take(IDLE_READS_MAX);
        let idle: Vec<u32> = idle.copied().collect();
        self.last = idle.last().copied().unwrap_or_default();
        turn.extend(idle);
        turn.sort_unstable();
        turn.dedup();
        turn
    }

    fn sample(&mut self, pid: u32, own: u32, now: Nanos) {
        let Some(text) = stat_text(&format!("/proc/{pid}/stat")) else { return };
        let Some((name, stat)) = parse_stat(&text) else { return };
        self.add(name, &stat, own, now);
    }

    /// Adds what a process has used since it was last seen; one that ran at the first reading begins there, a later one with
    /// its start.
    fn add(&mut self, name: &str, stat: &ProcessStat, own: u32, now: Nanos) {
        let is_left_out = stat.pid == KERNEL || stat.parent == KERNEL || stat.parent == own;
        let reaped_ticks = stat.cpu_ticks.saturating_sub(stat.own_ticks);
        let owed = self.owed.remove(&stat.pid).unwrap_or(0);
        let before = self.known.remove(&stat.pid).filter(|seen| seen.start_ticks == stat.start_ticks);
        let (grown, reaped) = match &before {
            Some(seen) => {
                let reaped = reaped_ticks.saturating_sub(seen.reaped_ticks).saturating_sub(owed);
                (
                    stat.own_ticks.saturating_sub(seen.ticks),
                    plausible(reaped, now.saturating_sub(seen.seen_at)),
                )
            }
            None if self.read_at.is_none() => (0, 0),
            None => (stat.own_ticks, 0),
        };
        let counted = before.map_or(0, |seen| seen.counted).saturating_add(grown);
        if !is_left_out {
            self.totals.add(name, grown);
            self.totals.rest = self.totals.rest.saturating_add(if stat.pid == INIT { 0 } else { reaped });
        }
        let seen = SeenProcess {
            program: name.to_owned(),
            parent: stat.parent,
            start_ticks: stat.start_ticks,
            ticks: stat.own_ticks,
            reaped_ticks,
            counted,
            seen_at: now,
            was_busy: 0 < grown + reaped && !is_left_out,
            is_left_out,
        };
        self.known.insert(stat.pid, seen);
    }
}

/// Returns ticks of reaped processes if they can have used them in this time; else 0. What a process used whose parent has
/// ended is accounted for by another process, with all of its life.
fn plausible(ticks: u64, span: Nanos) -> u64 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let most = span.0.saturating_mul(cpus) / 1000;
    if ticks_to_micros(ticks) <= most { ticks } else { 0 }
}

impl Totals {
    fn add(&mut self, program: &str, ticks: u64) {
        if let Some(total) = self.programs.get_mut(program) {
            total.ticks = total.ticks.saturating_add(ticks);
        } else {
            self.programs.insert(program.to_owned(), ProgramTotal { ticks, ..ProgramTotal::default() });
        }
    }

    fn withdraw(&mut self, program: &str, ticks: u64) {
        if let Some(total) = self.programs.get_mut(program) {
            total.ticks = total.ticks.saturating_sub(ticks).max(total.in_rest);
        }
    }

    /// Reports all totals, and forgets the names of programs that ended and used next to nothing.
    fn report(&mut self, known: &HashMap<u32, SeenProcess>, into: &mut Vec<Reading>) {
        for (program, total) in &mut self.programs {
            if !total.is_named && SERIES_TICKS_MIN <= total.ticks && self.n_named < PROGRAMS_MAX {
                total.is_named = true;
                self.n_named += 1;
            }
            let grown = total.ticks.saturating_sub(total.in_rest);
            if total.is_named {
                into.push(Reading::of(Counter::OtherCpu, program.clone(), ticks_to_micros(grown)));
            } else {
                self.rest = self.rest.saturating_add(grown);
                total.in_rest = total.ticks;
            }
        }
        into.push(Reading::of(Counter::OtherCpu, REST, ticks_to_micros(self.rest)));
        let running: BTreeSet<&str> = known.values().map(|seen| seen.program.as_str()).collect();
        self.programs.retain(|program, total| {
            SERIES_TICKS_MIN <= total.ticks || total.is_named || running.contains(program.as_str())
        });
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    fn of(readings: &[Reading], program: &str) -> Option<u64> {
        readings.iter().find(|reading| reading.instance == program).map(|reading| reading.value)
    }

    /// Goal: a busy program that is not a child of this process is reported with its CPU use.
    #[test]
    fn a_busy_program_is_named() {
        let mut keeper = Command::new("timeout").args(["20", "yes"]).stdout(Stdio::null()).spawn().unwrap();
        let mut others = OtherPrograms::default();
        let clock = RealClock::start();
        let mut used = None;
        while clock.now() < Nanos::from_secs(15) && used.is_none() {
            let mut readings = Vec::new();
            others.read(&[], &mut readings);
            used = of(&readings, "yes");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // `timeout` kills its child when terminated.
        kill_process(Pid::from_child(&keeper), Signal::TERM).unwrap();
        keeper.wait().unwrap();
        // What it used before it was named is in the rest.
        assert!(used.is_some_and(|micros| 0 < micros), "{used:?}");
    }

    #[test]
    fn programs_running_before_count_from_the_first_reading() {
        let mut others = OtherPrograms::default();
        let mut readings = Vec::new();
        others.read(&[], &mut readings);
        assert_eq!(readings.iter().map(|reading| reading.value).sum::<u64>(), 0);
        assert!(1 < others.known.len() || others.known.is_empty());
        assert!(!others.known.contains_key(&std::process::id()));
    }

    /// Goal: bounded numbers of names and series.
    #[test]
    fn programs_beyond_the_limit_are_counted_together() {
        let mut others = OtherPrograms::default();
        (0..PROGRAMS_MAX + 3).for_each(|number| others.totals.add(&format!("program{number:02}"), 10));
        let readings = report(&mut others);
        assert_eq!(readings.len(), PROGRAMS_MAX + 1);
        assert_eq!(of(&readings, REST), Some(ticks_to_micros(30)));
    }

    fn report(others: &mut OtherPrograms) -> Vec<Reading> {
        let mut readings = Vec::new();
        others.totals.report(&others.known, &mut readings);
        readings
    }

    /// A process with its own ticks and those of its reaped children, read at a second after the first reading.
    fn saw(others: &mut OtherPrograms, second: u64, pid: u32, parent: u32, [own, reaped]: [u64; 2]) {
        let stat =
            ProcessStat { pid, parent, own_ticks: own, cpu_ticks: own + reaped, ..ProcessStat::default() };
        others.read_at.get_or_insert(Nanos::ZERO);
        others.add(["make", "cc1"][usize::from(parent == 10)], &stat, 99, Nanos::from_secs(second));
    }

    /// By hand: `make` has 4 ticks, ends and is forgotten, then 2 more: 6 in the rest. The 6 of the next are a series.
    #[test]
    fn the_rest_never_falls() {
        let mut others = OtherPrograms::default();
        others.totals.add("make", 4);
        assert_eq!(of(&report(&mut others), REST), Some(ticks_to_micros(4)));
        others.totals.add("make", 2);
        let readings = report(&mut others);
        assert_eq!(of(&readings, REST), Some(ticks_to_micros(6)));
        others.totals.add("make", 6);
        let readings = report(&mut others);
        assert_eq!(
            (of(&readings, "make"), of(&readings, REST)),
            (Some(ticks_to_micros(6)), Some(ticks_to_micros(6)))
        );
    }

    /// By hand: in a second `make` reaps a child of 20 ticks that was never seen, and one that was seen with 7 of its 10.
    #[test]
    fn processes_that_end_between_readings_are_counted() {
        let mut others = OtherPrograms::default();
        saw(&mut others, 1, 10, 5, [3, 0]);
        saw(&mut others, 1, 11, 10, [7, 0]);
        others.forget_ended(&[5, 10]);
        saw(&mut others, 2, 10, 5, [3, 30]);
        let readings = report(&mut others);
        assert_eq!(
            (of(&readings, "cc1"), of(&readings, REST)),
            (Some(ticks_to_micros(7)), Some(ticks_to_micros(3 + 23)))
        );
        // Ten million ticks are of a process that has run for long, whose parent has ended.
        saw(&mut others, 3, 10, 5, [3, 10_000_030]);
        assert_eq!(of(&report(&mut others), REST), Some(ticks_to_micros(26)));
    }

    /// A database that is found behind the server was counted as another program until then; a server that stops does not
    /// become one.
    #[test]
    fn processes_of_the_server_are_no_other_program_before_and_after() {
        let mut others = OtherPrograms::default();
        saw(&mut others, 1, 11, 10, [90, 0]);
        assert_eq!(of(&report(&mut others), "cc1"), Some(ticks_to_micros(90)));
        others.exclude(&[11], &[5, 11]);
        assert_eq!(of(&report(&mut others), "cc1"), Some(0));
        others.exclude(&[], &[5, 11]);
        assert!(others.of_server.contains(&11));
        others.exclude(&[], &[5]);
        assert!(others.of_server.is_empty());
    }

    /// By hand: of 100 idle processes, all have been examined after three readings; after a pause at once.
    #[test]
    fn idle_processes_are_examined_every_few_seconds_and_after_a_pause() {
        let mut others = OtherPrograms::default();
        let pids: Vec<u32> = (100..200).collect();
        pids.iter().for_each(|pid| saw(&mut others, 0, *pid, 5, [0, 0]));
        let mut seen = BTreeSet::new();
        for second in 0..3 {
            seen.extend(others.next_batch(&pids, Nanos::from_secs(second)));
        }
        assert_eq!(seen.len(), pids.len());
        assert_eq!(others.next_batch(&pids, Nanos::from_secs(3)), pids);
    }
}
