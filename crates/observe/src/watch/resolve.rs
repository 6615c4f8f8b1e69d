//! From a selector to processes: those that listen, those of a control group.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use languages::foreign_text;

use super::container_names::{ids_of, is_meant};
use super::holders::holders_of;
use super::namespaces::Namespace;
use super::proxy::published_by;
use super::selector::ProcessSelector;
use super::sockets::{Listener, listeners_near};
use crate::cgroup::CgroupMembership;
use crate::kernel_file;
use crate::process::{ProcessStat, all_pids};

/// The number of containers that a message names, and of the characters of each id, as `docker ps` prints them.
const IDS_SHOWN: usize = 8;
const ID_CHARS_SHOWN: usize = 12;

/// The processes to watch: those at an address, or selected by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SearchScope {
    /// Those that listen where the load goes.
    Target(SocketAddr),
    /// Those that the user selected.
    Selected(ProcessSelector),
    /// Those that listen on the Unix socket with this path, as the kernel lists it.
    Socket(String),
}

/// The processes that were found, before their descendants are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FoundProcesses {
    /// Their ids; sorted, not empty.
    pub(crate) leaders: Vec<u32>,
    /// The path of the control group whose processes all belong to them: of a unit or a container.
    pub(crate) whole: Option<String>,
}

/// The reason why processes cannot be watched, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("watched processes `{sought}`: {problem}")]
pub struct WatchError {
    sought: String,
    problem: WatchProblem,
}

/// A reason why processes cannot be watched, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum WatchProblem {
    #[error("{0} is not an address of this machine")]
    ElsewhereAddress(IpAddr),
    #[error("nothing listens on port {0} of this machine")]
    NoListener(u16),
    #[error(
        "port {port} is listened on in {n} network namespaces\nhint: use `pid=`, `unit=` or `container=`"
    )]
    SeveralNamespaces { port: u16, n: usize },
    /// No process that this user may see listens on the Unix socket with this path.
    #[error("no process was found that listens on {0}")]
    NoSocketHolder(String),
    #[error("no process was found that holds the socket on port {0}")]
    NoPortHolder(u16),
    /// The user of the socket, by number, is another one.
    #[error(
        "the process that listens on port {port} belongs to another user (its socket to user {uid}), and its files \
         cannot be seen\nhint: run as root or as that user, or name the processes: `--watch unit=NAME` or \
         `--watch pid=NUMBER`"
    )]
    HiddenHolder { port: u16, uid: u32 },
    #[error("there is no process {0}")]
    NoProcess(u32),
    #[error("no process belongs to this unit\nhint: `systemctl status {0}` shows whether it runs")]
    EmptyUnit(String),
    #[error("no process is in this control group\nhint: `/proc/PID/cgroup` has the groups of a process")]
    EmptyControlGroup,
    /// None of these containers, of which messages name the first.
    #[error(
        "no container has this name, or an id that begins with it\nhint: {}; only root can read the names given by \
         docker and nerdctl", running_text(.0)
    )]
    NoContainer(Vec<String>),
    #[error("several match: {}\nhint: write the id of one, or more of it", .0.join(", "))]
    SeveralContainers(Vec<String>),
    #[error("this process belongs to it too, so the server's usage cannot be separated")]
    IncludesThisProcess,
}

/// Names the containers that run, by the beginnings of their ids.
fn running_text(ids: &[String]) -> String {
    if ids.is_empty() {
        "no container runs on this machine, as far as this user can see".to_owned()
    } else {
        format!("these run: {}", ids.join(", "))
    }
}

impl std::fmt::Display for SearchScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SearchScope::Target(address) => write!(f, "port={}", address.port()),
            SearchScope::Selected(selector) => selector.fmt(f),
            SearchScope::Socket(path) => write!(f, "socket={path}"),
        }
    }
}

impl SearchScope {
    /// Finds the processes.
    ///
    /// # Errors
    /// There are none, they cannot be told from others, or this user may not see them.
    pub(crate) fn find(&self) -> Result<FoundProcesses, WatchError> {
        let found = match self {
            SearchScope::Target(address) => at(*address),
            SearchScope::Selected(ProcessSelector::Port(port)) => on_port(*port),
            SearchScope::Selected(ProcessSelector::Pid(pid)) => process(*pid),
            SearchScope::Selected(ProcessSelector::Unit(name)) => of_group(
                |groups| groups.unit(name).map(|path| (path.to_owned(), name.clone())),
                |_| WatchProblem::EmptyUnit(name.clone()),
            ),
            SearchScope::Selected(ProcessSelector::Cgroup(path)) => of_group(
                |groups| groups.is_within(path).then(|| (path.clone(), path.clone())),
                |_| WatchProblem::EmptyControlGroup,
            ),
            SearchScope::Selected(ProcessSelector::Container(name)) => in_container(name),
            SearchScope::Socket(path) => on_socket(path),
        };
        found.map_err(|problem| WatchError { sought: self.to_string(), problem })
    }
}

