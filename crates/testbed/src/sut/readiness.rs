//! The readiness of a server since its last start.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use super::managed_process::{ListenAddress, ManagedProcess, PAUSE};
use super::ready::{self, NotReady};
use super::step::StepProcess;
use super::web::ProbeError;
use crate::recipe::{Ready, Recipe};

/// The readiness of a server since its last start.
#[derive(Debug)]
pub(super) struct Readiness {
    /// The address of the server; of one that announces it, known once it is ready.
    pub address: SocketAddr,
    announcement: Option<Receiver<SocketAddr>>,
    /// Whether all companions have answered.
    companions_ready: bool,
    /// The command that checks it.
    command: Option<StepProcess>,
    /// The length of the server's output before this start.
    log_from: u64,
}

impl Readiness {
    /// Returns that of a server that was not started yet.
    pub(super) fn new(address: SocketAddr, command: Option<StepProcess>) -> Readiness {
        Readiness { address, announcement: None, companions_ready: false, command, log_from: 0 }
    }

    /// Begins anew, before a server with this log is started.
    pub(super) fn begin(&mut self, output_log: &Path) {
        self.companions_ready = false;
        self.log_from = ready::length(output_log);
    }

    /// Listens for an announcement, if the server's output is read.
    pub(super) fn listen(&mut self, output: Option<ChildStdout>) {
        self.announcement = output.map(ready::listen);
    }

    /// Checks that all companions answer, until they have done so once.
    pub(super) fn attempt_companions(
        &mut self,
        companions: &[(ManagedProcess, ListenAddress)],
    ) -> Result<(), NotReady> {
        if !self.companions_ready {
            for (companion, listens) in companions {
                listens.attempt().map_err(|reason| reason.of(&companion.title))?;
            }
            self.companions_ready = true;
        }
        Ok(())
    }

    /// Checks the server as its recipe says; `probe` requests a file of a web server.
    pub(super) fn attempt_server(
        &mut self,
        recipe: &Recipe,
        output_log: &Path,
        probe: impl FnOnce(SocketAddr) -> Result<(), ProbeError>,
    ) -> Result<(), NotReady> {
        match (recipe.ready, &self.announcement) {
            (Ready::HttpGet, _) => Ok(probe(self.address)?),
            (Ready::Log, _) => {
                let text = recipe.ready_log.as_deref().unwrap_or_default();
                ready::logged(output_log, self.log_from, text)
            }
            (Ready::Command, _) => {
                let Some(command) = &mut self.command else { return Ok(()) };
                let ended = command.run(None, ready::ATTEMPT_MAX);
                ended.map(drop).map_err(|error| NotReady::Command(Box::new(error)))
            }
            (Ready::Connect, _) | (Ready::Announced, None) => Ok(ready::connect(self.address).map(drop)?),
            (Ready::Announced, Some(receiver)) => match receiver.recv_timeout(PAUSE) {
                Ok(address) => {
                    self.address = address;
                    self.announcement = None;
                    Ok(())
                }
                Err(RecvTimeoutError::Timeout) => Err(NotReady::NotAnnounced),
                Err(RecvTimeoutError::Disconnected) => Err(NotReady::OutputClosed),
            },
        }
    }
}
