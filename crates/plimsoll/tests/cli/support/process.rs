//! A running command.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::ExitedCommand;

/// Timeout for an expected line, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A process and its output, line by line. It is killed when dropped.
pub(crate) struct RunningCommand {
    folder: PathBuf,
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl RunningCommand {
    pub(crate) fn new(mut child: Child, folder: &Path) -> RunningCommand {
        let stdout = lines(child.stdout.take().unwrap());
        let stderr: ChildStderr = child.stderr.take().unwrap();
        RunningCommand { folder: folder.to_owned(), stdout, stderr: lines(stderr), child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn line_of_stdout(&self) -> String {
        self.stdout.recv_timeout(TIMEOUT).expect("a line on standard output")
    }

    /// Returns what the line says that a server prints once it listens.
    #[track_caller]
    pub(crate) fn ready(&self) -> Value {
        let mut line: Value = serde_json::from_str(&self.line_of_stdout()).unwrap();
        line["ready"].take()
    }

    /// Returns the address on which a server listens.
    #[track_caller]
    pub(crate) fn address(&self) -> String {
        self.ready()["address"].as_str().unwrap().to_owned()
    }

    /// Waits for a line on standard error that contains a text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let mut seen = Vec::new();
        while let Ok(line) = self.stderr.recv_timeout(TIMEOUT) {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("`{text}` expected in:\n{}", seen.join("\n"));
    }

    /// Lets it run for a while, to reach a moment that no output announces.
    pub(crate) fn keep_running_for(&self, time: Duration) {
        let (_open, nothing) = channel::<()>();
        let _ = nothing.recv_timeout(time);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Waits for its exit and returns the unread output.
    pub(crate) fn end(mut self) -> ExitedCommand {
        drop(self.child.stdin.take());
        let stdout = self.stdout.iter().collect::<Vec<_>>().join("\n");
        let stderr = self.stderr.iter().collect::<Vec<_>>().join("\n");
        let code = self.child.wait().unwrap().code();
        ExitedCommand { folder: self.folder.clone(), code, stdout, stderr }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Without a receiver, the output is discarded.
            let _ = sender.send(line);
        }
    });
    receiver
}
