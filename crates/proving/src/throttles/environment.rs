//! The environment of a throttle: set up for an attempt, and torn down afterwards.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::table::EnvironmentKind;
use crate::bench::process::{BackgroundProcess, serve};
use crate::namespace::{NetworkNamespace, command_in};
use crate::shell::root;

/// Maximum number of readiness checks, a hundredth of a second apart.
const LOOKS_MAX: u32 = 500;

/// A running environment, which is torn down when dropped.
pub(super) struct ThrottleEnvironment {
    /// Dropped before the namespace.
    processes: Vec<BackgroundProcess>,
    namespace: Option<NetworkNamespace>,
    /// The folder of a changed recipe, or of a server's files.
    folder: Option<TempDir>,
    /// Arguments of `plimsoll run` that name the server.
    pub arguments: Vec<String>,
}

impl ThrottleEnvironment {
    /// Sets up the environment of a throttle.
    pub(super) fn begin(
        environment: EnvironmentKind,
        plimsoll: &std::path::Path,
    ) -> Result<ThrottleEnvironment> {
        let mut held = ThrottleEnvironment {
            processes: Vec::new(),
            namespace: None,
            folder: None,
            arguments: Vec::new(),
        };
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
            EnvironmentKind::Interpreter => {
                let port = held.start_interpreter()?;
                held.arguments = vec![format!("--target=http://127.0.0.1:{port}")];
            }
            EnvironmentKind::Burners(n) => held.burn(n)?,
            EnvironmentKind::Recipe { name, changes } => {
                let folder = held.folder.insert(tempfile::tempdir()?);
                let path = folder.path().join(format!("{name}.toml"));
                std::fs::write(&path, changed_recipe(name, changes)?)?;
                held.arguments = vec![format!("--sut={}", path.display())];
            }
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
        let arguments: Vec<&str> = std::iter::once(kind).chain(arguments.split_whitespace()).collect();
        let (server, address) = serve(plimsoll, &arguments)?;
        self.processes.push(server);
        Ok(address)
    }

    /// Starts the application server in Python and waits until it listens; returns its port.
    fn start_interpreter(&mut self) -> Result<u16> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = self.folder.insert(tempfile::tempdir()?);
        let mut command = Command::new("python3");
        command.arg(root().join("gateways/app.py")).args(["127.0.0.1", &port.to_string()]).arg(folder.path());
        let mut server = BackgroundProcess::start(&mut command)?;
        for _ in 0..LOOKS_MAX {
            server.check()?;
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                self.processes.push(server);
                return Ok(port);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("the application server in Python does not listen on port {port}")
    }

    /// Runs endless loops on the last CPU, which is the load's.
    fn burn(&mut self, n: usize) -> Result<()> {
        let last = std::thread::available_parallelism()?.get() - 1;
        for _ in 0..n {
            let mut command = Command::new("taskset");
            command.args(["-c", &last.to_string(), "sh", "-c", "while :; do :; done"]);
            self.processes.push(BackgroundProcess::start(&mut command)?);
        }
        Ok(())
    }
}

/// Returns the text of a built-in recipe with others in place of some of its texts.
fn changed_recipe(name: &str, changes: &[(&str, &str)]) -> Result<String> {
    let path = root().join(format!("recipes/{name}.toml"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    changes.iter().try_fold(text, |text, (from, to)| {
        ensure!(text.contains(from), "`{}` has no `{from}`", path.display());
        Ok(text.replace(from, to))
    })
}

#[cfg(test)]
mod tests {
    use testbed::Recipe;

    use super::super::{limits::LIMITS, table::THROTTLES};
    use super::*;

    /// Goal: a recipe that is changed no longer leaves a throttle without effect, unnoticed until it is measured.
    #[test]
    fn changes_of_recipes_fit_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut n_changed = 0;
        for throttle in THROTTLES.iter().chain(LIMITS) {
            let EnvironmentKind::Recipe { name, changes } = throttle.environment else { continue };
            let path = folder.path().join("changed.toml");
            std::fs::write(&path, changed_recipe(name, changes).unwrap()).unwrap();
            Recipe::load(&path.display().to_string()).unwrap();
            n_changed += 1;
        }
        assert!(0 < n_changed);
    }
}
