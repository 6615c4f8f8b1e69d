//! The processes of another machine, found in the texts that its shell prints.

use std::collections::{BTreeMap, BTreeSet};

use super::container_names::ContainerNames;
use crate::cgroup::{CgroupMembership, CgroupMount, GroupDirectory};
use crate::monitor::netlink::Service;
use crate::process::{ProcessStat, parse_stat};
use crate::watch::{
    Listener, ProcessSelector, common_directories, is_meant, parse_listeners, unix_listeners,
};

/// The commands that print what is needed to find processes: status and control groups of all processes, the mounts of
/// control groups, listening sockets (TCP: state `0A`, without a remote port; Unix: flag `__SO_ACCEPTCON`), and the processes
/// that hold sockets.
/// Connections are left out: a busy machine has tens of thousands.
pub(super) const FIND_COMMANDS: &str = "\
LC_ALL=C grep -s '' /proc/[0-9]*/stat /proc/[0-9]*/cgroup /dev/null </dev/null
LC_ALL=C grep -s ' cgroup' /proc/self/mounts /dev/null </dev/null
LC_ALL=C grep -s ':0000 0A ' /proc/net/tcp /proc/net/tcp6 /dev/null </dev/null
LC_ALL=C grep -s ' 00010000 ' /proc/net/unix /dev/null </dev/null
LC_ALL=C ls -l /proc/[0-9]*/fd 2>/dev/null </dev/null | LC_ALL=C sed -n -e '/^\\/proc\\//p' -e 's/.*socket:/socket:/p'
";

/// The beginnings of the lines of mounts and of Unix sockets.
const MOUNTS: &str = "/proc/self/mounts:";
const UNIX: &str = "/proc/net/unix:";

/// The processes of a machine at one moment.
#[derive(Debug, Default)]
pub(super) struct ProcessView {
    stats: BTreeMap<u32, ProcessStat>,
    groups: BTreeMap<u32, CgroupMembership>,
    mounts: Vec<CgroupMount>,
    names: ContainerNames,
    listeners: Vec<Listener>,
    /// Listening Unix sockets, as in `/proc/net/unix`.
    unix: String,
    /// The processes that hold each socket.
    holders: BTreeMap<u64, BTreeSet<u32>>,
}

