//! What a load thread costs and how long it waits for a CPU.

use units::Nanos;

use crate::system_file::Reread;

/// What a thread has used since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadUse {
    /// Time on a CPU; up to one scheduler tick (1 to 10 ms) behind, which does not add up.
    pub cpu: Nanos,
    /// Time ready to run without a CPU.
    pub run_queue: Nanos,
}

/// The kernel's account of one thread, kept open to be read every second.
#[derive(Debug)]
pub struct SchedStat(Reread);

impl SchedStat {
    /// Opens the account of the calling thread; `None` if the kernel keeps none.
    pub fn open_current() -> Option<SchedStat> {
        Reread::open("/proc/thread-self/schedstat").ok().map(SchedStat)
    }

    /// Returns what the thread has used so far; `None` if it has ended.
    pub fn read(&self) -> Option<ThreadUse> {
        parse(&self.0.text()?)
    }
}

impl ThreadUse {
    /// Returns what the calling thread has used so far; `None` if the kernel keeps no account.
    pub fn of_current() -> Option<ThreadUse> {
        SchedStat::open_current()?.read()
    }
}

/// Reads `schedstat`: time on a CPU (ns), time on a run queue (ns), number of turns.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst.
fn parse(text: &str) -> Option<ThreadUse> {
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

    /// The account lags by at most a tick behind the thread's own clock; 20 ms are two of the longest ticks.
    #[test]
    fn the_account_follows_the_threads_clock() {
        let account = SchedStat::open_current().unwrap();
        let before = units::thread_cpu();
        while units::thread_cpu() - before < Nanos::from_millis(30) {
            std::hint::black_box(0);
        }
        let used = account.read().unwrap().cpu;
        assert!(units::thread_cpu().saturating_sub(used) < Nanos::from_millis(20), "{used}");
    }
}
