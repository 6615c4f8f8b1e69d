//! The control groups that a process is in, from the text of `/proc/PID/cgroup`.

use std::path::{Path, PathBuf};

use super::group::ControllerFiles;
use super::hierarchy::{CgroupVersion, Controller};
use crate::kernel_file;

/// The control groups of a process, one for each hierarchy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupMembership {
    /// The hierarchies with their paths, as the kernel lists them.
    paths: Vec<GroupPath>,
}

/// The group of a process in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupPath {
    /// The controllers of the hierarchy; `name=systemd` is one by name, version 2 has none.
    controllers: Vec<String>,
    /// The path below the mount, with a leading slash.
    path: String,
}

/// The directory of a group in one hierarchy, with the group's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupDirectory {
    /// The path below the mount: `/system.slice/nginx.service`; `/` for the outermost that is seen.
    pub(crate) path: String,
    /// The directory and its controllers.
    pub(crate) files: ControllerFiles,
}

/// A hierarchy as it is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupMount {
    /// Its version.
    pub version: CgroupVersion,
    /// Its controllers by name; version 2 has none.
    controllers: Vec<String>,
    /// Its root.
    pub root: PathBuf,
}

/// The ways in which container engines name the groups of their containers: text before the id, and after it.
///
/// Source: the recorded texts in the tests, of docker, podman, containerd, CRI-O, and their systemd drivers.
const CONTAINER_NAMES: [(&str, &str); 6] = [
    ("docker-", ".scope"),
    ("libpod-", ".scope"),
    ("cri-containerd-", ".scope"),
    ("nerdctl-", ".scope"),
    ("crio-", ".scope"),
    ("libpod-", ""),
];

/// The groups directly above a container's where its own has no prefix. The groups of pods begin with `pod`.
const CONTAINER_PARENTS: [&str; 4] = ["docker", "libpod_parent", "lxc", "default"];

/// The length of ids that need neither a prefix nor a parent to be recognized.
const ID_CHARS: usize = 64;

/// The name of the program that supervises a container of podman or CRI-O; it has a group of its own.
const SUPERVISOR: &str = "conmon-";

impl CgroupMembership {
    /// Reads the groups of a process; without any if they cannot be read.
    pub fn of(pid: u32) -> CgroupMembership {
        kernel_file::read(format!("/proc/{pid}/cgroup")).map(|text| parse(&text)).unwrap_or_default()
    }

    /// Parses the text of `/proc/PID/cgroup`; accepts any text.
    pub(crate) fn parse(text: &str) -> CgroupMembership {
        parse(text)
    }

    /// Returns the path of the innermost systemd service, with its name; a manager of a user's services is none.
    pub fn service(&self) -> Option<(&str, &str)> {
        let of_path = |path| {
            let found = prefixes(path).filter(|(_, name)| name.ends_with(".service")).last();
            found.filter(|(_, name)| !name.starts_with("user@"))
        };
        self.all().find_map(of_path)
    }

    /// Returns the path of the unit with this name.
    pub fn unit(&self, name: &str) -> Option<&str> {
        self.all().find_map(|path| prefixes(path).find(|(_, part)| *part == name).map(|(path, _)| path))
    }

    /// Returns the path of the container's group, with its id.
    pub fn container(&self) -> Option<(&str, &str)> {
        self.all().find_map(container_in)
    }

    /// Returns the id of the container that this process supervises without being in it.
    pub fn supervised(&self) -> Option<&str> {
        self.all().find_map(|path| {
            let name = path.trim_end_matches(".scope").rsplit('/').next()?;
            name.split_once(SUPERVISOR).map(|(_, id)| id).filter(|id| is_hex(id))
        })
    }

