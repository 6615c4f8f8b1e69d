//! `populate`: a benchmark's file set on disk.

use serde_json::json;
use units::Bytes;

use super::{print, print_json};
use crate::arguments::PopulateArguments;
use crate::benchmark;
use crate::exit::{Exit, Failure};

/// Lays the file set out.
pub fn perform(arguments: &PopulateArguments, as_json: bool) -> Result<Exit, Failure> {
    let chosen = benchmark::choose(&arguments.benchmark)?.benchmark;
    let levels = chosen.definition.load.levels.list(None, chosen.definition.load.unit);
    let file_set = chosen.workload.file_set(levels.into_iter().fold(0.0, f64::max));
    let done = testbed::populate(&arguments.dir, &file_set, |_| {})
        .map_err(|error| Failure::new(Exit::Testbed, error))?;
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
    let did = if done.reused { "was already right" } else { "is ready" };
    print(&format!("{files} files, {bytes} bytes ({}): the file set {did}.", Bytes(bytes)))?;
    print(&arguments.dir.display().to_string())?;
    Ok(Exit::Valid)
}
