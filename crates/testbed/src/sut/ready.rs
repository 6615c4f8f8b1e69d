//! Readiness checks of a server.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde::Deserialize;

use super::SutError;
use super::managed_process::PAUSE;
use super::web::ProbeError;

/// Time limit of one attempt.
pub(super) const ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// The time between two commands that ask whether the server is ready.
const COMMAND_PAUSE: Duration = Duration::from_millis(50);

/// A reason why a server does not answer yet.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotReady {
    /// It accepts no connection, or its log cannot be read.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The Unix socket of a companion.
    #[error("`{path}`: {source}")]
    Socket {
        /// The path of the socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The line that says that it is ready is missing.
    #[error("it did not log `{0}`")]
    NotLogged(String),
    /// The command that checks it.
    #[error(transparent)]
    Command(Box<SutError>),
    /// No announcement yet.
    #[error("it did not announce an address")]
    NotAnnounced,
    /// No announcement can follow.
    #[error("it closed its output without announcing an address")]
    OutputClosed,
    /// A web server does not serve a file.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Another program than the server itself.
    #[error("{title}: {reason}")]
    Beside {
        /// The program.
        title: String,
        /// Its reason.
        reason: Box<NotReady>,
    },
}

impl NotReady {
    /// Returns the time until the next attempt. A command is a process each time, whose start would slow down that of the
    /// server.
    pub(super) fn pause(&self) -> Duration {
        match self {
            NotReady::Command(_) => COMMAND_PAUSE,
            _ => PAUSE,
        }
    }

    /// Returns it as the reason of a program beside the server.
    pub(super) fn of(self, title: &str) -> NotReady {
        NotReady::Beside { title: title.to_owned(), reason: Box::new(self) }
    }
}

/// The line by which a server announces itself.
#[derive(Deserialize)]
struct Announcement {
    ready: ReadyAt,
}

#[derive(Deserialize)]
struct ReadyAt {
    address: SocketAddr,
}

/// Reads a server's standard output on a separate thread until it ends, so that the server never blocks;
/// sends the first announcement.
pub(super) fn listen(output: ChildStdout) -> Receiver<SocketAddr> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        if let Some(address) = lines.find_map(|line| announced(&line)) {
            // The receiver is gone if the server was given up in the meantime.
            let _ = sender.send(address);
        }
        lines.for_each(drop);
    });
    receiver
}

/// Returns the address that a line announces, if any.
fn announced(line: &str) -> Option<SocketAddr> {
    Some(serde_json::from_str::<Announcement>(line).ok()?.ready.address)
}

/// Returns the length of a log in bytes; 0 if there is none.
pub(super) fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |meta| meta.len())
}

/// Checks that a log has a line with a text, after its first `from` bytes.
pub(super) fn logged(log: &Path, from: u64, text: &str) -> Result<(), NotReady> {
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(from))?;
    let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    let is_logged = lines.any(|line| String::from_utf8_lossy(&line).contains(text));
    if is_logged { Ok(()) } else { Err(NotReady::NotLogged(text.to_owned())) }
}

/// Connects.
///
/// # Errors
/// The system's error.
pub(super) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, ATTEMPT_MAX)?;
    stream.set_read_timeout(Some(ATTEMPT_MAX))?;
    stream.set_write_timeout(Some(ATTEMPT_MAX))?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_announcements_are_accepted() {
        let address = announced(r#"{"ready": {"address": "127.0.0.1:4711", "more": 1}}"#);
        assert_eq!(address, Some("127.0.0.1:4711".parse().unwrap()));
        for line in ["", "listening", r#"{"ready": true}"#, r#"{"ready": {"address": "x"}}"#] {
            assert_eq!(announced(line), None, "{line}");
        }
    }
}
