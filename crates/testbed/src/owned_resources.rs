//! A registry of processes, control groups and folders owned by this process, so that any thread can clean
//! them up.
//!
//! Values such as [`crate::RunningSut`] clean up when they are dropped. A program that has to exit at once,
//! while its main thread is busy, drops nothing: then [`end_all`] cleans up. Resources are created under the
//! lock of the registry, so that none escapes it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use observe::process::family_of;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::group_removal::{kill_groups, remove_groups};
use crate::process;

/// Number of waits of [`PAUSE`] for killed processes.
const TRIES: u32 = 400;

const PAUSE: Duration = Duration::from_millis(5);

static OWNED: Mutex<OwnedResources> = Mutex::new(OwnedResources { n_made: 0, resources: BTreeMap::new() });

/// All resources, by number in order of creation.
#[derive(Debug)]
struct OwnedResources {
    n_made: u64,
    resources: BTreeMap<u64, OwnedResource>,
}

/// A resource that must not outlive this process.
#[derive(Debug)]
enum OwnedResource {
    /// A child process, and whether it leads a process group.
    Process { pid: u32, leads: bool },
    /// A control group.
    Group(PathBuf),
    /// A folder with its contents.
    Folder(PathBuf),
}

/// An entry of the registry. Dropping it removes it: its resource has ended or is about to.
#[derive(Debug)]
pub(crate) struct OwnedResourceEntry(u64);

impl Drop for OwnedResourceEntry {
    fn drop(&mut self) {
        lock().resources.remove(&self.0);
    }
}

/// A guard that keeps new resources from being created after a shutdown.
#[must_use = "once it is dropped, other threads can start something again"]
#[derive(Debug)]
pub struct ShutdownGuard(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, OwnedResources>);

/// Starts a process that is registered as long as the entry lives. `leads` says whether it leads a process
/// group.
pub(crate) fn start(
    leads: bool,
    spawn: impl FnOnce() -> io::Result<Child>,
) -> io::Result<(Child, OwnedResourceEntry)> {
    keep(spawn, |child| OwnedResource::Process { pid: child.id(), leads })
}

/// Creates a control group in the same way.
pub(crate) fn make_group(path: &Path) -> io::Result<OwnedResourceEntry> {
    keep(|| fs::create_dir(path), |()| OwnedResource::Group(path.to_owned())).map(|((), entry)| entry)
}

/// Creates a new folder in the same way.
pub(crate) fn make_folder(path: &Path) -> io::Result<OwnedResourceEntry> {
    keep(|| fs::create_dir(path), |()| OwnedResource::Folder(path.to_owned())).map(|((), entry)| entry)
}

fn keep<T>(
    make: impl FnOnce() -> io::Result<T>,
    resource: impl FnOnce(&T) -> OwnedResource,
) -> io::Result<(T, OwnedResourceEntry)> {
    let mut started = lock();
    let made = make()?;
    let number = started.n_made;
    started.n_made += 1;
    started.resources.insert(number, resource(&made));
    Ok((made, OwnedResourceEntry(number)))
}

/// Kills every registered process with its descendants, and removes control groups and folders; takes some
/// milliseconds. For an immediate exit: otherwise values are dropped, which terminates servers gracefully.
pub fn end_all() -> ShutdownGuard {
    let started = lock();
    let mut processes = Vec::new();
    let mut groups = Vec::new();
    let mut folders = Vec::new();
    for resource in started.resources.values() {
        match resource {
            OwnedResource::Process { pid, leads } => processes.push((*pid, *leads)),
            OwnedResource::Group(path) => groups.push(path.clone()),
            OwnedResource::Folder(path) => folders.push(path),
        }
    }
    if !processes.is_empty() {
        kill(&processes);
    }
    kill_groups(&groups);
    remove_groups(&groups);
    folders.into_iter().for_each(|folder| remove_folder(folder));
    ShutdownGuard(started)
}

/// Removes a folder while other threads may still write to it, or remove it: once the folder is gone, their
/// next step fails.
fn remove_folder(folder: &Path) {
    for _ in 0..TRIES {
        // The error may concern a file that the other thread removed first.
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Kills children with their descendants and reaps them. A child that is not reaped keeps its id, so no other
/// process is hit.
fn kill(processes: &[(u32, bool)]) {
    let pids: Vec<u32> = processes.iter().map(|(pid, _)| *pid).collect();
    // Descendants outside the process group are known only as long as their parents live.
    let leaders: Vec<u32> = processes.iter().filter(|(_, leads)| *leads).map(|(pid, _)| *pid).collect();
    let family = family_of(&leaders);
    for (pid, leads) in processes {
        let Some(pid) = Pid::from_raw(pid.cast_signed()) else { continue };
        // The process may already have ended.
        let _ = if *leads { kill_process_group(pid, Signal::KILL) } else { kill_process(pid, Signal::KILL) };
    }
    family.iter().filter(|one| !pids.contains(&one.pid)).for_each(process::kill);
    let is_there = |pid: &u32| {
        let pid = Pid::from_raw(pid.cast_signed());
        pid.is_some_and(|pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)))
    };
    for _ in 0..TRIES {
        if !pids.iter().any(is_there) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// A thread that panicked while holding the lock left the registry consistent.
fn lock() -> MutexGuard<'static, OwnedResources> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}
