//! A process of the server as last read.

use model::Counter;
use units::Nanos;

use super::sampling_round::SamplingRound;
use super::task::{FileRoom, Task, ThreadRate, stat_text};
use super::ticks_to_micros;
use crate::kernel_file::{self, keyed_after_colon};
use crate::process::{ProcessStat, parse_stat};
use crate::thread_use::{ThreadPeaks, ThreadUse};

/// A process as last read.
#[derive(Debug)]
pub(super) struct Process {
    /// Its program, or the name for further programs.
    pub(super) program: String,
    /// The index of its group.
    pub(super) group: usize,
    pub(super) stat: ProcessStat,
    pub(super) tasks: Vec<Task>,
    /// Run delay of threads that have ended.
    pub(super) ended_delay: Nanos,
    pub(super) disk: Option<DiskBytes>,
    pub(super) files: Option<OpenFiles>,
    /// Its CPU time per second, threads that have ended included.
    rate: ThreadRate,
    /// Position of the rotation among its threads.
    next: usize,
    /// Whether a thread was not found, so that the list is out of date.
    is_stale: bool,
}

/// Bytes that a process, and its reaped children, moved to and from disks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DiskBytes {
    pub(super) read: u64,
    pub(super) written: u64,
}

/// The open files of a process, and their limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::monitor) struct OpenFiles {
    pub(in crate::monitor) open: u64,
    pub(in crate::monitor) max: u64,
}

impl OpenFiles {
    /// Parses the soft limit in lines `Max open files  1024  524288  files`.
    pub(in crate::monitor) fn max_of(limits: &str) -> Option<u64> {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Returns those of the process that is closest to its limit.
    pub(in crate::monitor) fn nearest(all: impl Iterator<Item = OpenFiles>) -> Option<OpenFiles> {
        let share = |one: &OpenFiles| one.open as f64 / one.max.max(1) as f64;
        all.max_by(|one, other| share(one).total_cmp(&share(other)))
    }

    /// Returns the counters of a group whose nearest process has these.
    pub(in crate::monitor) fn counters(&self) -> [(Counter, u64); 2] {
        [(Counter::SutOpenFiles, self.open), (Counter::SutOpenFilesMax, self.max)]
    }
}

impl Process {
    pub(super) fn new(program: String, group: usize, stat: ProcessStat) -> Process {
        Process {
            program,
            group,
            stat,
            tasks: Vec::new(),
            ended_delay: Nanos::ZERO,
            disk: None,
            files: None,
            rate: ThreadRate::default(),
            next: 0,
            is_stale: false,
        }
    }

    /// Returns the same process with what was read again.
    pub(super) fn seen_again(self, program: String, group: usize, stat: ProcessStat) -> Process {
        Process { program, group, stat, ..self }
    }

    /// Samples its CPU time as read last.
    pub(super) fn sample_cpu(&mut self, now: Nanos) {
        let cpu = Nanos(ticks_to_micros(self.stat.own_ticks).saturating_mul(1000));
        self.rate.sample(now, ThreadUse { cpu, ..ThreadUse::default() });
    }

    /// Reads name and status of a process.
    pub(super) fn read_stat(pid: u32) -> Option<(String, ProcessStat)> {
        let text = stat_text(&format!("/proc/{pid}/stat"))?;
        parse_stat(&text).map(|(name, stat)| (name.to_owned(), stat))
    }

    /// Reads its threads' accounting where it is their turn, and lists its threads again if their number has changed.
    pub(super) fn account(&mut self, now: Nanos, turn: &mut SamplingRound, room: &mut FileRoom) {
        let pid = self.stat.pid;
        if self.is_stale || self.tasks.len() != self.stat.threads as usize {
            self.list_tasks(now, room);
        }
        for task in &mut self.tasks {
            if turn.takes(task.ran) {
                self.is_stale |= !task.account(now);
            }
        }
        // The status of a process with one thread is that of the thread.
        if let [only] = self.tasks.as_mut_slice() {
            only.see(&format!("/proc/{pid}"), &self.stat, now);
        }
    }

    fn list_tasks(&mut self, now: Nanos, room: &mut FileRoom) {
        let pid = self.stat.pid;
        let mut before: std::collections::BTreeMap<u32, Task> =
            self.tasks.drain(..).map(|task| (task.number, task)).collect();
        let numbers: Vec<u32> = match self.stat.threads {
            0 | 1 => vec![pid],
            _ => task_numbers(pid),
        };
        for number in numbers {
            let task = before.remove(&number).unwrap_or_else(|| Task::first(pid, number, now, room));
            self.tasks.push(task);
        }
        for task in before.into_values() {
            self.ended_delay = Nanos(self.ended_delay.0.saturating_add(task.used.run_queue.0));
            room.0 += usize::from(task.is_kept());
        }
        self.is_stale = false;
    }

