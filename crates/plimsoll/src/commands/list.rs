//! `list`: lists the benchmarks.

use serde_json::json;

use super::{print, print_json};
use crate::exit::{Exit, Failure};

/// Lists the benchmarks.
pub(super) fn perform(as_json: bool) -> Result<Exit, Failure> {
    let definitions: Vec<_> = benchmarks::all().iter().map(|builtin| builtin.load().definition).collect();
    if as_json {
        let list: Vec<_> = definitions
            .iter()
            .map(|one| json!({ "id": one.id, "version": one.version, "title": one.title, "summary": one.summary }))
            .collect();
        print_json(&json!({ "format": 1, "benchmarks": list }))?;
        return Ok(Exit::Valid);
    }
    for one in definitions {
        print(&format!("{:<16} v{}  {}", one.id, one.version, one.summary))?;
    }
    Ok(Exit::Valid)
}
