//! Programs that a monitor needs: the only place where it makes a command.
//!
//! Nothing is started or ended here. The caller passes in a function for that, which knows all processes that must not
//! outlive this one.

use std::fmt::Debug;
use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A program that may be started to observe something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObserverProgram {
    /// The client of OpenSSH. It runs a shell on another machine, with a script that only reads files.
    Ssh,
    /// A program in place of another one.
    #[cfg(test)]
    StandIn(&'static str),
}

impl ObserverProgram {
    /// Returns the name by which it is searched.
    pub fn name(self) -> &'static str {
        match self {
            ObserverProgram::Ssh => "ssh",
            #[cfg(test)]
            ObserverProgram::StandIn(name) => name,
        }
    }

    /// Returns a command without arguments.
    pub(crate) fn command(self) -> Command {
        Command::new(self.name())
    }
}

/// A function that starts a program, and sees to it that it ends.
pub type StartProgram = fn(Command) -> io::Result<StartedProgram>;

/// A started program, with the streams that were piped.
#[derive(Debug)]
pub struct StartedProgram {
    /// Its owner, which ends the program when it is dropped.
    pub owner: Box<dyn Debug + Send>,
    /// Its standard input.
    pub input: Option<ChildStdin>,
    /// Its standard output.
    pub output: Option<ChildStdout>,
    /// Its standard error.
    pub errors: Option<ChildStderr>,
}

#[cfg(test)]
pub(crate) mod testing {
    use std::process::Child;

    use super::*;

    /// Starts a program that is killed when its owner is dropped.
    pub(crate) fn start(mut command: Command) -> io::Result<StartedProgram> {
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let errors = child.stderr.take();
        Ok(StartedProgram { owner: Box::new(KilledOnDrop(child)), input, output, errors })
    }

    #[derive(Debug)]
    struct KilledOnDrop(Child);

    impl Drop for KilledOnDrop {
        fn drop(&mut self) {
            // It may already have ended.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
