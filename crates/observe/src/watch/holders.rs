//! The processes that hold sockets, by the links in `/proc/PID/fd`.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::all_pids;

/// The maximum number of open files that are examined of a process: listeners are among the first ones.
const FILES_MAX: usize = 4096;

/// The maximum number of processes whose sockets are collected.
const PROCESSES_MAX: usize = 256;

/// The sockets of processes, as far as this user may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SocketHolders {
    /// The processes of each wanted socket, by its number.
    pub(crate) by_inode: BTreeMap<u64, Vec<u32>>,
    /// Number of processes whose files this user may not see.
    pub(crate) n_hidden: usize,
}

/// Searches all processes for those that hold one of the sockets. It takes about a microsecond for each open file of
/// the machine.
pub(crate) fn holders_of(inodes: &BTreeSet<u64>) -> SocketHolders {
    holders_among(inodes, &all_pids())
}

/// Searches these processes alone.
pub(crate) fn holders_among(inodes: &BTreeSet<u64>, pids: &[u32]) -> SocketHolders {
    let mut holders = SocketHolders::default();
    for pid in pids {
        let Some(sockets) = sockets_of(*pid) else {
            holders.n_hidden += 1;
            continue;
        };
        for inode in sockets.filter(|inode| inodes.contains(inode)) {
            let known = holders.by_inode.entry(inode).or_default();
            // A process may hold a socket twice.
            if known.last() != Some(pid) {
                known.push(*pid);
            }
        }
    }
    holders
}

/// Returns the numbers of all sockets that these processes hold, as far as this user may see them; of the first
/// [`PROCESSES_MAX`] alone.
pub(crate) fn sockets_held_by(pids: &[u32]) -> BTreeSet<u64> {
    pids.iter().take(PROCESSES_MAX).filter_map(|pid| sockets_of(*pid)).flatten().collect()
}

/// Returns this process and its children, some of which may be load agents; without them where the kernel does not list them.
pub(crate) fn own_processes() -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let mut own = vec![std::process::id()];
    own.extend(
        children
            .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()),
    );
    own
}

/// Returns the numbers of a process's sockets; `None` if this user may not see them.
fn sockets_of(pid: u32) -> Option<impl Iterator<Item = u64>> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    Some(entries.flatten().take(FILES_MAX).filter_map(|entry| {
        let target = std::fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    }))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::sockets::listeners_near;
    use super::*;

    /// Not with kernels that do not list children.
    #[test]
    fn children_are_among_the_own_processes() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = own_processes();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(own[0], std::process::id());
        let is_listed = std::fs::read_dir("/proc/self/task")
            .unwrap()
            .flatten()
            .any(|thread| thread.path().join("children").exists());
        assert_eq!(own.contains(&child.id()), is_listed);
    }

    #[test]
    fn the_holder_of_a_listener_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let twin = listener.try_clone().unwrap();
        let own = std::process::id();
        let listed = listeners_near(own);
        let inode = listed.iter().find(|one| one.address == address).unwrap().inode;
        assert_eq!(holders_of(&BTreeSet::from([inode])).by_inode[&inode], [own]);
        drop((listener, twin));
        assert_eq!(holders_among(&BTreeSet::from([inode]), &[own]).by_inode.len(), 0);
    }
}
