//! Processes in `/proc`: parents, start times and CPU time.

use std::collections::HashSet;

use units::Nanos;

use crate::kernel_file;

/// The used fields of a line of `/proc/PID/stat`. Times in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: u32,
    /// `Z` for an ended process that was not yet reaped.
    pub state: char,
    /// Parent process id.
    pub parent: u32,
    /// Process group id.
    pub group: u32,
    /// Its own user and system time, over all threads.
    pub own_ticks: u64,
    /// The same, including that of its reaped children.
    pub cpu_ticks: u64,
    /// Page faults that read from no disk, including those of its reaped children.
    pub minor_faults: u64,
    /// Page faults that read from a disk, including those of its reaped children.
    pub major_faults: u64,
    /// Number of threads.
    pub threads: u32,
    /// Start time in ticks since boot: distinguishes processes that reuse an id.
    pub start_ticks: u64,
    /// Resident memory in pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Returns the status of a process; `None` if it does not exist.
    pub fn of(pid: u32) -> Option<ProcessStat> {
        Some(parse_stat(&kernel_file::read(format!("/proc/{pid}/stat"))?)?.1)
    }
}

/// Returns the effective user of a process; `None` if it does not exist.
pub(crate) fn user_of(pid: u32) -> Option<u32> {
    let status = kernel_file::read(format!("/proc/{pid}/status"))?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Parses the text of `/proc/PID/stat`, or of a thread: the name, which may contain blanks and parentheses,
/// and the used fields.
///
/// Source: proc_pid_stat(5): fields 2 comm, 3 state, 4 ppid, 5 pgrp, 10–13 minflt cminflt majflt cmajflt, 14–17 utime stime cutime cstime, 20 num_threads,
/// 22 starttime, 24 rss.
pub fn parse_stat(text: &str) -> Option<(&str, ProcessStat)> {
    let (head, tail) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once(" (")?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().take(22).collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let both = |first: usize| number(first)?.checked_add(number(first + 1)?);
    let stat = ProcessStat {
        pid: pid.parse().ok()?,
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(number(4)?).ok()?,
        group: u32::try_from(number(5)?).ok()?,
        own_ticks: both(14)?,
        cpu_ticks: both(14)?.checked_add(both(16)?)?,
        minor_faults: both(10)?,
        major_faults: both(12)?,
        threads: u32::try_from(number(20)?).ok()?,
        start_ticks: number(22)?,
        resident_pages: number(24)?,
    };
    Some((name, stat))
}

/// Returns the ids of all visible processes of the machine, sorted.
pub fn all_pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// Returns all visible processes of the machine.
fn all() -> Vec<ProcessStat> {
    all_pids().into_iter().filter_map(ProcessStat::of).collect()
}

/// Returns the CPU time so far of process group leaders, their groups and all descendants.
///
/// Processes that ended without being reaped by their parent are missing, so this may decrease; cgroups are
/// more accurate.
pub fn family_cpu(leaders: &[u32]) -> Nanos {
    let ticks: u64 = family(leaders, &all()).map(|process| process.cpu_ticks).sum();
    Nanos(ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// Returns the bytes that processes have had read from disk so far, together with their reaped children; `None` if this
/// user may not know that of one of them.
///
/// What is found in memory is not counted. The accounts of control groups are not used: version 1 counts nothing unless a
/// limit is set. Source: proc_pid_io(5), `read_bytes`.
pub fn read_from_disk(pids: &[u32]) -> Option<u64> {
    pids.iter().try_fold(0_u64, |sum, pid| {
        let folder = format!("/proc/{pid}");
        match kernel_file::read(format!("{folder}/io")) {
            Some(text) => Some(sum.saturating_add(kernel_file::keyed_number(&text, "read_bytes:")?)),
            // One that has ended is in the account of its parent.
            None if !std::path::Path::new(&folder).exists() => Some(sum),
            None => None,
        }
    })
}

/// Returns process groups and all descendants of their leaders.
pub fn family_of(leaders: &[u32]) -> Vec<ProcessStat> {
    family(leaders, &all()).copied().collect()
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

    /// Recorded from a worker with an awkward name; utime 12, stime 30, cutime 1, cstime 2.
    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text = "4242 (ng) inx) S 4241 4200 4200 0 -1 4194624 900 30 2 5 12 30 1 2 20 0 1 0 777 5 6 7";
        let stat = ProcessStat {
            pid: 4242,
            state: 'S',
            parent: 4241,
            group: 4200,
            own_ticks: 42,
            cpu_ticks: 45,
            minor_faults: 930,
            major_faults: 7,
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
        // 10 leads; 11 is its child, 12 its grandchild in a group of its own, 13 was orphaned, 20 is
        // unrelated.
        let all = [one(12, 11, 12), one(10, 1, 10), one(11, 10, 10), one(13, 1, 10), one(20, 1, 20)];
        let mut pids: Vec<u32> = family(&[10], &all).map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [10, 11, 12, 13]);
        assert_eq!(family(&[10, 20], &all).count(), 5);
    }

    #[test]
    fn this_process_is_found_and_its_cpu_time_never_decreases() {
        let own = std::process::id();
        assert_eq!(ProcessStat::of(own).unwrap().pid, own);
        let before = family_cpu(&[own]);
        assert!(before <= family_cpu(&[own]));
    }

    /// That they count is shown where files can be evicted from memory: by the tests of warm data.
    #[test]
    fn bytes_read_from_disk_are_counted() {
        let own = || read_from_disk(&[std::process::id()]).unwrap();
        let before = own();
        assert!(before <= own());
        assert_eq!(read_from_disk(&[]), Some(0));
        // No process has this id: the kernel's maximum is 2²².
        assert_eq!(read_from_disk(&[4_194_305]), Some(0));
    }
}
