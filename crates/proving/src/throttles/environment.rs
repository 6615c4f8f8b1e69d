//! The environment of a throttle: set up for an attempt, and torn down afterwards.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::table::EnvironmentKind;
use crate::namespace::{NetworkNamespace, command_in};

/// A running environment, which is torn down when dropped.
pub(super) struct ThrottleEnvironment {
    namespace: Option<NetworkNamespace>,
    children: Vec<Child>,
    /// Arguments of `plimsoll run` that name a server that is already running.
    pub arguments: Vec<String>,
}

impl ThrottleEnvironment {
    /// Sets up the environment of a throttle.
    pub(super) fn begin(
        environment: EnvironmentKind,
        plimsoll: &std::path::Path,
    ) -> Result<ThrottleEnvironment> {
        let mut held = ThrottleEnvironment { namespace: None, children: Vec::new(), arguments: Vec::new() };
        match environment {
            EnvironmentKind::Nothing => {}
            EnvironmentKind::Namespace(discipline) => held.make_namespace(discipline)?,
            EnvironmentKind::Server(arguments) => {
                let address = held.start_server(plimsoll, "web", arguments)?;
                held.arguments = vec![format!("--target=http://{address}/")];
            }
            EnvironmentKind::AppServer(arguments) => {
                let address = held.start_server(plimsoll, "app", arguments)?;
                held.arguments =
                    vec![format!("--target=app://{address}"), format!("--monitor=app={address}")];
            }
            EnvironmentKind::Burners(n) => held.burn(n)?,
        }
        Ok(held)
    }

    /// Returns a command that runs in the environment.
    pub(super) fn command(&self, program: &std::path::Path) -> Command {
        command_in(self.namespace.as_ref(), program)
    }

    fn make_namespace(&mut self, discipline: &str) -> Result<()> {
        let namespace = self.namespace.insert(NetworkNamespace::make()?);
        let command = format!("tc qdisc add dev lo root {discipline}");
        namespace.run(&command.split_whitespace().collect::<Vec<_>>())
    }

    /// Starts a built-in server of a kind; returns its address.
    fn start_server(&mut self, plimsoll: &std::path::Path, kind: &str, arguments: &str) -> Result<String> {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(plimsoll).args(["serve", kind]).args(arguments.split_whitespace());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        self.children.push(child);
        read.context("the server has no standard output")??;
        let said: serde_json::Value = serde_json::from_str(&line)?;
        let address = said["ready"]["address"].as_str().context("the server did not report its address")?;
        Ok(address.to_owned())
    }

    /// Runs endless loops on the last CPU, which is the load's.
    fn burn(&mut self, n: usize) -> Result<()> {
        let last = std::thread::available_parallelism()?.get() - 1;
        for _ in 0..n {
            let mut command = Command::new("taskset");
            command.args(["-c", &last.to_string(), "sh", "-c", "while :; do :; done"]);
            self.children.push(command.spawn()?);
        }
        Ok(())
    }
}

impl Drop for ThrottleEnvironment {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
