//! Noise: CPU use by other programs while a step runs that needs quiet.
//!
//! Such a step is repeated if others used the CPUs meanwhile, and only then: a failure on a quiet machine is
//! a failure. A run that is invalid only because of noise is accepted, and counted.

use std::fs;

use anyhow::{Context, Result, bail};
pub use testkit::noise::{LOG_VARIABLE, OTHER_PROGRAMS, hides_bottleneck, is_noise};
use units::{Clock, Nanos, RealClock};

/// CPUs that others may use on a quiet machine: the background load of a system.
const QUIET_MAX: f64 = 0.10;

/// Maximum number of attempts that are spoiled by noise.
pub const TRIES: usize = 3;

/// The result of an attempt that needs quiet.
#[derive(Debug)]
pub enum AttemptResult {
    /// Success.
    Right,
    /// A failure; whether it is noise depends on what else the machine did.
    Wrong(String),
    /// A run that is invalid only because of noise, and so shows nothing.
    Spoilt(String),
}

/// Number of runs that were accepted although noise made them invalid.
pub type AcceptedRuns = usize;

/// Repeats an attempt until it succeeds, and reports each repetition. A failure is repeated only while others use the CPUs. A
/// run that noise has made invalid is accepted: at once beside others, because no repetition would be better on a machine that
/// is busy all the time; the last time where nobody used the CPUs, so that the machine itself must have paused.
///
/// # Errors
/// It fails on a quiet machine, or every time, or cannot be run.
pub fn until_quiet(name: &str, mut attempt: impl FnMut() -> Result<AttemptResult>) -> Result<AcceptedRuns> {
    repeat(name, || {
        let meter = NoiseMeter::start()?;
        let tried = attempt()?;
        Ok((tried, meter.others()?))
    })
}

/// Repeats attempts that tell how many CPUs others used meanwhile.
fn repeat(name: &str, mut attempt: impl FnMut() -> Result<(AttemptResult, f64)>) -> Result<AcceptedRuns> {
    for left in (0..TRIES).rev() {
        let (tried, others) = attempt()?;
        let why = match tried {
            AttemptResult::Right => return Ok(0),
            AttemptResult::Spoilt(why) if QUIET_MAX < others || left == 0 => {
                println!("{name}: {why} (others used {others:.2} CPUs): accepted as noise");
                return Ok(1);
            }
            AttemptResult::Wrong(why) if others <= QUIET_MAX => {
                bail!("{name}: {why} (others used {others:.2} CPUs: no noise)")
            }
            AttemptResult::Spoilt(why) | AttemptResult::Wrong(why) => why,
        };
        let next = match left {
            0 => bail!("{name}: {why} (others used {others:.2} CPUs; tried {TRIES} times)"),
            _ => "it needs quiet; once more",
        };
        println!("{name}: {why} (others used {others:.2} CPUs): {next}");
    }
    unreachable!("the last try returns")
}

/// A meter of the CPU time used by others since its creation.
pub struct NoiseMeter {
    clock: RealClock,
    machine: Nanos,
    own: Nanos,
}

impl NoiseMeter {
    /// Starts measuring.
    ///
    /// # Errors
    /// The kernel does not tell the CPU time of the machine or of this process.
    pub fn start() -> Result<NoiseMeter> {
        Ok(NoiseMeter { clock: RealClock::start(), machine: machine()?, own: own()? })
    }

    /// Returns the mean number of CPUs used by others, including steal by the host of a virtual machine.
    /// Child processes count as our own once they have ended.
    ///
    /// # Errors
    /// As for [`NoiseMeter::start`].
    pub fn others(&self) -> Result<f64> {
        let all = machine()?.saturating_sub(self.machine);
        let own = own()?.saturating_sub(self.own);
        Ok(all.saturating_sub(own).as_secs_f64() / self.clock.now().as_secs_f64().max(1e-3))
    }
}

/// Returns the CPU time of all processes since boot, plus steal.
fn machine() -> Result<Nanos> {
    let text = fs::read_to_string("/proc/stat").context("/proc/stat")?;
    Ok(ticks(parse_machine(&text).context("`/proc/stat` has no line for all CPUs")?))
}

