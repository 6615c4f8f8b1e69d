//! A percentile from too few samples: "p99.9" of 300 values is their maximum by another name.

use analysis::Finding;
use analysis::finding::MissingPercentile;
use model::Load;
use units::Ratio;

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, remarks, users};

fn percentiles(users_n: u32) -> (Vec<f64>, analysis::Analysis) {
    let plan = plan(Load::Users(users_n), 1, 10);
    let operations = users(&plan, users_n, |_, _| ms(100), ms(0));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    let qs = analysis.load_points[0].response.percentiles.iter().map(|one| one.q).collect();
    (qs, analysis)
}

/// Ten operations per user and second for 10 s: 300, 400 and 4,000 values.
#[test]
fn percentiles_appear_with_enough_values_only() {
    let (qs, analysis) = percentiles(3);
    assert_valid(&analysis);
    assert_eq!(qs, [0.5, 0.9, 0.95]);
    let missing = [(0.99, 368), (0.999, 3688)].map(|(q, needed)| MissingPercentile { q: Ratio(q), needed });
    assert_eq!(
        remarks(&analysis, "percentiles"),
        [Finding::MissingPercentiles { n: 300, missing: missing.to_vec() }]
    );
    assert_eq!(percentiles(4).0, [0.5, 0.9, 0.95, 0.99]);
    let (qs, analysis) = percentiles(40);
    assert_eq!(qs, [0.5, 0.9, 0.95, 0.99, 0.999]);
    assert!(remarks(&analysis, "percentiles").is_empty());
}

#[test]
fn a_load_point_with_hardly_any_operations_is_invalid() {
    let plan = plan(Load::Users(1), 1, 9);
    let operations = users(&plan, 1, |_, _| ms(100), ms(0));
    let found = assert_caught(&RecordedRun::of(plan, &operations).analyze(), "operations");
    assert_eq!(found, Finding::TooFewOperations { n: 90, needed: 100 });
}
