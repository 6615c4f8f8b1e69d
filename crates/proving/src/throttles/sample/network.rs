//! The network of a case: loopback, a namespace with a link to this machine, or a namespace for server and generator.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::case::{RunMode, SampleCase};
use super::setting::Setting;
use crate::shell::run;

/// The network of a case. Dropping it removes its namespace, and with it the link.
#[derive(Debug)]
pub(super) struct CaseNetwork {
    namespace: Option<String>,
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
        let has_link = setting.link.or(setting.packets).or(setting.loss).or(setting.generator_link).is_some();
        // The namespace of a relaxed case is that of the case itself.
        if has_link || is_linked(case) {
            network.add_namespace()?;
            match case.mode {
                RunMode::Recipe => network.limit("lo", setting.link, true)?,
                _ => network.link(setting)?,
            }
        } else if let Some(ports) = setting.ports {
            network.add_namespace()?;
            network.inside(&[
                "sysctl",
                "-qw",
                &format!("net.ipv4.ip_local_port_range=40000 {}", 39_999 + ports),
            ])?;
        }
        Ok(network)
    }

    /// Returns a command for a program beside the server, as text to put before it.
    pub(super) fn server_prefix(&self) -> Vec<String> {
        let name = self.namespace.iter().cloned();
        name.flat_map(|name| ["ip".into(), "netns".into(), "exec".into(), name]).collect()
    }

    /// Returns a command for the load generator.
    pub(super) fn generator_command(&self, program: &Path) -> Command {
        match self.namespace.as_ref().filter(|_| self.is_shared) {
            None => Command::new(program),
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name]).arg(program);
                command
            }
        }
    }

    fn add_namespace(&mut self) -> Result<()> {
        let name = format!("plimsoll-{}", std::process::id());
        run(Command::new("ip").args(["netns", "add", &name]))?;
        self.namespace = Some(name);
        self.inside(&["ip", "link", "set", "lo", "up"])
    }

    fn inside(&self, words: &[&str]) -> Result<()> {
        let name = self.namespace.as_deref().unwrap_or_default();
        run(Command::new("ip").args(["netns", "exec", name]).args(words))
    }

    /// Links the namespace with this machine, with what the case has on the way.
    fn link(&mut self, setting: &Setting) -> Result<()> {
        // Addresses and names of processes that run at the same time differ.
        let pid = std::process::id();
        let (third, fourth) = ((pid >> 6) & 255, (pid & 63) * 4);
        let (near, far) =
            (format!("10.199.{third}.{}", fourth + 1), format!("10.199.{third}.{}", fourth + 2));
        let interface = format!("plim{}", pid % 10_000_000);
        let name = self.namespace.clone().unwrap_or_default();
        let add = ["link", "add", &interface, "type", "veth", "peer", "name", "eth0", "netns", &name];
        run(Command::new("ip").args(add))?;
        self.interface = Some(interface.clone());
        run(Command::new("ip").args(["addr", "add", &format!("{near}/30"), "dev", &interface]))?;
        run(Command::new("ip").args(["link", "set", &interface, "up"]))?;
        self.inside(&["ip", "addr", "add", &format!("{far}/30"), "dev", "eth0"])?;
        self.inside(&["ip", "link", "set", "eth0", "up"])?;
        self.limit("eth0", setting.link, true)?;
        self.limit(&interface, setting.generator_link, false)?;
        self.filter(setting)?;
        (self.host, self.is_shared) = (far, false);
        Ok(())
    }

    /// Limits the rate of what an interface sends.
    fn limit(&self, interface: &str, kilobits: Option<u32>, is_inside: bool) -> Result<()> {
        let Some(kilobits) = kilobits else { return Ok(()) };
        let rate = format!("{kilobits}kbit");
        let words = [
            "tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate", &rate, "burst", "64kb", "latency",
            "100ms",
        ];
        match is_inside {
            true => self.inside(&words),
            false => run(Command::new(words[0]).args(&words[1..])),
        }
    }

    /// Drops packets to the server: a share of them, or those beyond a rate.
    fn filter(&self, setting: &Setting) -> Result<()> {
        let rules = [
            setting.loss.map(|percent| format!("numgen random mod 100 < {percent} drop")),
            setting.packets.map(|rate| format!("limit rate over {rate}/second burst 20 packets drop")),
        ];
        for rule in rules.into_iter().flatten() {
            self.inside(&["nft", "add table ip throttle"])?;
            self.inside(&["nft", "add chain ip throttle input { type filter hook input priority 0; }"])?;
            self.inside(&["nft", &format!("add rule ip throttle input iifname eth0 {rule}")])?;
        }
        Ok(())
    }
}

/// Returns whether a case has a link of its own.
fn is_linked(case: &SampleCase) -> bool {
    use super::kind::ThrottleKind::{GeneratorLink, LinkRate, PacketLoss, PacketRate};
    matches!(case.kind, LinkRate | PacketRate | PacketLoss | GeneratorLink)
}

impl Drop for CaseNetwork {
    fn drop(&mut self) {
        // With the namespace the link would end too, but later.
        if let Some(interface) = &self.interface {
            let _ = run(Command::new("ip").args(["link", "delete", interface]));
        }
        if let Some(name) = &self.namespace {
            let _ = run(Command::new("ip").args(["netns", "delete", name]));
        }
    }
}
