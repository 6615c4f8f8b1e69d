//! Ctrl-C, a request to terminate, a terminal that is closed: the first one ends the run with what it has, the second
//! one ends the program. Neither leaves anything that the program has started.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;

use crate::exit::Exit;
use crate::progress::leave_view;
use crate::tell::tell;

/// The number of the hang-up signal.
const HANGUP: i32 = 1;

/// What a signal means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Ends the run, and the program if that was asked for already.
    Insist,
    /// Ends the run. A closed terminal says so twice at times, by the kernel and by the shell.
    Ask,
    /// Ends the program.
    EndNow,
    /// Is no reason to end: what is too large for `ulimit -f` is told like a full disk.
    Ignore,
}

/// The signals that would end the program on the spot, and leave what it has started. Source of the numbers: signal(7),
/// of the architectures x86 and ARM; those that tell of a fault in the program are not among them.
const SIGNALS: [(i32, Action); 14] = [
    (2, Action::Insist),   // SIGINT
    (15, Action::Insist),  // SIGTERM
    (HANGUP, Action::Ask), // SIGHUP
    (3, Action::EndNow),   // SIGQUIT
    (10, Action::Ask),     // SIGUSR1
    (12, Action::Ask),     // SIGUSR2
    (14, Action::Ask),     // SIGALRM
    (16, Action::Ask),     // SIGSTKFLT
    (24, Action::Ask),     // SIGXCPU
    (25, Action::Ignore),  // SIGXFSZ
    (26, Action::Ask),     // SIGVTALRM
    (27, Action::Ask),     // SIGPROF
    (29, Action::Ask),     // SIGIO
    (30, Action::Ask),     // SIGPWR
];

/// How long a terminal may take to be given back before the program ends without.
const TERMINAL_MAX: Duration = Duration::from_millis(500);

/// Returns the flag that is set by an interrupt, a request to terminate or a terminal that is closed, from now on.
///
/// If the system gives no signal handlers, the flag is never set and signals do what they always do.
pub fn flag() -> Arc<AtomicBool> {
    static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let begin = || {
        let asked = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&asked);
        if let Ok((runtime, signals)) = listen() {
            std::thread::spawn(move || runtime.block_on(wait(signals, &theirs)));
        }
        asked
    };
    Arc::clone(ASKED.get_or_init(begin))
}

/// Does what a Ctrl-C does, where the terminal makes no signal of it.
pub fn ask() {
    stop(&flag(), Action::Insist);
}

/// Returns whether the end has been asked for.
pub fn is_asked() -> bool {
    flag().load(Ordering::Relaxed)
}

/// Signals, and what they mean.
type Signals = Vec<(Signal, Action)>;

fn listen() -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let ignored = ignored_signals();
    // Shells ignore Ctrl-C for what they start in the background; whoever sends it all the same means it.
    let is_heeded = |number: i32, action| action == Action::Insist || ignored & bit(number) == 0;
    let mut signals = Vec::new();
    for (number, action) in SIGNALS.into_iter().filter(|(number, action)| is_heeded(*number, *action)) {
        signals.push((signal(SignalKind::from_raw(number))?, action));
    }
    drop(context);
    Ok((runtime, signals))
}

/// Returns whether this program was started with hang-ups ignored, as `nohup` does.
pub fn ignores_hangup() -> bool {
    ignored_signals() & bit(HANGUP) != 0
}

/// Returns the mask of the signals that this program ignores, from `/proc/self/status`.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.unwrap_or(0)
}

fn bit(number: i32) -> u64 {
    1 << (number - 1)
}

async fn wait(signals: Signals, asked: &AtomicBool) {
    let (heard, mut actions) = unbounded_channel();
    for (mut signal, action) in signals {
        let heard = heard.clone();
        tokio::spawn(async move { while signal.recv().await.is_some() && heard.send(action).is_ok() {} });
    }
    while let Some(action) = actions.recv().await {
        stop(asked, action);
    }
}

fn stop(asked: &AtomicBool, action: Action) {
    if action == Action::Ignore {
        return;
    }
    let was_asked = asked.swap(true, Ordering::Relaxed);
    match action {
        Action::EndNow => end(),
        Action::Insist if was_asked => end(),
        // Whoever reads standard error may have stopped reading, and the next signal must be heard all the same.
        _ if !was_asked => drop(std::thread::spawn(|| {
            tell("Stopping; what was recorded is kept. Press Ctrl-C again to quit immediately.");
        })),
        _ => {}
    }
}

/// Ends the program with everything that it has started.
fn end() -> ! {
    let _nothing_starts = testbed::end_all();
    let (left, has_left) = channel();
    std::thread::spawn(move || {
        leave_view();
        // Nobody waits any more if the terminal took too long.
        let _ = left.send(());
    });
    let _ = has_left.recv_timeout(TERMINAL_MAX);
    std::process::exit(Exit::Interrupted as i32);
}
