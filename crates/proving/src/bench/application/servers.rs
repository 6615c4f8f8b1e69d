//! The servers, on their CPU: the built-in application server, and nginx with one worker.

use std::path::Path;

use anyhow::{Context, Result};
use model::{Counter, Reading};
use observe::{AppServerAddress, AppServerMonitor, ResourceMonitor};

use super::loads::{FILES, LOCATIONS};
use crate::bench::nginx::{Listen, Nginx};
use crate::bench::process::{BackgroundProcess, serve};
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
    /// Starts a server for a number of clients; the application server is that of a build of Plimsoll.
    pub(super) fn start(self, plimsoll: &Path, site: &Site, clients: u32) -> Result<RunningServer> {
        match self {
            ServerKind::Application(threads) => application(plimsoll, threads, clients),
            ServerKind::Nginx => {
                let nginx = Nginx::start_with(site, FILES, Listen::Plain, LOCATIONS)?;
                let target = nginx.url();
                let service_threads = None;
                Ok(RunningServer { target, service_threads, _process: nginx.into_process() })
            }
        }
    }
}

fn application(plimsoll: &Path, threads: Option<u32>, clients: u32) -> Result<RunningServer> {
    let clients = clients.to_string();
    let threads = threads.map(|threads| threads.to_string());
    let mut arguments = vec!["app", "--clients-max", &clients, "--queue-max", &clients];
    if let Some(threads) = &threads {
        arguments.extend(["--threads", threads]);
    }
    let (process, address) = serve(plimsoll, &arguments)?;
    Ok(RunningServer {
        target: format!("app://{address}"),
        service_threads: Some(service_threads(&address)?),
        _process: process,
    })
}

/// Asks a server for the number of its service threads.
fn service_threads(address: &str) -> Result<u64> {
    let address: AppServerAddress = address.parse().map_err(anyhow::Error::msg)?;
    let mut readings: Vec<Reading> = Vec::new();
    AppServerMonitor::new(address).read(&mut readings)?;
    let threads = readings.iter().find(|reading| reading.counter == Counter::ServiceWorkers);
    Ok(threads.context("the server does not state the number of its threads")?.value)
}
