//! What this process has started and made on the machine, known in one place, so that any thread can end all of it.
//!
//! Values such as [`crate::RunningSut`] end what is theirs when they are dropped. A program that has to end at once, while
//! its main thread is busy, drops nothing: then [`end_all`] does it. Whatever is started is started under the lock of the
//! list, so that nothing is started past it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::cgroup::{kill_groups, remove_groups};
use crate::process::{self, family_of};

/// Processes that were killed are waited for so many times [`PAUSE`].
const TRIES: u32 = 400;

const PAUSE: Duration = Duration::from_millis(5);

static STARTED: Mutex<Started> = Mutex::new(Started { n_made: 0, things: BTreeMap::new() });

/// Everything that there is now, by number in the order in which it was made.
#[derive(Debug)]
struct Started {
    n_made: u64,
    things: BTreeMap<u64, Thing>,
}

/// Something that must not outlive this process.
#[derive(Debug)]
enum Thing {
    /// A child, and whether it leads a process group of its own.
    Process { pid: u32, leads: bool },
    /// A control group.
    Group(PathBuf),
    /// A folder with what is in it.
    Folder(PathBuf),
}

/// An entry of the list. Dropping it takes it off: its thing has ended or is going to.
#[derive(Debug)]
pub struct Entry(u64);

impl Drop for Entry {
    fn drop(&mut self) {
        lock().things.remove(&self.0);
    }
}

/// Proof that all has been ended; nothing is started as long as it lives.
#[must_use = "once it is dropped, other threads can start something again"]
#[derive(Debug)]
pub struct AllEnded(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, Started>);

/// Starts a process that is in the list as long as the entry lives. `leads` says whether it leads a process group.
pub fn start(leads: bool, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, Entry)> {
    keep(spawn, |child| Thing::Process { pid: child.id(), leads })
}

/// Makes a control group, likewise.
pub fn make_group(path: &Path) -> io::Result<Entry> {
    keep(|| fs::create_dir(path), |()| Thing::Group(path.to_owned())).map(|((), entry)| entry)
}

/// Makes a folder that did not exist, likewise.
pub fn make_folder(path: &Path) -> io::Result<Entry> {
    keep(|| fs::create_dir(path), |()| Thing::Folder(path.to_owned())).map(|((), entry)| entry)
}

fn keep<T>(make: impl FnOnce() -> io::Result<T>, thing: impl FnOnce(&T) -> Thing) -> io::Result<(T, Entry)> {
    let mut started = lock();
    let made = make()?;
    let number = started.n_made;
    started.n_made += 1;
    started.things.insert(number, thing(&made));
    Ok((made, Entry(number)))
}

/// Kills every process that was started and is still there, with all that it started, and removes control groups and
/// folders; takes some milliseconds. For an end at once: whoever can drops the values instead, which asks servers to end.
pub fn end_all() -> AllEnded {
    let started = lock();
    let (mut processes, mut groups, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    for thing in started.things.values() {
        match thing {
            Thing::Process { pid, leads } => processes.push((*pid, *leads)),
            Thing::Group(path) => groups.push(path.clone()),
            Thing::Folder(path) => folders.push(path),
        }
    }
    if !processes.is_empty() {
        kill(&processes);
    }
    kill_groups(&groups);
    remove_groups(&groups);
    folders.into_iter().for_each(|folder| remove_folder(folder));
    AllEnded(started)
}

/// Removes a folder in which a thread that knows of nothing may be writing still, or removing: once the folder is gone,
/// its next step fails.
fn remove_folder(folder: &Path) {
    for _ in 0..TRIES {
        // An error may be about one of its files only, which the other thread was quicker to remove.
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Kills children with their descendants and collects them. A child that was not collected keeps its number, so nobody
/// else is met.
fn kill(processes: &[(u32, bool)]) {
    let pids: Vec<u32> = processes.iter().map(|(pid, _)| *pid).collect();
    // Those that have left the process group are known as descendants only as long as their parents live.
    let leaders: Vec<u32> = processes.iter().filter(|(_, leads)| *leads).map(|(pid, _)| *pid).collect();
    let family = family_of(&leaders);
    for (pid, leads) in processes {
        let Some(pid) = Pid::from_raw(pid.cast_signed()) else { continue };
        // One that has ended already is what we want.
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

/// A thread that panicked while it held the list left it whole.
fn lock() -> MutexGuard<'static, Started> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}