    /// Returns whether it has several threads, and the state of some is not known.
    pub(super) fn needs_examination(&self) -> bool {
        1 < self.tasks.len() && self.tasks.iter().any(|task| !task.is_seen())
    }

    /// Examines the next threads whose state is not known, at most `most`; returns how many.
    pub(super) fn examine_tasks(&mut self, most: usize, now: Nanos) -> usize {
        let n_tasks = self.tasks.len();
        let mut n = 0;
        for _ in 0..n_tasks {
            if n == most {
                break;
            }
            self.next = (self.next + 1) % n_tasks;
            let task = &mut self.tasks[self.next];
            if !task.is_seen() {
                self.is_stale |= !task.examine(self.stat.pid, now);
                n += 1;
            }
        }
        n
    }

    /// Reads its disk traffic and its open files, as far as this user may.
    pub(super) fn examine_files(&mut self) {
        let pid = self.stat.pid;
        self.disk = kernel_file::read(format!("/proc/{pid}/io")).and_then(|text| parse_io(&text));
        let max = self.files.map(|files| files.max).or_else(|| open_files_max(pid));
        self.files = open_files(pid).zip(max).map(|(open, max)| OpenFiles { open, max });
    }

    /// Returns the run delay of its threads since their start.
    pub(super) fn run_delay(&self) -> Nanos {
        let delays = self.tasks.iter().map(|task| task.used.run_queue.0);
        Nanos(delays.fold(self.ended_delay.0, u64::saturating_add))
    }

    /// Returns the most that one of its threads had of the CPUs, and what all of them had; `None` before the second sample.
    pub(super) fn cpu_peaks(&self) -> Option<ThreadPeaks> {
        let threads = self.tasks.iter().filter_map(|task| task.rate.per_second).reduce(ThreadPeaks::beside);
        let process = self.rate.per_second.map(|rate| rate.cpu);
        threads.map(|peaks| ThreadPeaks { process: process.unwrap_or(peaks.process), ..peaks })
    }
}

fn task_numbers(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

/// Parses `/proc/PID/io`.
fn parse_io(text: &str) -> Option<DiskBytes> {
    let of = |key| keyed_after_colon(text, key);
    Some(DiskBytes { read: of("read_bytes")?, written: of("write_bytes")? })
}

/// Returns the number of open files. The size of the folder is that number since Linux 6.2, for every user; before, its
/// entries are counted.
fn open_files(pid: u32) -> Option<u64> {
    let folder = format!("/proc/{pid}/fd");
    match std::fs::metadata(&folder).ok()?.len() {
        0 => Some(std::fs::read_dir(&folder).ok()?.count() as u64),
        counted => Some(counted),
    }
}

fn open_files_max(pid: u32) -> Option<u64> {
    OpenFiles::max_of(&kernel_file::read(format!("/proc/{pid}/limits"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 950 ms on a CPU within a second, by threads that have ended.
    #[test]
    fn the_cpu_time_of_threads_that_have_ended_is_that_of_the_process() {
        let mut one = super::super::testing::process("http.server", 'S', 70);
        one.tasks[0].rate.sample(Nanos::ZERO, ThreadUse::default());
        one.sample_cpu(Nanos::ZERO);
        one.stat.own_ticks += 95;
        one.tasks[0].rate.sample(Nanos::from_secs(1), ThreadUse::default());
        one.sample_cpu(Nanos::from_secs(1));
        let process = ticks_to_micros(95);
        assert_eq!(one.cpu_peaks(), Some(ThreadPeaks { cpu: 0, demand: 0, process }));
    }

    /// Recorded from an nginx worker.
    #[test]
    fn disk_bytes_and_limits_are_parsed() {
        let io = "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 4096\n\
                  write_bytes: 8192\ncancelled_write_bytes: 0\n";
        assert_eq!(parse_io(io), Some(DiskBytes { read: 4096, written: 8192 }));
        assert_eq!(parse_io("read_bytes: x\n"), None);
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             7725                 7725                 processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(OpenFiles::max_of(limits), Some(1024));
        assert_eq!(OpenFiles::max_of("Max open files            unlimited\n"), None);
    }

    /// By hand: a file more is one more.
    #[test]
    fn open_files_are_counted() {
        let (_, stat) = Process::read_stat(std::process::id()).unwrap();
        let mut own = Process::new("own".into(), 0, stat);
        own.examine_files();
        let files = own.files.unwrap();
        assert!(3 <= files.open && files.open < files.max, "{files:?}");
        let counted = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
        // Other tests of this process open and close files meanwhile.
        assert!(files.open.abs_diff(counted) < 200, "{files:?}, counted {counted}");
    }
}
