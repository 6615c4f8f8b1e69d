//! What else the machine does while something is tried that needs quiet.
//!
//! A step that needs quiet is tried again where somebody else had the CPUs meanwhile, and only there: what fails on a
//! quiet machine has failed.

use std::fs;

use anyhow::{Context, Result, bail};
use units::{Clock, Nanos, RealClock};

/// CPUs that others may use where it is called quiet: what a system does by itself.
const QUIET_MAX: f64 = 0.10;

/// How often something is tried that is spoilt by noise.
pub const TRIES: usize = 3;

/// Rules that a run breaks on a machine that is busy with something else. All others speak of the run itself.
const RULES: [&str; 5] =
    ["generator-busy", "generator-run-queue", "generator-lateness", "operations", "phase-boundary"];

/// How something ended that needs quiet.
#[derive(Debug)]
pub enum Tried {
    /// As it should.
    Right,
    /// Not as it should; whether that is noise is said by what else the machine did.
    Wrong(String),
    /// Not as it should, for a reason that is noise by itself.
    Spoilt(String),
}

/// Tries something until it is right, again only where noise spoilt it, and says so each time.
///
/// # Errors
/// If it is wrong on a quiet machine, or every time, or cannot be tried.
pub fn until_quiet(name: &str, mut attempt: impl FnMut() -> Result<Tried>) -> Result<()> {
    for left in (0..TRIES).rev() {
        let meter = Meter::start()?;
        let tried = attempt()?;
        let others = meter.others()?;
        let why = match tried {
            Tried::Right => return Ok(()),
            Tried::Wrong(why) if others <= QUIET_MAX => {
                bail!("{name}: {why} (others used {others:.2} CPUs: no noise)")
            }
            Tried::Wrong(why) | Tried::Spoilt(why) => why,
        };
        let next = match left {
            0 => bail!("{name}: {why} (others used {others:.2} CPUs; tried {TRIES} times)"),
            _ => "it needs quiet; once more",
        };
        println!("{name}: {why} (others used {others:.2} CPUs): {next}");
    }
    unreachable!("the last try returns")
}

/// Returns whether a run's rules speak of nothing but what else the machine did.
pub fn is_noise(rules: &[String]) -> bool {
    !rules.is_empty() && rules.iter().all(|rule| RULES.contains(&rule.as_str()))
}

/// Counts the CPU time that others use, from its making on.
pub struct Meter {
    clock: RealClock,
    machine: Nanos,
    own: Nanos,
}

impl Meter {
    /// Begins to count.
    pub fn start() -> Result<Meter> {
        Ok(Meter { clock: RealClock::start(), machine: machine()?, own: own()? })
    }

    /// Returns how many CPUs others used on the mean, the host of a virtual machine included. What our own processes
    /// used counts when they have ended.
    pub fn others(&self) -> Result<f64> {
        let all = machine()?.saturating_sub(self.machine);
        let own = own()?.saturating_sub(self.own);
        Ok(all.saturating_sub(own).as_secs_f64() / self.clock.now().as_secs_f64().max(1e-3))
    }
}

/// Returns the CPU time of all processes of the machine since its start, and the time that its host gave to others.
fn machine() -> Result<Nanos> {
    let text = fs::read_to_string("/proc/stat").context("/proc/stat")?;
    Ok(ticks(parse_machine(&text).context("`/proc/stat`: no line of all CPUs")?))
}

/// Reads `cpu user nice system idle iowait irq softirq steal …`: user, nice, system and steal. Interrupts are left out:
/// they come of our own traffic.
///
/// Source: proc_stat(5).
fn parse_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    Some([0, 1, 2, 7].iter().filter_map(|place| numbers.get(*place)).sum())
}

/// Returns the CPU time of this process and of all descendants that have ended and were waited for.
fn own() -> Result<Nanos> {
    let text = fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    Ok(ticks(parse_own(&text).context("`/proc/self/stat` has another form")?))
}

/// Reads `utime stime cutime cstime`, fields 14 to 17. The second, a name in brackets, may hold anything.
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

/// Lets this process and what it starts go before others, as far as the system allows it, until it is dropped.
pub struct Precedence(i32);

/// How much: a process at this nice value has nearly ten times the share of one at 0.
const NICE: i32 = -10;

impl Precedence {
    /// Goes before others; says whether that is so.
    pub fn take() -> Precedence {
        let before = rustix::process::getpriority_process(None).unwrap_or(0);
        let is_taken = rustix::process::setpriority_process(None, NICE).is_ok();
        // Where the kernel shares CPUs out by session first, it is the session that goes before others.
        let _ = fs::write("/proc/self/autogroup", NICE.to_string());
        let text = if is_taken {
            "with precedence over others (nice -10)"
        } else {
            "without precedence: that needs root"
        };
        println!("needs quiet; runs {text}, and again only where others disturb it");
        Precedence(before)
    }
}

impl Drop for Precedence {
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

    /// Goal: what our own children use is not called noise. Two CPU seconds would be two of others.
    #[test]
    fn what_we_use_ourselves_is_no_noise() {
        let before = own().unwrap();
        let line = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", line]).status().unwrap().success());
        assert!(ticks(5) < own().unwrap() - before);
    }

    #[test]
    fn what_is_right_is_tried_once_and_what_noise_spoils_three_times() {
        let mut n = 0;
        until_quiet("x", || {
            n += 1;
            Ok(Tried::Right)
        })
        .unwrap();
        assert_eq!(n, 1);
        let error = until_quiet("x", || {
            n += 1;
            Ok(Tried::Spoilt("late".to_owned()))
        });
        assert_eq!(n, 4);
        assert!(error.unwrap_err().to_string().starts_with("x: late (others used "));
        let mut outcomes = vec![Tried::Right, Tried::Spoilt("late".to_owned())];
        until_quiet("x", || Ok(outcomes.pop().unwrap())).unwrap();
        assert!(outcomes.is_empty());
    }

    #[test]
    fn only_rules_of_a_busy_machine_are_noise() {
        let rules = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        assert!(is_noise(&rules(&["generator-run-queue", "operations"])));
        assert!(!is_noise(&rules(&["generator-run-queue", "errors"])));
        assert!(!is_noise(&[]));
    }
}
