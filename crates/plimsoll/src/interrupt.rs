//! Signals that stop the program: Ctrl-C, a termination request, a closed terminal. The first stops the run and keeps
//! its records, the second quits the program. Neither leaves processes behind.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_accelerator::ignored_signals;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;

use crate::exit::Exit;
use crate::stderr::eprint;
use crate::terminal::restore_terminal;

/// The number of the hang-up signal.
const HANGUP: i32 = 1;

/// The effect of a signal on the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopAction {
    /// Stops the run, or quits the program if a stop was requested already.
    StopOrQuit,
    /// Stops the run. A closed terminal may send this signal twice, from the kernel and from the shell.
    Stop,
    /// Quits the program.
    Quit,
    /// Has no effect: a file larger than `ulimit -f` is reported like a full disk.
    Ignore,
}

/// The signals whose default action would kill the program and leave its children running. Source of the numbers:
/// signal(7), for the architectures x86 and ARM; signals that report a fault in the program are not included.
const SIGNALS: [(i32, StopAction); 14] = [
    (2, StopAction::StopOrQuit),  // SIGINT
    (15, StopAction::StopOrQuit), // SIGTERM
    (HANGUP, StopAction::Stop),   // SIGHUP
    (3, StopAction::Quit),        // SIGQUIT
    (10, StopAction::Stop),       // SIGUSR1
    (12, StopAction::Stop),       // SIGUSR2
    (14, StopAction::Stop),       // SIGALRM
    (16, StopAction::Stop),       // SIGSTKFLT
    (24, StopAction::Stop),       // SIGXCPU
    (25, StopAction::Ignore),     // SIGXFSZ
    (26, StopAction::Stop),       // SIGVTALRM
    (27, StopAction::Stop),       // SIGPROF
    (29, StopAction::Stop),       // SIGIO
    (30, StopAction::Stop),       // SIGPWR
];

/// Time that restoring the terminal may take before the program quits without it.
const TERMINAL_MAX: Duration = Duration::from_millis(500);

/// Installs the signal handlers on the first call and returns the flag that a stop request sets.
///
/// If the handlers cannot be installed, the flag is never set and signals have their default action.
pub(crate) fn flag() -> Arc<AtomicBool> {
    static STOP_REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let begin = || {
        let requested = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&requested);
        if let Ok((runtime, signals)) = listen() {
            std::thread::spawn(move || runtime.block_on(wait(signals, &theirs)));
        }
        requested
    };
    Arc::clone(STOP_REQUESTED.get_or_init(begin))
}

/// Has the effect of Ctrl-C, for a terminal in raw mode, which sends no signal for it.
pub(crate) fn request_stop() {
    stop(&flag(), StopAction::StopOrQuit);
}

/// Returns whether a stop has been requested.
pub(crate) fn is_stop_requested() -> bool {
    flag().load(Ordering::Relaxed)
}

/// Signals and their effects.
type Signals = Vec<(Signal, StopAction)>;

fn listen() -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let ignored = ignored_signals();
    // Shells ignore Ctrl-C for background jobs; a SIGINT that arrives all the same was sent on purpose.
    let is_handled = |number: i32, action| action == StopAction::StopOrQuit || ignored & bit(number) == 0;
    let mut signals = Vec::new();
    for (number, action) in SIGNALS.into_iter().filter(|(number, action)| is_handled(*number, *action)) {
        signals.push((signal(SignalKind::from_raw(number))?, action));
    }
    drop(context);
    Ok((runtime, signals))
}

fn bit(number: i32) -> u64 {
    1 << (number - 1)
}

async fn wait(signals: Signals, requested: &AtomicBool) {
    let (sender, mut actions) = unbounded_channel();
    for (mut signal, action) in signals {
        let sender = sender.clone();
        tokio::spawn(async move { while signal.recv().await.is_some() && sender.send(action).is_ok() {} });
    }
    while let Some(action) = actions.recv().await {
        stop(requested, action);
    }
}

fn stop(requested: &AtomicBool, action: StopAction) {
    if action == StopAction::Ignore {
        return;
    }
    let was_requested = requested.swap(true, Ordering::Relaxed);
    match action {
        StopAction::Quit => quit(),
        StopAction::StopOrQuit if was_requested => quit(),
        // Nobody may be reading standard error, and a blocked write must not delay the next signal.
        _ if !was_requested => drop(std::thread::spawn(|| {
            eprint("Stopping; the records so far are kept. Press Ctrl-C again to quit immediately.");
        })),
        _ => {}
    }
}

/// Stops all child processes and quits the program.
fn quit() -> ! {
    let _nothing_starts = testbed::end_all();
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        restore_terminal();
        // The receiver is gone if the terminal took too long.
        let _ = done.send(());
    });
    let _ = is_done.recv_timeout(TERMINAL_MAX);
    std::process::exit(Exit::Interrupted as i32);
}
