//! Standard output: what commands print.

use std::io::{ErrorKind, Write};

use languages::escaped;

use crate::exit::{Exit, Failure};

/// Prints a line on standard output, with control characters escaped. A closed pipe (`plimsoll report RUN | head`) is not
/// a failure and does not change the exit code.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    match writeln!(out, "{}", escaped(text.trim_end())).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Internal, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
