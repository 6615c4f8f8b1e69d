//! Standard error: progress, warnings, hints.
//!
//! While the full-screen view owns the terminal, lines are buffered and printed afterwards.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use languages::escaped;

use crate::wrap::{terminal_width, wrapped};

/// Maximum number of buffered lines; the oldest are dropped.
const BUFFERED_MAX: usize = 10_000;

/// Lines that are buffered instead of being printed at once; `None` if lines are not buffered.
static BUFFERED: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

/// Prints a line on standard error, with control characters escaped, broken between words. Write errors are ignored: that nobody reads is no
/// reason to stop a run.
pub(crate) fn eprint(text: impl Display) {
    eprint_styled(wrapped(&escaped(&text.to_string()), terminal_width(std::io::stderr())));
}

/// Prints a line that contains our own colors, and in which everything else is escaped already.
pub(crate) fn eprint_styled(text: impl Display) {
    match buffered().as_mut() {
        Some(lines) => {
            if lines.len() == BUFFERED_MAX {
                lines.pop_front();
            }
            lines.push_back(text.to_string());
        }
        None => write(text),
    }
}

/// Prints a warning on standard error.
pub(crate) fn warn(text: impl Display) {
    eprint(format!("warning: {text}"));
}

/// Starts buffering lines, because the full-screen view owns the terminal.
pub(crate) fn start_buffering() {
    buffered().get_or_insert_default();
}

/// Prints the buffered lines and stops buffering.
pub(crate) fn stop_buffering() {
    let mut buffered = buffered();
    buffered.take().into_iter().flatten().for_each(write);
}

fn write(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

fn buffered() -> MutexGuard<'static, Option<VecDeque<String>>> {
    BUFFERED.lock().unwrap_or_else(PoisonError::into_inner)
}
