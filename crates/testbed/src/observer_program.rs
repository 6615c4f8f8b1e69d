//! Programs that run for a monitor, such as `ssh`.

use std::io;
use std::process::{Child, Command};

use observe::StartedProgram;

use crate::owned_resources::{self, OwnedResourceEntry};

/// Starts a program that must not outlive this process; an [`observe::StartProgram`].
///
/// # Errors
/// The system's error.
pub fn start_program(mut command: Command) -> io::Result<StartedProgram> {
    let (mut process, entry) = owned_resources::start(false, || command.spawn())?;
    let input = process.stdin.take();
    let output = process.stdout.take();
    let errors = process.stderr.take();
    let owner = Box::new(OwnedProgram { process, entry: Some(entry) });
    Ok(StartedProgram { owner, input, output, errors })
}

/// A running program, which is killed when it is dropped.
#[derive(Debug)]
struct OwnedProgram {
    process: Child,
    entry: Option<OwnedResourceEntry>,
}

impl Drop for OwnedProgram {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.process.kill();
        // Once it is reaped, its id can be reused.
        self.entry = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use observe::process::ProcessStat;

    use super::*;

    #[test]
    fn a_program_ends_with_its_owner() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; read forever"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = start_program(command).unwrap();
        assert!(program.input.is_some() && program.errors.is_none());
        let mut line = String::new();
        BufReader::new(program.output.unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().parse().unwrap();
        assert!(ProcessStat::of(pid).is_some());
        drop(program.owner);
        assert_eq!(ProcessStat::of(pid), None);
    }
}
