//! A threshold that passes on no data: nothing failed, because nothing was there.

use analysis::State;
use model::Ending;
use stats::Histogram;

use crate::record::{Scene, assert_caught, assert_valid, plan};

#[test]
fn a_run_without_operations_is_invalid() {
    let scene = Scene::of(plan(model::Load::Users(10), 2, 20), &[]);
    let analysis = scene.analyze();
    assert_caught(&analysis, "operations");
    assert_eq!(analysis.headline, None);
    assert!(analysis.load_points[0].response.percentiles.is_empty());
}

#[test]
fn a_run_without_records_is_invalid() {
    let scene = Scene { records: Vec::new(), ..Scene::closed() };
    let text = assert_caught(&scene.analyze(), "load-points");
    assert_eq!(text, "nothing was recorded of load point 1 of 1");
    let crashed = Scene { ending: Ending::Missing, ..scene }.analyze();
    assert_eq!((crashed.verdict.state, crashed.headline), (State::Incomplete, None));
}

#[test]
fn a_generator_that_was_not_watched_is_not_called_healthy() {
    let mut scene = Scene::closed();
    scene.records.iter_mut().for_each(|record| record.health = model::Health::default());
    assert_caught(&scene.analyze(), "generator-busy");
}

#[test]
fn lateness_that_was_not_recorded_is_not_called_small() {
    let mut scene = Scene::open(units::Nanos::ZERO);
    assert_valid(&scene.analyze());
    scene.records.iter_mut().for_each(|record| record.lateness = Histogram::new());
    let text = assert_caught(&scene.analyze(), "conservation");
    assert!(text.contains("latenesses and started operations differ, 0 and 200"), "{text}");
}
