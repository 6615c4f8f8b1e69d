//! Processes that a test starts by itself are found, followed through a restart, and counted by their control group.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use model::{Counter, Reading};
use observe::cgroup::{CgroupVersion, Controller, hierarchies};
use observe::{LocalMachine, ProcessSelector, ResourceMonitor, WatchedTargets};
use units::{Clock, Nanos, RealClock};

/// The longest that anything here may take.
const PATIENCE: Nanos = Nanos::from_secs(30);

/// A process that ends with the value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = RealClock::start();
    while !is_so() {
        assert!(clock.now() < PATIENCE, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn watching(selector: &str) -> LocalMachine {
    let selectors: [ProcessSelector; 1] = [selector.parse().unwrap()];
    LocalMachine::new(None).watching(WatchedTargets::select(&selectors).unwrap())
}

fn read(machine: &mut LocalMachine, counter: Counter, instance: &str) -> Option<u64> {
    let mut readings: Vec<Reading> = Vec::new();
    machine.read(&mut readings).unwrap();
    readings.iter().find(|one| one.counter == counter && one.instance == instance).map(|one| one.value)
}

fn serve(port: u16) -> Ended {
    let mut command = Command::new("python3");
    command.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = Ended(child.expect("install it with `apt-get install python3`"));
    wait_for("the server answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

/// Goal: a server that is started again during a run, by somebody else, is found again, and its totals do not fall.
#[test]
fn a_restarted_server_is_found_again() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let first = serve(port);
    let label = format!("port={port}");
    let mut machine = watching(&label);
    assert_eq!(read(&mut machine, Counter::SutProcesses, &label), Some(1));
    let faults = read(&mut machine, Counter::SutMinorFaults, &label).unwrap();
    drop(first);
    assert_eq!(read(&mut machine, Counter::SutProcesses, &label), Some(0));
    let _second = serve(port);
    wait_for("it is found", || read(&mut machine, Counter::SutProcesses, &label) == Some(1));
    assert!(faults <= read(&mut machine, Counter::SutMinorFaults, &label).unwrap());
}

/// A control group of CPU time that a test made; it is removed with the value, after its processes.
struct CpuGroup {
    directories: Vec<PathBuf>,
    process: Option<Ended>,
}

impl CpuGroup {
    /// Makes a group that may use a tenth of a CPU; `None` where this user may not.
    fn limited(name: &str) -> Option<CpuGroup> {
        let mut group = CpuGroup { directories: Vec::new(), process: None };
        for hierarchy in hierarchies() {
            let has = |controller| hierarchy.controllers.contains(&controller);
            if !has(Controller::Cpu) && !has(Controller::Cpuacct) {
                continue;
            }
            // The path must be the same in all hierarchies, so that it is made below the mount.
            let directory = hierarchy.parents.last()?.join(name);
            fs::create_dir(&directory).ok()?;
            group.directories.push(directory.clone());
            if has(Controller::Cpu) {
                limit(hierarchy.version, &directory)?;
            }
        }
        (!group.directories.is_empty()).then_some(group)
    }

    /// Makes a group below it, without a limit of its own; `None` where version 2 would not let it limit CPU time.
    fn inner(&self, name: &str) -> Option<CpuGroup> {
        let mut inner = CpuGroup { directories: Vec::new(), process: None };
        for directory in &self.directories {
            let directory = directory.join(name);
            fs::create_dir(&directory).ok()?;
            inner.directories.push(directory);
        }
        Some(inner)
    }

    /// Starts a busy process in it.
    fn occupy(&mut self) {
        let mut command = Command::new("sh");
        command.args(["-c", "read go; while :; do :; done"]).stdin(Stdio::piped());
        let mut busy = Ended(command.spawn().unwrap());
        for directory in &self.directories {
            fs::write(directory.join("cgroup.procs"), busy.0.id().to_string()).unwrap();
        }
        drop(busy.0.stdin.take());
        self.process = Some(busy);
    }
}

fn limit(version: CgroupVersion, directory: &Path) -> Option<()> {
    match version {
        CgroupVersion::V1 => {
            fs::write(directory.join("cpu.cfs_period_us"), "20000").ok()?;
            fs::write(directory.join("cpu.cfs_quota_us"), "2000").ok()
        }
        CgroupVersion::V2 => fs::write(directory.join("cpu.max"), "2000 20000").ok(),
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        drop(self.process.take());
        for directory in &self.directories {
            let clock = RealClock::start();
            // The kernel takes a moment until an ended process has left.
            while fs::remove_dir(directory).is_err() && clock.now() < Nanos::from_secs(2) {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
}

/// Goal: where a control group holds the processes alone, its quota is seen to be used up, whether the group itself was
/// selected or a process in it. Only those who may make groups can check it.
#[test]
fn throttling_is_counted_where_a_control_group_holds_the_processes_alone() {
    let name = format!("plimsoll-test-watched-{}", std::process::id());
    let Some(mut group) = CpuGroup::limited(&name) else { return };
    group.occupy();
    let pid = group.process.as_ref().unwrap().0.id();
    for label in [format!("cgroup=/{name}"), format!("pid={pid}")] {
        let mut machine = watching(&label);
        assert_eq!(read(&mut machine, Counter::SutProcesses, &label), Some(1));
        wait_for("the quota is used up", || {
            read(&mut machine, Counter::SutThrottledPeriods, &label).is_some_and(|periods| 0 < periods)
        });
        // The kernel adds the time when it is over.
        wait_for("the throttled time counts", || {
            read(&mut machine, Counter::SutThrottled, &label).is_some_and(|micros| 0 < micros)
        });
        assert!(read(&mut machine, Counter::SutCpuUser, &label).is_some());
        // Another process enters the group: what it counts is not the selected process's own any more.
        let other = Ended(Command::new("sleep").arg("1000").spawn().unwrap());
        for directory in &group.directories {
            fs::write(directory.join("cgroup.procs"), other.0.id().to_string()).unwrap();
        }
        let expected = label.starts_with("cgroup").then_some(2);
        let n = |machine: &mut LocalMachine| read(machine, Counter::SutProcesses, &label);
        wait_for("it is noticed", || match expected {
            Some(_) => n(&mut machine) == expected,
            None => read(&mut machine, Counter::SutCpuUser, &label).is_none(),
        });
        // Its quota is used up all the same.
        assert!(read(&mut machine, Counter::SutThrottledPeriods, &label).is_some());
    }
}

/// Goal: a limit that somebody changes while it is watched is read as it is then, and its use with it.
#[test]
fn limits_in_force_are_read_again() {
    let name = format!("plimsoll-test-changed-{}", std::process::id());
    let Some(mut group) = CpuGroup::limited(&name) else { return };
    group.occupy();
    let label = format!("pid={}", group.process.as_ref().unwrap().0.id());
    let mut machine = watching(&label);
    let set = |[version_1, version_2]: [&str; 2]| {
        let old =
            group.directories.iter().any(|one| fs::write(one.join("cpu.cfs_quota_us"), version_1).is_ok());
        assert!(old || fs::write(group.directories[0].join("cpu.max"), version_2).is_ok());
    };
    let quota = |machine: &mut LocalMachine| read(machine, Counter::SutQuota, &label);
    assert_eq!(quota(&mut machine), Some(100_000));
    set(["-1", "max 20000"]);
    assert_eq!(quota(&mut machine), None);
    // 6 ms of 20 ms.
    set(["6000", "6000 20000"]);
    assert_eq!(quota(&mut machine), Some(300_000));
    wait_for("the quota is used up", || {
        read(&mut machine, Counter::SutThrottledPeriods, &label).is_some_and(|periods| 0 < periods)
    });
}

/// Goal: a quota of a group above that of the processes, which others share, is their limit in force, and it is seen to be
/// used up by whoever used it. Only those who may make groups can check it.
#[test]
fn a_quota_of_a_group_above_is_a_limit_in_force() {
    let name = format!("plimsoll-test-shared-{}", std::process::id());
    let Some(mut outer) = CpuGroup::limited(&name) else { return };
    let Some((mut web, mut beside)) = outer.inner("web").zip(outer.inner("beside")) else { return };
    web.occupy();
    beside.occupy();
    let label = format!("pid={}", web.process.as_ref().unwrap().0.id());
    let mut machine = watching(&label);
    // 2 ms of 20 ms.
    assert_eq!(read(&mut machine, Counter::SutQuota, &label), Some(100_000));
    wait_for("the quota is used up", || {
        read(&mut machine, Counter::SutThrottledPeriods, &label).is_some_and(|periods| 10 < periods)
    });
    // Both processes use it, and the selected one at most as much as both.
    let used = |machine: &mut LocalMachine, counter| read(machine, counter, &label).unwrap();
    assert!(0 < used(&mut machine, Counter::SutQuotaCpu));
    assert!(used(&mut machine, Counter::SutCpu) <= used(&mut machine, Counter::SutQuotaCpu));
    let selectors: [ProcessSelector; 1] = [label.parse().unwrap()];
    let described = WatchedTargets::select(&selectors).unwrap().describe();
    let told: Vec<(&str, &str)> =
        described[0].limits.iter().map(|limit| (&*limit.resource, &*limit.value)).collect();
    let expected = format!("0.1 CPUs, set by control group /{name}");
    assert!(told.contains(&("CPU quota", &expected)), "{told:?}");
    drop((web, beside));
    outer.process = None;
}
