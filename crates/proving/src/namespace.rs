//! Network namespaces for programs that are to have a network of their own.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use anyhow::{Context, Result};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::shell::run;

/// Where `ip` keeps the namespaces that it names.
const NAMED: &str = "/run/netns";

/// A network namespace of this process, whose loopback interface is up. Dropping it removes it with its interfaces.
#[derive(Debug)]
pub(crate) struct NetworkNamespace {
    name: String,
    number: u32,
}

impl NetworkNamespace {
    /// Makes one; each of a process has a number of its own.
    ///
    /// # Errors
    /// This user may not, or a killed process of the same id left one behind.
    pub(crate) fn make() -> Result<NetworkNamespace> {
        static N_MADE: AtomicU32 = AtomicU32::new(0);
        let number = N_MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-{}-{number}", std::process::id());
        run(Command::new("ip").args(["netns", "add", &name]))?;
        let namespace = NetworkNamespace { name, number };
        namespace.run(&["ip", "link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Returns the name, as `ip` knows it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its number among those of this process, from 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the words before a command that is to run in it.
    pub(crate) fn prefix(&self) -> [&str; 4] {
        ["ip", "netns", "exec", &self.name]
    }

    /// Calls a function in it, in a thread of its own: sockets that are opened there stay there.
    ///
    /// # Errors
    /// This user may not enter it, or the function fails.
    pub(crate) fn enter<T: Send>(&self, call: impl FnOnce() -> io::Result<T> + Send) -> Result<T> {
        let path = Path::new(NAMED).join(&self.name);
        let link = File::open(&path).with_context(|| path.display().to_string())?;
        let entered = || {
            move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network))?;
            call()
        };
        let called = thread::scope(|scope| scope.spawn(entered).join());
        Ok(called.expect("what is called in a namespace does not panic")?)
    }

    /// Runs a command in it, to its end.
    ///
    /// # Errors
    /// It cannot be started, or ends with a failure.
    pub(crate) fn run(&self, words: &[&str]) -> Result<()> {
        let [first, rest @ ..] = self.prefix();
        run(Command::new(first).args(rest).args(words))
    }
}

/// Returns a command for a program, which runs in a namespace if there is one.
pub(crate) fn command_in(namespace: Option<&NetworkNamespace>, program: &Path) -> Command {
    let Some(namespace) = namespace else { return Command::new(program) };
    let [first, rest @ ..] = namespace.prefix();
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

impl Drop for NetworkNamespace {
    fn drop(&mut self) {
        let _ = run(Command::new("ip").args(["netns", "delete", &self.name]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::output;

    /// Only root may make one, with the program `ip`; elsewhere this test does nothing.
    #[test]
    fn programs_in_a_namespace_see_its_loopback_interface_alone_until_it_ends() {
        let listed = || output(Command::new("ip").args(["netns", "list"]));
        if !rustix::process::geteuid().is_root() || listed().is_err() {
            return;
        }
        let namespace = NetworkNamespace::make().unwrap();
        let name = namespace.name().to_owned();
        let links = output(command_in(Some(&namespace), Path::new("ip")).args(["-o", "link"])).unwrap();
        // A kernel may add tunnels, which are down.
        assert!(links.contains("lo: <LOOPBACK,UP"), "{links}");
        assert!(links.lines().all(|link| link.contains(": lo: ") || link.contains("state DOWN")), "{links}");
        assert!(listed().unwrap().contains(&name));
        assert!(namespace.run(&["false"]).is_err());
        let socket = namespace.enter(|| std::net::UdpSocket::bind("127.0.0.1:53")).unwrap();
        assert_eq!(socket.local_addr().unwrap().port(), 53);
        drop(namespace);
        assert!(!listed().unwrap().contains(&name));
    }
}
