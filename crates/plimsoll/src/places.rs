//! Where files go. With the command line, the only reader of the environment.

use std::env::VarError;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::words_without_credentials;
use testbed::{make_private_folder, private_folder_in};
use units::WallTime;

use crate::exit::{Exit, Failure};
use crate::shell;

/// Returns the file of the stored calibration: in `$XDG_STATE_HOME`, else in `~/.local/state`.
pub fn calibration() -> Result<PathBuf, Failure> {
    Ok(own_folder("XDG_STATE_HOME", ".local/state")?.join("calibration.toml"))
}

/// Returns the file of the key that seals are made with: in `$XDG_CONFIG_HOME`, else in `~/.config`.
pub fn seal_key() -> Result<PathBuf, Failure> {
    Ok(own_folder("XDG_CONFIG_HOME", ".config")?.join("seal.key"))
}

/// Returns the program's folder where a variable of the XDG base directories says, else below the home; without a home,
/// below the private folder for what is kept.
fn own_folder(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home));
    let base = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    match base.or_else(home) {
        Some(base) => Ok(base.join("plimsoll")),
        None => Ok(private(&kept())?.join(below_home)),
    }
}

/// Returns the file of a run file's seal: `NAME.plim.seal`.
pub fn seal_file(run: &Path) -> PathBuf {
    let mut name = run.as_os_str().to_owned();
    name.push(".seal");
    name.into()
}

/// Returns the folder in which a started server gets its own: in memory if there is a file system for that. It is this
/// user's alone; [`private`] makes it.
pub fn work_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => private_folder_in(memory),
        false => private_folder_in(&std::env::temp_dir()),
    }
}

/// Returns the folder in which file sets of servers are kept from run to run. Servers read them under another account, so
/// it is not in anybody's home.
pub fn files_dir(benchmark: &str) -> PathBuf {
    kept().join("files").join(benchmark)
}

/// Returns the folder of this user's alone for what outlives a restart of the machine.
pub fn kept() -> PathBuf {
    private_folder_in(Path::new("/var/tmp"))
}

/// Makes a folder of this user's alone, or sees that it is one; returns where it is.
pub fn private(folder: &Path) -> Result<PathBuf, Failure> {
    make_private_folder(folder).map_err(|error| Failure::new(Exit::Testbed, error))
}

/// Returns the folders in which a shell would look for a program.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

/// Returns a run file's path that is not taken: `runs/webstone-2.0.1-20261121-163000.plim`.
pub fn run_file(benchmark: &str, now: WallTime) -> PathBuf {
    free_path(benchmark, now, ".plim")
}

/// Returns the path of a folder for several runs that is not taken: `runs/web96-20261121-163000`.
pub fn campaign(benchmark: &str, now: WallTime) -> PathBuf {
    free_path(benchmark, now, "")
}

fn free_path(benchmark: &str, now: WallTime, extension: &str) -> PathBuf {
    let time = zoned(now).strftime("%Y%m%d-%H%M%S").to_string();
    let name = |suffix: &str| PathBuf::from(format!("runs/{benchmark}-{time}{suffix}{extension}"));
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

/// Returns the command line as given, as a shell takes it, without credentials.
pub fn command_line() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    shell::join(words_without_credentials(words))
}

/// Returns an environment variable that a definition names.
///
/// # Errors
/// If it is not set, or is not UTF-8: a clause.
pub fn variable(name: &str) -> Result<String, &'static str> {
    std::env::var(name).map_err(|error| match error {
        VarError::NotPresent => "is not set",
        VarError::NotUnicode(_) => "is not UTF-8",
    })
}
