//! Reading machines once a second, on the time axis of the load point.

use std::sync::atomic::AtomicBool;

use model::{Machine, MachineRole, Reading};
use testbed::{LocalMachine, RunningSut, ServiceStatus, THIS_MACHINE, Watch, WatchError};
use units::{Clock, Nanos, RealClock};

use crate::load::Aim;
use crate::run::Monitoring;
use crate::wait::wait_until;

/// How often a machine is read.
const EVERY: Nanos = Nanos::from_secs(1);

/// A machine, or a service, that is read while load points run.
pub(crate) struct Watcher {
    /// What it is called.
    pub(crate) machine: Machine,
    watch: Box<dyn Watch>,
}

/// What was read, or why nothing was.
pub(crate) type Told = Result<Vec<Reading>, WatchError>;

impl Watcher {
    fn new(name: &str, role: MachineRole, watch: Box<dyn Watch>) -> Watcher {
        Watcher { machine: Machine { name: name.to_owned(), role }, watch }
    }

    /// Reads once.
    fn read(&mut self) -> Told {
        let mut readings = Vec::new();
        self.watch.read(&mut readings)?;
        Ok(readings)
    }

    /// Reads on every second after `origin` until `over` is set, and then once more. `tell` gets what was read and when,
    /// counted from `origin`.
    pub(crate) fn read_until(
        &mut self,
        over: &AtomicBool,
        clock: RealClock,
        origin: Nanos,
        mut tell: impl FnMut(Nanos, Told),
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

/// Begins to watch this machine with the server, if it is here, and the other machines. Each is read once, so that a run
/// does not begin with a machine that cannot be read.
pub(crate) fn watchers(
    monitoring: &Monitoring,
    sut: Option<&RunningSut>,
    aim: &Aim,
) -> Result<Vec<Watcher>, WatchError> {
    let Monitoring::On { others } = monitoring else { return Ok(Vec::new()) };
    let mut watchers = here(sut, aim);
    for source in others {
        watchers.push(Watcher::new(source.machine(), MachineRole::Sut, source.watch()?));
    }
    watchers.iter_mut().try_for_each(|watcher| watcher.read().map(drop))?;
    Ok(watchers)
}

/// Watches this machine and the server's own account of itself anew, after the server was reset.
pub(crate) fn follow(watchers: &mut [Watcher], sut: &RunningSut, aim: &Aim) {
    if watchers.is_empty() {
        return;
    }
    watchers.iter_mut().zip(here(Some(sut), aim)).for_each(|(watcher, new)| watcher.watch = new.watch);
}

/// Returns what is watched on this machine; the same for the same server.
fn here(sut: Option<&RunningSut>, aim: &Aim) -> Vec<Watcher> {
    let is_here = sut.is_some() || aim.address.ip().is_loopback();
    let role = if is_here { MachineRole::Both } else { MachineRole::Load };
    let watched = sut.map(RunningSut::watched);
    let status = watched.as_ref().and_then(ServiceStatus::new);
    let mut watchers = vec![Watcher::new(THIS_MACHINE, role, Box::new(LocalMachine::new(watched)))];
    watchers.extend(
        status.map(|status| Watcher::new("the server's own account", MachineRole::Sut, Box::new(status))),
    );
    watchers
}
