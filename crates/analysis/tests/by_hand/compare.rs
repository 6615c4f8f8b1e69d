//! Runs side by side.

use analysis::compare::{CompareError, Compared, interleaved};
use analysis::{Analysis, State};
use model::{Ending, Load, LoadPoint, Plan};
use units::Nanos;

use crate::record::{Scene, ms, plan, records, users};

/// Four and eight users, `response` for each operation; the third load point only of `n_levels` = 3.
fn run(response: u64, n_levels: u32) -> (Plan, Analysis) {
    let mut plan = plan(Load::Users(4), 1, 12);
    plan.load_points =
        (0..n_levels).map(|index| LoadPoint { index, load: Load::Users(4 << index) }).collect();
    let of_point = |index: u32| {
        let operations = users(&plan, 4 << index, |_, _| ms(response), Nanos::ZERO);
        records(&plan, index as usize, 0, &operations)
    };
    let records = (0..n_levels).flat_map(of_point).collect();
    let scene = Scene { plan, records, ending: Ending::Complete };
    let analysis = scene.analyze();
    (scene.plan, analysis)
}

fn compared<'a>(name: &'a str, run: &'a (Plan, Analysis)) -> Compared<'a> {
    Compared { name, plan: &run.0, analysis: &run.1 }
}

/// 60 ms against 120 ms without think time: twice the rate at every load, X = N ÷ R.
#[test]
fn the_faster_server_has_the_higher_ratio() {
    let (slow, fast) = (run(120, 2), run(60, 3));
    let found = interleaved(&[compared("slow", &slow), compared("fast", &fast)]).unwrap();
    let loads: Vec<f64> = found.levels.iter().map(|level| level.load.level()).collect();
    assert_eq!(loads, [4.0, 8.0], "loads that both have");
    for level in &found.levels {
        assert_eq!(level.figures[0].ratio, Some(1.0));
        assert!((level.figures[1].ratio.unwrap() - 2.0).abs() < 0.02, "{level:?}");
        assert!((level.figures[1].rate - level.load.level() / 0.060).abs() < 2.0);
        assert_eq!(level.figures[0].response_p99, Some(ms(120)));
    }
    let [slow, fast] = &found.runs[..] else { panic!("two runs") };
    assert_eq!((slow.name.as_str(), slow.state), ("slow", State::Valid));
    // The best of all, 16 users against 8.
    assert_eq!(fast.best.unwrap().load, Load::Users(16));
    assert!((fast.best.unwrap().figures.ratio.unwrap() - 4.0).abs() < 0.04);
}

#[test]
fn what_is_not_valid_has_no_ratio() {
    let (one, mut other) = (run(60, 2), run(60, 2));
    other.1.load_points[1].verdict.state = State::Invalid;
    let found = interleaved(&[compared("one", &one), compared("other", &other)]).unwrap();
    let ratios: Vec<_> = found.levels.iter().map(|level| level.figures[1].ratio.is_some()).collect();
    assert_eq!(ratios, [true, false]);
}

#[test]
fn runs_of_different_plans_are_refused_with_what_differs() {
    let (one, mut other) = (run(60, 1), run(60, 1));
    other.0.seed = 7;
    other.0.phases.steady = ms(9_000);
    // Where a server has its programs is its own affair.
    other.0.workload.requests[0].path = "/cgi-bin/small".parse().unwrap();
    let why = interleaved(&[compared("one", &one), compared("other", &other)]).unwrap_err();
    assert_eq!(
        why.to_string(),
        "the runs differ in more than the server:\n  \
         `other` differs from `one` in phases\n  \
         `other` differs from `one` in seed (7, not 1)"
    );
    assert_eq!(interleaved(&[compared("one", &one)]), Err(CompareError::TooFew { found: 1 }));
}
