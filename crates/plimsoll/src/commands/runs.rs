//! `runs`: lists recorded runs and how they ended.

use std::path::{Path, PathBuf};

use languages::foreign_text;
use model::RunEnding;
use runfile::{Summary, summary};
use serde_json::json;

use super::{print, print_json};
use crate::arguments::RunsArguments;
use crate::exit::{Exit, Failure};
use crate::paths::time_text;
use crate::stderr::eprint;

/// Lists the runs of a directory, sorted by file name.
pub(super) fn perform(arguments: &RunsArguments, as_json: bool) -> Result<Exit, Failure> {
    let paths = run_files(&arguments.dir)?;
    if as_json {
        let list: Vec<_> = paths.iter().map(|path| json_of(path)).collect();
        print_json(&json!({ "format": 1, "runs": list }))?;
        return Ok(Exit::Valid);
    }
    if paths.is_empty() {
        eprint(format!("No run files in `{}`.", arguments.dir.display()));
    }
    for path in paths {
        let line = match summary(&path) {
            Ok(summary) => line(&summary),
            Err(error) => format!("cannot be read: {error}"),
        };
        print(&format!("{}  {line}", path.display()))?;
    }
    Ok(Exit::Valid)
}

/// Returns the run files of a directory, sorted by name; default names begin with benchmark and time.
pub(super) fn run_files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| {
        Failure::usage(format!("cannot list `{}`: {error}", dir.display())).hint(
            "`plimsoll run` writes run files to `runs`; name another directory with `plimsoll runs DIR`",
        )
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "plim") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn line(summary: &Summary) -> String {
    format!(
        "{}  {}  {}/{} load points  {}",
        time_text(summary.created),
        subject_text(summary),
        summary.load_points_begun,
        summary.load_points_planned,
        foreign_text(&ending_text(&summary.ending))
    )
}

/// Returns what was loaded: benchmark and server, or the URL, with the label.
fn subject_text(summary: &Summary) -> String {
    let benchmark = &summary.benchmark;
    let label = summary.label.as_ref().map_or(String::new(), |label| format!(" ({})", foreign_text(label)));
    let modified = if summary.modified { " modified" } else { "" };
    if benchmark.is_urls() {
        format!("{}{modified}{label}", foreign_text(&benchmark.title))
    } else {
        format!(
            "{} v{}{modified}  {}{label}",
            foreign_text(&benchmark.id),
            benchmark.version,
            foreign_text(&summary.sut)
        )
    }
}

fn ending_text(ending: &RunEnding) -> String {
    match ending {
        RunEnding::Complete => "complete".to_owned(),
        RunEnding::Stopped(reason) => format!("stopped: {reason}"),
        RunEnding::Missing => "incomplete: the file has no end".to_owned(),
    }
}

fn json_of(path: &Path) -> serde_json::Value {
    match summary(path) {
        Err(error) => json!({ "path": path, "error": error.to_string() }),
        Ok(summary) => json!({
            "path": path,
            "benchmark": summary.benchmark.id,
            "version": summary.benchmark.version,
            "created_unix_ms": summary.created.0,
            "modified": summary.modified,
            "sut": summary.sut,
            "label": summary.label,
            "load_points_begun": summary.load_points_begun,
            "load_points_planned": summary.load_points_planned,
            "ending": ending_text(&summary.ending),
        }),
    }
}

#[cfg(test)]
mod tests {
    use model::BenchmarkId;
    use units::WallTime;

    use super::*;

    #[test]
    fn a_url_is_listed_by_itself_and_a_benchmark_with_its_version_and_server() {
        let listed = |id: &str, title: &str, sut: &str| {
            let summary = Summary {
                benchmark: BenchmarkId { id: id.to_owned(), version: 1, title: title.to_owned() },
                created: WallTime(0),
                ending: RunEnding::Complete,
                ended: None,
                load_points_planned: 4,
                load_points_begun: 4,
                modified: false,
                sut: sut.to_owned(),
                label: Some("before".to_owned()),
            };
            line(&summary).split_once("+00:00").unwrap().1.to_owned()
        };
        assert_eq!(
            [
                listed("url", "http://localhost:8000/", "external"),
                listed("web96", "SPECweb96-style", "nginx")
            ],
            [
                "  http://localhost:8000/ (before)  4/4 load points  complete",
                "  web96 v1  nginx (before)  4/4 load points  complete"
            ]
        );
    }
}
