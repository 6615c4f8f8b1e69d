//! A running `ssh` process, with a time limit on every wait.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io::{self, ErrorKind, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use languages::{foreign_text, without_credentials};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::{Clock, Nanos, RealClock};

use crate::program::{ObserverProgram, StartProgram, StartedProgram};

/// Options of `ssh`.
#[derive(Debug, Clone)]
pub struct SshOptions {
    /// The program.
    pub program: ObserverProgram,
    /// Arguments before the destination.
    pub arguments: Vec<OsString>,
    /// Time limit for connecting and the first answer.
    pub connect_time: Duration,
    /// Time limit for each later answer.
    pub answer_time: Duration,
}

/// Options that avoid prompts, fail quickly, notice within 15 s that the other machine is gone, and print
/// only errors.
const ARGUMENTS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=5",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oLogLevel=ERROR",
];

/// Maximum size of an answer; a machine of 256 CPUs sends some 200 KB.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Number of bytes of standard error that are kept, from its end.
const SAID_BYTES_MAX: usize = 4096;

/// Time limit for the final error message.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Default for SshOptions {
    fn default() -> SshOptions {
        SshOptions {
            program: ObserverProgram::Ssh,
            arguments: ARGUMENTS.iter().map(Into::into).collect(),
            connect_time: Duration::from_secs(10),
            answer_time: Duration::from_millis(900),
        }
    }
}

/// A reason why a connection gives no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum SshConnectionError {
    #[error("cannot start `{program}`: {error}")]
    Start { program: &'static str, error: io::Error },
    #[error("`{program}` has no standard input and output")]
    NoStreams { program: &'static str },
    #[error("no complete answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("the answer is longer than {ANSWER_BYTES_MAX} bytes")]
    LongAnswer,
    /// `ssh` ended; its last line.
    #[error("`ssh` ended: {0}")]
    Ended(String),
    #[error("`ssh` ended without a message")]
    EndedSilently,
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    since: Nanos,
    time: Duration,
}

/// The process and its three streams. The shell on the other machine ends with its input.
#[derive(Debug)]
pub(super) struct SshConnection {
    /// Ends the process; dropped before the streams are closed.
    _owner: Box<dyn Debug + Send>,
    input: ChildStdin,
    output: ChildStdout,
    /// `None` once it has been closed.
    errors: Option<ChildStderr>,
    clock: RealClock,
    /// Output since the last answer.
    printed: Vec<u8>,
    /// The end of standard error.
    said: Vec<u8>,
    is_over: bool,
}

impl SshConnection {
    /// Starts `ssh` with a shell on the other machine, which reads its script from the input.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(
        options: &SshOptions,
        destination: &str,
        start: StartProgram,
    ) -> Result<SshConnection, SshConnectionError> {
        let program = options.program.name();
        let mut command = options.program.command();
        // The destination does not look like an option; the dashes guard against future changes.
        command.args(&options.arguments).args(["--", destination, "sh"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = start(command).map_err(|error| SshConnectionError::Start { program, error })?;
        let StartedProgram { owner, input: Some(input), output: Some(output), errors } = started else {
            return Err(SshConnectionError::NoStreams { program });
        };
        let clock = RealClock::start();
        let printed = Vec::new();
        let said = Vec::new();
        Ok(SshConnection { _owner: owner, input, output, errors, clock, printed, said, is_over: false })
    }

    /// Returns whether the connection has ended, so that a new one is needed.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Creates a deadline that ends after `time`.
    pub(super) fn within(&self, time: Duration) -> Deadline {
        Deadline { since: self.clock.now(), time }
    }

    /// Writes to the shell. The text is short, or comes first, so this does not block.
    ///
    /// # Errors
    /// Writing fails; not if `ssh` has ended, because waiting for the answer then reports the reason.
    pub(super) fn send(&mut self, text: &str) -> Result<(), SshConnectionError> {
        match self.input.write_all(text.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns the output up to and including the line that ends an answer.
    ///
    /// # Errors
    /// The answer does not arrive in time, or `ssh` ends.
    pub(super) fn receive(&mut self, end_line: &str, within: Deadline) -> Result<String, SshConnectionError> {
        while !self.printed.ends_with(end_line.as_bytes()) {
            let left = within.left(self.clock);
            if left == Nanos(0) {
                return Err(SshConnectionError::Late(within.time));
            }
            if ANSWER_BYTES_MAX < self.printed.len() {
                self.is_over = true;
                return Err(SshConnectionError::LongAnswer);
            }
            self.wait(left).inspect_err(|_| self.is_over = true)?;
        }
        Ok(String::from_utf8_lossy(&std::mem::take(&mut self.printed)).into_owned())
    }

    /// Waits at most `time` for output, and reads it.
    fn wait(&mut self, time: Nanos) -> Result<(), SshConnectionError> {
        let mut watched = vec![PollFd::new(&self.output, PollFlags::IN)];
        watched.extend(self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
        let ready = ready(&mut watched, time)?;
        if ready.get(1) == Some(&true) {
            self.listen();
        }
        if ready[0] {
            let mut piece = [0; 64 * 1024];
            match self.output.read(&mut piece) {
                Ok(0) => return Err(self.last_words()),
                Ok(length) => self.printed.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads standard error.
    fn listen(&mut self) {
        let mut piece = [0; SAID_BYTES_MAX];
        let Some(errors) = &mut self.errors else { return };
        match errors.read(&mut piece) {
            Ok(0) | Err(_) => self.errors = None,
            Ok(length) => self.said.extend_from_slice(&piece[..length]),
        }
        self.said.drain(..self.said.len().saturating_sub(SAID_BYTES_MAX));
    }

    /// Returns why the output ended: the last line of standard error, which may arrive a moment later.
    fn last_words(&mut self) -> SshConnectionError {
        let within = self.within(LAST_WORDS);
        while let Some(errors) = &self.errors {
            match ready(&mut [PollFd::new(errors, PollFlags::IN)], within.left(self.clock)) {
                Ok(ready) if ready[0] => self.listen(),
                _ => break,
            }
        }
        let said = String::from_utf8_lossy(&self.said);
        match said.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => SshConnectionError::Ended(foreign_text(&without_credentials(line))),
            None => SshConnectionError::EndedSilently,
        }
    }
}

impl Deadline {
    fn left(self, clock: RealClock) -> Nanos {
        let time = Nanos(u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX));
        time.saturating_sub(clock.now() - self.since)
    }
}

/// Waits at most `time` until a descriptor is readable; returns which are.
fn ready(watched: &mut [PollFd<'_>], time: Nanos) -> io::Result<Vec<bool>> {
    let timeout = Timespec {
        tv_sec: (time.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (time.0 % 1_000_000_000).cast_signed(),
    };
    match poll(watched, Some(&timeout)) {
        Ok(_) => Ok(watched.iter().map(|one| !one.revents().is_empty()).collect()),
        Err(rustix::io::Errno::INTR) => Ok(vec![false; watched.len()]),
        Err(error) => Err(error.into()),
    }
}
