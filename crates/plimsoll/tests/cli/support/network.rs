//! A network of a test's own, which has none of the connections that other tests open and leave.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

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
    let mut command = Command::new("unshare");
    let line = "ip link set lo up && echo up && exec sleep 60";
    let child = command.args(["--net", "sh", "-c", line]).stdout(Stdio::piped()).spawn();
    let mut holder = ManualServer(child.expect("`unshare` makes a namespace"));
    let mut said = [0; 3];
    holder.0.stdout.as_mut().expect("it is piped").read_exact(&mut said).expect("the interface is up");
    let link = File::open(format!("/proc/{}/ns/net", holder.0.id())).expect("its namespace");
    move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network)).expect("it is entered");
}
