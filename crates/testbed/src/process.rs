//! Processes as `/proc` shows them: whose child, since when, and how much CPU.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, kill_process};
use units::Nanos;

use crate::system_file;

/// One line of `/proc/PID/stat`, as far as it is of use here. Times in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessStat {
    /// The process.
    pub pid: u32,
    /// `Z` for one that has ended and was not yet collected.
    pub state: char,
    /// Its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// User and system time of its own, all its threads together.
    pub own_ticks: u64,
    /// The same and that of its collected children.
    pub cpu_ticks: u64,
    /// How many threads it has.
    pub threads: u32,
    /// When it began, in ticks since the machine started: tells two bearers of one number apart.
    pub start_ticks: u64,
    /// Resident memory in pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Returns the state of a process; `None` if there is none with this number.
    pub fn of(pid: u32) -> Option<ProcessStat> {
        Some(parse_stat(&system_file::read(format!("/proc/{pid}/stat"))?)?.1)
    }
}

/// Reads the text of `/proc/PID/stat`, and of a thread's: its name, which may hold blanks and parentheses itself, and
/// what else is of use.
///
/// Source: proc_pid_stat(5): fields 2 comm, 3 state, 4 ppid, 5 pgrp, 14–17 utime stime cutime cstime, 20 num_threads,
/// 22 starttime, 24 rss.
pub fn parse_stat(text: &str) -> Option<(&str, ProcessStat)> {
    let (head, tail) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once(" (")?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().take(22).collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = |first: usize| number(first)?.checked_add(number(first + 1)?);
    let stat = ProcessStat {
        pid: pid.parse().ok()?,
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(number(4)?).ok()?,
        group: u32::try_from(number(5)?).ok()?,
        own_ticks: ticks(14)?,
        cpu_ticks: ticks(14)?.checked_add(ticks(16)?)?,
        threads: u32::try_from(number(20)?).ok()?,
        start_ticks: number(22)?,
        resident_pages: number(24)?,
    };
    Some((name, stat))
}

/// Returns all processes of the machine that are visible.
fn all() -> Vec<ProcessStat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(ProcessStat::of).collect()
}

/// Returns the CPU time of leaders of process groups, of their groups and of all descendants, so far.
///
/// Processes that ended without their parent's notice are missing, so this may fall; cgroups do better.
pub fn family_cpu(leaders: &[u32]) -> Nanos {
    let ticks: u64 = family(leaders, &all()).map(|process| process.cpu_ticks).sum();
    Nanos(ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// Returns process groups and all descendants of their leaders, so that they can be ended later with [`kill`].
pub fn family_of(leaders: &[u32]) -> Vec<ProcessStat> {
    family(leaders, &all()).copied().collect()
}

/// Kills a process, unless its number has gone to another one in the meantime.
pub fn kill(process: &ProcessStat) {
    let is_the_same = ProcessStat::of(process.pid).is_some_and(|now| now.start_ticks == process.start_ticks);
    if let Some(pid) = Pid::from_raw(process.pid.cast_signed()).filter(|_| is_the_same) {
        // One that is gone already is what we want.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn family<'a>(leaders: &[u32], all: &'a [ProcessStat]) -> impl Iterator<Item = &'a ProcessStat> + use<'a> {
    let is_first = |one: &&ProcessStat| leaders.contains(&one.group) || leaders.contains(&one.pid);
    let mut members: HashSet<u32> = all.iter().filter(is_first).map(|one| one.pid).collect();
    loop {
        let before = members.len();
        members.extend(
            all.iter().filter(|one| members.contains(&one.parent)).map(|one| one.pid).collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    all.iter().filter(move |one| members.contains(&one.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from a worker whose name was made awkward; utime 12, stime 30, cutime 1, cstime 2.
    #[test]
    fn a_name_with_parentheses_does_not_move_the_fields() {
        let text = "4242 (ng) inx) S 4241 4200 4200 0 -1 4194624 900 0 0 0 12 30 1 2 20 0 1 0 777 5 6 7";
        let stat = ProcessStat {
            pid: 4242,
            state: 'S',
            parent: 4241,
            group: 4200,
            own_ticks: 42,
            cpu_ticks: 45,
            threads: 1,
            start_ticks: 777,
            resident_pages: 6,
        };
        assert_eq!(parse_stat(text), Some(("ng) inx", stat)));
        assert_eq!(parse_stat("4242 (x) S 1 2"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn a_family_is_the_group_and_all_descendants() {
        let one = |pid, parent, group| ProcessStat { pid, parent, group, ..ProcessStat::default() };
        // 10 leads; 11 is its child, 12 its grandchild in a group of its own, 13 was orphaned, 20 is a stranger.
        let all = [one(12, 11, 12), one(10, 1, 10), one(11, 10, 10), one(13, 1, 10), one(20, 1, 20)];
        let mut pids: Vec<u32> = family(&[10], &all).map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [10, 11, 12, 13]);
        assert_eq!(family(&[10, 20], &all).count(), 5);
    }

    #[test]
    fn this_process_is_found_and_has_used_cpu_no_less_later() {
        let own = std::process::id();
        assert_eq!(ProcessStat::of(own).unwrap().pid, own);
        let before = family_cpu(&[own]);
        assert!(before <= family_cpu(&[own]));
    }
}
