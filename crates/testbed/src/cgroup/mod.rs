//! A control group for the system under test: its CPU quota, the account of its CPU time, and its end.
//!
//! Version 1 keeps one hierarchy per controller (`cpu` holds back, `cpuacct` counts), version 2 has
//! one for all. Where no group can be made, the reason is a text that the disclosure shows.

mod hierarchy;
mod quota;
mod stat;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hierarchy::{Hierarchies, Version};
pub use quota::Limit;
pub use stat::Account;

use crate::system_file;

/// Beginning of the names of all our groups; the number of the process that made it follows.
const PREFIX: &str = "plimsoll-";

/// Moves itself into the groups named by its first two arguments and becomes the rest.
///
/// A process that is moved from outside could have had children before; this one is inside before
/// the server's first instruction, and needs no code between fork and exec of our own.
pub const ENTER: &str =
    r#"echo $$ > "$1/cgroup.procs" && echo $$ > "$2/cgroup.procs" && shift 2 && exec "$@""#;

/// Why there is no group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoGroup(String);

/// A control group of our own. Dropping it ends what still runs in it and removes it.
#[derive(Debug)]
pub struct Group {
    version: Version,
    /// Version 1: in `cpu`, in `cpuacct`. Version 2: the same twice.
    directories: [PathBuf; 2],
    limit: Option<Limit>,
}

