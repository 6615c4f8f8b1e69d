//! Files and processes that a run must not leave behind.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Directories, control groups, processes and the listener of a run.
pub(crate) struct Leftovers {
    pub folders: Vec<PathBuf>,
    pub groups: Vec<PathBuf>,
    /// Processes with the run's directory on their command line.
    pub processes: Vec<String>,
    pub answers: bool,
}

impl Leftovers {
    /// Finds what the process `pid` left behind, and its server at `url`.
    pub(crate) fn of(pid: u32, url: &str) -> Leftovers {
        let folder = format!("plimsoll-sut-{pid}-");
        let base = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Leftovers {
            folders: named(&base.join(format!("plimsoll-{}", geteuid().as_raw())), &folder, 1),
            groups: named(Path::new("/sys/fs/cgroup"), &format!("plimsoll-{pid}-"), 6),
            processes: processes(&folder),
            answers: TcpStream::connect(address).is_ok(),
        }
    }

    #[track_caller]
    pub(crate) fn expect_none(&self) {
        assert_eq!(self.folders, Vec::<PathBuf>::new());
        assert_eq!(self.groups, Vec::<PathBuf>::new());
        assert_eq!(self.processes, Vec::<String>::new());
        assert!(!self.answers, "the server still answers");
    }
}

/// Returns the directories whose name begins with `prefix`.
fn named(base: &Path, prefix: &str, depth: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found = Vec::new();
    for entry in folders {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            found.push(entry.path());
        } else if 1 < depth {
            found.extend(named(&entry.path(), prefix, depth - 1));
        }
    }
    found
}

fn processes(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(text)).collect()
}
