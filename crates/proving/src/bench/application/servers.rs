//! The servers, on their CPU: the built-in application server, and nginx with one worker.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result};
use model::{Counter, Reading};
use observe::{AppServerAddress, AppServerMonitor, ResourceMonitor};
use serde_json::Value;

use super::loads::{FILES, LOCATIONS};
use crate::bench::SERVER_CPU;
use crate::bench::nginx::{Listen, Nginx};
use crate::bench::process::{BackgroundProcess, pinned};
use crate::bench::site::Site;

/// A server to be started.
#[derive(Debug, Clone, Copy)]
pub(super) enum ServerKind {
    /// The application server with this many service threads; `None`: as many as it has by default.
    Application(Option<u32>),
    /// nginx.
    Nginx,
}

/// A running server, which ends when it is dropped.
pub(super) struct RunningServer {
    /// The URL for `--target`.
    pub target: String,
    /// Number of service threads; of nginx `None`.
    pub service_threads: Option<u64>,
    _process: BackgroundProcess,
}

impl ServerKind {
    /// Starts a server for a number of clients.
    pub(super) fn start(self, site: &Site, clients: u32) -> Result<RunningServer> {
        match self {
            ServerKind::Application(threads) => application(site, threads, clients),
            ServerKind::Nginx => {
                let nginx = Nginx::start_with(site, FILES, Listen::Plain, LOCATIONS)?;
                let (target, service_threads) = (nginx.url(), None);
                Ok(RunningServer { target, service_threads, _process: nginx.into_process() })
            }
        }
    }
}

fn application(site: &Site, threads: Option<u32>, clients: u32) -> Result<RunningServer> {
    let mut command = pinned(SERVER_CPU, &site.plimsoll);
    let clients = clients.to_string();
    command.args(["serve", "app", "--clients-max", &clients, "--queue-max", &clients]);
    if let Some(threads) = threads {
        command.args(["--threads", &threads.to_string()]);
    }
    // The server ends when its standard input does.
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = BackgroundProcess::start(&mut command)?;
    let output = process.0.stdout.take().context("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = address(&line).with_context(|| format!("the application server printed `{line}`"))?;
    Ok(RunningServer {
        target: format!("app://{address}"),
        service_threads: Some(service_threads(&address)?),
        _process: process,
    })
}

/// Returns the address in the line that a server prints once it listens.
fn address(line: &str) -> Result<String> {
    let ready: Value = serde_json::from_str(line)?;
    Ok(ready["ready"]["address"].as_str().context("expected its address")?.to_owned())
}

/// Asks a server for the number of its service threads.
fn service_threads(address: &str) -> Result<u64> {
    let address: AppServerAddress = address.parse().map_err(anyhow::Error::msg)?;
    let mut readings: Vec<Reading> = Vec::new();
    AppServerMonitor::new(address).read(&mut readings)?;
    let threads = readings.iter().find(|reading| reading.counter == Counter::ServiceWorkers);
    Ok(threads.context("the server does not state the number of its threads")?.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_in_the_line_of_a_server_that_listens() {
        let line = "{\"ready\":{\"address\":\"127.0.0.1:7000\"}}\n";
        assert_eq!(address(line).unwrap(), "127.0.0.1:7000");
        assert!(address("").is_err());
        assert!(address("{\"ready\":{}}").is_err());
    }
}
