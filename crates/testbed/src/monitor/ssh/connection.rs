//! A running `ssh`: asking and waiting, never longer than allowed.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use model::{foreign_text, without_credentials};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::{Clock, Nanos, RealClock};

use crate::started::{self, Entry};

/// How `ssh` is called.
#[derive(Debug, Clone)]
pub struct SshOptions {
    /// The program.
    pub program: OsString,
    /// What stands before the destination.
    pub arguments: Vec<OsString>,
    /// Within what it must be connected and have answered first.
    pub connect_time: Duration,
    /// Within what it must have answered each time after.
    pub answer_time: Duration,
}

/// Asks nothing, gives up soon, notices within 15 s that the other machine is gone, and is silent but for errors.
const ARGUMENTS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=5",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oLogLevel=ERROR",
];

/// Most bytes of an answer; a machine of 256 CPUs gives some 200 KB.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// How much of what `ssh` says on standard error is kept: its end.
const SAID_BYTES_MAX: usize = 4096;

/// How long its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Default for SshOptions {
    fn default() -> SshOptions {
        SshOptions {
            program: "ssh".into(),
            arguments: ARGUMENTS.iter().map(Into::into).collect(),
            connect_time: Duration::from_secs(10),
            answer_time: Duration::from_millis(900),
        }
    }
}

/// A time that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Within {
    since: Nanos,
    time: Duration,
}

/// The process and its three ends.
#[derive(Debug)]
pub struct Connection {
    process: Child,
    entry: Option<Entry>,
    input: ChildStdin,
    output: ChildStdout,
    /// `None` once it has been closed.
    errors: Option<ChildStderr>,
    clock: RealClock,
    /// What it printed since the last answer.
    printed: Vec<u8>,
    /// The end of what it said on standard error.
    said: Vec<u8>,
    is_over: bool,
}

impl Connection {
    /// Starts `ssh` with a shell on the other machine, which reads its program from the input.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(options: &SshOptions, destination: &str) -> Result<Connection, String> {
        let program = options.program.display();
        let mut command = Command::new(&options.program);
        // The destination does not look like an option; the dashes are for those who change that.
        command.args(&options.arguments).args(["--", destination, "sh"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut process, entry) = started::start(false, || command.spawn())
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let (Some(input), Some(output), errors) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(format!("`{program}` was started without input and output"));
        };
        let clock = RealClock::start();
        let (printed, said) = (Vec::new(), Vec::new());
        let entry = Some(entry);
        Ok(Connection { process, entry, input, output, errors, clock, printed, said, is_over: false })
    }

    /// Returns whether no answer can come any more, so that only another connection helps.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the number of the process.
    #[cfg(test)]
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Begins a time in which something has to happen.
    pub fn within(&self, time: Duration) -> Within {
        Within { since: self.clock.now(), time }
    }

    /// Writes to the shell. What is written is short, or comes first, so it does not wait.
    ///
    /// # Errors
    /// If it cannot be written; not if `ssh` has ended, which whoever waits for the answer is told with the reason.
    pub fn send(&mut self, text: &str) -> Result<(), String> {
        match self.input.write_all(text.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// Returns what was printed up to and with a line that ends an answer.
    ///
    /// # Errors
    /// If it does not come in time, or `ssh` ends: why.
    pub fn receive(&mut self, end_line: &str, within: Within) -> Result<String, String> {
        while !self.printed.ends_with(end_line.as_bytes()) {
            let left = within.left(self.clock);
            if left == Nanos(0) {
                return Err(format!("no whole answer within {} ms", within.time.as_millis()));
            }
            if ANSWER_BYTES_MAX < self.printed.len() {
                self.is_over = true;
                return Err(format!("its answer is longer than {ANSWER_BYTES_MAX} bytes"));
            }
            self.wait(left).inspect_err(|_| self.is_over = true)?;
        }
        Ok(String::from_utf8_lossy(&std::mem::take(&mut self.printed)).into_owned())
    }

    /// Waits until something comes, not longer than `time`, and takes it.
    fn wait(&mut self, time: Nanos) -> Result<(), String> {
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
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Takes what was said on standard error.
    fn listen(&mut self) {
        let mut piece = [0; SAID_BYTES_MAX];
        let Some(errors) = &mut self.errors else { return };
        match errors.read(&mut piece) {
            Ok(0) | Err(_) => self.errors = None,
            Ok(length) => self.said.extend_from_slice(&piece[..length]),
        }
        self.said.drain(..self.said.len().saturating_sub(SAID_BYTES_MAX));
    }

    /// Returns why the output ended: the last line that was said, which may come a moment later.
    fn last_words(&mut self) -> String {
        let within = self.within(LAST_WORDS);
        while let Some(errors) = &self.errors {
            match ready(&mut [PollFd::new(errors, PollFlags::IN)], within.left(self.clock)) {
                Ok(ready) if ready[0] => self.listen(),
                _ => break,
            }
        }
        let said = String::from_utf8_lossy(&self.said);
        match said.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => format!("`ssh` ended: {}", foreign_text(&without_credentials(line))),
            None => "`ssh` ended without a word".to_owned(),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The shell on the other machine ends with its input. One that has ended already is what we want.
        let _ = self.process.kill();
        // Once it is collected, its number can be another's.
        self.entry = None;
        let _ = self.process.wait();
    }
}

impl Within {
    fn left(self, clock: RealClock) -> Nanos {
        let time = Nanos(u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX));
        time.saturating_sub(clock.now() - self.since)
    }
}

/// Waits until one of these can be read, not longer than `time`; returns which can.
fn ready(watched: &mut [PollFd<'_>], time: Nanos) -> Result<Vec<bool>, String> {
    let timeout = Timespec {
        tv_sec: (time.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (time.0 % 1_000_000_000).cast_signed(),
    };
    match poll(watched, Some(&timeout)) {
        Ok(_) => Ok(watched.iter().map(|one| !one.revents().is_empty()).collect()),
        Err(rustix::io::Errno::INTR) => Ok(vec![false; watched.len()]),
        Err(error) => Err(error.to_string()),
    }
}
