//! Standard error: progress, warnings, hints.

use std::fmt::Display;
use std::io::Write;

/// Tells something on standard error. That nobody reads there is no reason to end a run: it is ignored.
pub fn tell(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Warns of something, on standard error.
pub fn warn(text: impl Display) {
    tell(format!("warning: {text}"));
}