    /// Returns whether the process is in the group with this path, or below it, in any hierarchy.
    pub fn is_within(&self, group: &str) -> bool {
        let below = |path: &str| {
            path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.all().any(below)
    }

    /// Returns the directories of its groups, as far as they are not roots. Below `within`, that group is meant instead
    /// of those inside it.
    pub fn directories(&self, mounts: &[CgroupMount], within: Option<&str>) -> Vec<ControllerFiles> {
        let directory = |mount: &CgroupMount| {
            let one = self.paths.iter().find(|one| mount.holds(one))?;
            let is_inside = |outer: &&str| self_or_below(&one.path, outer);
            let path = within.filter(is_inside).unwrap_or(&one.path);
            // A path outside of the namespace of control groups has no directory here.
            let is_usable = path != "/" && !path.starts_with("/..");
            is_usable.then(|| mount.files(path))
        };
        mounts.iter().filter_map(directory).collect()
    }

    /// Returns the directories of all groups whose limits apply to it, for each hierarchy from the innermost, as far as they
    /// are below a mount: its groups and those above them.
    ///
    /// Version 1 limits the disk traffic of a group's own processes alone. Source: Linux,
    /// Documentation/admin-guide/cgroup-v1/blkio-controller.rst, hierarchical cgroups.
    pub(crate) fn limiting_groups(&self, mounts: &[CgroupMount]) -> Vec<GroupDirectory> {
        let all = mounts.iter().flat_map(|mount| {
            let own = self.paths.iter().find(|one| mount.holds(one));
            let own = own.filter(|one| !one.path.starts_with("/.."));
            let is_flat =
                mount.version == CgroupVersion::V1 && mount.known_controllers().contains(&Controller::Blkio);
            let paths = own.into_iter().flat_map(|one| Path::new(&one.path).ancestors());
            let paths = paths.take(if is_flat { 1 } else { usize::MAX }).filter_map(Path::to_str);
            paths.map(move |path| GroupDirectory { path: path.to_owned(), files: mount.files(path) })
        });
        all.collect()
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|one| one.path.as_str())
    }
}

impl CgroupMount {
    /// Returns the mounted hierarchies of this machine.
    pub fn all() -> Vec<CgroupMount> {
        kernel_file::read("/proc/self/mounts").map(|text| parse_mounts(&text)).unwrap_or_default()
    }

    /// Parses the text of `/proc/self/mounts`; accepts any text.
    pub(crate) fn parse(text: &str) -> Vec<CgroupMount> {
        parse_mounts(text)
    }

    fn holds(&self, one: &GroupPath) -> bool {
        match self.version {
            CgroupVersion::V2 => one.controllers.is_empty(),
            CgroupVersion::V1 => {
                !one.controllers.is_empty()
                    && one.controllers.iter().all(|name| self.controllers.contains(name))
            }
        }
    }

    /// Returns the directory of the group with this path.
    fn files(&self, path: &str) -> ControllerFiles {
        ControllerFiles {
            version: self.version,
            controllers: self.known_controllers(),
            directory: self.root.join(path.trim_start_matches('/')),
        }
    }

    fn known_controllers(&self) -> Vec<Controller> {
        let is_known =
            |controller: &Controller| self.controllers.iter().any(|name| name == controller.name());
        match self.version {
            CgroupVersion::V2 => Controller::ALL.to_vec(),
            CgroupVersion::V1 => Controller::ALL.into_iter().filter(is_known).collect(),
        }
    }
}

/// Parses lines `number:controllers:path`.
fn parse(text: &str) -> CgroupMembership {
    let one = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let controllers = controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        path.starts_with('/').then(|| GroupPath { controllers, path: path.trim_end().to_owned() })
    };
    CgroupMembership { paths: text.lines().filter_map(one).collect() }
}

/// Parses lines `device mount kind options …`. Version 1 lists its controllers among the options.
fn parse_mounts(text: &str) -> Vec<CgroupMount> {
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let root = fields.next()?;
        let kind = fields.next()?;
        let options = fields.next()?;
        let version = match kind {
            "cgroup" => CgroupVersion::V1,
            "cgroup2" => CgroupVersion::V2,
            _ => return None,
        };
        let controllers = match version {
            CgroupVersion::V1 => options.split(',').map(str::to_owned).collect(),
            CgroupVersion::V2 => Vec::new(),
        };
        Some(CgroupMount { version, controllers, root: PathBuf::from(root) })
    };
    text.lines().filter_map(mount).collect()
}

fn self_or_below(path: &str, outer: &str) -> bool {
    Path::new(path).starts_with(outer)
}

/// Returns all groups on a path, from the outermost, each with its last part.
fn prefixes(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    ends.filter_map(|end| {
        let prefix = &path[..end];
        let name = prefix.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some((prefix, name))
    })
}

