//! `populate`: creates a benchmark's file set on disk.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use units::Bytes;

use super::{print, print_json};
use crate::arguments::PopulateArguments;
use crate::benchmark;
use crate::exit::{Exit, Failure};

/// Creates the file set.
pub fn perform(arguments: &PopulateArguments, as_json: bool) -> Result<Exit, Failure> {
    let file_set = benchmark::file_set(&arguments.files)?;
    let bar = progress_bar(file_set.bytes());
    let done = testbed::populate(&arguments.dir, &file_set, |bytes| bar.set_position(bytes))
        .map_err(|error| Failure::new(Exit::Testbed, error))?;
    bar.finish_and_clear();
    let (files, bytes) = (file_set.files.len(), file_set.bytes());
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

/// Returns a progress bar in bytes; hidden if standard error is not a terminal.
fn progress_bar(bytes: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:20} {percent:>3} % {bytes} of {total_bytes}, {bytes_per_sec}");
    ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
