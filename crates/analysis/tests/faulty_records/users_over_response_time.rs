//! Users ÷ response time is not the reported rate: N = X·(R + Z) does not close.

use analysis::Finding;
use analysis::finding::{LittleExplanation, LittlePopulation};
use model::Outcome;
use stats::{Histogram, Moments};
use units::Nanos;

use super::tamper::rebuild_response;
use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, remarks, users};

/// A tool that takes the time of the first byte for the response time, here 60 % of it.
#[test]
fn response_times_that_stop_too_early_are_caught() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    for record in &mut recorded.records {
        let responses = &mut record.detail.as_mut().unwrap().response;
        for (kind, response) in record.kinds.iter_mut().zip(responses) {
            let mut histogram = Histogram::new();
            let mut moments = Moments::default();
            for bucket in response.buckets() {
                let short = Nanos(bucket.high.0 * 6 / 10);
                (0..bucket.count).for_each(|_| {
                    histogram.record(short);
                    moments.record(short.0);
                });
            }
            (*response, kind.response) = (histogram, moments);
        }
        rebuild_response(record);
    }
    let analysis = recorded.analyze();
    let gap = assert_caught(&analysis, "little");
    let Finding::LittleGap { found, population, .. } = gap else { panic!("{gap:?}") };
    assert!(population == LittlePopulation::Users(10) && (found - 5.99).abs() < 0.005, "{gap:?}");
    assert_caught(&analysis, "response-integral");
}

/// Every tenth operation fails after the same time: X·R is a tenth short, and the load point says why.
#[test]
fn a_gap_that_failures_explain_is_a_remark() {
    let mut plan = plan(model::Load::Users(10), 2, 20);
    plan.rules.error_ratio_max = 0.2;
    let mut operations = users(&plan, 10, |_, _| ms(70), ms(0));
    operations.iter_mut().step_by(10).for_each(|operation| operation.outcome = Outcome::Reset);
    let analysis = RecordedRun::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let gap = &remarks(&analysis, "little")[0];
    let Finding::LittleGapExplained { found, population, by: LittleExplanation::Failures(failed) } = gap
    else {
        panic!("{gap:?}")
    };
    assert!(*population == LittlePopulation::Users(10) && (found - 9.01).abs() < 0.005, "{gap:?}");
    assert!((0.95..1.05).contains(&failed.users) && 0 < failed.n, "{gap:?}");
    assert!((analysis.load_points[0].little_gap.unwrap() - 0.10).abs() < 0.01);
}

/// Four users with operations of 7.3 s in a steady phase of 20 s: the ends cut a good part off.
#[test]
fn a_gap_that_long_operations_explain_is_a_remark() {
    let mut plan = plan(model::Load::Users(4), 0, 20);
    plan.rules.operations_min = 1;
    let operations = users(&plan, 4, |_, _| ms(7_300), ms(0));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let gap = &remarks(&analysis, "little")[0];
    let Finding::LittleGapExplained { by: LittleExplanation::Ends(ends), .. } = gap else {
        panic!("{gap:?}")
    };
    assert_eq!(ends.in_flight, 4);
}

#[test]
fn thinking_users_close_the_law() {
    let plan = plan(model::Load::Users(10), 2, 20);
    let operations = users(&plan, 10, |_, _| ms(30), ms(90));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let point = &analysis.load_points[0];
    // 120 ms per turn, a quarter of it in flight: 2.5 of 10 users, and 7.5 think.
    assert!((point.in_flight_mean - 2.5).abs() < 0.05, "{}", point.in_flight_mean);
    assert!((point.thinking_mean - 7.5).abs() < 0.05, "{}", point.thinking_mean);
    assert!(point.little_gap.unwrap() < 0.01);
}

/// The same users come back 12 ms late from thinking: 12 ms of lateness are in response and think time alike,
/// and must not count twice.
#[test]
fn late_users_close_the_law() {
    let plan = plan(model::Load::Users(10), 2, 20);
    let mut operations = users(&plan, 10, |_, _| ms(42), ms(90));
    operations.iter_mut().for_each(|operation| operation.sent += ms(12));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let point = &analysis.load_points[0];
    assert!((point.service.mean.unwrap() - 0.030).abs() < 1e-9);
    assert!((point.response.mean.unwrap() - 0.042).abs() < 1e-9);
    assert!((point.thinking_mean - 10.0 * 102.0 / 132.0).abs() < 0.05, "{}", point.thinking_mean);
    assert!(point.little_gap.unwrap() < 0.01);
}
