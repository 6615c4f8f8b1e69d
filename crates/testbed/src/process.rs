//! Killing of processes that were found earlier.

use observe::process::ProcessStat;
use rustix::process::{Pid, Signal, kill_process};

/// Kills a process, unless its id has been reused in the meantime.
pub(crate) fn kill(process: &ProcessStat) {
    let is_the_same = ProcessStat::of(process.pid).is_some_and(|now| now.start_ticks == process.start_ticks);
    if let Some(pid) = Pid::from_raw(process.pid.cast_signed()).filter(|_| is_the_same) {
        // The process may already be gone.
        let _ = kill_process(pid, Signal::KILL);
    }
}
