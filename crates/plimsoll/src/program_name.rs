//! The program's behavior when it is started under another name.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

/// Program name, usually that of a link, under which it answers one CGI request and exits.
const CGI_PROGRAM: &str = "plimsoll-cgi";

/// Acts on the program's name; `None` if the program should parse its arguments.
///
/// Runs before everything else: a web server starts one process per CGI request, and this cost is measured.
pub(crate) fn perform() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    if Path::new(&name).file_name() != Some(OsStr::new(CGI_PROGRAM)) {
        return None;
    }
    // Only the web server could be told of a failure, and it has closed the connection.
    Some(if answer().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer() -> io::Result<()> {
    // Rust's standard output is line-buffered; this way a small page takes one write.
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    servers::gateway::cgi(std::env::vars_os(), &mut out)
}
