//! The threads of a process: their CPU time, run delay, states and wait channels.

use std::fs::File;
use std::os::unix::fs::FileExt;

use units::Nanos;

use crate::kernel_file::KernelFile;
use crate::process::{ProcessStat, parse_stat};
use crate::thread_use::{self, ThreadPeaks, ThreadUse};

/// Upper bound of a line of `/proc/PID/stat`, about three times the real maximum.
const STAT_BYTES_MAX: usize = 1024;

/// The longest name of a wait channel that is kept.
const CHANNEL_BYTES_MAX: usize = 64;

/// Minimum interval between two samples of a thread: its accounting has ticks of up to 10 ms.
const RATE_INTERVAL_MIN: Nanos = Nanos::from_millis(500);

/// A thread as last read.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) number: u32,
    /// `?` before it was first read.
    pub(super) state: char,
    /// The kernel function that it sleeps in, where this user may see it.
    pub(super) channel: Option<String>,
    pub(super) used: ThreadUse,
    /// Whether it has run between its last two readings.
    pub(super) ran: bool,
    /// Its usage when its state was read. A thread that has not run since then sleeps where it slept.
    seen: ThreadUse,
    pub(super) rate: ThreadRate,
    /// Its accounting, kept open as far as there is room.
    account: Option<KernelFile>,
}

/// CPU time and demand of a thread per second, between two samples.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ThreadRate {
    /// The last sample and its time.
    last: Option<(Nanos, ThreadUse)>,
    /// `None` before the second sample.
    pub(super) per_second: Option<ThreadPeaks>,
}

/// The number of accounting files that may still be kept open.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRoom(pub(super) usize);

impl Task {
    /// Reads a thread for the first time.
    pub(super) fn first(pid: u32, number: u32, now: Nanos, room: &mut FileRoom) -> Task {
        let account = KernelFile::open(format!("/proc/{pid}/task/{number}/schedstat")).ok();
        let mut task = Task {
            number,
            state: '?',
            channel: None,
            used: ThreadUse::default(),
            ran: true,
            seen: ThreadUse::default(),
            rate: ThreadRate::default(),
            account,
        };
        task.account(now);
        match room.0.checked_sub(1) {
            Some(left) => *room = FileRoom(left),
            None => task.account = None,
        }
        task
    }

    /// Returns whether its accounting is kept open.
    pub(super) fn is_kept(&self) -> bool {
        self.account.is_some()
    }

    /// Returns whether its state and wait channel are what they were when they were read.
    pub(super) fn is_seen(&self) -> bool {
        let is_accounted = self.is_kept() && self.used != ThreadUse::default();
        is_accounted && self.state != '?' && self.used == self.seen
    }

    /// Reads its accounting, if that is kept open. Returns whether the thread still exists, as far as is known.
    pub(super) fn account(&mut self, now: Nanos) -> bool {
        let Some(account) = &self.account else { return true };
        let text = account.short_text();
        self.take(text.as_deref(), now)
    }

    /// Reads its state and its wait channel, and its accounting where that is not kept open. Returns whether the thread
    /// still exists.
    pub(super) fn examine(&mut self, pid: u32, now: Nanos) -> bool {
        let folder = format!("/proc/{pid}/task/{}", self.number);
        let text = stat_text(&format!("{folder}/stat"));
        let Some((_, stat)) = text.as_deref().and_then(parse_stat) else {
            self.state = '?';
            return false;
        };
        self.see(&folder, &stat, now);
        if self.account.is_none() {
            let text =
                KernelFile::open(format!("{folder}/schedstat")).ok().and_then(|file| file.short_text());
            self.take(text.as_deref(), now);
        }
        true
    }

    /// Takes a state that is already known, and reads the wait channel if it may have changed.
    pub(super) fn see(&mut self, folder: &str, stat: &ProcessStat, now: Nanos) {
        if self.state != stat.state || !self.is_seen() {
            let sleeps = matches!(stat.state, 'S' | 'D');
            self.channel = sleeps.then(|| channel(&format!("{folder}/wchan"))).flatten();
        }
        (self.state, self.seen) = (stat.state, self.used);
        // Without the scheduler's accounting, ticks are all there is.
        if self.used == ThreadUse::default() {
            let cpu = Nanos(super::ticks_to_micros(stat.own_ticks).saturating_mul(1000));
            self.rate.sample(now, ThreadUse { cpu, ..ThreadUse::default() });
        }
    }

