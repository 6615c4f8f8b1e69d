//! `accelerate`: the web server accelerator.

use std::io;

use accelerator::config::{Config, ConfigError, ConfigOverrides, Settings, Size};
use accelerator::operation::{Accelerator, Notice, NoticeLevel, Notices, StartError};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::AccelerateArguments;
use crate::exit::{Exit, Failure};
use crate::interrupt::ignores_hangup;
use crate::service_manager;
use crate::tell::{tell, warn};

/// Runs the accelerator until it is asked to stop.
pub fn perform(arguments: &AccelerateArguments, json: bool) -> Result<Exit, Failure> {
    let overrides = overrides(arguments);
    let settings = settings(&overrides)?;
    if arguments.check {
        Accelerator::check(&settings)?;
        tell("The accelerator could start so.");
        return Ok(Exit::Valid);
    }
    testbed::raise_open_files();
    let (runtime, signals) = Signals::listen(overrides.file.is_some())
        .map_err(|why| Failure::new(Exit::Testbed, format!("the system gives no signals: {why}")))?;
    let (notices, heard) = Notices::new();
    // Whoever reads slowly what is told holds up this thread and nothing else.
    std::thread::spawn(move || heard.iter().for_each(|notice| say(&notice)));
    let servers = settings.origin.servers.iter().map(|server| server.address.clone()).collect::<Vec<_>>();
    let accelerator = Accelerator::start(settings, notices)?;
    say_ready(&accelerator, &servers, json);
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

/// Follows signals to the end.
fn serve(
    mut accelerator: Accelerator,
    overrides: &ConfigOverrides,
    runtime: &Runtime,
    mut signals: Signals,
) -> Exit {
    loop {
        match runtime.block_on(signals.next()) {
            Wish::Stop => return stop(accelerator, runtime, signals),
            Wish::Reload => reload(&mut accelerator, overrides),
            Wish::ReopenLog => match accelerator.reopen_log() {
                Ok(()) => tell("The access log has been opened anew."),
                Err(why) => warn(why),
            },
        }
    }
}

/// Reads the configuration again; one that is wrong changes nothing.
fn reload(accelerator: &mut Accelerator, overrides: &ConfigOverrides) {
    let reloaded = settings(overrides)
        .map_err(|error| error.to_string())
        .and_then(|settings| accelerator.reload(settings).map_err(|error| error.to_string()));
    match reloaded {
        Ok(()) => tell("The configuration has been read again."),
        Err(why) => warn(format!("the configuration stays as it was: {why}")),
    }
}

/// Lets requests in flight end; a second wish to stop ends at once.
fn stop(accelerator: Accelerator, runtime: &Runtime, mut signals: Signals) -> Exit {
    service_manager::stopping();
    tell("Stopping when the requests in flight have been answered. Once more ends at once.");
    let (done, is_done) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Nobody waits any more if it was to end at once.
        let _ = done.send(accelerator.stop());
    });
    let ended = runtime.block_on(async {
        tokio::select! {
            broken_off = is_done => broken_off.ok(),
            () = signals.stop() => None,
        }
    });
    match ended {
        Some(0) => Exit::Valid,
        Some(n) => {
            warn(format!("{n} requests were broken off, because their time was over"));
            Exit::Valid
        }
        None => Exit::Interrupted,
    }
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Stop,
    Reload,
    ReopenLog,
}

/// The signals that the accelerator heeds.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    user: Signal,
    /// A closed terminal, or the wish to read the configuration again; `None` where it shall be ignored.
    hangup: Option<Signal>,
    has_file: bool,
}

impl Signals {
    /// Heeds signals from now on. Without a configuration's file a hang-up is the end, unless it shall be ignored.
    fn listen(has_file: bool) -> io::Result<(Runtime, Signals)> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let context = runtime.enter();
        let heeds_hangup = has_file || !ignores_hangup();
        let signals = Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            user: signal(SignalKind::user_defined1())?,
            hangup: heeds_hangup.then(|| signal(SignalKind::hangup())).transpose()?,
            has_file,
        };
        drop(context);
        Ok((runtime, signals))
    }

    async fn next(&mut self) -> Wish {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Stop,
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.user.recv() => Wish::ReopenLog,
            _ = hangup => if self.has_file { Wish::Reload } else { Wish::Stop },
        }
    }

    /// Waits for a wish to stop.
    async fn stop(&mut self) {
        while self.next().await != Wish::Stop {}
    }
}

fn say(notice: &Notice) {
    match notice.severity {
        NoticeLevel::Info => tell(format!("{}.", notice.text)),
        NoticeLevel::Warning => warn(&notice.text),
    }
}

fn say_ready(accelerator: &Accelerator, servers: &[String], json: bool) {
    let addresses: Vec<String> = accelerator.addresses().iter().map(ToString::to_string).collect();
    let admin = accelerator.admin_address().map(|address| address.to_string());
    if json {
        let ready =
            serde_json::json!({ "address": addresses.first(), "addresses": addresses, "admin": admin });
        // Whoever started us and does not read this has gone.
        let _ = super::print(&serde_json::json!({ "ready": ready }).to_string());
        return;
    }
    tell(format!("Listening at {}, before {}", addresses.join(", "), servers.join(", ")));
    if let Some(admin) = admin {
        tell(format!("The operator's page is at http://{admin}/"));
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
