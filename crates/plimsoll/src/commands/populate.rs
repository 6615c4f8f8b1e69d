//! `populate`: creates a benchmark's file set on disk.

use serde_json::json;
use units::{Bytes, Clock, RealClock};

use super::{print, print_json};
use crate::arguments::PopulateArguments;
use crate::benchmark;
use crate::exit::{Exit, Failure};
use crate::progress::ProgressBar;

/// Creates the file set.
pub(super) fn perform(arguments: &PopulateArguments, as_json: bool) -> Result<Exit, Failure> {
    let file_set = benchmark::file_set(&arguments.files)?;
    let files = file_set.files.len();
    let bytes = file_set.bytes();
    let mut bar = ProgressBar::new();
    let clock = RealClock::start();
    let progress = |done: u64| {
        let rate = Bytes((done as f64 / clock.now().as_secs_f64()) as u64);
        bar.draw(done as f64 / bytes as f64, &format!("{} of {}, {rate}/s", Bytes(done), Bytes(bytes)));
    };
    let done = testbed::populate(&arguments.dir, &file_set, progress);
    bar.clear();
    let done = done.map_err(|error| Failure::new(Exit::Testbed, error))?;
    if as_json {
        let value = json!({
            "format": 1,
            "dir": arguments.dir,
            "files": files,
            "bytes": bytes,
            "reused": done.reused,
        });
        print_json(&value)?;
        return Ok(Exit::Valid);
    }
    let did = if done.reused { "was already complete" } else { "is complete" };
    print(&format!("{files} files, {bytes} bytes ({}): the file set {did}.", Bytes(bytes)))?;
    print(&arguments.dir.display().to_string())?;
    Ok(Exit::Valid)
}
