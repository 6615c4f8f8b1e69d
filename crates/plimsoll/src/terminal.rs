//! The terminal: entered, drawn to, and restored whatever happens.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::stderr::{start_buffering, stop_buffering};

/// Whether the terminal is taken over. Locked while a frame is written.
static IS_ENTERED: Mutex<bool> = Mutex::new(false);

/// Takes the terminal over: alternate screen, raw mode, no cursor. Lines on standard error are buffered meanwhile.
///
/// # Errors
/// If there is no terminal, or it refuses; it is then unchanged.
pub(crate) fn enter() -> io::Result<()> {
    restore_on_panic();
    enable_raw_mode()?;
    start_buffering();
    *is_entered() = true;
    execute!(stderr(), EnterAlternateScreen, Hide).inspect_err(|_| restore_terminal())
}

/// Restores the terminal if it was taken over, and prints the buffered lines. May be called at any time.
pub(crate) fn restore_terminal() {
    if !std::mem::replace(&mut *is_entered(), false) {
        return;
    }
    // A terminal that is gone needs no restoring.
    let _ = execute!(stderr(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    stop_buffering();
}

/// Restores the terminal before a panic message is printed.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            previous(info);
        }));
    });
}

fn is_entered() -> MutexGuard<'static, bool> {
    IS_ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A writer that sends each frame to the terminal in one write, and discards it once the terminal is restored.
#[derive(Debug, Default)]
pub(crate) struct FrameWriter {
    frame: Vec<u8>,
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_entered = is_entered();
        let written = if *is_entered { stderr().write_all(&self.frame) } else { Ok(()) };
        self.frame.clear();
        written
    }
}
