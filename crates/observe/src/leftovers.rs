//! Leftovers of killed runs: work directories and control groups whose creators are gone.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::cgroup::stale_groups;
use crate::private_folder::check_private_folder;
use crate::process::ProcessStat;

/// The prefix of the names of work directories; the id of the creating process and a number follow.
pub const PREFIX: &str = "plimsoll-sut-";

/// The file in a work directory on which its creator holds a lock.
pub const LOCK: &str = "lock";

/// Returns the leftovers of killed runs: work directories in `base` and control groups.
pub fn find_stale(base: &Path) -> Vec<PathBuf> {
    stale_directories(base).into_iter().map(|(path, _)| path).chain(stale_groups()).collect()
}

/// Returns directories whose lock is free, with the lock, so that two cleanups do not collide; and those
/// without a lock whose creator is gone.
pub fn stale_directories(base: &Path) -> Vec<(PathBuf, Option<File>)> {
    // Records written by other users must not decide which processes are killed.
    if check_private_folder(base).is_err() {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    let directories = entries.flatten().filter(|entry| ours(&entry.file_name())).map(|entry| entry.path());
    directories.filter_map(|path| Some((path.clone(), stale_lock(&path)?))).collect()
}

/// Returns the lock of a stale directory, if it has one; `None` if the directory is in use.
fn stale_lock(directory: &Path) -> Option<Option<File>> {
    match File::open(directory.join(LOCK)) {
        Ok(lock) => lock.try_lock().ok().map(|()| Some(lock)),
        // Its process was killed before creating the lock, or is about to create it.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let name = directory.file_name()?.to_str()?;
            let (maker, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
            ProcessStat::of(maker.parse().ok()?).is_none().then_some(None)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has the first id: the kernel's maximum is 2²² = 4194304.
    #[test]
    fn a_directory_is_stale_when_its_lock_is_free_or_its_creator_is_gone() {
        let base = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = base.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let without_lock = make(&format!("{PREFIX}4194305-0"));
        make(&format!("{PREFIX}{}-7", std::process::id()));
        let unlocked = make(&format!("{PREFIX}4194305-1"));
        fs::write(unlocked.join(LOCK), "").unwrap();
        let in_use = make(&format!("{PREFIX}4194305-2"));
        let lock = File::create(in_use.join(LOCK)).unwrap();
        lock.lock().unwrap();
        make("other-4194305-0");
        let mut found: Vec<PathBuf> =
            stale_directories(base.path()).into_iter().map(|(path, _)| path).collect();
        found.sort();
        assert_eq!(found, [without_lock, unlocked]);
    }
}
