//! What this program is when it is started under another name.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

/// The name, of a link for instance, under which it answers one request by CGI and ends.
const CGI_PROGRAM: &str = "plimsoll-cgi";

/// Does what the program's name asks for; `None` if it is to look at its arguments.
///
/// Comes before all else: a web server starts a program for every request, and that is what is measured.
pub fn perform() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    if Path::new(&name).file_name() != Some(OsStr::new(CGI_PROGRAM)) {
        return None;
    }
    // The web server, which has hung up, is the only one who could be told of a failure.
    Some(if answer().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer() -> io::Result<()> {
    // Rust's own standard output is flushed line by line; this way a small page is one write.
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    servers::gateway::cgi(std::env::vars_os(), &mut out)
}