impl Group {
    /// Makes a group whose processes get `quota` CPUs' worth of time together, or as much as there is.
    ///
    /// # Errors
    /// With the reason if this machine or this user's rights do not allow it.
    pub fn create(quota: Option<f64>) -> Result<Group, NoGroup> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("{PREFIX}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let hierarchies = Hierarchies::of_this_process();
        let mut reason =
            NoGroup("no control group hierarchy with the `cpu` controller is mounted".to_owned());
        for parents in hierarchies.parents() {
            match Group::create_below(&parents, &name, quota, hierarchies.version()) {
                Ok(group) => return Ok(group),
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    fn create_below(
        parents: &[PathBuf; 2],
        name: &str,
        quota: Option<f64>,
        version: Version,
    ) -> Result<Group, NoGroup> {
        let limit = quota.map(Limit::new);
        if limit.is_some() && version == Version::V2 {
            hand_down_cpu_controller(&parents[0])?;
        }
        let [cpu, cpuacct] = [parents[0].join(name), parents[1].join(name)];
        let make = |directory: &PathBuf| fs::create_dir(directory).map_err(|error| no(directory, &error));
        make(&cpu)?;
        // From here on the value's drop removes what was made, and nothing that was there before.
        let mut group = Group { version, directories: [cpu.clone(), cpu.clone()], limit };
        if cpuacct != cpu {
            make(&cpuacct)?;
            group.directories[1] = cpuacct;
        }
        if let Some(limit) = limit {
            write_limit(version, &group.directories[0], limit)?;
        }
        group.probe()?;
        Ok(group)
    }

    /// Lets a process enter and leave again: rights and the rule against inner processes show only then.
    fn probe(&self) -> Result<(), NoGroup> {
        let mut command = Command::new("sh");
        command.args(["-c", ENTER, "sh"]).args(&self.directories).arg("true");
        let output = command.stdin(Stdio::null()).output().map_err(|error| no(Path::new("sh"), &error))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(NoGroup(format!("a process cannot enter {}: {}", self.directories[0].display(), said.trim())))
    }

    /// Returns the two arguments that [`ENTER`] takes.
    pub fn directories(&self) -> &[PathBuf; 2] {
        &self.directories
    }

    /// Opens the account of CPU time.
    pub fn account(&self) -> Option<Account> {
        Account::open(self.version, &self.directories)
    }

    /// Returns how processes are held, for the disclosure.
    pub fn description(&self) -> String {
        let version = self.version.name();
        match self.limit {
            None => format!("none; CPU time counted by {version}"),
            Some(limit) => {
                format!("{limit}, held by {version} ({} in {} µs)", limit.quota_us, limit.period_us)
            }
        }
    }

    /// Kills every process in the group and waits, a second at most, until it is empty.
    pub fn kill(&self) {
        kill_all(&self.directories);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        kill_all(&self.directories);
        remove(&self.directories);
    }
}

/// Returns our groups whose makers are gone, on all hierarchies.
pub fn stale() -> Vec<PathBuf> {
    let parents = Hierarchies::of_this_process().parents();
    let mut found: Vec<PathBuf> = parents.iter().flatten().flat_map(|parent| stale_below(parent)).collect();
    found.sort();
    found.dedup();
    found
}

/// Kills what runs in stale groups and removes them.
pub fn remove_stale(groups: &[PathBuf]) {
    kill_all(groups);
    remove(groups);
}

fn stale_below(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stale =
        names.filter(|name| maker(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
    stale.map(|name| parent.join(name)).collect()
}

/// Returns the process that made the group of a name; `None` if the name is not one of ours.
fn maker(name: &str) -> Option<u32> {
    let (pid, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Version 2: a group hands its controllers down only when told to.
fn hand_down_cpu_controller(parent: &Path) -> Result<(), NoGroup> {
    let path = parent.join("cgroup.subtree_control");
    let controllers = system_file::read(&path).unwrap_or_default();
    if controllers.split(' ').any(|name| name == "cpu") {
        return Ok(());
    }
    fs::write(&path, "+cpu").map_err(|error| no(&path, &error))
}

fn write_limit(version: Version, directory: &Path, limit: Limit) -> Result<(), NoGroup> {
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| no(&path, &error))
    };
    match version {
        Version::V1 => {
            write("cpu.cfs_period_us", limit.period_us.to_string())?;
            write("cpu.cfs_quota_us", limit.quota_us.to_string())
        }
        Version::V2 => write("cpu.max", format!("{} {}", limit.quota_us, limit.period_us)),
    }
}

fn members(directory: &Path) -> Vec<u32> {
    let text = system_file::read(directory.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn kill_all(directories: &[PathBuf]) {
    for _ in 0..200 {
        let pids: Vec<u32> = directories.iter().flat_map(|directory| members(directory)).collect();
        if pids.is_empty() {
            return;
        }
        for pid in pids.into_iter().filter_map(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // One that is gone already is what we want.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn remove(directories: &[PathBuf]) {
    for directory in directories {
        // The kernel lets go of a group a moment after its last process.
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

fn no(path: &Path, error: &std::io::Error) -> NoGroup {
    NoGroup(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_own_groups_tell_a_maker() {
        assert_eq!(maker("plimsoll-4711-0"), Some(4711));
        for name in ["plimsoll-4711", "plimsoll-x-1", "system.slice", "plimsoll-1-x", "other-1-1"] {
            assert_eq!(maker(name), None, "{name}");
        }
    }

    /// Goal: groups of a killed run are found and those of a living one are left alone.
    #[test]
    fn a_group_is_stale_when_its_maker_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        // No process has this number: the kernel's highest is 2²² = 4194304.
        let dead = parent.path().join("plimsoll-4194305-0");
        let living = parent.path().join(format!("plimsoll-{}-0", std::process::id()));
        fs::create_dir(&dead).unwrap();
        fs::create_dir(&living).unwrap();
        assert_eq!(stale_below(parent.path()), std::slice::from_ref(&dead));
        remove_stale(&stale_below(parent.path()));
        assert!(!dead.exists() && living.exists());
    }

    /// An ordinary directory stands for the kernel's: what is written is what the kernel would read.
    #[test]
    fn a_limit_is_written_as_each_version_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let text = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        write_limit(Version::V1, directory.path(), Limit::new(0.25)).unwrap();
        assert_eq!((text("cpu.cfs_quota_us"), text("cpu.cfs_period_us")), ("2500".into(), "10000".into()));
        write_limit(Version::V2, directory.path(), Limit::new(1.5)).unwrap();
        assert_eq!(text("cpu.max"), "15000 10000");
        let error = write_limit(Version::V2, Path::new("/nowhere"), Limit::new(1.0)).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/cpu.max: "), "{error}");
    }

    #[test]
    fn the_cpu_controller_is_handed_down_once() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("cgroup.subtree_control");
        fs::write(&path, "cpuset memory\n").unwrap();
        hand_down_cpu_controller(parent.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "+cpu");
        fs::write(&path, "cpuset cpu memory\n").unwrap();
        hand_down_cpu_controller(parent.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "cpuset cpu memory\n");
    }

    /// Goal: with the right to make groups, a group is made, holds a process from its first instruction on, and is
    /// gone with it afterwards. Without that right a reason is given.
    #[test]
    fn a_group_ends_with_what_runs_in_it() {
        let group = match Group::create(Some(0.5)) {
            Ok(group) => group,
            Err(why) => return assert!(!why.to_string().is_empty()),
        };
        let directories = group.directories.clone();
        let mut command = Command::new("sh");
        command.args(["-c", ENTER, "sh"]).args(&directories).args(["sh", "-c", "echo in; read forever"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 3];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        assert!(directories.iter().all(|directory| members(directory) == [child.id()]));
        let collector = std::thread::spawn(move || child.wait().unwrap());
        drop(group);
        assert!(!collector.join().unwrap().success());
        assert!(directories.iter().all(|directory| !directory.exists()));
    }
}