impl ProcessView {
    /// Parses the output of the commands above, and of those for names of containers; accepts any text.
    pub(super) fn parse(printed: &str) -> ProcessView {
        let mut view = ProcessView::default();
        let mut cgroups: BTreeMap<u32, String> = BTreeMap::new();
        let mut tables = String::new();
        let mut mounts = String::new();
        let mut folder: Option<u32> = None;
        for line in printed.lines() {
            if let Some(pid) = line.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/fd:")) {
                folder = pid.parse().ok();
            } else if let Some((pid, name, text)) = of_process(line) {
                match name {
                    "stat" => view.stats.extend(parse_stat(text).map(|(_, stat)| (pid, stat))),
                    "cgroup" => cgroups.entry(pid).or_default().extend([text, "\n"]),
                    "cmdline" => view.names.take_command(pid, text),
                    _ => {}
                }
            } else if let Some(mount) = line.strip_prefix(MOUNTS) {
                mounts.extend([mount, "\n"]);
            } else if let Some(row) = line.strip_prefix(UNIX) {
                view.unix.extend([row, "\n"]);
            } else if let Some(row) = of_table(line) {
                tables.extend([row, "\n"]);
            } else if let Some((pid, inode)) = folder.zip(socket(line)) {
                view.holders.entry(inode).or_default().insert(pid);
            } else {
                view.names.take_line(line);
            }
        }
        view.groups = cgroups.into_iter().map(|(pid, text)| (pid, CgroupMembership::parse(&text))).collect();
        view.mounts = CgroupMount::parse(&mounts);
        view.listeners = parse_listeners(&tables);
        view
    }

    /// Returns the selected processes with their descendants, and the other processes of their service or container;
    /// empty if there are none, or this user may not see them.
    pub(super) fn select(&self, selector: &ProcessSelector) -> BTreeSet<u32> {
        match selector {
            ProcessSelector::Port(port) => self.with_group(self.on_port(&self.listeners, *port)),
            ProcessSelector::Pid(pid) => self.family([*pid].into()),
            ProcessSelector::Unit(name) => self.within(|groups| groups.unit(name).is_some()),
            ProcessSelector::Cgroup(path) => self.within(|groups| groups.is_within(path)),
            ProcessSelector::Container(name) => {
                let named = self.names.ids_of(name);
                self.within(|groups| groups.container().is_some_and(|(_, id)| is_meant(name, &named, id)))
            }
        }
    }

    /// Returns the processes that listen for connections to a service on that machine; `near` are the listening TCP sockets in
    /// the network of its clients. Unix sockets are those in the network of that account.
    pub(super) fn listening(&self, service: &Service, near: &[Listener]) -> BTreeSet<u32> {
        match service {
            Service::Port { number, .. } => self.on_port(near, *number),
            Service::Socket(path) => self.holding(unix_listeners(&self.unix, path)),
        }
    }

    /// Adds the other processes of the service or container of these ones, and the descendants. A proxy for a port that docker
    /// publishes only stands for the processes of a container.
    pub(super) fn with_group(&self, leaders: BTreeSet<u32>) -> BTreeSet<u32> {
        if let Some(ids) = leaders.iter().find_map(|pid| self.names.published_by(*pid)) {
            return self.within(|groups| groups.container().is_some_and(|(_, id)| ids.contains(id)));
        }
        let whole = leaders.iter().find_map(|pid| {
            let groups = self.groups.get(pid)?;
            groups.container().or_else(|| groups.service()).map(|(path, _)| path)
        });
        let of_group = self.within(|groups| whole.is_some_and(|path| groups.is_within(path)));
        self.family(leaders.into_iter().chain(of_group).collect())
    }

    /// Returns the processes whose control groups match.
    fn within(&self, matches: impl Fn(&CgroupMembership) -> bool) -> BTreeSet<u32> {
        self.groups.iter().filter(|(_, groups)| matches(groups)).map(|(pid, _)| *pid).collect()
    }

    /// Returns the numbers of the sockets that these processes hold.
    pub(super) fn sockets_of(&self, members: &BTreeSet<u32>) -> BTreeSet<u64> {
        let is_held = |(_, holders): &(&u64, &BTreeSet<u32>)| !holders.is_disjoint(members);
        self.holders.iter().filter(is_held).map(|(inode, _)| *inode).collect()
    }

    /// Returns the directories of control groups, and of those above, that hold all of these processes.
    pub(super) fn directories_of(&self, members: &BTreeSet<u32>) -> Vec<GroupDirectory> {
        common_directories(members.iter().filter_map(|pid| self.groups.get(pid)), &self.mounts)
    }

    fn on_port(&self, listeners: &[Listener], port: u16) -> BTreeSet<u32> {
        let listening = listeners.iter().filter(|listener| listener.address.port() == port);
        self.holding(listening.map(|listener| listener.inode))
    }

    /// Returns the processes that hold one of these sockets. Process 1 holds the sockets of services that it starts.
    fn holding(&self, sockets: impl Iterator<Item = u64>) -> BTreeSet<u32> {
        let holders = sockets.filter_map(|inode| self.holders.get(&inode)).flatten();
        holders.copied().filter(|pid| *pid != 1).collect()
    }

    /// Adds the descendants of processes; leaves out those that do not exist.
    fn family(&self, mut members: BTreeSet<u32>) -> BTreeSet<u32> {
        loop {
            let is_new = |stat: &&ProcessStat| members.contains(&stat.parent) && !members.contains(&stat.pid);
            let new: Vec<u32> = self.stats.values().filter(is_new).map(|stat| stat.pid).collect();
            if new.is_empty() {
                break;
            }
            members.extend(new);
        }
        members.retain(|pid| self.stats.contains_key(pid));
        members
    }
}

/// Splits a line `/proc/12/stat:TEXT` into the number of the process, the file below its folder, and the text.
pub(super) fn of_process(line: &str) -> Option<(u32, &str, &str)> {
    let (path, text) = line.strip_prefix("/proc/")?.split_once(':')?;
    let (pid, name) = path.split_once('/')?;
    Some((pid.parse().ok()?, name, text))
}

/// Returns the row of a table of sockets.
fn of_table(line: &str) -> Option<&str> {
    line.strip_prefix("/proc/net/tcp:").or_else(|| line.strip_prefix("/proc/net/tcp6:"))
}