/// Finds the processes that accept connections to an address of this machine.
fn at(target: SocketAddr) -> Result<FoundProcesses, WatchProblem> {
    // A loopback address means that of this process's namespace.
    let namespaces = if target.ip().is_loopback() {
        vec![Namespace::own()]
    } else {
        Namespace::all().into_iter().filter(|one| one.has(target.ip())).collect()
    };
    if namespaces.is_empty() {
        return Err(WatchProblem::ElsewhereAddress(target.ip()));
    }
    let listening: Vec<Listener> = namespaces
        .iter()
        .flat_map(|one| listeners_near(one.pid))
        .filter(|listener| listener.accepts(target))
        .collect();
    holding(&listening, target.port())
}

/// Finds the processes that listen on a port: in the namespace of this process, else in the only other one.
fn on_port(port: u16) -> Result<FoundProcesses, WatchProblem> {
    let listening = |one: &Namespace| -> Vec<Listener> {
        listeners_near(one.pid).into_iter().filter(|listener| listener.address.port() == port).collect()
    };
    let own = listening(&Namespace::own());
    if !own.is_empty() {
        return holding(&own, port);
    }
    let elsewhere: Vec<Vec<Listener>> =
        Namespace::all().iter().skip(1).map(listening).filter(|found| !found.is_empty()).collect();
    match elsewhere.as_slice() {
        [] => Err(WatchProblem::NoListener(port)),
        [only] => holding(only, port),
        several => Err(WatchProblem::SeveralNamespaces { port, n: several.len() }),
    }
}

/// Finds the processes that listen on a Unix socket in the network namespace of this process.
fn on_socket(path: &str) -> Result<FoundProcesses, WatchProblem> {
    let table = kernel_file::read("/proc/self/net/unix").unwrap_or_default();
    let holders = holders_of(&unix_listeners(&table, path).collect());
    let leaders: BTreeSet<u32> = holders.by_inode.into_values().flatten().filter(|pid| *pid != 1).collect();
    if leaders.is_empty() {
        Err(WatchProblem::NoSocketHolder(path.to_owned()))
    } else {
        Ok(with_group(leaders.into_iter().collect()))
    }
}

/// Parses lines `address: references protocol flags type state inode path` of listening sockets, whose flag is
/// `__SO_ACCEPTCON`, and returns their numbers.
pub(crate) fn unix_listeners<'a>(table: &'a str, path: &'a str) -> impl Iterator<Item = u64> + 'a {
    const LISTENS: u32 = 1 << 16;
    table.lines().filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace();
        let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
        let inode = fields.nth(2)?.parse().ok()?;
        (flags & LISTENS != 0 && line.ends_with(path) && fields.next()? == path.split(' ').next()?)
            .then_some(inode)
    })
}

/// Finds the holders of listening sockets. Process 1 of the machine holds the sockets of services that it starts.
fn holding(listening: &[Listener], port: u16) -> Result<FoundProcesses, WatchProblem> {
    let Some(first) = listening.first() else {
        return Err(WatchProblem::NoListener(port));
    };
    let inodes: BTreeSet<u64> = listening.iter().map(|listener| listener.inode).collect();
    let holders = holders_of(&inodes);
    let leaders: BTreeSet<u32> =
        holders.by_inode.values().flatten().copied().filter(|pid| *pid != 1).collect();
    if leaders.is_empty() {
        return Err(match holders.n_hidden {
            0 => WatchProblem::NoPortHolder(port),
            _ => WatchProblem::HiddenHolder { port, uid: first.uid },
        });
    }
    let leaders: Vec<u32> = leaders.into_iter().collect();
    followed(&leaders).unwrap_or_else(|| Ok(with_group(leaders)))
}

/// Follows listeners that only stand for a container: the proxy or the supervisor that an engine starts for a port.
fn followed(leaders: &[u32]) -> Option<Result<FoundProcesses, WatchProblem>> {
    let behind = leaders.iter().find_map(|pid| published_by(*pid));
    if let Some(behind) = behind {
        return Some(at(behind));
    }
    leaders
        .iter()
        .find_map(|pid| CgroupMembership::of(*pid).supervised().map(|id| in_containers(|one| one == id)))
}

/// Adds the control group that holds a service or a container, unless this process is in it, too.
fn with_group(leaders: Vec<u32>) -> FoundProcesses {
    let own = CgroupMembership::of(std::process::id());
    let whole = leaders.iter().find_map(|pid| {
        let groups = CgroupMembership::of(*pid);
        let path = groups.container().or_else(|| groups.service()).map(|(path, _)| path.to_owned())?;
        (!own.is_within(&path)).then_some(path)
    });
    FoundProcesses { leaders, whole }
}

fn process(pid: u32) -> Result<FoundProcesses, WatchProblem> {
    match ProcessStat::of(pid).filter(|stat| stat.state != 'Z') {
        Some(_) => Ok(FoundProcesses { leaders: vec![pid], whole: None }),
        None => Err(WatchProblem::NoProcess(pid)),
    }
}

