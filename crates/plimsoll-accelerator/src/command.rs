//! The life of an accelerator as a process: from its arguments to its exit code.

use std::io::Write;

use accelerator::config::{Config, ConfigError, ConfigOverrides};
use accelerator::observation::{Notice, NoticeLevel, Notices};
use accelerator::operation::{Accelerator, Settings};
use languages::escaped;
use tokio::runtime::Runtime;

use crate::arguments::AccelerateArguments;
use crate::exit::{AcceleratorExit, AcceleratorFailure};
use crate::service_manager;
use crate::signals::{RequestedAction, Signals};
use crate::stderr::{eprint, warn};

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
    let servers = settings.origin.servers.iter().map(|server| server.address.clone()).collect::<Vec<_>>();
    let accelerator = Accelerator::start(settings, notices)?;
    print_ready(&accelerator, &servers, json);
    service_manager::ready();
    Ok(serve(accelerator, &overrides, &runtime, signals))
}

fn settings(overrides: &ConfigOverrides) -> Result<Settings, ConfigError> {
    Config::of(overrides)?.settings()
}

/// Handles signals until the accelerator stops.
fn serve(
    mut accelerator: Accelerator,
    overrides: &ConfigOverrides,
    runtime: &Runtime,
    mut signals: Signals,
) -> AcceleratorExit {
    loop {
        match runtime.block_on(signals.next()) {
            RequestedAction::Stop => return stop(accelerator, runtime, signals),
            RequestedAction::Reload => reload(&mut accelerator, overrides),
            RequestedAction::ReopenLog => match accelerator.reopen_log() {
                Ok(()) => eprint("The access log has been reopened."),
                Err(why) => warn(why),
            },
        }
    }
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

/// Finishes the requests in flight; a second stop signal quits immediately.
fn stop(accelerator: Accelerator, runtime: &Runtime, mut signals: Signals) -> AcceleratorExit {
    service_manager::stopping();
    eprint("Stopping after the requests in flight. Press Ctrl-C again to quit immediately.");
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
