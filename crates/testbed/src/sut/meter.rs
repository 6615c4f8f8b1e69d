//! The CPU time of the system under test since its start, including restarts.

use model::SutUse;
use observe::cgroup::CpuAccount;
use observe::process::family_cpu;
use units::Nanos;

use crate::cgroup::ControlGroup;

/// The source of the CPU time.
#[derive(Debug)]
pub(super) enum Meter {
    /// The accounting of the control group, which continues over restarts.
    Group(CpuAccount),
    /// The processes themselves; the time of those before a restart is added.
    Family {
        /// The started processes.
        leaders: Vec<u32>,
        /// CPU time of processes that have ended for a restart.
        before: Nanos,
    },
}

impl Meter {
    /// Creates the best available meter; its processes are set later.
    pub(super) fn new(group: Option<&ControlGroup>) -> Meter {
        match group.and_then(ControlGroup::account) {
            Some(account) => Meter::Group(account),
            None => Meter::Family { leaders: Vec::new(), before: Nanos::ZERO },
        }
    }

    /// Returns the usage so far; `None` if it cannot be read.
    pub(super) fn read(&self) -> Option<SutUse> {
        match self {
            Meter::Group(account) => account.read(),
            Meter::Family { leaders, before } => {
                Some(SutUse { cpu: *before + family_cpu(leaders), throttled: Nanos::ZERO })
            }
        }
    }

    /// Follows the processes of these leaders from now on.
    pub(super) fn follow(&mut self, new_leaders: Vec<u32>) {
        if let Meter::Family { leaders, .. } = self {
            *leaders = new_leaders;
        }
    }

    /// Adds the usage of ended processes: of `used`, the part not used by those that keep running.
    pub(super) fn keep(&mut self, used: Option<SutUse>, going_on: Vec<u32>) {
        if let (Meter::Family { leaders, before }, Some(used)) = (self, used) {
            *before = used.cpu.saturating_sub(family_cpu(&going_on));
            *leaders = going_on;
        }
    }

    /// Describes the source for the disclosure.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Meter::Group(_) => "account of the control group",
            Meter::Family { .. } => "sum over the server's processes, in clock ticks",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// Goal: a process that keeps running over a restart, such as an accelerator, is counted once. Two
    /// processes work and then wait; one of them ends.
    #[test]
    fn a_process_that_survives_a_restart_is_counted_once() {
        let work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read line";
        let mut workers = [(); 2].map(|()| {
            let mut command = Command::new("sh");
            command.args(["-c", work]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        });
        for worker in &mut workers {
            let mut said = String::new();
            BufReader::new(worker.stdout.take().unwrap()).read_line(&mut said).unwrap();
            assert_eq!(said, "done\n");
        }
        let pids = workers.each_ref().map(std::process::Child::id);
        let mut meter = Meter::new(None);
        meter.follow(pids.to_vec());
        let used = meter.read().unwrap();
        let ticks = |n| Nanos::from_secs(n).0 / rustix::param::clock_ticks_per_second();
        assert!(ticks(10) < used.cpu.0, "{used:?}");
        let [mut ends, mut goes_on] = workers;
        drop(ends.stdin.take());
        ends.wait().unwrap();
        meter.keep(Some(used), vec![pids[1]]);
        meter.follow(vec![pids[1]]);
        // Its work since the last reading may complete a tick.
        assert!(meter.read().unwrap().cpu.0.abs_diff(used.cpu.0) <= ticks(2));
        drop(goes_on.stdin.take());
        goes_on.wait().unwrap();
    }
}
