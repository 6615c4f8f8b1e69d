//! Signals that stop an accelerator, reload its configuration, reopen its log, or replace it by a new process.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The number of the hang-up signal.
const HANGUP: u32 = 1;

/// The action that a signal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedAction {
    Stop,
    Reload,
    ReopenLog,
    Upgrade,
}

/// The signals that an accelerator handles.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    user: Signal,
    second_user: Signal,
    /// SIGHUP: reloads the configuration, or stops without a configuration file; `None` if it is ignored.
    hangup: Option<Signal>,
    has_file: bool,
}

impl Signals {
    /// Installs the signal handlers. Without a configuration file, SIGHUP stops the accelerator unless it is ignored.
    pub(crate) fn listen(has_file: bool) -> io::Result<(Runtime, Signals)> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let context = runtime.enter();
        let handles_hangup = has_file || !ignores_hangup();
        let signals = Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            user: signal(SignalKind::user_defined1())?,
            second_user: signal(SignalKind::user_defined2())?,
            hangup: handles_hangup.then(|| signal(SignalKind::hangup())).transpose()?,
            has_file,
        };
        drop(context);
        Ok((runtime, signals))
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> RequestedAction {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => RequestedAction::Stop,
            _ = self.terminate.recv() => RequestedAction::Stop,
            _ = self.user.recv() => RequestedAction::ReopenLog,
            _ = self.second_user.recv() => RequestedAction::Upgrade,
            _ = hangup => if self.has_file { RequestedAction::Reload } else { RequestedAction::Stop },
        }
    }

    /// Waits for a stop signal.
    pub(crate) async fn stop(&mut self) {
        while self.next().await != RequestedAction::Stop {}
    }
}

/// Returns whether this program was started with hang-ups ignored, as `nohup` does.
fn ignores_hangup() -> bool {
    ignored_signals() & (1 << (HANGUP - 1)) != 0
}

/// Returns the mask of the signals that this program ignores, from `/proc/self/status`: signal 1 is the lowest bit.
pub fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.unwrap_or(0)
}
