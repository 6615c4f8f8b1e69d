//! Standard error: progress, warnings, hints.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::escaped;

/// How many lines are kept at most while something else fills the terminal; the oldest go.
const KEPT_MAX: usize = 10_000;

/// What is kept instead of being told at once; `None` where that is not wanted.
static KEPT: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

/// Tells something on standard error. That nobody reads there is no reason to end a run: it is ignored.
///
/// Whatever it quotes, it commands no terminal.
pub fn tell(text: impl Display) {
    tell_styled(escaped(&text.to_string()));
}

/// Tells something that has colors of our own, and in which everything else was escaped.
pub fn tell_styled(text: impl Display) {
    match kept().as_mut() {
        Some(lines) => {
            if lines.len() == KEPT_MAX {
                lines.pop_front();
            }
            lines.push_back(text.to_string());
        }
        None => write(text),
    }
}

/// Warns of something, on standard error.
pub fn warn(text: impl Display) {
    tell(format!("warning: {text}"));
}

/// Keeps what is told from now on, because something else fills the terminal.
pub fn keep() {
    kept().get_or_insert_default();
}

/// Tells what was kept, and from now on everything at once.
pub fn release() {
    let mut kept = kept();
    kept.take().into_iter().flatten().for_each(write);
}

fn write(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

fn kept() -> MutexGuard<'static, Option<VecDeque<String>>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
