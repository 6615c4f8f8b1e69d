//! The network of a case: loopback, a namespace with a link to this machine, or a namespace for server and generator.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::case::{RunMode, SampleCase};
use super::setting::Setting;
use crate::namespace::{NetworkNamespace, command_in};
use crate::shell::run;

/// The network of a case. Dropping it removes its link and its namespace.
#[derive(Debug)]
pub(super) struct CaseNetwork {
    namespace: Option<NetworkNamespace>,
    /// This machine's end of the link.
    interface: Option<String>,
    /// Whether the generator is in the namespace, too.
    is_shared: bool,
    /// The address of the server.
    pub host: String,
}

impl CaseNetwork {
    /// Makes the network that a case needs.
    pub(super) fn make(case: &SampleCase, setting: &Setting) -> Result<CaseNetwork> {
        let mut network =
            CaseNetwork { namespace: None, interface: None, is_shared: true, host: "127.0.0.1".to_owned() };
        if setting.is_linked {
            let namespace = NetworkNamespace::make()?;
            match case.mode {
                RunMode::Recipe => limit("lo", setting.link, Some(&namespace))?,
                _ => network.link(&namespace)?,
            }
            network.namespace = Some(namespace);
            network.throttle(setting)?;
        } else if let Some(ports) = setting.ports {
            let namespace = NetworkNamespace::make()?;
            let range = format!("net.ipv4.ip_local_port_range=40000 {}", 39_999 + ports);
            namespace.run(&["sysctl", "-qw", &range])?;
            network.namespace = Some(namespace);
        }
        Ok(network)
    }

    /// Returns the words before a command that is to run beside the server.
    pub(super) fn server_prefix(&self) -> Vec<&str> {
        self.namespace.as_ref().map(|namespace| namespace.prefix().to_vec()).unwrap_or_default()
    }

    /// Returns a command for the load generator.
    pub(super) fn generator_command(&self, program: &Path) -> Command {
        command_in(self.namespace.as_ref().filter(|_| self.is_shared), program)
    }

    /// Replaces what a case has on its way by what it has there next.
    pub(super) fn switch(&self, before: &Setting, next: &Setting) -> Result<()> {
        if let Some((interface, namespace)) = self.ends() {
            lift("eth0", before.link, Some(namespace))?;
            lift(interface, before.generator_link, None)?;
            if before.loss.or(before.packets).is_some() {
                namespace.run(&["nft", "delete table ip throttle"])?;
            }
        }
        self.throttle(next)
    }

    /// Sets what a case has on the way between its linked ends.
    fn throttle(&self, setting: &Setting) -> Result<()> {
        let Some((interface, namespace)) = self.ends() else { return Ok(()) };
        limit("eth0", setting.link, Some(namespace))?;
        limit(interface, setting.generator_link, None)?;
        filter(setting, namespace)
    }

    /// Returns this machine's end of the link, and the namespace of the other; `None` without a link.
    fn ends(&self) -> Option<(&str, &NetworkNamespace)> {
        self.interface.as_deref().zip(self.namespace.as_ref())
    }

    /// Links the namespace with this machine.
    fn link(&mut self, namespace: &NetworkNamespace) -> Result<()> {
        // Addresses and names differ from those of other cases at the same time, also of other processes.
        let pid = std::process::id();
        let number = namespace.number();
        let third = pid & 255;
        let fourth = (number & 63) * 4;
        let near = format!("10.199.{third}.{}", fourth + 1);
        let far = format!("10.199.{third}.{}", fourth + 2);
        let interface = format!("plim{}-{}", pid % 10_000_000, number & 63);
        let link = ["link", "add", &interface];
        let peer = ["type", "veth", "peer", "name", "eth0"];
        run(Command::new("ip").args(link).args(peer).args(["netns", namespace.name()]))?;
        self.interface = Some(interface.clone());
        run(Command::new("ip").args(["addr", "add", &format!("{near}/30"), "dev", &interface]))?;
        run(Command::new("ip").args(["link", "set", &interface, "up"]))?;
        namespace.run(&["ip", "addr", "add", &format!("{far}/30"), "dev", "eth0"])?;
        namespace.run(&["ip", "link", "set", "eth0", "up"])?;
        (self.host, self.is_shared) = (far, false);
        Ok(())
    }
}

/// Limits the rate of what an interface sends, which is in a namespace or on this machine.
fn limit(interface: &str, kilobits: Option<u32>, namespace: Option<&NetworkNamespace>) -> Result<()> {
    let Some(kilobits) = kilobits else { return Ok(()) };
    let rate = format!("{kilobits}kbit");
    let discipline = ["root", "tbf", "rate", &rate, "burst", "64kb", "latency", "100ms"];
    let mut command = command_in(namespace, Path::new("tc"));
    run(command.args(["qdisc", "add", "dev", interface]).args(discipline))
}

/// Lifts the limit on what an interface sends, if it has one.
fn lift(interface: &str, kilobits: Option<u32>, namespace: Option<&NetworkNamespace>) -> Result<()> {
    match kilobits {
        None => Ok(()),
        Some(_) => {
            let mut command = command_in(namespace, Path::new("tc"));
            run(command.args(["qdisc", "delete", "dev", interface, "root"]))
        }
    }
}

/// Drops packets to the server: a share of them, or those beyond a rate.
fn filter(setting: &Setting, namespace: &NetworkNamespace) -> Result<()> {
    let rules = [
        setting.loss.map(|percent| format!("numgen random mod 100 < {percent} drop")),
        setting.packets.map(|rate| format!("limit rate over {rate}/second burst 20 packets drop")),
    ];
    for rule in rules.into_iter().flatten() {
        namespace.run(&["nft", "add table ip throttle"])?;
        namespace.run(&["nft", "add chain ip throttle input { type filter hook input priority 0; }"])?;
        namespace.run(&["nft", &format!("add rule ip throttle input iifname eth0 {rule}")])?;
    }
    Ok(())
}

impl Drop for CaseNetwork {
    fn drop(&mut self) {
        // With the namespace the link would end too, but later.
        if let Some(interface) = &self.interface {
            let _ = run(Command::new("ip").args(["link", "delete", interface]));
        }
    }
}
