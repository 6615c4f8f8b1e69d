//! The private directory of a run, and cleanup after killed runs.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

use observe::cgroup::stale_groups;
use observe::kernel_file;
use observe::leftovers::{LOCK, PREFIX, stale_directories};
use observe::process::ProcessStat;

use super::SutError;
use crate::group_removal::{kill_groups, remove_groups};
use crate::owned_resources::{OwnedResourceEntry, make_folder};
use crate::private_folder::make_own_folder;

const LEADERS: &str = "leaders";

/// A run's own directory. Its lock is held as long as the value lives, so that no other process cleans it up;
/// the kernel releases the lock if the process dies. Dropping the value removes the directory.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    _lock: File,
    _entry: OwnedResourceEntry,
}

impl WorkDir {
    /// Creates a new directory in `base`, which is created if needed.
    ///
    /// # Errors
    /// It cannot be created, or others can change `base` or its parents.
    pub fn create(base: &Path) -> Result<WorkDir, SutError> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let base = make_own_folder(base)?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let failed = |source| SutError::File { what: "work directory", path: path.clone(), source };
        let entry = make_folder(&path).map_err(failed)?;
        // Servers that drop root's rights must be able to enter, once they are let through `base`.
        fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(failed)?;
        // It is renamed after it is locked: in between, a cleanup would take the directory for a stale one.
        let unnamed = path.join("lock.new");
        let lock = File::create_new(&unnamed).map_err(failed)?;
        lock.lock().and_then(|()| fs::rename(&unnamed, path.join(LOCK))).map_err(failed)?;
        Ok(WorkDir { path, _lock: lock, _entry: entry })
    }

    /// Returns its path; absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records the leaders of the server's processes, one line each, so that they can be killed after this
    /// process was killed.
    pub(crate) fn note_leaders(&self, pids: &[u32]) {
        let stats = pids.iter().filter_map(|pid| ProcessStat::of(*pid));
        let lines: String = stats.map(|stat| format!("{} {}\n", stat.pid, stat.start_ticks)).collect();
        // Without the record a later cleanup leaves the processes alone, which is no reason to stop now.
        let _ = fs::write(self.path.join(LEADERS), lines);
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path, text: &str) -> Result<(), SutError> {
        let written = File::create(path).and_then(|mut file| {
            // Set regardless of the umask: servers that have dropped root's rights read it.
            file.set_permissions(Permissions::from_mode(0o644))?;
            file.write_all(text.as_bytes())
        });
        written.map_err(|source| SutError::File { what: "server file", path: path.to_owned(), source })
    }

    /// Writes a file that only this user may read, and servers before they drop root's rights.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub(crate) fn write_secret(&self, path: &Path, text: &str) -> Result<(), SutError> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| SutError::File { what: "secret file", path: path.to_owned(), source })
    }

    /// Creates a subdirectory and its parents. The run's own directory is never created again: an immediate
    /// exit may have removed it.
    ///
    /// # Errors
    /// A directory cannot be created or made readable for servers.
    pub(crate) fn make_directory(&self, path: &Path) -> Result<(), SutError> {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let mut made = self.path.clone();
        for part in below.components() {
            made.push(part);
            let created = match fs::create_dir(&made) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                created => created,
            };
            // Set regardless of the umask: servers that have dropped root's rights read it.
            created.and_then(|()| fs::set_permissions(&made, Permissions::from_mode(0o755))).map_err(
                |source| SutError::File { what: "server directory", path: path.to_owned(), source },
            )?;
        }
        Ok(())
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        // Leftovers that cannot be removed now are found by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the leftovers of killed runs, terminating their processes; returns what was removed.
pub fn clean_stale(base: &Path) -> Vec<PathBuf> {
    let groups = stale_groups();
    kill_groups(&groups);
    remove_groups(&groups);
    let mut cleaned = Vec::new();
    for (path, _lock) in stale_directories(base) {
        kill_leftover(&path);
        if fs::remove_dir_all(&path).is_ok() {
            cleaned.push(path);
        }
    }
    cleaned.extend(groups);
    cleaned
}

/// Kills the process groups of a killed run, if their leaders are still the recorded ones.
fn kill_leftover(directory: &Path) {
    let notes = kernel_file::read(directory.join(LEADERS)).unwrap_or_default();
    for (pid, start) in notes.lines().filter_map(|line| line.split_once(' ')) {
        let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { continue };
        let is_the_same =
            ProcessStat::of(pid).is_some_and(|stat| stat.start_ticks == start && stat.group == pid);
        if let Some(group) = Pid::from_raw(pid.cast_signed()).filter(|_| is_the_same) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::leftovers::find_stale;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_directory_is_in_use_while_its_value_lives_and_removed_afterwards() {
        let base = tempfile::tempdir().unwrap();
        let work_dir = WorkDir::create(base.path()).unwrap();
        assert!(stale_directories(base.path()).is_empty());
        let path = work_dir.path().to_owned();
        drop(work_dir);
        assert!(!path.exists());
    }

    /// Goal: a run killed between the creation of the directory and of its lock. No process has the first id:
    /// the kernel's maximum is 2²² = 4194304.
    #[test]
    fn a_directory_without_a_lock_is_stale_when_its_creator_is_gone() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join(format!("{PREFIX}4194305-0"));
        let young = base.path().join(format!("{PREFIX}{}-7", std::process::id()));
        fs::create_dir(&left).unwrap();
        fs::create_dir(&young).unwrap();
        clean_stale(base.path());
        assert!(!left.exists() && young.exists());
    }

    #[test]
    fn subdirectories_are_created_but_the_runs_own_directory_is_not_recreated() {
        let base = tempfile::tempdir().unwrap();
        let work_dir = WorkDir::create(base.path()).unwrap();
        let deep = work_dir.path().join("accelerator/etc");
        work_dir.make_directory(&deep).unwrap();
        work_dir.make_directory(&deep).unwrap();
        assert!(deep.is_dir());
        fs::remove_dir_all(work_dir.path()).unwrap();
        assert!(work_dir.make_directory(&deep).is_err());
        assert!(!work_dir.path().exists());
    }

    /// Goal: after a `kill -9` of Plimsoll the next start removes the server and its files. Such a run leaves
    /// a directory with a free lock.
    #[test]
    fn a_killed_run_is_cleaned_up_with_its_server() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join(format!("{PREFIX}4194305-0"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let mut server = Command::new("cat").stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let stat = ProcessStat::of(server.id()).unwrap();
        fs::write(left.join(LEADERS), format!("{} {}", server.id(), stat.start_ticks)).unwrap();
        assert!(find_stale(base.path()).contains(&left));
        // A process that another test starts at this moment holds the lock that was just looked at, until its program runs.
        let is_cleaned = || {
            clean_stale(base.path()).contains(&left) || {
                std::thread::sleep(std::time::Duration::from_millis(10));
                false
            }
        };
        assert!((0..200).any(|_| is_cleaned()));
        assert!(!left.exists());
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(server.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_process_that_reuses_the_leaders_id_is_left_alone() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join(format!("{PREFIX}4194305-0"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let mut stranger = Command::new("cat").stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        fs::write(left.join(LEADERS), format!("{} 1", stranger.id())).unwrap();
        clean_stale(base.path());
        assert!(!left.exists());
        drop(stranger.stdin.take());
        assert!(stranger.wait().unwrap().success());
    }
}
