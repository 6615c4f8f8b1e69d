//! One program of the system under test: the server, or one that runs beside it.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout};
use std::time::Duration;

use model::{foreign_text, without_credentials};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use units::{Clock, Nanos, RealClock};

use super::launch::Launch;
use super::{SutDied, SutError, ready};
use crate::cgroup::Group;
use crate::process::{self, family_of};
use crate::recipe::{StopRecipe, StopSignal};
use crate::started::Entry;
use crate::system_file;

/// The pause between two looks at a server that starts or ends.
pub const PAUSE: Duration = Duration::from_millis(2);

/// How many lines of a log are shown when a server fails.
const LOG_LINES: usize = 10;

/// A program that was brought up. Dropping it ends it and what it started.
#[derive(Debug)]
pub struct Member {
    /// The name for people.
    pub title: String,
    /// What it says about its version.
    pub version: Option<String>,
    /// How it was started.
    pub launch: Launch,
    /// How it is stopped.
    pub stop: StopRecipe,
    /// Where it writes what goes wrong.
    pub logs: Vec<PathBuf>,
    /// Name and text of its configuration, filled in.
    pub config: Option<(String, String)>,
    /// Names and texts of other files that it reads, filled in.
    pub files: Vec<(String, String)>,
    child: Option<Child>,
    /// As long as it runs.
    entry: Option<Entry>,
}

impl Member {
    /// Makes one that is yet to be started.
    pub fn new(title: &str, version: Option<String>, launch: Launch, stop: StopRecipe) -> Member {
        let logs = vec![launch.output_log.clone()];
        Member {
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
    pub fn start(&mut self, group: Option<&Group>) -> Result<(), SutError> {
        let (child, entry) = self.launch.start(group)?;
        (self.child, self.entry) = (Some(child), Some(entry));
        Ok(())
    }

    /// Returns the number of its process; `None` if it does not run.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns its standard output, once, if that is read.
    pub fn output(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// Returns whether it still runs.
    ///
    /// # Errors
    /// If it ended by itself: how, and the end of its logs.
    pub fn check_alive(&self) -> Result<(), SutDied> {
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(SutDied { title: self.title.clone(), status, log: self.log_end() }),
        }
    }

    /// Returns how the process ended, and leaves it uncollected: until then nobody else gets its number.
    fn ended(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let pid = Pid::from_child(self.child.as_ref()?);
        let status = waitid(WaitId::Pid(pid), options).ok()??;
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        })
    }

    /// Asks it to end, gives it the time of its recipe, and kills what is left.
    pub fn end(&mut self) {
        let Some(child) = &mut self.child else { return };
        let leader = Pid::from_child(child);
        let family = family_of(&[child.id()]);
        let clock = RealClock::start();
        let limit = Nanos::from_secs(u64::from(self.stop.seconds));
        // A process that has ended already answers with an error, which is what we want.
        let _ = kill_process(leader, signal(self.stop.signal));
        drop(child.stdin.take());
        while self.ended().is_none() && clock.now() < limit {
            std::thread::sleep(PAUSE);
        }
        // The leader is not collected yet, so that its number, which is the group's, cannot belong to others.
        let _ = kill_process_group(leader, Signal::KILL);
        let Some(mut child) = self.child.take() else { return };
        // Some may have left the process group; the control group, where there is one, has them all.
        family.iter().filter(|member| member.pid != child.id()).for_each(process::kill);
        // Once it is collected, its number can be another's.
        self.entry = None;
        let _ = child.wait();
    }

    /// Returns the last lines of its logs, each on a line of its own.
    pub fn log_end(&self) -> String {
        self.logs.iter().map(|path| last_lines(path)).collect()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end();
    }
}

/// Where a program beside the server takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listens {
    /// At an address.
    Tcp(SocketAddr),
    /// At a Unix socket.
    Unix(PathBuf),
}

impl Listens {
    /// Reads `127.0.0.1:8000` or a path.
    pub fn parse(text: &str) -> Listens {
        text.parse().map_or_else(|_| Listens::Unix(text.into()), Listens::Tcp)
    }

    /// Connects; says what went wrong if that does not succeed. A Unix socket is opened for all users first: the
    /// server may have given up our rights.
    pub fn attempt(&self) -> Result<(), String> {
        match self {
            Listens::Tcp(address) => ready::connect(*address).map(drop),
            Listens::Unix(path) => {
                let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                let opened = std::fs::set_permissions(path, everybody);
                let connected = opened.and_then(|()| UnixStream::connect(path));
                connected.map(drop).map_err(|error| format!("`{}`: {error}", path.display()))
            }
        }
    }
}

fn last_lines(path: &Path) -> String {
    let text = system_file::read(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| format!("\n  {}", shown(line))).collect()
}

/// A server may log what it was sent.
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
    fn what_a_server_logs_commands_no_terminal_is_bounded_and_shows_no_credentials() {
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
