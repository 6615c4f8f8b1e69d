//! Ctrl-C, a request to terminate, a terminal that is closed: the first one ends the run with what it has, the second
//! one ends the program.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::progress::leave_view;
use crate::tell::tell;

/// The bit of the hang-up signal, number 1, in the masks of `/proc/self/status`.
const HANGUP: u64 = 1;

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
    stop(&flag());
}

/// Returns whether the end has been asked for.
pub fn is_asked() -> bool {
    flag().load(Ordering::Relaxed)
}

/// The signals that ask for an end; the last one is absent where `nohup` says that it shall be ignored.
type Signals = (Signal, Signal, Option<Signal>);

fn listen() -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    let signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, hangup);
    drop(context);
    Ok((runtime, signals))
}

/// Returns whether this program was started with hang-ups ignored, as `nohup` does.
pub fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & HANGUP != 0)
}

async fn wait((mut interrupt, mut terminate, mut hangup): Signals, asked: &AtomicBool) {
    loop {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hung_up => {}
        }
        stop(asked);
    }
}

fn stop(asked: &AtomicBool) {
    if asked.swap(true, Ordering::Relaxed) {
        leave_view();
        std::process::exit(Exit::Interrupted as i32);
    }
    tell("Stopping; what was recorded is kept. Once more ends at once.");
}
