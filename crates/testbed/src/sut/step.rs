//! Programs that run to their end for a server: those that make its data, and readiness checks.

use std::io::Write;
use std::time::Duration;

use observe::process::read_from_disk;

use super::SutError;
use super::managed_process::ManagedProcess;
use crate::cgroup::ControlGroup;

/// Time limit of a step.
pub(super) const STEP_MAX: Duration = Duration::from_secs(120);

/// A program with its standard input. It may run several times.
#[derive(Debug)]
pub(super) struct StepProcess {
    /// The program.
    pub process: ManagedProcess,
    /// Its standard input.
    pub input: String,
}

impl StepProcess {
    /// Runs the program to its end, in a control group if one is given. Returns the bytes that it had read from disk, with all
    /// that it started; `None` if this user may not know.
    ///
    /// # Errors
    /// It cannot be started, does not end within `limit`, or ends with another status than 0.
    pub(super) fn run(
        &mut self,
        group: Option<&ControlGroup>,
        limit: Duration,
    ) -> Result<Option<u64>, SutError> {
        self.process.start(group)?;
        if let Some(mut input) = self.process.input() {
            // A program that does not read its input says by its status whether that is a failure.
            let _ = input.write_all(self.input.as_bytes());
        }
        let ended = self.process.wait_end(limit);
        // Its account is there until it is reaped.
        let read = self.process.pid().and_then(|pid| read_from_disk(&[pid]));
        self.process.end();
        let why = match ended {
            Some(status) if status == SUCCESS => return Ok(read),
            Some(status) => status,
            None => format!("no end within {} s", limit.as_secs()),
        };
        let command = self.process.launch.command_line();
        Err(SutError::Step { title: self.process.title.clone(), command, why, log: self.process.log_end() })
    }
}

/// The description of an end without failure.
const SUCCESS: &str = "exit status 0";
