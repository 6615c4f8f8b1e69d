//! Where files go. With the command line, the only reader of the environment.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use units::WallTime;

use crate::shell;

/// Returns the file of the stored calibration: in `$XDG_STATE_HOME`, else in `~/.local/state`.
pub fn calibration() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    state.or_else(home).unwrap_or_else(std::env::temp_dir).join("plimsoll/calibration.toml")
}

/// Returns the folder in which a started server gets its own: in memory if there is a file system for that.
pub fn work_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.join("plimsoll") } else { std::env::temp_dir().join("plimsoll") }
}

/// Returns the folders in which a shell would look for a program.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

/// Returns a run file's path that is not taken: `runs/webstone-2.0.1-20261121-163000.plim`.
pub fn run_file(benchmark: &str, now: WallTime) -> PathBuf {
    let time = zoned(now).strftime("%Y%m%d-%H%M%S").to_string();
    let name = |suffix: &str| PathBuf::from(format!("runs/{benchmark}-{time}{suffix}.plim"));
    let free = |path: &PathBuf| !path.exists();
    let numbered = (2..).map(|n| name(&format!("-{n}")));
    std::iter::once(name("")).chain(numbered).find(free).expect("numbers do not end")
}

/// Returns a time for people: `2026-11-21 16:30:00 +01:00`.
pub fn time_text(time: WallTime) -> String {
    zoned(time).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

fn zoned(time: WallTime) -> jiff::Zoned {
    let timestamp = Timestamp::from_millisecond(time.0).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::system())
}

/// Returns program name, version and build.
pub fn program() -> String {
    format!("plimsoll {}", env!("CARGO_PKG_VERSION"))
}

/// Returns the command line as given, as a shell takes it.
pub fn command_line() -> String {
    shell::join(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}
