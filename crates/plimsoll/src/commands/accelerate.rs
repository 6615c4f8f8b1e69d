//! `accelerate`: the caching reverse proxy.

use std::io;

use accelerator::config::{Config, ConfigError, ConfigOverrides, Settings, Size};
use accelerator::operation::{Accelerator, Notice, NoticeLevel, Notices, StartError};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::AccelerateArguments;
use crate::exit::{Exit, Failure};
use crate::interrupt::ignores_hangup;
use crate::service_manager;
use crate::stderr::{eprint, warn};

/// Runs the accelerator until a signal stops it.
pub fn perform(arguments: &AccelerateArguments, json: bool) -> Result<Exit, Failure> {
    let overrides = overrides(arguments);
    let settings = settings(&overrides)?;
    if arguments.check {
        Accelerator::check(&settings)?;
        eprint("The configuration is valid.");
        return Ok(Exit::Valid);
    }
    testbed::raise_open_files();
    let (runtime, signals) = Signals::listen(overrides.file.is_some())
        .map_err(|why| Failure::new(Exit::Testbed, format!("cannot install signal handlers: {why}")))?;
    let (notices, received) = Notices::new();
    // A slow reader of standard error blocks only this thread.
    std::thread::spawn(move || received.iter().for_each(|notice| print_notice(&notice)));
    let servers = settings.origin.servers.iter().map(|server| server.address.clone()).collect::<Vec<_>>();
    let accelerator = Accelerator::start(settings, notices)?;
    print_ready(&accelerator, &servers, json);
    service_manager::ready();
    Ok(serve(accelerator, &overrides, &runtime, signals))
}

fn overrides(arguments: &AccelerateArguments) -> ConfigOverrides {
    ConfigOverrides {
        file: arguments.config.clone(),
        origins: arguments.origin.clone(),
        listens: arguments.listen.clone(),
        memory: arguments.memory.map(Size),
        workers: arguments.workers,
        admin: arguments.admin,
    }
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
) -> Exit {
    loop {
        match runtime.block_on(signals.next()) {
            SignalAction::Stop => return stop(accelerator, runtime, signals),
            SignalAction::Reload => reload(&mut accelerator, overrides),
            SignalAction::ReopenLog => match accelerator.reopen_log() {
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
fn stop(accelerator: Accelerator, runtime: &Runtime, mut signals: Signals) -> Exit {
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
        Some(0) => Exit::Valid,
        Some(n) => {
            warn(format!("{n} requests were aborted because the shutdown timeout expired"));
            Exit::Valid
        }
        None => Exit::Interrupted,
    }
}

/// The action that a signal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignalAction {
    Stop,
    Reload,
    ReopenLog,
}

/// The signals that the accelerator handles.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    user: Signal,
    /// SIGHUP: reloads the configuration, or stops without a configuration file; `None` if it is ignored.
    hangup: Option<Signal>,
    has_file: bool,
}

impl Signals {
    /// Installs the signal handlers. Without a configuration file, SIGHUP stops the accelerator unless it is ignored.
    fn listen(has_file: bool) -> io::Result<(Runtime, Signals)> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let context = runtime.enter();
        let handles_hangup = has_file || !ignores_hangup();
        let signals = Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            user: signal(SignalKind::user_defined1())?,
            hangup: handles_hangup.then(|| signal(SignalKind::hangup())).transpose()?,
            has_file,
        };
        drop(context);
        Ok((runtime, signals))
    }

    async fn next(&mut self) -> SignalAction {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => SignalAction::Stop,
            _ = self.terminate.recv() => SignalAction::Stop,
            _ = self.user.recv() => SignalAction::ReopenLog,
            _ = hangup => if self.has_file { SignalAction::Reload } else { SignalAction::Stop },
        }
    }

    /// Waits for a stop signal.
    async fn stop(&mut self) {
        while self.next().await != SignalAction::Stop {}
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
        // A parent process that does not read this has exited.
        let _ = super::print(&serde_json::json!({ "ready": ready }).to_string());
        return;
    }
    eprint(format!("Listening on {}, origin {}", addresses.join(", "), servers.join(", ")));
    if let Some(admin) = admin {
        eprint(format!("Admin interface: http://{admin}/"));
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::usage(error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        let exit = match error {
            StartError::Origin(_) | StartError::Tls(_) => Exit::Usage,
            StartError::Disk(_) | StartError::Log { .. } | StartError::Admin { .. } => Exit::Testbed,
            StartError::Listen(_) | StartError::System(_) => Exit::Testbed,
        };
        Failure::new(exit, error)
    }
}