/// Parses `socket:[4711]`, which some versions of `ls` put between quotes.
fn socket(line: &str) -> Option<u64> {
    line.strip_prefix("socket:[")?.trim_end().trim_end_matches('\'').strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded: nginx as a service with a worker, its cache loader outside of the group, a shell, a supervisor that
    /// holds the socket, too.
    const PRINTED: &str = "\
/proc/1/stat:1 (systemd) S 0 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5 5 6 7
/proc/10/stat:10 (nginx) S 1 10 10 0 -1 4 0 0 0 0 10 5 0 0 20 0 1 0 5 5 6 7
/proc/11/stat:11 (nginx) S 10 10 10 0 -1 4 0 0 0 0 10 5 0 0 20 0 1 0 5 5 6 7
/proc/12/stat:12 (helper) S 1 12 12 0 -1 4 0 0 0 0 10 5 0 0 20 0 1 0 5 5 6 7
/proc/20/stat:20 (sh) S 1 20 20 0 -1 4 0 0 0 0 10 5 0 0 20 0 1 0 5 5 6 7
/proc/1/cgroup:0::/init.scope
/proc/10/cgroup:0::/system.slice/nginx.service
/proc/11/cgroup:0::/system.slice/nginx.service
/proc/12/cgroup:0::/system.slice/nginx.service
/proc/20/cgroup:0::/user.slice/user-0.slice/session-1.scope
/proc/self/mounts:cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0
/proc/net/tcp:  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
/proc/net/tcp:   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
/proc/net/unix:0000000000000000: 00000002 00000000 00010000 0001 01 4900 /run/php/php8.2 fpm.sock
/proc/net/unix:0000000000000000: 00000003 00000000 00000000 0001 03 4901 /run/php/ 00010000 
/proc/1/fd:
socket:[4711]
/proc/10/fd:
socket:[4711]
socket:[4800]'
/proc/11/fd:
socket:[4711]
/proc/20/fd:
socket:[4900]
socket:[4901]
";

    #[test]
    fn processes_are_selected_as_on_this_machine() {
        let view = ProcessView::parse(PRINTED);
        let select = |text: &str| view.select(&text.parse().unwrap()).into_iter().collect::<Vec<_>>();
        assert_eq!(select("port=8080"), [10, 11, 12]);
        assert_eq!(select("port=8081"), [0_u32; 0]);
        assert_eq!(select("pid=10"), [10, 11]);
        assert_eq!(select("pid=4000"), [0_u32; 0]);
        assert_eq!(select("unit=nginx"), [10, 11, 12]);
        assert_eq!(select("cgroup=/user.slice"), [20]);
        assert_eq!(select("container=ffff"), [0_u32; 0]);
        assert_eq!(socket("socket:[4800]'"), Some(4800));
        let socket = |path: &str| view.listening(&Service::Socket(path.to_owned()), &[]);
        assert_eq!(socket("/run/php/php8.2 fpm.sock"), [20].into());
        assert_eq!(socket("/run/php/ 00010000 "), [].into(), "it does not listen");
        let port = Service::Port { number: 8080, is_here: true };
        assert_eq!(view.listening(&port, &view.listeners), [10, 11].into());
        assert_eq!(view.listening(&port, &[]), [].into(), "another network");
        let id = "3f2a9c1d5e6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";
        let contained = ProcessView::parse(&format!(
            "{PRINTED}/proc/21/cgroup:0::/system.slice/docker-{id}.scope\n\
             /var/lib/docker/containers/{id}/config.v2.json:\"Name\":\"/web\"\n"
        ));
        for text in ["container=web", "container=3f2a9c"] {
            assert_eq!(contained.select(&text.parse().unwrap()), [21].into(), "{text}");
        }
        // Process 20 is docker's proxy for port 8082, and 21 the server in the container behind it.
        let proxy = format!(
            "{PRINTED}/proc/net/tcp:   1: 00000000:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4901 1 0 100 0 0 10 0\n\
             /proc/21/cgroup:0::/system.slice/docker-{id}.scope\n\
             /proc/20/cmdline:/usr/bin/docker-proxy\0-container-ip\x00172.17.0.2\0-container-port\080\0\n"
        );
        let address =
            format!("/var/lib/docker/containers/{id}/config.v2.json:\"IPAddress\":\"172.17.0.2\"\n");
        let behind = |printed: &str| ProcessView::parse(printed).select(&"port=8082".parse().unwrap());
        assert_eq!(behind(&(proxy.clone() + &address)), [21].into());
        assert_eq!(behind(&proxy), [].into(), "this account may not see its address");
        let proxied = ProcessView::parse(&(proxy + &address));
        assert_eq!(proxied.with_group([20].into()), [21].into(), "as of a back end");
        assert_eq!(view.sockets_of(&[10].into()), [4711, 4800].into());
        assert_eq!(view.sockets_of(&[12].into()), [].into());
        let directories = |pids: &[u32]| -> Vec<String> {
            let found = view.directories_of(&pids.iter().copied().collect());
            found.iter().map(|one| one.files.directory.display().to_string()).collect()
        };
        let slice = "/sys/fs/cgroup/system.slice";
        assert_eq!(directories(&[10, 11]), [&*format!("{slice}/nginx.service"), slice, "/sys/fs/cgroup/"]);
        assert_eq!(directories(&[10, 20]), ["/sys/fs/cgroup/"]);
    }
}
