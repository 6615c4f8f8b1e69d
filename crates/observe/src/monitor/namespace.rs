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

/// A monitor of the network namespace of a group of processes. It follows the group into another namespace, as when a
/// container is started again.
#[derive(Debug)]
pub struct NetworkMachine {
    /// The group's label.
    label: String,
    groups: WatchedGroups,
    /// Address that the load goes to.
    target: IpAddr,
    open: Option<OpenNetwork>,
    buffer: Vec<u8>,
}

/// Files and sockets of one namespace that stay open between readings.
#[derive(Debug)]
struct OpenNetwork {
    /// A process in it.
    pid: u32,
    files: Vec<(KernelFile, Parse)>,
    /// The interface that the load arrives at.
    route: Option<String>,
    netlink: Netlink,
    sockets: OwnedSockets,
}

impl NetworkMachine {
    /// Returns monitors of the groups that are in other network namespaces than this process, one for each group.
    pub fn all(groups: &WatchedGroups, target: IpAddr) -> Vec<NetworkMachine> {
        let is_other = |pids: &[u32]| pids.first().is_some_and(|pid| Namespace::of(*pid).is_other());
        let others = groups.processes().into_iter().filter(|(_, pids)| is_other(pids));
        let network = |(label, _): (String, Vec<u32>)| NetworkMachine {
            label,
            groups: groups.clone(),
            target,
            open: None,
            buffer: Vec::new(),
        };
        others.map(network).collect()
    }

    /// Returns its name in series: `network of port=8080`.
    pub fn name(&self) -> String {
        format!("network of {}", self.label)
    }

    fn pids(&self) -> Vec<u32> {
        let groups = self.groups.processes();
        groups.into_iter().find(|(label, _)| *label == self.label).map(|(_, pids)| pids).unwrap_or_default()
    }
}

impl ResourceMonitor for NetworkMachine {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let pids = self.pids();
        if self.open.as_ref().is_none_or(|open| pids.binary_search(&open.pid).is_err()) {
            self.open = pids.first().map(|pid| OpenNetwork::new(*pid, self.target));
        }
        let Some(open) = &mut self.open else {
            let reason = "none of its processes is running".to_owned();
            return Err(MonitorError { watched: self.name(), reason });
        };
        open.read(&pids, &mut self.buffer, into);
        Ok(())
    }
}

impl OpenNetwork {
    fn new(pid: u32, target: IpAddr) -> OpenNetwork {
        let open = |(name, parse): &(&str, Parse)| {
            Some((KernelFile::open(format!("/proc/{pid}/net/{name}")).ok()?, *parse))
        };
        OpenNetwork {
            pid,
            files: NET_FILES.iter().filter_map(open).collect(),
            route: Namespace::of(pid).interface_of(target),
            netlink: Netlink::within(pid),
            sockets: OwnedSockets::default(),
        }
    }

    fn read(&mut self, pids: &[u32], buffer: &mut Vec<u8>, into: &mut Vec<Reading>) {
        for (file, parse) in &self.files {
            if let Some(text) = file.text_in(buffer) {
                parse(&text, into);
            }
        }
        into.extend(self.route.iter().map(|interface| Reading::of(Counter::NetRoute, interface.clone(), 1)));
        self.sockets.update(pids, &mut self.netlink);
        self.netlink.read(
            &ListenerChoice::Of { ports: &[], owned: &self.sockets.owned },
            || vec![pids.to_vec()],
            into,
        );
    }
}
