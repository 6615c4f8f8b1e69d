//! One program of the system under test: the server, or one that runs beside it.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Duration;

use languages::{foreign_text, without_credentials};
use observe::kernel_file;
use observe::process::family_of;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use units::{Clock, Nanos, RealClock};

use super::launch::LaunchSpec;
use super::ready::{self, NotReady};
use super::{SutDied, SutError};
use crate::cgroup::ControlGroup;
use crate::owned_resources::OwnedResourceEntry;
use crate::process;
use crate::recipe::{StopRecipe, StopSignal};

/// The pause between two checks of a program that starts or ends.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

/// Number of log lines shown when a program fails.
const LOG_LINES: usize = 10;

/// A managed process. Dropping it terminates it and its children.
#[derive(Debug)]
pub(super) struct ManagedProcess {
    /// The name for people.
    pub title: String,
    /// Its version output.
    pub version: Option<String>,
    /// Its start command.
    pub launch: LaunchSpec,
    /// The way to stop it.
    pub stop: StopRecipe,
    /// Its log files.
    pub logs: Vec<PathBuf>,
    /// Name and text of its configuration, with placeholders replaced.
    pub config: Option<(String, String)>,
    /// Names and texts of its other files, with placeholders replaced.
    pub files: Vec<(String, String)>,
    child: Option<Child>,
    /// The running process.
    entry: Option<OwnedResourceEntry>,
}

impl ManagedProcess {
    /// Creates one that is not running yet.
    pub(super) fn new(
        title: &str,
        version: Option<String>,
        launch: LaunchSpec,
        stop: StopRecipe,
    ) -> ManagedProcess {
        let logs = vec![launch.output_log.clone()];
        ManagedProcess {
            title: title.to_owned(),
            version,
            launch,
            stop,
            logs,
            config: None,
            files: Vec::new(),
            child: None,
            entry: None,
        }
    }

    /// Starts it.
    pub(super) fn start(&mut self, group: Option<&ControlGroup>) -> Result<(), SutError> {
        let (child, entry) = self.launch.start(group)?;
        (self.child, self.entry) = (Some(child), Some(entry));
        Ok(())
    }

    /// Returns its process id; `None` if it does not run.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns its standard output, once, if it is read.
    pub(super) fn output(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// Returns its standard input, once; dropping it is the end of the input.
    pub(super) fn input(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// Waits until it ends; returns how, `exit status 0`, or `None` after `limit`.
    pub(super) fn wait_end(&self, limit: Duration) -> Option<String> {
        let clock = RealClock::start();
        let limit = Nanos::from_secs_f64(limit.as_secs_f64());
        loop {
            match self.ended() {
                None if clock.now() < limit => std::thread::sleep(PAUSE),
                ended => return ended,
            }
        }
    }

    /// Checks that it is still running.
    ///
    /// # Errors
    /// It has ended; the error contains its exit status and the end of its logs.
    pub(super) fn check_alive(&self) -> Result<(), SutDied> {
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(SutDied { title: self.title.clone(), status, log: self.log_end() }),
        }
    }

    /// Returns how the process ended, without reaping it: until then its id is not reused.
    fn ended(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let pid = Pid::from_child(self.child.as_ref()?);
        let status = match waitid(WaitId::Pid(pid), options) {
            Ok(status) => status?,
            // Somebody else has reaped it.
            Err(Errno::CHILD) => return Some("in an unknown way".to_owned()),
            Err(_) => return None,
        };
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        })
    }

    /// Terminates it, waits for the time of its recipe, and kills what is left.
    pub(super) fn end(&mut self) {
        let Some(child) = &mut self.child else { return };
        let leader = Pid::from_child(child);
        let family = family_of(&[child.id()]);
        let clock = RealClock::start();
        let limit = Nanos::from_secs(u64::from(self.stop.seconds));
        // Signaling a process that has already ended is an error, which is harmless.
        let _ = kill_process(leader, signal(self.stop.signal));
        drop(child.stdin.take());
        while self.ended().is_none() && clock.now() < limit {
            std::thread::sleep(PAUSE);
        }
        // The leader is not reaped yet, so that its id, which is the group's, cannot be reused.
        let _ = kill_process_group(leader, Signal::KILL);
        let Some(mut child) = self.child.take() else { return };
        // Some processes may have left the process group; the control group, if there is one, contains them
        // all.
        family.iter().filter(|member| member.pid != child.id()).for_each(process::kill);
        // Once it is reaped, its id can be reused.
        self.entry = None;
        let _ = child.wait();
    }

    /// Returns the last lines of its logs, each on a separate line.
    pub(super) fn log_end(&self) -> String {
        self.logs.iter().map(|path| last_lines(path)).collect()
    }
}

impl Drop for ManagedProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// The address that a companion listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListenAddress {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Parses `127.0.0.1:8000` or a path.
    pub(super) fn parse(text: &str) -> ListenAddress {
        text.parse().map_or_else(|_| ListenAddress::Unix(text.into()), ListenAddress::Tcp)
    }

    /// Connects. A Unix socket is first opened to all users, because the server may have dropped root's rights.
    pub(super) fn attempt(&self) -> Result<(), NotReady> {
        match self {
            ListenAddress::Tcp(address) => Ok(ready::connect(*address).map(drop)?),
            ListenAddress::Unix(path) => {
                let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                let opened = std::fs::set_permissions(path, everybody);
                let connected = opened.and_then(|()| UnixStream::connect(path));
                connected.map(drop).map_err(|source| NotReady::Socket { path: path.clone(), source })
            }
        }
    }
}

fn last_lines(path: &Path) -> String {
    let text = kernel_file::read(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| format!("\n  {}", shown(line))).collect()
}

/// Logs may contain text sent by clients.
fn shown(line: &str) -> String {
    foreign_text(&without_credentials(line))
}

fn signal(signal: StopSignal) -> Signal {
    match signal {
        StopSignal::Term => Signal::TERM,
        StopSignal::Int => Signal::INT,
        StopSignal::Quit => Signal::QUIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_escaped_truncated_and_redacted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        let long = "x".repeat(5000);
        std::fs::write(&log, format!("old\n\u{1b}[31mRED\rforged\nGET /?token=abc\n{long}\n")).unwrap();
        let shown = last_lines(&log);
        let tail = format!(
            "\n  \\u{{1b}}[31mRED\\rforged\n  GET /?token=[redacted]\n  {}… (5000 bytes in all)",
            "x".repeat(300)
        );
        assert!(shown.ends_with(&tail), "{shown}");
    }
}
