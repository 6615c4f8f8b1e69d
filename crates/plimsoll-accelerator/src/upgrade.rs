//! Upgrades without a refused connection: this process takes over the listening sockets of another, and hands its own
//! over to the next.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use accelerator::operation::{Predecessor, Successor, TakeOver, bind_control_socket};
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::exit::{AcceleratorExit, AcceleratorFailure};
use crate::service_manager::passed_descriptors;
use crate::stderr::{eprint, warn};

/// Returns the listening sockets that systemd passes, and those of the accelerator that runs behind the control
/// socket.
pub(crate) fn take_over(control: Option<&Path>) -> Result<TakeOver, AcceleratorFailure> {
    let machine = |text: String| AcceleratorFailure::new(AcceleratorExit::Machine, text);
    let mut taken = TakeOver::default();
    let passed = passed_descriptors().map_err(|why| {
        let hint = "hint: sandboxes have to permit the system call `pidfd_getfd`";
        machine(format!("cannot use the sockets of systemd (`LISTEN_FDS`): {why}\n{hint}"))
    })?;
    for one in passed {
        let added = taken.sockets.add(one.descriptor);
        added.map_err(|why| machine(format!("cannot use the socket `{}` of systemd: {why}", one.name)))?;
    }
    let Some(path) = control else { return Ok(taken) };
    let unanswered = |why| machine(format!("cannot take over at `{}`: {why}", path.display()));
    if let Some((predecessor, sockets)) = Predecessor::ask(path).map_err(unanswered)? {
        sockets.into_iter().try_for_each(|socket| taken.sockets.add(socket)).map_err(unanswered)?;
        taken.predecessor = Some(predecessor);
    }
    Ok(taken)
}

/// An event at the control socket.
#[derive(Debug)]
pub(crate) enum UpgradeEvent {
    /// A process asks for the listening sockets.
    Asked(UnixStream),
    /// It is ready, and this one has to stop.
    Ready(Successor),
    /// It is not going to be.
    Failed(io::Error),
}

/// The control socket, at which one process at a time takes over.
#[derive(Debug, Default)]
pub(crate) struct ControlSocket {
    listener: Option<UnixListener>,
    pending: Option<oneshot::Receiver<io::Result<Successor>>>,
}

impl ControlSocket {
    /// Binds the socket, if there is to be one.
    pub(crate) fn bind(path: Option<&Path>, runtime: &Runtime) -> Result<ControlSocket, AcceleratorFailure> {
        let Some(path) = path else { return Ok(ControlSocket::default()) };
        let _context = runtime.enter();
        let listener = bind_control_socket(path).and_then(UnixListener::from_std).map_err(|why| {
            let text = format!("the control socket `{}` cannot be bound: {why}", path.display());
            AcceleratorFailure::new(AcceleratorExit::Machine, text)
        })?;
        Ok(ControlSocket { listener: Some(listener), pending: None })
    }

    /// Waits for the next event. Cancel safe.
    pub(crate) async fn next(&mut self) -> UpgradeEvent {
        if let Some(pending) = &mut self.pending {
            let outcome = pending.await.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            self.pending = None;
            return outcome.map_or_else(UpgradeEvent::Failed, UpgradeEvent::Ready);
        }
        let Some(listener) = &self.listener else { return std::future::pending().await };
        let accepted = listener.accept().await.and_then(|(connection, _)| connection.into_std());
        accepted.map_or_else(
            |error| {
                // It would be reported for ever.
                self.listener = None;
                UpgradeEvent::Failed(error)
            },
            UpgradeEvent::Asked,
        )
    }

    /// Begins to hand sockets to the process that asks; the outcome is an event.
    pub(crate) fn hand_over(&mut self, connection: UnixStream, sockets: Vec<OwnedFd>) {
        let (done, pending) = oneshot::channel();
        self.pending = Some(pending);
        std::thread::spawn(move || {
            // Nobody waits for it any more if this process stops meanwhile.
            let _ = done.send(Successor::hand_over(connection, &sockets));
        });
    }

    /// Returns whether there is one.
    pub(crate) fn is_bound(&self) -> bool {
        self.listener.is_some()
    }
}

/// The program of this process, to be started anew by its name: an upgrade has replaced its file.
#[derive(Debug)]
pub(crate) struct Program(io::Result<PathBuf>);

impl Program {
    /// Notes where the program is.
    pub(crate) fn of_this_process() -> Program {
        Program(std::env::current_exe())
    }

    /// Starts it with the same arguments.
    pub(crate) fn start(&self) {
        let started = match &self.0 {
            Ok(program) => Command::new(program).args(std::env::args_os().skip(1)).spawn(),
            Err(why) => Err(io::Error::other(why.to_string())),
        };
        match started {
            Ok(mut child) => drop(std::thread::spawn(move || {
                if let Ok(status) = child.wait() {
                    eprint(format!("The new process has ended: {status}."));
                }
            })),
            Err(why) => warn(format!("the new process cannot be started: {why}")),
        }
    }
}