/// Finds the processes of one group; `matches` returns its path and its name.
fn of_group(
    matches: impl Fn(&CgroupMembership) -> Option<(String, String)>,
    missing: impl Fn(&[u32]) -> WatchProblem,
) -> Result<FoundProcesses, WatchProblem> {
    let pids = all_pids();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut leaders = Vec::new();
    let mut whole = None;
    for pid in &pids {
        if let Some((path, name)) = matches(&CgroupMembership::of(*pid)) {
            leaders.push(*pid);
            whole.get_or_insert(path);
            names.insert(name);
        }
    }
    if 1 < names.len() {
        let names: Vec<String> = names.iter().map(|name| foreign_text(name)).collect();
        return Err(WatchProblem::SeveralContainers(names));
    }
    if leaders.contains(&std::process::id()) {
        return Err(WatchProblem::IncludesThisProcess);
    }
    if leaders.is_empty() { Err(missing(&pids)) } else { Ok(FoundProcesses { leaders, whole }) }
}

/// Finds the processes of a container by its name, or by the beginning of its id if none has that name.
fn in_container(name: &str) -> Result<FoundProcesses, WatchProblem> {
    let named = ids_of(name);
    in_containers(|id| is_meant(name, &named, id))
}

fn in_containers(is_meant: impl Fn(&str) -> bool) -> Result<FoundProcesses, WatchProblem> {
    let matches = |groups: &CgroupMembership| {
        let (path, id) = groups.container()?;
        is_meant(id).then(|| (path.to_owned(), id.to_owned()))
    };
    of_group(matches, missing_container)
}

/// Returns the problem that there is no such container, with those that run.
fn missing_container(pids: &[u32]) -> WatchProblem {
    let short_id = |pid: &u32| -> Option<String> {
        let groups = CgroupMembership::of(*pid);
        Some(groups.container()?.1.chars().take(ID_CHARS_SHOWN).collect())
    };
    let ids: BTreeSet<String> = pids.iter().filter_map(short_id).collect();
    WatchProblem::NoContainer(ids.iter().take(IDS_SHOWN).map(|id| foreign_text(id)).collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;
    use crate::UNUSED_ADDRESS;

    fn problem(selector: &str) -> String {
        SearchScope::Selected(selector.parse().unwrap()).find().unwrap_err().to_string()
    }

    /// Recorded: a listening socket, a connection to it, another listener.
    #[test]
    fn listeners_on_a_unix_socket_are_found_by_their_path() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 32561 /run/php/fpm.sock\n\
                     0000000000000000: 00000003 00000000 00000000 0001 03 32600 /run/php/fpm.sock\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 32700 /run/other.sock\n\
                     0000000000000000: 00000002 00000000 00000000 0002 01 32800\n";
        let found: Vec<u64> = unix_listeners(table, "/run/php/fpm.sock").collect();
        assert_eq!(found, [32561]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s").display().to_string();
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(SearchScope::Socket(path.clone()).find().unwrap().leaders, [std::process::id()]);
        assert_eq!(SearchScope::Socket(path.clone()).to_string(), format!("socket={path}"));
    }

    #[test]
    fn the_listener_at_an_address_is_found_with_its_holder() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = vec![std::process::id()];
        for sought in
            [SearchScope::Target(address), SearchScope::Selected(ProcessSelector::Port(address.port()))]
        {
            assert_eq!(
                sought.find().unwrap(),
                FoundProcesses { leaders: own.clone(), whole: None },
                "{sought}"
            );
        }
        assert_eq!(
            SearchScope::Target(UNUSED_ADDRESS.parse().unwrap()).find().unwrap_err().to_string(),
            "watched processes `port=1`: nothing listens on port 1 of this machine"
        );
    }

    #[test]
    fn a_process_is_found_while_it_lives() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let sought = SearchScope::Selected(ProcessSelector::Pid(child.id()));
        assert_eq!(sought.find().unwrap().leaders, [child.id()]);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(sought.find().is_err());
    }

    /// The address is reserved for documents.
    #[test]
    fn missing_processes_are_reported_with_a_remedy() {
        assert!(problem("unit=no-such-unit").contains("hint: `systemctl status no-such-unit.service`"));
        let container = problem("container=ffffffffffff");
        assert!(container.contains("hint: ") && container.contains("only root"), "{container}");
        assert!(problem("cgroup=/no/such/group").contains("hint: `/proc/PID/cgroup`"));
        let elsewhere = SearchScope::Target("192.0.2.7:80".parse().unwrap()).find().unwrap_err().to_string();
        assert_eq!(elsewhere, "watched processes `port=80`: 192.0.2.7 is not an address of this machine");
    }

    proptest! {
        #[test]
        fn any_table_of_unix_sockets_is_parsed_without_panic(text in "([0-9a-f:/ \\n]|.){0,200}", path in ".{0,20}") {
            unix_listeners(&text, &path).for_each(drop);
        }
    }
}
