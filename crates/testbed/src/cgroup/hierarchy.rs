//! Where control groups are mounted, and where in them this process is.

use std::path::{Path, PathBuf};

use crate::system_file;

/// The two generations of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy for all.
    V2,
}

impl Version {
    /// Returns the name for the disclosure.
    pub fn name(self) -> &'static str {
        match self {
            Version::V1 => "cgroup v1",
            Version::V2 => "cgroup v2",
        }
    }
}

/// The hierarchies that can limit and count CPU time, with this process's own place in each.
#[derive(Debug, PartialEq, Eq)]
pub enum Hierarchies {
    /// Neither version has a `cpu` controller that could be used.
    None,
    /// Version 1.
    V1 { cpu: Place, cpuacct: Place },
    /// Version 2.
    V2(Place),
}

/// A hierarchy and a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    mount: PathBuf,
    own: PathBuf,
}

impl Hierarchies {
    /// Looks where this process is.
    pub fn of_this_process() -> Hierarchies {
        let mounts = system_file::read("/proc/self/mounts").unwrap_or_default();
        let own = system_file::read("/proc/self/cgroup").unwrap_or_default();
        parse(&mounts, &own, |mount| {
            system_file::read(mount.join("cgroup.controllers"))
                .is_some_and(|names| names.split(' ').any(|name| name == "cpu"))
        })
    }

    /// Returns the version that is in use.
    pub fn version(&self) -> Version {
        match self {
            Hierarchies::V2(_) => Version::V2,
            Hierarchies::None | Hierarchies::V1 { .. } => Version::V1,
        }
    }

    /// Returns the places below which a group may be made, best first; two directories each (cpu, cpuacct).
    ///
    /// Version 2 allows processes only in leaves, so a sibling of our own group comes first there; in
    /// a container the own path may not exist below the mount, then the mount itself is what is left.
    pub fn parents(&self) -> Vec<[PathBuf; 2]> {
        match self {
            Hierarchies::None => Vec::new(),
            Hierarchies::V1 { cpu, cpuacct } => {
                let own = [cpu.own.clone(), cpuacct.own.clone()];
                let root = [cpu.mount.clone(), cpuacct.mount.clone()];
                existing([own, root])
            }
            Hierarchies::V2(place) => {
                let above = place.own.parent().filter(|path| path.starts_with(&place.mount));
                let parents = [above.unwrap_or(&place.mount), &place.own, &place.mount];
                existing(parents.map(|path| [path.to_owned(), path.to_owned()]))
            }
        }
    }
}

fn existing(places: impl IntoIterator<Item = [PathBuf; 2]>) -> Vec<[PathBuf; 2]> {
    let mut found = Vec::new();
    for place in places {
        if place.iter().all(|path| path.is_dir()) && !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

/// Reads `/proc/self/mounts` and `/proc/self/cgroup`; `has_cpu` tells whether a version 2 mount has the controller.
fn parse(mounts: &str, own: &str, has_cpu: impl Fn(&Path) -> bool) -> Hierarchies {
    let mut v2 = None;
    let (mut cpu, mut cpuacct) = (None, None);
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(1);
        let (Some(mount), Some(kind), Some(options)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let mount = Path::new(mount);
        let controls = |name: &str| kind == "cgroup" && options.split(',').any(|option| option == name);
        if kind == "cgroup2" && has_cpu(mount) {
            v2 = Some(place(mount, own, ""));
        }
        if controls("cpu") {
            cpu = Some(place(mount, own, "cpu"));
        }
        if controls("cpuacct") {
            cpuacct = Some(place(mount, own, "cpuacct"));
        }
    }
    match (v2, cpu, cpuacct) {
        (Some(place), ..) => Hierarchies::V2(place),
        (None, Some(cpu), Some(cpuacct)) => Hierarchies::V1 { cpu, cpuacct },
        _ => Hierarchies::None,
    }
}

/// Finds the line `number:controllers:path` of a controller; version 2 has no controllers in its line.
fn place(mount: &Path, own: &str, controller: &str) -> Place {
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    });
    let below = path.unwrap_or("/").trim_start_matches('/');
    // Joining an empty path would add a slash at the end, and then the same place had two names.
    let own = if below.is_empty() { mount.to_owned() } else { mount.join(below) };
    Place { mount: mount.to_owned(), own }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from a virtual machine whose controllers are all on version 1.
    const V1_MOUNTS: &str = "\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup /sys/fs/cgroup/cpuacct cgroup rw,relatime,cpuacct 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0";
    /// As systemd mounts them on version 1.
    const TOGETHER_MOUNTS: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0";
    const V2_MOUNTS: &str = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0";

    fn at(mount: &str, own: &str) -> Place {
        Place { mount: mount.into(), own: own.into() }
    }

    #[test]
    fn version_1_is_found_with_one_mount_per_controller() {
        let own = "3:cpuset:/\n2:cpuacct:/\n1:cpu:/jobs/7\n0::/";
        let expected = Hierarchies::V1 {
            cpu: at("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu/jobs/7"),
            cpuacct: at("/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpuacct"),
        };
        assert_eq!(parse(V1_MOUNTS, own, |_| false), expected);
    }

    #[test]
    fn version_1_is_found_with_controllers_mounted_together() {
        let mount = "/sys/fs/cgroup/cpu,cpuacct";
        let here = at(mount, "/sys/fs/cgroup/cpu,cpuacct/user.slice");
        let found = parse(TOGETHER_MOUNTS, "4:cpu,cpuacct:/user.slice\n1:name=systemd:/x", |_| false);
        assert_eq!(found, Hierarchies::V1 { cpu: here.clone(), cpuacct: here });
    }

    #[test]
    fn version_2_is_taken_only_with_its_cpu_controller() {
        let own = "0::/user.slice/user-1000.slice/session-2.scope";
        let here = "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope";
        assert_eq!(parse(V2_MOUNTS, own, |_| true), Hierarchies::V2(at("/sys/fs/cgroup", here)));
        assert_eq!(parse(V2_MOUNTS, own, |_| false), Hierarchies::None);
    }

    #[test]
    fn on_version_2_a_sibling_comes_first_and_the_mount_last() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("slice/scope");
        std::fs::create_dir_all(&own).unwrap();
        let place = Place { mount: root.path().to_owned(), own: own.clone() };
        let parents: Vec<PathBuf> =
            Hierarchies::V2(place).parents().into_iter().map(|[one, _]| one).collect();
        assert_eq!(parents, [root.path().join("slice"), own, root.path().to_owned()]);
        // In the root of a container there is nothing above, and a path outside is never taken.
        let top = Place { mount: root.path().to_owned(), own: root.path().to_owned() };
        assert_eq!(Hierarchies::V2(top).parents().len(), 1);
    }
}
