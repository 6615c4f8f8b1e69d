//! CPU time and run-queue wait of a thread.

use model::{Counter, Reading};
use units::Nanos;

use crate::kernel_file::KernelFile;

/// The usage of a thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadUse {
    /// Time on a CPU; up to one scheduler tick (1 to 10 ms) behind, which does not add up.
    pub cpu: Nanos,
    /// Time runnable without a CPU.
    pub run_queue: Nanos,
}

/// The most that one of several threads had of the CPUs between two readings, and that one process had, in µs per second; the
/// numbers may be of different threads and processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadPeaks {
    /// Time on a CPU.
    pub(crate) cpu: u64,
    /// Time on a CPU or runnable without one.
    pub(crate) demand: u64,
    /// Time on a CPU of all threads of a process.
    pub(crate) process: u64,
}

impl ThreadUse {
    /// Returns what the thread had per second since an earlier reading; `None` without time between them.
    pub(crate) fn per_second(self, earlier: ThreadUse, seconds: f64) -> Option<ThreadPeaks> {
        let cpu = self.cpu.saturating_sub(earlier.cpu).0;
        let waited = self.run_queue.saturating_sub(earlier.run_queue).0;
        let per_second = |nanos: u64| (nanos as f64 / 1000.0 / seconds).round() as u64;
        let (cpu, demand) = (per_second(cpu), per_second(cpu.saturating_add(waited)));
        let peaks = ThreadPeaks { cpu, demand, process: cpu };
        (0.0 < seconds).then_some(peaks)
    }
}

impl ThreadPeaks {
    /// Returns the greater of each, of two processes.
    pub(crate) fn max(self, other: ThreadPeaks) -> ThreadPeaks {
        let cpu = self.cpu.max(other.cpu);
        let demand = self.demand.max(other.demand);
        ThreadPeaks { cpu, demand, process: self.process.max(other.process) }
    }

    /// Returns those of two threads of one process.
    pub(crate) fn beside(self, other: ThreadPeaks) -> ThreadPeaks {
        ThreadPeaks { process: self.process.saturating_add(other.process), ..self.max(other) }
    }

    /// Reports those of all processes of the server.
    pub(crate) fn report(self, into: &mut Vec<Reading>) {
        into.push(Reading::new(Counter::SutBusiestThread, self.cpu));
        into.push(Reading::new(Counter::SutThreadDemand, self.demand));
        into.push(Reading::new(Counter::SutBusiestProcess, self.process));
    }
}

/// The kernel's accounting of one thread, kept open for repeated reading.
#[derive(Debug)]
pub struct SchedStat(KernelFile);

impl SchedStat {
    /// Opens the accounting of the calling thread; `None` if the kernel has none.
    pub fn open_current() -> Option<SchedStat> {
        KernelFile::open("/proc/thread-self/schedstat").ok().map(SchedStat)
    }

    /// Returns the usage of the thread so far; `None` if it has ended.
    pub fn read(&self) -> Option<ThreadUse> {
        parse(&self.0.text()?)
    }
}

/// Parses `schedstat`: time on a CPU (ns), time on a run queue (ns), number of timeslices.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst.
pub(crate) fn parse(text: &str) -> Option<ThreadUse> {
    let mut numbers = text.split_ascii_whitespace().map(|field| field.parse().ok());
    Some(ThreadUse { cpu: Nanos(numbers.next()??), run_queue: Nanos(numbers.next()??) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_numbers_are_cpu_and_run_queue() {
        let used = parse("81234567 43325 17\n").unwrap();
        assert_eq!(used, ThreadUse { cpu: Nanos(81_234_567), run_queue: Nanos(43_325) });
        for text in ["", "12", "x 1 2"] {
            assert_eq!(parse(text), None);
        }
    }

    /// The accounting lags by at most a tick behind the thread's own clock; 20 ms are two of the longest
    /// ticks.
    #[test]
    fn the_accounting_follows_the_threads_clock() {
        let account = SchedStat::open_current().unwrap();
        let before = units::thread_cpu();
        while units::thread_cpu() - before < Nanos::from_millis(30) {
            std::hint::black_box(0);
        }
        let used = account.read().unwrap().cpu;
        assert!(units::thread_cpu().saturating_sub(used) < Nanos::from_millis(20), "{used}");
    }
}
