//! The network of processes in another network namespace than that of the load: a container on this machine.

use std::net::IpAddr;

use model::{Counter, Reading};

use super::kernel::{NET_FILES, Parse};
use super::netlink::{ListenerChoice, Netlink};
use super::owned_sockets::OwnedSockets;
use super::processes::WatchedGroups;
use super::{MonitorError, ResourceMonitor};
use crate::kernel_file::KernelFile;
use crate::watch::Namespace;

/// A monitor of a network namespace with watched processes. It follows them into another namespace, as when a container
/// is started again.
#[derive(Debug)]
pub struct NetworkMachine {
    /// The labels of the groups of processes in it.
    labels: Vec<String>,
    groups: WatchedGroups,
    /// Address that the load goes to; `None` if it goes to none of these groups.
    target: Option<IpAddr>,
    open: Option<OpenNetwork>,
    buffer: Vec<u8>,
}

/// Files and sockets of one namespace that stay open between readings.
#[derive(Debug)]
struct OpenNetwork {
    /// A process in it.
    pid: u32,
    files: Vec<(KernelFile, Parse)>,
    /// The interface that the load arrives at; `None` if it does not arrive here.
    route: Option<String>,
    netlink: Netlink,
    sockets: OwnedSockets,
}

impl NetworkMachine {
    /// Returns monitors of the network namespaces in which groups are, other than that of this process: one for each
    /// namespace. Load for the address `target` goes to the group with the label `loaded`, if that is one of them.
    pub fn all(groups: &WatchedGroups, target: IpAddr, loaded: Option<&str>) -> Vec<NetworkMachine> {
        let mut found: Vec<(Namespace, NetworkMachine)> = Vec::new();
        for (label, pids) in groups.processes() {
            let namespace = pids.first().map(|pid| Namespace::of(*pid)).filter(Namespace::is_other);
            let Some(namespace) = namespace else { continue };
            let target = (loaded == Some(label.as_str())).then_some(target);
            match found.iter_mut().find(|(known, _)| known.is_same(&namespace)) {
                Some((_, network)) => network.add(label, target),
                None => found.push((namespace, NetworkMachine::new(groups.clone(), label, target))),
            }
        }
        found.into_iter().map(|(_, network)| network).collect()
    }

    fn new(groups: WatchedGroups, label: String, target: Option<IpAddr>) -> NetworkMachine {
        NetworkMachine { labels: vec![label], groups, target, open: None, buffer: Vec::new() }
    }

    fn add(&mut self, label: String, target: Option<IpAddr>) {
        self.labels.push(label);
        self.target = self.target.or(target);
    }

    /// Returns its name in series: `network of port=8080`, `network of port=8080, port=9000`.
    pub fn name(&self) -> String {
        format!("network of {}", self.labels.join(", "))
    }

    /// Returns whether the load arrives in it.
    pub fn is_loaded(&self) -> bool {
        self.target.is_some()
    }

    /// Returns the processes of each of its groups that has any.
    fn processes(&self) -> Vec<Vec<u32>> {
        let is_here = |label: &String, pids: &[u32]| self.labels.contains(label) && !pids.is_empty();
        let groups = self.groups.processes().into_iter().filter(|(label, pids)| is_here(label, pids));
        groups.map(|(_, pids)| pids).collect()
    }
}

impl ResourceMonitor for NetworkMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let groups = self.processes();
        let mut pids = groups.iter().flatten();
        if self.open.as_ref().is_none_or(|open| pids.clone().all(|pid| *pid != open.pid)) {
            self.open = pids.next().map(|pid| OpenNetwork::new(*pid, self.target));
        }
        let Some(open) = &mut self.open else {
            let reason = "none of its processes is running".to_owned();
            return Err(MonitorError { watched: self.name(), reason });
        };
        open.read(groups, &mut self.buffer, into);
        Ok(())
    }
}

impl OpenNetwork {
    fn new(pid: u32, target: Option<IpAddr>) -> OpenNetwork {
        let open = |(name, parse): &(&str, Parse)| {
            Some((KernelFile::open(format!("/proc/{pid}/net/{name}")).ok()?, *parse))
        };
        OpenNetwork {
            pid,
            files: NET_FILES.iter().filter_map(open).collect(),
            route: target.and_then(|target| Namespace::of(pid).interface_of(target)),
            netlink: Netlink::within(pid),
            sockets: OwnedSockets::default(),
        }
    }

    fn read(&mut self, groups: Vec<Vec<u32>>, buffer: &mut Vec<u8>, into: &mut Vec<Reading>) {
        for (file, parse) in &self.files {
            if let Some(text) = file.text_in(buffer) {
                parse(&text, into);
            }
        }
        into.extend(self.route.iter().map(|interface| Reading::of(Counter::NetRoute, interface.clone(), 1)));
        let mut pids: Vec<u32> = groups.iter().flatten().copied().collect();
        pids.sort_unstable();
        self.sockets.update(&pids, &mut self.netlink);
        let choice = ListenerChoice::Of { ports: &[], owned: &self.sockets.owned };
        self.netlink.read(&choice, || groups, into);
    }
}
