//! Ctrl-C: the first one ends the run with what it has, the second one ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;

/// Returns a flag that is set by an interrupt or a request to terminate.
///
/// If the system gives no signal handlers, the flag is never set and signals do what they always do.
pub fn flag() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&asked);
    std::thread::spawn(move || wait(&theirs));
    asked
}

fn wait(asked: &AtomicBool) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted as i32);
            }
            anstream::eprintln!("Stopping; what was recorded is kept. Once more ends at once.");
        }
    });
}
