//! Mount points of control groups, and this process's place in them.

use std::path::{Path, PathBuf};

use crate::kernel_file;

/// The two generations of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// A hierarchy per controller, or per set of controllers.
    V1,
    /// One hierarchy for all.
    V2,
}

impl CgroupVersion {
    /// Returns the name for the disclosure.
    pub fn name(self) -> &'static str {
        match self {
            CgroupVersion::V1 => "cgroup v1",
            CgroupVersion::V2 => "cgroup v2",
        }
    }
}

/// A resource controller, with the divisions of version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Limits CPU time.
    Cpu,
    /// Accounts CPU time.
    Cpuacct,
    /// Accounts and limits memory.
    Memory,
    /// Accounts and limits disk traffic.
    Blkio,
    /// Restricts the usable CPUs.
    Cpuset,
}

impl Controller {
    /// All of them, required ones first.
    pub const ALL: [Controller; 5] =
        [Controller::Cpu, Controller::Cpuacct, Controller::Memory, Controller::Blkio, Controller::Cpuset];

    /// Returns the name in version 1.
    pub(super) fn name(self) -> &'static str {
        match self {
            Controller::Cpu => "cpu",
            Controller::Cpuacct => "cpuacct",
            Controller::Memory => "memory",
            Controller::Blkio => "blkio",
            Controller::Cpuset => "cpuset",
        }
    }

    /// Returns the name in version 2, where CPU time is always accounted.
    pub fn name_v2(self) -> Option<&'static str> {
        match self {
            Controller::Cpu => Some("cpu"),
            Controller::Cpuacct => None,
            Controller::Memory => Some("memory"),
            Controller::Blkio => Some("io"),
            Controller::Cpuset => Some("cpuset"),
        }
    }

    /// Returns whether a group is useless without it.
    pub fn is_needed(self) -> bool {
        matches!(self, Controller::Cpu | Controller::Cpuacct)
    }
}

/// A hierarchy, and the groups in it that can be parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Its generation.
    pub version: CgroupVersion,
    /// Its controllers that are of use here.
    pub controllers: Vec<Controller>,
    /// Possible parent groups, best first.
    pub parents: Vec<PathBuf>,
}

/// Returns the hierarchies of the controllers used here; empty if CPU time cannot be accounted and limited.
pub fn hierarchies() -> Vec<Hierarchy> {
    let mounts = kernel_file::read("/proc/self/mounts").unwrap_or_default();
    let own = kernel_file::read("/proc/self/cgroup").unwrap_or_default();
    let mut found = parse(&mounts, &own, |mount| {
        kernel_file::read(mount.join("cgroup.controllers"))
            .is_some_and(|names| names.split(' ').any(|name| name == "cpu"))
    });
    for hierarchy in &mut found {
        hierarchy.parents.retain(|path| path.is_dir());
    }
    found
}

/// Parses `/proc/self/mounts` and `/proc/self/cgroup`; `has_cpu` returns whether a version 2 mount has the
/// controller.
fn parse(mounts: &str, own: &str, has_cpu: impl Fn(&Path) -> bool) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(1);
        let (Some(mount), Some(kind), Some(options)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let mount = Path::new(mount);
        if kind == "cgroup2" && has_cpu(mount) {
            return vec![version_2(mount, own)];
        }
        let has = |controller: &Controller| {
            kind == "cgroup" && options.split(',').any(|option| option == controller.name())
        };
        // A hierarchy that is mounted twice is used once.
        let is_new =
            |controller: &Controller| !found.iter().any(|known| known.controllers.contains(controller));
        let controllers: Vec<_> = Controller::ALL.into_iter().filter(has).filter(is_new).collect();
        if let Some(first) = controllers.first() {
            let parents = distinct([group_path(mount, own, first.name()), mount.to_owned()]);
            found.push(Hierarchy { version: CgroupVersion::V1, controllers, parents });
        }
    }
    let has = |controller| found.iter().any(|known| known.controllers.contains(&controller));
    if has(Controller::Cpu) && has(Controller::Cpuacct) { found } else { Vec::new() }
}

/// Version 2 allows processes only in leaves, so a sibling of this process's group is preferred. In a
/// container that path may not exist below the mount; then only the mount itself is left.
fn version_2(mount: &Path, own: &str) -> Hierarchy {
    let own_path = group_path(mount, own, "");
    let above = own_path.parent().filter(|path| path.starts_with(mount)).unwrap_or(mount).to_owned();
    let parents = distinct([above, own_path, mount.to_owned()]);
    Hierarchy { version: CgroupVersion::V2, controllers: Controller::ALL.to_vec(), parents }
}

/// Finds the line `number:controllers:path` of a controller; version 2 has no controllers in its line.
fn group_path(mount: &Path, own: &str, controller: &str) -> PathBuf {
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    });
    let below = path.unwrap_or("/").trim_start_matches('/');
    // Joining an empty path would add a trailing slash, giving one directory two names.
    if below.is_empty() { mount.to_owned() } else { mount.join(below) }
}

fn distinct(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use Controller::*;

    /// Recorded from a virtual machine whose controllers are all on version 1.
    const V1_MOUNTS: &str = "\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup /sys/fs/cgroup/cpuacct cgroup rw,relatime,cpuacct 0 0
cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0";
    /// Mounted as by systemd with version 1.
    const TOGETHER_MOUNTS: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0";
    const V2_MOUNTS: &str = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0";

    fn v1(controllers: &[Controller], parents: &[&str]) -> Hierarchy {
        let parents = parents.iter().map(PathBuf::from).collect();
        Hierarchy { version: CgroupVersion::V1, controllers: controllers.to_vec(), parents }
    }

    #[test]
    fn version_1_is_found_with_one_mount_per_controller() {
        let own = "4:blkio:/\n3:freezer:/\n2:cpuacct:/\n1:cpu:/jobs/7\n0::/";
        let expected = [
            v1(&[Cpu], &["/sys/fs/cgroup/cpu/jobs/7", "/sys/fs/cgroup/cpu"]),
            v1(&[Cpuacct], &["/sys/fs/cgroup/cpuacct"]),
            v1(&[Blkio], &["/sys/fs/cgroup/blkio"]),
        ];
        assert_eq!(parse(V1_MOUNTS, own, |_| false), expected);
    }

    #[test]
    fn version_1_is_found_with_controllers_mounted_together() {
        let mount = "/sys/fs/cgroup/cpu,cpuacct";
        let found = parse(TOGETHER_MOUNTS, "4:cpu,cpuacct:/user.slice\n1:name=systemd:/x", |_| false);
        assert_eq!(found, [v1(&[Cpu, Cpuacct], &[&format!("{mount}/user.slice"), mount])]);
        let without_cpuacct = TOGETHER_MOUNTS.replace(",cpuacct 0", " 0");
        assert_eq!(parse(&without_cpuacct, "", |_| false), []);
    }

    /// A sibling of this process's group is preferred and the mount comes last.
    #[test]
    fn version_2_is_used_only_with_its_cpu_controller() {
        let parents = |own| parse(V2_MOUNTS, own, |_| true)[0].parents.clone();
        let session = parents("0::/user.slice/session-2.scope");
        let expected =
            ["/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/user.slice/session-2.scope", "/sys/fs/cgroup"];
        assert_eq!(session, expected.map(PathBuf::from));
        // In the root of a container there is no parent, and a path outside is never used.
        assert_eq!(parents("0::/"), [PathBuf::from("/sys/fs/cgroup")]);
        assert_eq!(parse(V2_MOUNTS, "0::/", |_| false), []);
    }
}
