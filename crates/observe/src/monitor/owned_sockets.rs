//! The listening sockets that the server's processes hold in one network namespace.

use std::collections::BTreeSet;

use super::netlink::Netlink;
use crate::watch::holders_among;

/// The most processes that are searched.
const PROCESSES_MAX: usize = 256;

/// The listening sockets of processes. Each new listening socket is searched for once, so that readings stay cheap.
#[derive(Debug, Default)]
pub(super) struct OwnedSockets {
    pub(super) owned: BTreeSet<u64>,
    foreign: BTreeSet<u64>,
    /// The processes that were searched.
    searched: Vec<u32>,
}

impl OwnedSockets {
    /// Searches the processes for listening sockets that are new, or for all of them if other processes are to be
    /// searched.
    pub(super) fn update(&mut self, pids: &[u32], netlink: &mut Netlink) {
        let pids = &pids[..pids.len().min(PROCESSES_MAX)];
        let listening = netlink.listening();
        self.owned.retain(|inode| listening.contains(inode));
        self.foreign.retain(|inode| listening.contains(inode));
        if self.searched != pids {
            self.foreign.clear();
            self.searched = pids.to_vec();
        }
        let is_new = |inode: &u64| !self.owned.contains(inode) && !self.foreign.contains(inode);
        let new: BTreeSet<u64> = listening.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let holders = holders_among(&new, pids);
        for inode in new {
            if holders.by_inode.contains_key(&inode) {
                self.owned.insert(inode)
            } else {
                self.foreign.insert(inode)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Goal: sockets that are opened and closed while processes are watched come and go. Without the kernel's module
    /// there are none.
    #[test]
    fn the_listeners_of_a_process_are_followed() {
        let own = [std::process::id()];
        let mut sockets = OwnedSockets::default();
        let mut netlink = Netlink::default();
        let _first = TcpListener::bind("127.0.0.1:0").unwrap();
        sockets.update(&own, &mut netlink);
        let before = sockets.owned.clone();
        if before.is_empty() {
            return;
        }
        let second = TcpListener::bind("127.0.0.1:0").unwrap();
        sockets.update(&own, &mut netlink);
        assert!(!sockets.owned.is_subset(&before), "{:?}", sockets.owned);
        drop(second);
        // No process has this number: the kernel's maximum is 2²².
        sockets.update(&[1 << 23], &mut netlink);
        assert!(sockets.foreign.is_disjoint(&sockets.owned));
    }
}
