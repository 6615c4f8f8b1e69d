//! The end of control groups.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use observe::cgroup::members;

/// Kills every process of the groups and waits at most a second until they are empty.
pub(crate) fn kill_groups(directories: &[PathBuf]) {
    for _ in 0..200 {
        let pids: Vec<u32> = directories.iter().flat_map(|directory| members(directory)).collect();
        if pids.is_empty() {
            return;
        }
        for pid in pids.into_iter().filter_map(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // The process may already be gone.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Removes empty groups.
pub(crate) fn remove_groups(directories: &[PathBuf]) {
    for directory in directories {
        // The kernel releases a group shortly after its last process.
        for _ in 0..200 {
            match fs::remove_dir(directory) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let groups = ["one", "two"].map(|name| parent.path().join(name));
        groups.iter().for_each(|group| fs::create_dir(group).unwrap());
        kill_groups(&groups);
        remove_groups(&groups);
        assert!(groups.iter().all(|group| !group.exists()));
    }
}
