//! Run files that are kept in the repository: whoever rewords, renames or rebuilds must not move a number in their
//! reports. Those of former formats are converted first.
//!
//! `PLIMSOLL_GOLDEN=write` keeps the reports as they are found.

mod plan_2;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::golden;

use crate::support::Fixture;

/// Run files of plan format 2.
const KEPT: &str = "../runfile/tests/fixtures/plan-2";

/// Returns the run files of a folder and of those below it, in order of their names.
fn run_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(run_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "plim") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the plan in a kept report.
fn plan_of(report: &Path) -> Value {
    let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    report["plan"].clone()
}

/// Removes the scores, which former reports do not have: of these benchmarks they are the rate.
fn take_scores(report: &mut Value) {
    for point in report["load_points"].as_array_mut().unwrap() {
        let point = point.as_object_mut().unwrap();
        let score = point.remove("score");
        let interval = point.remove("score_interval");
        assert_eq!(
            (score, interval),
            (point.get("rate_per_s").cloned(), point.get("rate_interval_per_s").cloned())
        );
    }
}

#[test]
fn reports_of_kept_runs_have_the_numbers_that_they_had() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT);
    let files = run_files(&kept);
    assert_eq!(files.len(), 12, "{files:?}");
    let fixture = Fixture::new();
    for file in files {
        // A copy: nobody may write beside the original.
        let name = file.strip_prefix(&kept).unwrap().to_str().unwrap().replace('/', "-");
        fs::copy(&file, fixture.path(&name)).unwrap();
        plan_2::convert_run_file(&fixture.path(&name));
        let mut found = fixture.report(Path::new(&name));
        assert!(found.as_object_mut().unwrap().remove("testbed").is_some());
        found["provenance"]["run_file"] = Value::Null;
        let report = file.with_extension("json");
        let plan = plan_of(&report);
        assert_eq!(found["plan"], plan_2::convert_plan(&plan), "{name}");
        found["plan"] = plan;
        take_scores(&mut found);
        golden::assert_kept(&report, &format!("{found}\n"));
        fixture.run(&["audit", &name]).expect(0);
    }
}
