//! Programs that are neither the server nor this one: who else uses the machine while it is measured.
//!
//! The first reading looks at all processes, later ones at those that are new or were busy, and at some of the others
//! in turns, so that watching stays cheap. Threads of the kernel are left out: what they do is done for somebody.

use std::collections::{BTreeMap, HashMap};

use model::{Counter, Reading};

use super::kernel::text::ticks_to_micros;
use super::programs::stat_text;
use crate::process::parse_stat;

/// How many processes that were idle are looked at in a reading, and how many that are new or busy.
const IDLE_READS_MAX: usize = 16;
const BUSY_READS_MAX: usize = 48;

/// A program gets a series of its own when it has used this much since the watch began, in ticks.
const TICKS_MIN: u64 = 5;

/// How many programs are told apart; further ones are called [`REST`].
const PROGRAMS_MAX: usize = 16;

const REST: &str = "further programs";

/// The process whose children are the kernel's threads.
const KERNEL: u32 = 2;

/// Who else uses the machine.
#[derive(Debug, Default)]
pub struct OtherPrograms {
    known: HashMap<u32, Seen>,
    /// Ticks since the watch began, by program.
    used: BTreeMap<String, u64>,
    /// Those that have series of their own.
    named: Vec<String>,
    /// Where the turn is.
    last: u32,
    has_begun: bool,
}

/// A process as it was when it was last looked at.
#[derive(Debug)]
struct Seen {
    program: String,
    ticks: u64,
    start_ticks: u64,
    was_busy: bool,
    /// A thread of the kernel, or our own child.
    is_left_out: bool,
}

impl OtherPrograms {
    /// Reads, and tells what every program has used since the first reading. `server` has the numbers of the server's
    /// processes, sorted.
    pub fn read(&mut self, server: &[u32], into: &mut Vec<Reading>) {
        let own = std::process::id();
        let mut pids: Vec<u32> =
            entries().filter(|pid| *pid != own && server.binary_search(pid).is_err()).collect();
        pids.sort_unstable();
        self.known.retain(|pid, _| pids.binary_search(pid).is_ok());
        for pid in self.turn(&pids) {
            self.look_at(pid, own);
        }
        self.has_begun = true;
        self.tell(into);
    }

    /// Returns whose turn it is.
    fn turn(&mut self, pids: &[u32]) -> Vec<u32> {
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

    fn look_at(&mut self, pid: u32, own: u32) {
        let Some(text) = stat_text(&format!("/proc/{pid}/stat")) else { return };
        let Some((name, stat)) = parse_stat(&text) else { return };
        let is_left_out = pid == KERNEL || stat.parent == KERNEL || stat.parent == own;
        let before = self.known.get(&pid).filter(|seen| seen.start_ticks == stat.start_ticks);
        // What runs already when the watch begins has used nothing so far; what comes later all that it has.
        let base = before.map_or(if self.has_begun { 0 } else { stat.own_ticks }, |seen| seen.ticks);
        let grown = stat.own_ticks.saturating_sub(base);
        if !is_left_out {
            let used = self.used.entry(name.to_owned()).or_default();
            *used = used.saturating_add(grown);
        }
        let seen = Seen {
            program: name.to_owned(),
            ticks: stat.own_ticks,
            start_ticks: stat.start_ticks,
            was_busy: 0 < grown && !is_left_out,
            is_left_out,
        };
        self.known.insert(pid, seen);
    }

    fn tell(&mut self, into: &mut Vec<Reading>) {
        let mut rest = 0u64;
        for (program, ticks) in &self.used {
            if !self.named.contains(program) && TICKS_MIN <= *ticks && self.named.len() < PROGRAMS_MAX {
                self.named.push(program.clone());
            }
            match self.named.contains(program) {
                true => into.push(Reading::of(Counter::OtherCpu, program.clone(), ticks_to_micros(*ticks))),
                false => rest = rest.saturating_add(*ticks),
            }
        }
        into.push(Reading::of(Counter::OtherCpu, REST, ticks_to_micros(rest)));
        // Names of what is gone and used next to nothing are forgotten.
        let known = &self.known;
        let named = &self.named;
        self.used.retain(|program, ticks| {
            TICKS_MIN <= *ticks
                || named.contains(program)
                || known.values().any(|seen| seen.program == *program)
        });
    }
}

fn entries() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
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

    /// Goal: a busy program that is not our own child is named with what it used.
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
        // At its request `timeout` ends what it started.
        kill_process(Pid::from_child(&keeper), Signal::TERM).unwrap();
        keeper.wait().unwrap();
        assert!(used.is_some_and(|micros| ticks_to_micros(TICKS_MIN) <= micros), "{used:?}");
    }

    #[test]
    fn what_ran_before_counts_from_the_first_reading_on() {
        let mut others = OtherPrograms::default();
        let mut readings = Vec::new();
        others.read(&[], &mut readings);
        assert_eq!(readings.iter().map(|reading| reading.value).sum::<u64>(), 0);
        assert!(1 < others.known.len() || others.known.is_empty());
        assert!(!others.known.contains_key(&std::process::id()));
    }

    /// Goal: neither names nor series without end.
    #[test]
    fn programs_beyond_the_limit_are_counted_together() {
        let mut others = OtherPrograms::default();
        others.used.extend((0..PROGRAMS_MAX + 3).map(|number| (format!("program{number:02}"), 10)));
        let mut readings = Vec::new();
        others.tell(&mut readings);
        assert_eq!(readings.len(), PROGRAMS_MAX + 1);
        assert_eq!(of(&readings, REST), Some(ticks_to_micros(30)));
    }
}
