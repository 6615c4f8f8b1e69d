//! Other programs: CPU use on this machine by programs that are neither the server nor Plimsoll.
//!
//! The first reading examines all processes; later ones examine new and busy ones, and some of the idle ones
//! in rotation, so that monitoring stays cheap. Kernel threads are left out: they work on behalf of others.

use std::collections::{BTreeMap, HashMap};

use model::{Counter, Reading};

use super::kernel::text::ticks_to_micros;
use super::processes::stat_text;
use crate::process::{all_pids, parse_stat};

/// Maximum number of idle processes, and of new or busy ones, examined per reading.
const IDLE_READS_MAX: usize = 16;
const BUSY_READS_MAX: usize = 48;

/// CPU time since the first reading from which a program gets its own series, in ticks.
const SERIES_TICKS_MIN: u64 = 5;

/// Maximum number of programs with their own series; others are combined as [`REST`].
const PROGRAMS_MAX: usize = 16;

const REST: &str = "further programs";

/// The process whose children are the kernel threads.
const KERNEL: u32 = 2;

/// A monitor of other programs on this machine.
#[derive(Debug, Default)]
pub(super) struct OtherPrograms {
    known: HashMap<u32, SeenProcess>,
    /// Ticks since the first reading, by program.
    used: BTreeMap<String, u64>,
    /// Programs that have their own series.
    named: Vec<String>,
    /// Position of the rotation.
    last: u32,
    has_begun: bool,
}

/// A process as last seen.
#[derive(Debug)]
struct SeenProcess {
    program: String,
    ticks: u64,
    start_ticks: u64,
    was_busy: bool,
    /// Whether it is a kernel thread or a child of this process.
    is_left_out: bool,
}

impl OtherPrograms {
    /// Reads and reports each program's CPU use since the first reading. `server` is the sorted list of the
    /// server's processes.
    pub(super) fn read(&mut self, server: &[u32], into: &mut Vec<Reading>) {
        let own = std::process::id();
        let is_other = |pid: &u32| *pid != own && server.binary_search(pid).is_err();
        let pids: Vec<u32> = all_pids().into_iter().filter(is_other).collect();
        self.known.retain(|pid, _| pids.binary_search(pid).is_ok());
        for pid in self.next_batch(&pids) {
            self.sample(pid, own);
        }
        self.has_begun = true;
        self.report(into);
    }

    /// Returns the processes to examine next.
    fn next_batch(&mut self, pids: &[u32]) -> Vec<u32> {
        if !self.has_begun {
            return pids.to_vec();
        }
        let is_pressing = |pid: &&u32| self.known.get(*pid).is_none_or(|seen| seen.was_busy);
        let mut turn: Vec<u32> = pids.iter().filter(is_pressing).copied().take(BUSY_READS_MAX).collect();
        let is_idle =
            |pid: &&u32| self.known.get(*pid).is_some_and(|seen| !seen.was_busy && !seen.is_left_out);
        let first = pids.partition_point(|pid| *pid <= self.last);
        let idle = pids[first..].iter().chain(&pids[..first]).filter(is_idle).take(IDLE_READS_MAX);
        let idle: Vec<u32> = idle.copied().collect();
        self.last = idle.last().copied().unwrap_or_default();
        turn.extend(idle);
        turn
    }

    fn sample(&mut self, pid: u32, own: u32) {
        let Some(text) = stat_text(&format!("/proc/{pid}/stat")) else { return };
        let Some((name, stat)) = parse_stat(&text) else { return };
        let is_left_out = pid == KERNEL || stat.parent == KERNEL || stat.parent == own;
        let before = self.known.get(&pid).filter(|seen| seen.start_ticks == stat.start_ticks);
        // Processes running at the first reading start at zero; later ones count from their start.
        let base = before.map_or(if self.has_begun { 0 } else { stat.own_ticks }, |seen| seen.ticks);
        let grown = stat.own_ticks.saturating_sub(base);
        if !is_left_out {
            let used = self.used.entry(name.to_owned()).or_default();
            *used = used.saturating_add(grown);
        }
        let seen = SeenProcess {
            program: name.to_owned(),
            ticks: stat.own_ticks,
            start_ticks: stat.start_ticks,
            was_busy: 0 < grown && !is_left_out,
            is_left_out,
        };
        self.known.insert(pid, seen);
    }

    fn report(&mut self, into: &mut Vec<Reading>) {
        let mut rest = 0u64;
        for (program, ticks) in &self.used {
            if !self.named.contains(program) && SERIES_TICKS_MIN <= *ticks && self.named.len() < PROGRAMS_MAX
            {
                self.named.push(program.clone());
            }
            match self.named.contains(program) {
                true => into.push(Reading::of(Counter::OtherCpu, program.clone(), ticks_to_micros(*ticks))),
                false => rest = rest.saturating_add(*ticks),
            }
        }
        into.push(Reading::of(Counter::OtherCpu, REST, ticks_to_micros(rest)));
        // Names of programs that ended and used next to nothing are forgotten.
        let known = &self.known;
        let named = &self.named;
        self.used.retain(|program, ticks| {
            SERIES_TICKS_MIN <= *ticks
                || named.contains(program)
                || known.values().any(|seen| seen.program == *program)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};
    use units::{Clock, Nanos, RealClock};

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
        assert!(used.is_some_and(|micros| ticks_to_micros(SERIES_TICKS_MIN) <= micros), "{used:?}");
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
        others.used.extend((0..PROGRAMS_MAX + 3).map(|number| (format!("program{number:02}"), 10)));
        let mut readings = Vec::new();
        others.report(&mut readings);
        assert_eq!(readings.len(), PROGRAMS_MAX + 1);
        assert_eq!(of(&readings, REST), Some(ticks_to_micros(30)));
    }
}
