//! Reading machines once a second, on the time axis of the load point.

use std::sync::atomic::AtomicBool;

use languages::{FOREIGN_CHARS_MAX, foreign_text, is_terminal_control, without_credentials};
use model::{Machine, MachineRole, Reading};
use observe::{LocalMachine, MonitorError, ResourceMonitor, ServiceStatus, THIS_MACHINE};
use testbed::{RunningSut, start_program};
use units::{Clock, Nanos, RealClock};

use crate::family::ResolvedTarget;
use crate::request::Monitoring;
use crate::wait::wait_until;

/// The period at which a machine is read.
const EVERY: Nanos = Nanos::from_secs(1);

/// A machine, or a service, that is read while load points run.
pub(crate) struct Watcher {
    /// Its name and role.
    pub(crate) machine: Machine,
    watch: Box<dyn ResourceMonitor>,
}

/// The values that were read, or the reason why there are none.
pub(crate) type MonitorReading = Result<Vec<Reading>, MonitorError>;

impl Watcher {
    fn new(name: &str, role: MachineRole, watch: Box<dyn ResourceMonitor>) -> Watcher {
        Watcher { machine: Machine { name: without_credentials(name), role }, watch }
    }

    /// Reads once.
    fn read(&mut self) -> MonitorReading {
        let mut readings = Vec::new();
        self.watch.read(&mut readings)?;
        for reading in &mut readings {
            make_printable(&mut reading.instance);
        }
        Ok(readings)
    }

    /// Reads on every second after `origin` until `over` is set, and then once more. `tell` gets what was read and when,
    /// counted from `origin`.
    pub(crate) fn read_until(
        &mut self,
        over: &AtomicBool,
        clock: RealClock,
        origin: Nanos,
        mut tell: impl FnMut(Nanos, MonitorReading),
    ) {
        let mut due = origin;
        loop {
            let is_over = wait_until(due, clock, over);
            // When it is read and not when that is done: most of what is read is read at once.
            let at = clock.now().saturating_sub(origin);
            tell(at, self.read());
            if is_over {
                return;
            }
            while due <= clock.now() {
                due += EVERY;
            }
        }
    }
}

/// Makes a name that a machine sent fit to be stored and shown; most are already.
fn make_printable(name: &mut String) {
    if FOREIGN_CHARS_MAX < name.len() || name.contains(is_terminal_control) {
        *name = foreign_text(name);
    }
}

/// Begins to watch this machine with the server, if it is here, and the other machines. Each is read once, so that a run
/// does not begin with a machine that cannot be read.
pub(crate) fn watchers(
    monitoring: &Monitoring,
    sut: Option<&RunningSut>,
    target: &ResolvedTarget,
) -> Result<Vec<Watcher>, MonitorError> {
    let Monitoring::On { others } = monitoring else { return Ok(Vec::new()) };
    let mut watchers = here(sut, target);
    for source in others {
        watchers.push(Watcher::new(source.machine(), MachineRole::Sut, source.watch(start_program)?));
    }
    watchers.iter_mut().try_for_each(|watcher| watcher.read().map(drop))?;
    Ok(watchers)
}

/// Watches this machine and the server's own account of itself anew, after the server was reset.
pub(crate) fn follow(watchers: &mut [Watcher], sut: &RunningSut, target: &ResolvedTarget) {
    if watchers.is_empty() {
        return;
    }
    watchers.iter_mut().zip(here(Some(sut), target)).for_each(|(watcher, new)| watcher.watch = new.watch);
}

/// Returns what is watched on this machine; the same for the same server.
fn here(sut: Option<&RunningSut>, target: &ResolvedTarget) -> Vec<Watcher> {
    let is_here = sut.is_some() || target.address().ip().is_loopback();
    let role = if is_here { MachineRole::Both } else { MachineRole::Load };
    let watched = sut.map(RunningSut::watched);
    let status = watched.as_ref().and_then(ServiceStatus::new);
    let machine = LocalMachine::new(watched).toward(target.address().ip());
    let mut watchers = vec![Watcher::new(THIS_MACHINE, role, Box::new(machine))];
    watchers.extend(
        status.map(|status| Watcher::new("the server's own account", MachineRole::Sut, Box::new(status))),
    );
    watchers
}

#[cfg(test)]
mod tests {
    use model::Counter;

    use super::*;

    /// Stands for an exporter that says what it likes.
    struct Hostile;

    impl ResourceMonitor for Hostile {
        fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
            for instance in ["\u{1b}[31msda\nerror: x".to_owned(), "x".repeat(10_000), "sda".to_owned()] {
                into.push(Reading::of(Counter::DiskReads, instance, 1));
            }
            Ok(())
        }
    }

    #[test]
    fn names_that_a_machine_tells_are_escaped_and_bounded() {
        let mut watcher = Watcher::new("http://sut/?token=abc", MachineRole::Sut, Box::new(Hostile));
        assert_eq!(watcher.machine.name, "http://sut/?token=[redacted]");
        let names: Vec<String> = watcher.read().unwrap().into_iter().map(|one| one.instance).collect();
        assert_eq!((names[0].as_str(), names[2].as_str()), ("\\u{1b}[31msda\\nerror: x", "sda"));
        assert!(names[1].len() < 400, "{}", names[1]);
    }
}