    fn take(&mut self, text: Option<&str>, now: Nanos) -> bool {
        let Some(used) = text.and_then(thread_use::parse) else { return false };
        self.ran = used != self.used;
        self.used = used;
        self.rate.sample(now, used);
        true
    }
}

impl ThreadRate {
    /// Adds a sample.
    pub(super) fn sample(&mut self, now: Nanos, used: ThreadUse) {
        if let Some((at, before)) = self.last {
            let seconds = now.saturating_sub(at).as_secs_f64();
            if seconds < RATE_INTERVAL_MIN.as_secs_f64() {
                return;
            }
            self.per_second = used.per_second(before, seconds);
        }
        self.last = Some((now, used));
    }
}

/// Reads a line of `/proc/PID/stat` with as few calls as possible.
pub(crate) fn stat_text(path: &str) -> Option<String> {
    let mut buffer = [0; STAT_BYTES_MAX];
    let length = File::open(path).ok()?.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// Reads the name of a kernel function in which a thread sleeps; `None` if there is none or this user may not see it.
fn channel(path: &str) -> Option<String> {
    let mut buffer = [0; CHANNEL_BYTES_MAX];
    let length = File::open(path).ok()?.read_at(&mut buffer, 0).ok()?;
    channel_name(std::str::from_utf8(&buffer[..length]).ok()?)
}

/// Returns the name without what the compiler appended to it: `do_epoll_wait.isra.0`.
pub(in crate::monitor) fn channel_name(text: &str) -> Option<String> {
    let name = text.trim().split('.').next().unwrap_or_default();
    let is_name =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty() && name != "0";
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 900 ms on a CPU in a second, and 50 ms in wait of one. A sample too soon changes nothing.
    #[test]
    fn a_rate_takes_two_samples() {
        let used = |cpu, run_queue| ThreadUse {
            cpu: Nanos::from_millis(cpu),
            run_queue: Nanos::from_millis(run_queue),
        };
        let mut rate = ThreadRate::default();
        rate.sample(Nanos::from_secs(1), used(100, 7));
        assert_eq!(rate.per_second, None);
        rate.sample(Nanos::from_millis(1100), used(100, 7));
        rate.sample(Nanos::from_secs(2), used(1000, 57));
        assert_eq!(rate.per_second, Some(ThreadPeaks { cpu: 900_000, demand: 950_000, process: 900_000 }));
        rate.sample(Nanos::from_secs(4), used(1000, 57));
        assert_eq!(rate.per_second, Some(ThreadPeaks::default()));
    }

    #[test]
    fn wait_channels_lose_what_the_compiler_appended() {
        for (text, name) in [
            ("ep_poll", Some("ep_poll")),
            ("do_epoll_wait.isra.0\n", Some("do_epoll_wait")),
            ("futex_wait_queue", Some("futex_wait_queue")),
            ("0", None),
            ("", None),
            ("a b", None),
        ] {
            assert_eq!(channel_name(text).as_deref(), name, "{text}");
        }
    }

    fn own_number() -> u32 {
        rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
    }

    /// Goal: a thread that sleeps is known until it has run, and read again then. The system may take its time.
    #[test]
    fn a_thread_that_sleeps_is_read_again_when_it_has_run() {
        let (wake, woken) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(own_number()).unwrap();
            while woken.recv().is_ok() {}
        });
        let mut task = Task::first(std::process::id(), told.recv().unwrap(), Nanos::ZERO, &mut FileRoom(1));
        assert!(!task.is_seen());
        let mut until = |is_reached: fn(&mut Task) -> bool| {
            let reached = (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                assert!(task.account(Nanos::ZERO));
                is_reached(&mut task)
            });
            assert!(reached, "{task:?}");
        };
        let sleeps = |task: &mut Task| {
            let was_seen = task.is_seen();
            task.examine(std::process::id(), Nanos::ZERO) && task.state == 'S' && was_seen
        };
        until(sleeps);
        wake.send(()).unwrap();
        until(|task| !task.is_seen());
        until(sleeps);
        drop(wake);
        thread.join().unwrap();
    }

    #[test]
    fn this_thread_is_read_with_and_without_room() {
        let pid = std::process::id();
        let number = own_number();
        for room in [1, 0] {
            let mut left = FileRoom(room);
            let mut task = Task::first(pid, number, Nanos::ZERO, &mut left);
            assert_eq!((left.0, task.is_kept()), (0, room == 1));
            assert!(task.examine(pid, Nanos::from_secs(1)) && task.account(Nanos::from_secs(2)));
            assert_eq!(task.state, 'R');
        }
    }
}
