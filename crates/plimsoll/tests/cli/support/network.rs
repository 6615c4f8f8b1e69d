//! A network of a test's own, which has none of the connections that other tests open and leave.

use std::fs::File;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fd::AsFd;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::by_hand::ManualServer;

/// Runs a test in a network namespace of its own, with all that it starts. Only root can make one: other users run it in that
/// of the machine.
pub(crate) fn in_own_network(test: impl FnOnce() + Send) {
    let entered = || {
        if rustix::process::geteuid().is_root() {
            enter();
        }
        test();
    };
    // Threads are in a namespace each; this one ends with the test.
    let ended = std::thread::scope(|scope| scope.spawn(entered).join());
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// Moves the calling thread into a new namespace, whose loopback interface is up.
fn enter() {
    let holder = namespace();
    let link = File::open(link_of(&holder)).expect("its namespace");
    move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network)).expect("it is entered");
}

/// Makes a namespace whose loopback interface is up, and which lasts at least as long as the value.
fn namespace() -> ManualServer {
    let mut command = Command::new("unshare");
    let line = "ip link set lo up && echo up && exec sleep 600";
    let child = command.args(["--net", "sh", "-c", line]).stdout(Stdio::piped()).spawn();
    let mut holder = ManualServer(child.expect("`unshare` makes a namespace"));
    let mut said = [0; 3];
    holder.0.stdout.as_mut().expect("it is piped").read_exact(&mut said).expect("the interface is up");
    holder
}

/// Returns the file that is the namespace of a process.
fn link_of(holder: &ManualServer) -> String {
    format!("/proc/{}/ns/net", holder.0.id())
}

/// A machine beside that of a test: a namespace at the other end of a cable from that of the calling thread.
pub(crate) struct OtherMachine(ManualServer);

impl OtherMachine {
    /// Its address, and that of the test.
    pub(crate) const ADDRESS: &str = "10.77.1.2";
    pub(crate) const TEST_ADDRESS: &str = "10.77.1.1";

    /// Connects one to the network of a test, which is its own ([`in_own_network`]).
    pub(crate) fn connect() -> OtherMachine {
        let machine = OtherMachine(namespace());
        let holder = machine.0.0.id().to_string();
        let cable = ["link", "add", "near", "type", "veth", "peer", "name", "far", "netns", &holder];
        run(Command::new("ip").args(cable));
        let ends = [("near", Self::TEST_ADDRESS), ("far", Self::ADDRESS)];
        for ((interface, address), is_far) in ends.into_iter().zip([false, true]) {
            let ip = || if is_far { machine.command("ip") } else { Command::new("ip") };
            run(ip().args(["address", "add", &format!("{address}/24"), "dev", interface]));
            run(ip().args(["link", "set", interface, "up"]));
        }
        machine
    }

    /// Returns a command for a program that runs there.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", link_of(&self.0))).arg(program);
        command
    }

    /// Returns the number of processes there whose command lines have a text.
    pub(crate) fn n_processes(&self, text: &str) -> usize {
        let network = std::fs::read_link(link_of(&self.0)).expect("its namespace");
        let processes = std::fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path());
        let is_here = |process: &std::path::PathBuf| {
            let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(text)
                && std::fs::read_link(process.join("ns/net")).is_ok_and(|found| found == network)
        };
        processes.filter(is_here).count()
    }

    /// Drops every packet of TCP from and to a port there, as long as the value lives.
    pub(crate) fn interrupt(&self, port: u16) -> Interruption<'_> {
        let rules = format!(
            "add table inet cut; add chain inet cut in {{ type filter hook input priority 0; }}; \
             add rule inet cut in tcp dport {port} drop; add rule inet cut in tcp sport {port} drop"
        );
        self.filter(&rules);
        let interruption = Interruption(self);
        let address = SocketAddr::from(([10, 77, 1, 2], port));
        let reached = TcpStream::connect_timeout(&address, Duration::from_millis(100));
        assert!(reached.is_err(), "the rules drop nothing");
        interruption
    }

    /// Gives rules to the filters of both ends of the cable.
    fn filter(&self, rules: &str) {
        for mut filter in [Command::new("nft"), self.command("nft")] {
            run(filter.arg(rules));
        }
    }
}

/// An interruption of the way to another machine.
pub(crate) struct Interruption<'a>(&'a OtherMachine);

impl Drop for Interruption<'_> {
    fn drop(&mut self) {
        self.0.filter("delete table inet cut");
    }
}

/// Runs a command of the system to its end.
#[track_caller]
fn run(command: &mut Command) {
    let ended = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
}
