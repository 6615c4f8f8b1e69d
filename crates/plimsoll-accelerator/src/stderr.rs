//! Standard error: notices, warnings, failures.

use std::fmt::Display;
use std::io::Write;

use languages::escaped;

/// Prints a line on standard error, with control characters escaped. Write errors are ignored: that nobody reads is no
/// reason to stop serving.
pub(crate) fn eprint(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{}", escaped(&text.to_string()));
}

/// Prints a warning on standard error.
pub(crate) fn warn(text: impl Display) {
    eprint(format!("warning: {text}"));
}
