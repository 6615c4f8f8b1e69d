//! `agent`: works as a load agent of a run.

use std::fs::File;
use std::io::BufReader;
use std::os::fd::AsFd;

use crate::arguments::AgentArguments;
use crate::exit::{Exit, Failure};
use crate::paths;

/// Works as a load agent until the controller hangs up.
pub(super) fn perform(_: &AgentArguments) -> Result<Exit, Failure> {
    units::raise_open_files();
    // Without the buffer of standard output, which would be flushed at every byte that looks like the end of a line, and
    // without the lock of standard input, which stays with one thread.
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let input = BufReader::new(File::from(std::io::stdin().as_fd().try_clone_to_owned()?));
    let ended = fleet::serve_agent(input, output, &paths::program(), &paths::build()?);
    ended.map_err(|error| Failure::new(Exit::Testbed, error))?;
    Ok(Exit::Valid)
}
