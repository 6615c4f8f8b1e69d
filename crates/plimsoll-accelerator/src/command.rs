//! The life of an accelerator as a process: from its arguments to its exit code.

use std::io::Write;

use accelerator::config::{Config, ConfigError, ConfigOverrides};
use accelerator::observation::{Notice, NoticeLevel, Notices};
use accelerator::operation::{Accelerator, Settings, Successor};
use languages::escaped;
use tokio::runtime::Runtime;

use crate::arguments::AccelerateArguments;
use crate::exit::{AcceleratorExit, AcceleratorFailure};
use crate::service_manager;
use crate::signals::{RequestedAction, Signals};
use crate::stderr::{eprint, warn};
use crate::upgrade::{ControlSocket, Program, UpgradeEvent, take_over};

/// Runs the accelerator until a signal stops it. With `json`, it prints one line of JSON with its addresses on standard
/// output once it is listening.
///
/// # Errors
/// A configuration with a mistake, or anything that the accelerator needs and does not get.
pub fn perform(arguments: &AccelerateArguments, json: bool) -> Result<AcceleratorExit, AcceleratorFailure> {
    let overrides = arguments.overrides();
    let settings = settings(&overrides)?;
    if arguments.check {
        Accelerator::check(&settings)?;
        eprint("The configuration is valid.");
        return Ok(AcceleratorExit::Stopped);
    }
    // Every connection needs one. A limit that stays is no reason not to start.
    units::raise_open_files();
    let (runtime, signals) = Signals::listen(overrides.file.is_some()).map_err(|why| {
        AcceleratorFailure::new(AcceleratorExit::Machine, format!("cannot install signal handlers: {why}"))
    })?;
    let (notices, received) = Notices::new();
    // A slow reader of standard error blocks only this thread.
    std::thread::spawn(move || received.iter().for_each(|notice| print_notice(&notice)));
    let program = Program::of_this_process();
    let control = settings.upgrade_socket.clone();
    let taken = take_over(control.as_deref())?;
    let servers = settings.origin.servers.iter().map(|server| server.address.clone()).collect::<Vec<_>>();
    let accelerator = Accelerator::take_over(settings, notices, taken)?;
    let control = ControlSocket::bind(control.as_deref(), &runtime)?;
    print_ready(&accelerator, &servers, json);
    service_manager::ready();
    Ok(serve(Process { accelerator, signals, control, program }, &overrides, &runtime))
}

/// A running process.
struct Process {
    accelerator: Accelerator,
    signals: Signals,
    control: ControlSocket,
    program: Program,
}

fn settings(overrides: &ConfigOverrides) -> Result<Settings, ConfigError> {
    Config::of(overrides)?.settings()
}

/// Handles signals, and processes that take over, until the accelerator stops.
fn serve(mut process: Process, overrides: &ConfigOverrides, runtime: &Runtime) -> AcceleratorExit {
    loop {
        let Process { accelerator, signals, control, program } = &mut process;
        let event = runtime.block_on(async {
            tokio::select! {
                action = signals.next() => ProcessEvent::Signal(action),
                event = control.next() => ProcessEvent::Upgrade(event),
            }
        });
        match event {
            ProcessEvent::Signal(RequestedAction::Stop) => return stop(process, runtime, None),
            ProcessEvent::Signal(RequestedAction::Reload) => reload(accelerator, overrides),
            ProcessEvent::Signal(RequestedAction::ReopenLog) => match accelerator.reopen_log() {
                Ok(()) => eprint("The access log has been reopened."),
                Err(why) => warn(why),
            },
            ProcessEvent::Signal(RequestedAction::Upgrade) if control.is_bound() => program.start(),
            ProcessEvent::Signal(RequestedAction::Upgrade) => {
                warn(
                    "no new process was started, because there is no `upgrade-socket` at which it could take over",
                );
            }
            ProcessEvent::Upgrade(UpgradeEvent::Asked(connection)) => match accelerator.sockets() {
                Ok(sockets) => control.hand_over(connection, sockets),
                Err(why) => warn(format!("a new process cannot take over: {why}")),
            },
            ProcessEvent::Upgrade(UpgradeEvent::Failed(why)) => {
                warn(format!("a new process has not taken over: {why}"));
            }
            ProcessEvent::Upgrade(UpgradeEvent::Ready(successor)) => {
                return stop(process, runtime, Some(successor));
            }
        }
    }
}

/// An event that a running process handles.
enum ProcessEvent {
    Signal(RequestedAction),
    Upgrade(UpgradeEvent),
}

/// Reloads the configuration; an invalid one changes nothing.
fn reload(accelerator: &mut Accelerator, overrides: &ConfigOverrides) {
    let reloaded = settings(overrides)
        .map_err(|error| error.to_string())
        .and_then(|settings| accelerator.reload(settings).map_err(|error| error.to_string()));
    match reloaded {
        Ok(()) => eprint("The configuration has been reloaded."),
        Err(why) => warn(format!("the configuration was not reloaded: {why}")),
    }
}

/// Finishes the requests in flight, also if another process has taken over; a second stop signal quits immediately.
fn stop(process: Process, runtime: &Runtime, successor: Option<Successor>) -> AcceleratorExit {
    let Process { accelerator, mut signals, control, .. } = process;
    // A process that starts now has to find that nobody is left to hand over.
    drop(control);
    match &successor {
        Some(successor) => {
            service_manager::main_process(successor.process());
            eprint(format!(
                "Process {} has taken over. Stopping after the requests in flight.",
                successor.process()
            ));
        }
        None => {
            service_manager::stopping();
            eprint("Stopping after the requests in flight. Press Ctrl-C again to quit immediately.");
        }
    }
    let (done, is_done) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // The receiver is gone after a second stop signal.
        let _ = done.send(accelerator.stop());
    });
    let ended = runtime.block_on(async {
        tokio::select! {
            n_aborted = is_done => n_aborted.ok(),
            () = signals.stop() => None,
        }
    });
    match ended {
        Some(0) => AcceleratorExit::Stopped,
        Some(n) => {
            warn(format!("{n} requests were aborted because the shutdown timeout expired"));
            AcceleratorExit::Stopped
        }
        None => AcceleratorExit::Interrupted,
    }
}

fn print_notice(notice: &Notice) {
    match notice.severity {
        NoticeLevel::Info => eprint(format!("{}.", notice.text)),
        NoticeLevel::Warning => warn(&notice.text),
    }
}

fn print_ready(accelerator: &Accelerator, servers: &[String], json: bool) {
    let addresses: Vec<String> = accelerator.addresses().iter().map(ToString::to_string).collect();
    let admin = accelerator.admin_address().map(|address| address.to_string());
    if json {
        let ready =
            serde_json::json!({ "address": addresses.first(), "addresses": addresses, "admin": admin });
        let line = serde_json::json!({ "ready": ready }).to_string();
        // A parent process that does not read this has exited.
        let _ = writeln!(std::io::stdout(), "{}", escaped(&line));
        return;
    }
    eprint(format!("Listening on {}, origin {}", addresses.join(", "), servers.join(", ")));
    if let Some(admin) = admin {
        eprint(format!("Admin interface: http://{admin}/"));
    }
}