/// Returns the group of the outermost container on a path, with its id.
fn container_in(path: &str) -> Option<(&str, &str)> {
    let mut parent = "";
    for (prefix, name) in prefixes(path) {
        if let Some(id) = container_id(parent, name) {
            return Some((prefix, id));
        }
        parent = name;
    }
    None
}

fn container_id<'a>(parent: &str, name: &'a str) -> Option<&'a str> {
    if name.contains(SUPERVISOR) {
        return None;
    }
    let named = CONTAINER_NAMES
        .iter()
        .find_map(|(before, after)| name.strip_prefix(before)?.strip_suffix(after).filter(|id| is_hex(id)));
    // A slice of systemd that the runtime made by itself: `kubepods-burstable-podUID.slice:cri-containerd:ID`.
    let colons =
        name.rsplit_once(":cri-containerd:").or_else(|| name.rsplit_once(":libpod:")).map(|(_, id)| id);
    let is_below_engine = CONTAINER_PARENTS.contains(&parent) || parent.starts_with("pod");
    let is_whole = name.len() == ID_CHARS && is_hex(name);
    let payload = name.strip_prefix("lxc.payload.");
    named.or(colons).or(payload).or_else(|| (is_whole || is_below_engine).then_some(name))
}

fn is_hex(text: &str) -> bool {
    12 <= text.len() && text.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2a9c1d5e6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";

    #[track_caller]
    fn check(text: &str, container: Option<(&str, &str)>) {
        let text = text.replace("ID", ID);
        let membership = parse(&text);
        let expected = container.map(|(path, id)| (path.replace("ID", ID), id.replace("ID", ID)));
        let found = membership.container().map(|(path, id)| (path.to_owned(), id.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    /// Recorded: docker with the systemd and the cgroupfs driver, on either version.
    #[test]
    fn containers_of_docker_are_found() {
        check("0::/system.slice/docker-ID.scope\n", Some(("/system.slice/docker-ID.scope", "ID")));
        check("0::/docker/ID\n", Some(("/docker/ID", "ID")));
        check(
            "12:pids:/docker/ID\n11:cpuset:/docker/ID\n4:cpu,cpuacct:/docker/ID\n1:name=systemd:/docker/ID\n\
             0::/system.slice/containerd.service\n",
            Some(("/docker/ID", "ID")),
        );
        // The engine's own daemon is none.
        check("0::/system.slice/docker.service\n", None);
    }

    /// Recorded: rootful, rootless, and in a pod; the supervisor is not in the container.
    #[test]
    fn containers_of_podman_are_found() {
        check(
            "0::/machine.slice/libpod-ID.scope/container\n",
            Some(("/machine.slice/libpod-ID.scope", "ID")),
        );
        check(
            "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope/container\n",
            Some(("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope", "ID")),
        );
        check("5:memory:/libpod_parent/libpod-ID\n0::/\n", Some(("/libpod_parent/libpod-ID", "ID")));
        let supervisor = "0::/machine.slice/libpod-conmon-ID.scope\n";
        check(supervisor, None);
        assert_eq!(parse(&supervisor.replace("ID", ID)).supervised(), Some(ID));
        assert_eq!(parse("0::/machine.slice/libpod-conmon-x.scope").supervised(), None);
    }

    /// Recorded: `ctr`, `nerdctl`, and Kubernetes with either driver.
    #[test]
    fn containers_of_containerd_are_found() {
        check("0::/default/web\n", Some(("/default/web", "web")));
        check("0::/system.slice/nerdctl-ID.scope\n", Some(("/system.slice/nerdctl-ID.scope", "ID")));
        let pod = "kubepods-burstable-pod1a2b3c4d_0001.slice";
        let path = format!("/kubepods.slice/kubepods-burstable.slice/{pod}/cri-containerd-ID.scope");
        check(&format!("0::{path}\n"), Some((&path, "ID")));
        let path = "/kubepods/besteffort/pod1a2b3c4d-0001/ID";
        check(&format!("9:memory:{path}\n8:cpu,cpuacct:{path}\n1:name=systemd:{path}\n"), Some((path, "ID")));
        let path = format!("/system.slice/containerd.service/{pod}:cri-containerd:ID");
        check(&format!("3:cpu,cpuacct:{path}\n"), Some((&path, "ID")));
        check("0::/system.slice/containerd.service\n", None);
    }

    #[test]
    fn processes_without_a_container_have_none() {
        for text in ["", "0::/\n", "0::/init.scope\n", "0::/system.slice/nginx.service\n", "x\n0:\n::\n"] {
            check(text, None);
        }
    }

    /// Recorded: a service on version 2 and on version 1, a user's service, a session.
    #[test]
    fn services_are_found() {
        let service =
            |text: &str| parse(text).service().map(|(path, name)| (path.to_owned(), name.to_owned()));
        let nginx = Some(("/system.slice/nginx.service".to_owned(), "nginx.service".to_owned()));
        assert_eq!(service("0::/system.slice/nginx.service\n"), nginx);
        assert_eq!(service("0::/system.slice/nginx.service/workers\n"), nginx);
        assert_eq!(
            service(
                "4:cpu,cpuacct:/\n3:memory:/system.slice/nginx.service\n1:name=systemd:/system.slice/nginx.service\n0::/"
            ),
            nginx
        );
        let user = "/user.slice/user-1000.slice/user@1000.service/app.slice";
        let own = service(&format!("0::{user}/web.service\n")).unwrap();
        assert_eq!(own, (format!("{user}/web.service"), "web.service".to_owned()));
        assert_eq!(service(&format!("0::{user}/vte-spawn-1.scope\n")), None);
        assert_eq!(service("0::/user.slice/user-1000.slice/session-2.scope\n"), None);
        let session = parse("0::/user.slice/user-1000.slice/session-2.scope\n");
        assert_eq!(session.unit("session-2.scope"), Some("/user.slice/user-1000.slice/session-2.scope"));
        assert_eq!(session.unit("user.slice"), Some("/user.slice"));
        assert_eq!(session.unit("slice"), None);
        assert!(session.is_within("/user.slice") && !session.is_within("/user"));
    }

    #[test]
    fn ancestors_are_listed_from_the_innermost_of_each_hierarchy() {
        let mounts = parse_mounts(
            "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/blkio cgroup rw,blkio 0 0\n\
             cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0",
        );
        let found = |text: &str| {
            let all = parse(text).limiting_groups(&mounts);
            all.iter().map(|one| one.files.directory.display().to_string()).collect::<Vec<_>>()
        };
        let base = "/sys/fs/cgroup";
        assert_eq!(
            found("3:blkio:/a/b\n2:cpu:/a/b\n0::/x\n"),
            ["cpu/a/b", "cpu/a", "cpu/", "blkio/a/b", "unified/x", "unified/"]
                .map(|path| format!("{base}/{path}"))
        );
        // In a namespace of control groups its own group is the root; one outside has no directory.
        assert_eq!(found("2:cpu:/\n0::/../x\n"), [format!("{base}/cpu/")]);
        let paths: Vec<String> =
            parse("2:cpu:/a/b").limiting_groups(&mounts).into_iter().map(|one| one.path).collect();
        assert_eq!(paths, ["/a/b", "/a", "/"]);
    }

    /// Mounts recorded from a machine with both versions, and from one with version 2 alone.
    #[test]
    fn directories_are_those_below_the_mounts() {
        let both = "\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0";
        let member = parse("3:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/a\n0::/a/b/c\n");
        let found = |within| {
            let files = member.directories(&parse_mounts(both), within);
            files.into_iter().map(|one| one.directory.display().to_string()).collect::<Vec<_>>()
        };
        let base = "/sys/fs/cgroup";
        assert_eq!(
            found(None),
            [format!("{base}/memory/a/b"), format!("{base}/systemd/a"), format!("{base}/unified/a/b/c")]
        );
        assert_eq!(
            found(Some("/a/b")),
            [format!("{base}/memory/a/b"), format!("{base}/systemd/a"), format!("{base}/unified/a/b")]
        );
        let unified = parse_mounts("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nsdelegate 0 0");
        assert_eq!(parse("0::/../../x\n").directories(&unified, None), []);
        let files = parse("0::/s/a.service\n").directories(&unified, None);
        assert_eq!(
            (files[0].version, files[0].directory.to_str()),
            (CgroupVersion::V2, Some("/sys/fs/cgroup/s/a.service"))
        );
    }
}
