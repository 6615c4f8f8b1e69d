//! Paths of files. With the command line, this module alone reads the environment.

use std::env::VarError;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use languages::{REDACTED, words_without_credentials};
use observe::private_folder::private_folder_in;
use testbed::make_private_folder;
use units::WallTime;

use crate::exit::{Exit, Failure};
use crate::shell;

/// Returns the path of the stored calibration: in `$XDG_STATE_HOME`, or else in `~/.local/state`.
pub(crate) fn calibration() -> Result<PathBuf, Failure> {
    Ok(own_dir("XDG_STATE_HOME", ".local/state")?.join("calibration.toml"))
}

/// Returns the path of the signing key for seals: in `$XDG_CONFIG_HOME`, or else in `~/.config`.
pub(crate) fn seal_key() -> Result<PathBuf, Failure> {
    Ok(own_dir("XDG_CONFIG_HOME", ".config")?.join("seal.key"))
}

/// Returns the program's directory below the XDG base directory that `variable` names, or else below the home directory;
/// without either, below the persistent private directory.
fn own_dir(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home));
    let base = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    match base.or_else(home) {
        Some(base) => Ok(base.join("plimsoll")),
        None => Ok(make_private(&persistent_dir())?.join(below_home)),
    }
}

/// Returns the path of a run file's seal: `NAME.plim.seal`.
pub(crate) fn seal_file(run: &Path) -> PathBuf {
    let mut name = run.as_os_str().to_owned();
    name.push(".seal");
    name.into()
}

/// Returns the directory below which a started server gets its work directory, on tmpfs if there is one. Only this user
/// has access; [`make_private`] creates it.
pub(crate) fn work_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { private_folder_in(memory) } else { private_folder_in(&std::env::temp_dir()) }
}

/// Returns the directory of a benchmark's file set, which is kept between runs. Servers read it under another account, so
/// it is not in a home directory.
pub(crate) fn files_dir(benchmark: &str) -> PathBuf {
    persistent_dir().join("files").join(benchmark)
}

/// Returns this user's private directory for files that survive a reboot.
pub(crate) fn persistent_dir() -> PathBuf {
    private_folder_in(Path::new("/var/tmp"))
}

/// Returns the directory of the files of a built-in server by its name below the persistent private one, which exists.
///
/// # Errors
/// If the private directory cannot be created, or others have access to it.
pub(crate) fn built_in_dir(name: &str) -> Result<PathBuf, Failure> {
    Ok(make_private(&persistent_dir())?.join(name))
}

/// Creates a directory that only this user has access to, or checks an existing one; returns its path.
///
/// # Errors
/// If it cannot be created, or others have access to it.
pub(crate) fn make_private(folder: &Path) -> Result<PathBuf, Failure> {
    make_private_folder(folder).map_err(|error| Failure::new(Exit::Testbed, error))
}

/// Returns the directories of `PATH`.
pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

/// Returns an unused path for a run file: `runs/webstone-2.0.1-20261121-163000.plim`.
pub(crate) fn run_file(benchmark: &str, now: WallTime) -> PathBuf {
    unused_path(benchmark, now, ".plim")
}

/// Returns an unused path for a directory of several runs: `runs/web96-20261121-163000`.
pub(crate) fn campaign(benchmark: &str, now: WallTime) -> PathBuf {
    unused_path(benchmark, now, "")
}

fn unused_path(benchmark: &str, now: WallTime, extension: &str) -> PathBuf {
    let time = zoned(now).strftime("%Y%m%d-%H%M%S").to_string();
    let name = |suffix: &str| PathBuf::from(format!("runs/{benchmark}-{time}{suffix}{extension}"));
    let free = |path: &PathBuf| !path.exists();
    let numbered = (2..).map(|n| name(&format!("-{n}")));
    std::iter::once(name("")).chain(numbered).find(free).expect("numbers do not end")
}

/// Formats a time in the local time zone: `2026-11-21 16:30:00 +01:00`.
pub(crate) fn time_text(time: WallTime) -> String {
    zoned(time).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

fn zoned(time: WallTime) -> jiff::Zoned {
    let timestamp = Timestamp::from_millisecond(time.0).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::system())
}

/// Returns the program's name and version.
pub(crate) fn program() -> String {
    format!("plimsoll {}", env!("CARGO_PKG_VERSION"))
}

/// Returns the build: a part of the hash of this executable, and what it is built for.
///
/// # Errors
/// The executable cannot be read.
pub(crate) fn build() -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open("/proc/self/exe")?)?;
    let hash = hasher.finalize().to_hex();
    Ok(format!("{} for {}", &hash[..12], std::env::consts::ARCH))
}

/// Returns the command line, quoted for a shell, without credentials and without the `data` of `-d`.
pub(crate) fn command_line(data: Option<&str>) -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let words = words.map(|word| match data {
        Some(data) => without_data(word, data),
        None => word,
    });
    shell::join(words_without_credentials(words))
}

/// Returns a word without the data that it has after a flag or is itself.
fn without_data(word: String, data: &str) -> String {
    match word.strip_suffix(data) {
        // A file is named, not its content.
        _ if data.is_empty() || data.starts_with('@') => word,
        Some(flag @ ("" | "-d" | "-d=" | "--data=")) => format!("{flag}{REDACTED}"),
        _ => word,
    }
}

/// Returns the value of an environment variable.
///
/// # Errors
/// If it is not set or not UTF-8; the error is the predicate of a sentence.
pub(crate) fn variable(name: &str) -> Result<String, &'static str> {
    std::env::var(name).map_err(|error| match error {
        VarError::NotPresent => "is not set",
        VarError::NotUnicode(_) => "is not UTF-8",
    })
}
