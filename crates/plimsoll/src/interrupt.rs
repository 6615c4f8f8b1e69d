//! Ctrl-C: the first one ends the run with what it has, the second one ends the program.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::progress::leave_view;
use crate::tell::tell;

/// Returns the flag that is set by an interrupt or a request to terminate, from now on.
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

fn listen() -> io::Result<(Runtime, [Signal; 2])> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let context = runtime.enter();
    let signals = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    drop(context);
    Ok((runtime, signals))
}

async fn wait([mut interrupt, mut terminate]: [Signal; 2], asked: &AtomicBool) {
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
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
