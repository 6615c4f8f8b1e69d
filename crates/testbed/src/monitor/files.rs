//! The kernel files that are read every second, on this machine and on others.

use model::Reading;

/// Reads the text of a kernel file and appends what it understands; any text will do.
pub type Parse = fn(text: &str, into: &mut Vec<Reading>);

/// The files, and what reads each.
pub const PROC_FILES: &[(&str, Parse)] = &[];
