//! The terminal: taken over, drawn to, and given back whatever happens.

use std::io::{self, IsTerminal, Write, stderr};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use crate::progress::choice::Screen;
use crate::tell;

/// Whether the terminal is taken over. Who writes to it holds this meanwhile.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);

/// Looks at standard error.
pub fn screen() -> Screen {
    let is_terminal = stderr().is_terminal();
    let named = |name: &str| std::env::var(name).unwrap_or_default();
    Screen {
        is_terminal,
        is_dumb: matches!(named("TERM").as_str(), "" | "dumb"),
        is_colorless: !named("NO_COLOR").is_empty(),
        is_ours: is_terminal && tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp()),
        size: size().ok().filter(|(columns, rows)| 0 < *columns && 0 < *rows),
    }
}

/// Takes the terminal over: another screen, keys one by one, no cursor. What is told meanwhile is kept.
///
/// # Errors
/// If there is none, or it refuses; it is as it was then.
pub fn take() -> io::Result<()> {
    give_back_on_panic();
    enable_raw_mode()?;
    tell::keep();
    *taken() = true;
    execute!(stderr(), EnterAlternateScreen, Hide).inspect_err(|_| give_back())
}

/// Gives the terminal back if it was taken over, and tells what was kept. May be called at any time.
pub fn give_back() {
    if !std::mem::replace(&mut *taken(), false) {
        return;
    }
    // A terminal that is gone needs nothing.
    let _ = execute!(stderr(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    tell::release();
}

/// A panic is told where it can be read.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

fn taken() -> MutexGuard<'static, bool> {
    IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where frames go: each to the terminal in one piece, and nowhere once it was given back.
#[derive(Debug, Default)]
pub struct Pane {
    frame: Vec<u8>,
}

impl Write for Pane {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let taken = taken();
        let written = if *taken { stderr().write_all(&self.frame) } else { Ok(()) };
        self.frame.clear();
        written
    }
}