/// Parses `cpu user nice system idle iowait irq softirq steal …`: user, nice, system and steal. Interrupts
/// are left out, because they are caused by our own traffic.
///
/// Source: proc_stat(5).
fn parse_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    Some([0, 1, 2, 7].iter().filter_map(|place| numbers.get(*place)).sum())
}

/// Returns the CPU time of this process and of its reaped descendants.
///
/// # Errors
/// The kernel does not tell it.
pub fn own() -> Result<Nanos> {
    let text = fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    Ok(ticks(parse_own(&text).context("`/proc/self/stat` has another form")?))
}

/// Parses `utime stime cutime cstime`, fields 14 to 17. The second field, a name in parentheses, may contain
/// anything.
///
/// Source: proc_pid_stat(5).
fn parse_own(text: &str) -> Option<u64> {
    let (_, behind) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = behind.split(' ').collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

fn ticks(n: u64) -> Nanos {
    Nanos(n.saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second()))
}

/// Raises the priority of this process and its children, as far as allowed, until it is dropped.
pub struct RaisedPriority(i32);

/// The nice value: a process with it has nearly ten times the share of one at 0.
const NICE: i32 = -10;

impl RaisedPriority {
    /// Raises the priority; prints whether that succeeded.
    pub fn take() -> RaisedPriority {
        let before = rustix::process::getpriority_process(None).unwrap_or(0);
        let is_taken = rustix::process::setpriority_process(None, NICE).is_ok();
        // If the kernel divides CPUs among sessions first, the session gets precedence.
        let _ = fs::write("/proc/self/autogroup", NICE.to_string());
        let text = if is_taken {
            "with precedence over others (nice -10)"
        } else {
            "without precedence: that needs root"
        };
        println!("needs quiet; runs {text}, and again only where others disturb it");
        RaisedPriority(before)
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        let _ = rustix::process::setpriority_process(None, self.0);
        let _ = fs::write("/proc/self/autogroup", self.0.to_string());
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_kernels_lines_are_read() {
        let stat = "cpu  100 20 3 4000 5 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(parse_machine(stat), Some(131));
        assert_eq!(parse_machine("intr 5\n"), None);
        let own = "4711 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 22 33 44 20 0 1";
        assert_eq!(parse_own(own), Some(110));
        assert_eq!(parse_own("4711 (a) S 1"), None);
    }

    /// Goal: CPU time of child processes is not taken for noise. Two CPU seconds would be two of others.
    #[test]
    fn our_own_cpu_time_is_not_noise() {
        let before = own().unwrap();
        let line = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", line]).status().unwrap().success());
        assert!(ticks(5) < own().unwrap() - before);
    }

    #[test]
    fn failures_are_repeated_beside_other_load_and_runs_that_it_made_invalid_are_accepted() {
        let tried = |result: fn() -> AttemptResult, others: f64| {
            let mut n = 0;
            let end = repeat("x", || {
                n += 1;
                Ok((result(), others))
            });
            (n, end.map_err(|error| error.to_string()))
        };
        let wrong = || AttemptResult::Wrong("late".to_owned());
        assert_eq!(tried(|| AttemptResult::Right, 0.5), (1, Ok(0)));
        assert_eq!(tried(|| AttemptResult::Spoilt("late".to_owned()), 0.5), (1, Ok(1)));
        assert_eq!(tried(|| AttemptResult::Spoilt("late".to_owned()), 0.05), (3, Ok(1)));
        assert_eq!(tried(wrong, 0.05), (1, Err("x: late (others used 0.05 CPUs: no noise)".to_owned())));
        assert_eq!(tried(wrong, 0.5), (3, Err("x: late (others used 0.50 CPUs; tried 3 times)".to_owned())));
        let mut results = vec![AttemptResult::Right, wrong()];
        assert_eq!(repeat("x", || Ok((results.pop().unwrap(), 0.5))).unwrap(), 0);
    }
}
