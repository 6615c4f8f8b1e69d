//! The numbers of a load point that is small enough to be worked out on paper.

use analysis::{Analysis, LoadPointResult, SummaryStatistics};
use model::{ConnectionLifetime, Load, Outcome, web_measure};
use stats::MBIT;
use units::{Nanos, Ratio};

use crate::record::{Operation, RecordedRun, ms, plan, s};

#[track_caller]
pub(crate) fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "found {found}, expected {expected}");
}

#[track_caller]
fn four(found: &SummaryStatistics, mean: f64, deviation: f64, min: f64, max: f64) {
    for (found, expected) in
        [(found.mean, mean), (found.deviation, deviation), (found.min, min), (found.max, max)]
    {
        let found = found.expect("a value");
        assert!((found - expected).abs() <= 1e-6 * expected.max(1e-3), "found {found}, expected {expected}");
    }
}

/// Two users who never think, T = 4 s. A fetches 500 B in 0.5 s each, connecting in 1 ms: done at 0.5, 1.0, … 3.5,
/// seven in [0, 4), one in flight since 3.5. B fetches 5,125 B in 1.5 s each, connecting in 3 ms: done at
/// 1.5 and 3.0, one in flight since 3.0.
pub(crate) fn operations() -> Vec<Operation> {
    let user = |kind: usize, response: Nanos, connect: Nanos, n: u64| {
        (0..n).map(move |k| {
            let due = Nanos(response.0 * k);
            Operation {
                kind,
                drawn: Nanos::ZERO,
                free: Nanos::ZERO,
                due_span: Nanos::ZERO,
                due,
                sent: due,
                done: due + response,
                connect,
                outcome: Outcome::Ok,
            }
        })
    };
    user(0, ms(500), ms(1), 8).chain(user(1, ms(1_500), ms(3), 3)).collect()
}

pub(crate) fn recorded(operations: &[Operation]) -> RecordedRun {
    let mut plan = plan(Load::Users(2), 0, 4);
    plan.rules.operations_min = 1;
    RecordedRun::of(plan, operations)
}

fn only(analysis: &Analysis) -> &LoadPointResult {
    assert_eq!(analysis.load_points.len(), 1);
    &analysis.load_points[0]
}

/// n = 7 + 2 = 9, Σr = 7 · 0.5 + 2 · 1.5 = 6.5 s, P = 9 pages (each page is one file).
#[test]
fn webstones_rates_and_loads() {
    let analysis = recorded(&operations()).analyze();
    let point = only(&analysis);
    assert_eq!((point.total.n, point.total.errors, point.length), (9, 0, s(4)));
    near(point.rate, 9.0 / 4.0);
    near(point.rate_per_user.unwrap(), 9.0 / 8.0);
    near(point.error_rate, 0.0);
    assert_eq!(point.error_level, Some(0.0));
    near(point.response.mean.unwrap(), 6.5 / 9.0);
    near(point.load_factor, 6.5 / 4.0);
    near(point.units_per_minute.unwrap(), 60.0 * 9.0 / 4.0);
    assert_eq!(point.total.units_ok, Some(9));
    assert_eq!((point.offered_rate, point.delivered_ratio), (None, None));
    near(analysis.response_mean().unwrap(), 6.5 / 9.0);
}

/// Of A's 500 ms two parts of 1 ms, of B's 1,500 ms two of 3 ms: (7 · 498 + 2 · 1,494) ÷ 9 ms remain.
#[test]
fn parts_leave_the_rest_of_the_response_time() {
    let mut recorded = recorded(&operations());
    let rest = |recorded: &RecordedRun| {
        let analysis = recorded.analyze();
        let point = only(&analysis);
        point.kinds.iter().chain([&point.total]).map(|kind| kind.rest_mean).collect::<Vec<_>>()
    };
    assert_eq!(rest(&recorded), [None; 3], "the web has no such parts");
    recorded.plan.catalog.response_parts = vec![web_measure::CONNECT, web_measure::FIRST_BYTE];
    let expected = [0.498, 1.494, (7.0 * 0.498 + 2.0 * 1.494) / 9.0];
    rest(&recorded).into_iter().zip(expected).for_each(|(found, expected)| near(found.unwrap(), expected));
    // An operation of A without the first part: the rest of A is not known, and neither is that of all.
    recorded.records[0].kinds[0].measures[web_measure::CONNECT].n -= 1;
    let found = rest(&recorded);
    assert!(matches!(found[..], [None, Some(_), None]), "{found:?}");
    // Nor is one of parts that are longer than the whole.
    recorded.records[1].kinds[1].measures[web_measure::CONNECT].sum = u128::MAX;
    assert_eq!(rest(&recorded), [None; 3]);
}

/// Bodies 7 · 500 + 2 · 5,125 = 13,750 B, heads 9 · 200 = 1,800 B, both 15,550 B = 124,400 bits.
#[test]
fn webstones_throughputs_in_2_to_the_20_bits() {
    let analysis = recorded(&operations()).analyze();
    let point = only(&analysis);
    let web = point.total.web.unwrap();
    assert_eq!((web.body, web.head, point.total.transferred), (13_750, 1_800, 15_550));
    near(point.throughput_mbit.unwrap(), 124_400.0 / (4.0 * MBIT));
    near(point.client_throughput_mbit.unwrap(), 124_400.0 / (6.5 * MBIT));
    // WebBench counts bodies in KB of 1024 B.
    near(point.web.as_ref().unwrap().body_throughput_kb, 13_750.0 / (4.0 * 1024.0));
    near(point.t1_lines().unwrap(), point.throughput_mbit.unwrap() / 1.4);
}

/// Response: E\[r²\] = (7 · 0.25 + 2 · 2.25) ÷ 9 = 0.694444, mean² = 0.521605, deviation √0.172840 = 0.415740.
/// Connect: mean (7 · 1 + 2 · 3) ÷ 9 = 1.444444 ms, E = (7 + 18) ÷ 9 = 2.777778, deviation √0.691358 = 0.831479 ms.
/// Body: mean 13,750 ÷ 9 = 1,527.7778, E = (7 · 250,000 + 2 · 26,265,625) ÷ 9 = 6,031,250,
/// deviation √(6,031,250 − 2,334,104.938) = 1,922.796; head and body: 200 more, the same deviation.
#[test]
fn webstones_statistics_in_total() {
    let analysis = recorded(&operations()).analyze();
    let total = &only(&analysis).total;
    four(&total.response, 6.5 / 9.0, 0.415_739_710, 0.5, 1.5);
    four(&total.measure(web_measure::CONNECT), 0.013 / 9.0, 0.000_831_479, 0.001, 0.003);
    four(&total.measure(web_measure::FIRST_BYTE), 0.013 / 9.0, 0.000_831_479, 0.001, 0.003);
    // The rest of the service time: (6.5 − 0.013) ÷ 9.
    near(only(&analysis).web.as_ref().unwrap().receive_mean.unwrap(), 6.487 / 9.0);
    four(&total.measure(web_measure::BODY_BYTES), 1_527.777_778, 1_922.796_156, 500.0, 5_125.0);
    four(&total.measure(web_measure::REPLY_BYTES), 1_727.777_778, 1_922.796_156, 700.0, 5_325.0);
    assert_eq!((total.name.as_str(), total.web.unwrap().object_bytes), ("all", None));
}

#[test]
fn webstones_statistics_per_file() {
    let analysis = recorded(&operations()).analyze();
    let [small, large] = &only(&analysis).kinds[..] else { panic!("two kinds") };
    assert_eq!((small.name.as_str(), small.web.unwrap().object_bytes, small.n), ("/small", Some(500), 7));
    assert_eq!((large.name.as_str(), large.web.unwrap().object_bytes, large.n), ("/large", Some(5125), 2));
    four(&large.response, 1.5, 0.0, 1.5, 1.5);
    let web = large.web.unwrap();
    assert_eq!((web.body, web.head, large.transferred), (10_250, 400, 10_650));
    assert_eq!(small.percentiles.histogram.n(), 7);
    // Six values are needed for a median with an interval: seven are enough, two are not.
    let medians =
        [small, large].map(|kind| kind.percentiles.percentiles.first().map(|p| (p.q, p.value, p.n)));
    assert_eq!(medians, [Some((0.5, ms(500), 7)), None]);
    assert_eq!((small.units_ok, large.units_ok), (None, None));
}

/// In flight all the time: 2 users. Missing from L = 1.625: the ages at the end, (0.5 + 1.0) ÷ 4 = 0.375.
#[test]
fn operations_in_flight_at_the_end_close_littles_law() {
    let analysis = recorded(&operations()).analyze();
    let point = only(&analysis);
    near(point.in_flight_mean, 2.0);
    near(point.thinking_mean, 0.0);
    near(point.little_gap.unwrap(), (2.0 - 1.625) / 2.0);
    assert_eq!((point.in_flight_at_end, point.in_flight_age), (2, ms(1_500)));
    near(point.in_flight_mean, point.load_factor + point.in_flight_age.as_secs_f64() / 4.0);
    let rules: Vec<&str> = point.verdict.remarks.iter().map(|remark| remark.rule()).collect();
    assert_eq!(rules, ["little", "percentiles", "in-flight"]);
}

/// B's first operation is reset at 1.5 s: E = 1, n = 8, Σr = 5 s; its time is in no mean.
#[test]
fn failures_count_in_rates_of_their_own() {
    let mut operations = operations();
    operations[8].outcome = Outcome::Reset;
    let mut recorded = recorded(&operations);
    recorded.plan.rules.error_ratio_max = 0.5;
    let analysis = recorded.analyze();
    let point = only(&analysis);
    assert_eq!((point.total.n, point.total.errors, point.completed()), (8, 1, 9));
    near(point.error_rate, 0.25);
    near(point.error_level.unwrap(), 1.0 / 8.0);
    near(point.load_factor, 5.0 / 4.0);
    near(point.units_per_minute.unwrap(), 60.0 * 8.0 / 4.0);
    assert_eq!(point.failures, [(Outcome::Reset, 1)]);
    assert_eq!((point.kinds[1].n, point.kinds[1].errors), (1, 1));
    assert_eq!(point.total.web.unwrap().body, 7 * 500 + 5_125);
}

/// The records have: 1 s of CPU time per second on 2 threads, 20 ms in the run queue; the server uses
/// 0.25 CPUs of 0.5. Per operation: 4 s ÷ 9 and 1 s ÷ 9.
#[test]
fn the_machines_use() {
    let analysis = recorded(&operations()).analyze();
    let point = only(&analysis);
    near(point.generator_busy, 0.5);
    near(point.generator_run_queue, 0.01);
    near(point.generator_cpu_per_operation.unwrap(), 4.0 / 9.0);
    near(point.sut_cpus.unwrap(), 0.25);
    near(point.sut_busy.unwrap(), 0.5);
    near(point.sut_cpu_per_operation.unwrap(), 1.0 / 9.0);
}

#[test]
fn unknown_values_are_none() {
    let mut recorded = recorded(&operations());
    recorded.plan.workload.web_mut().unwrap().protocol.connection =
        ConnectionLifetime::KeepAlive { requests_max: None };
    recorded.plan.catalog.units.clear();
    recorded.plan.sut.quota = None;
    recorded.records[2].sut = None;
    let analysis = recorded.analyze();
    let point = only(&analysis);
    assert_eq!((point.sut_cpus, point.sut_busy, point.sut_cpu_per_operation), (None, None, None));
    assert_eq!((&point.spreads[0], &point.lateness, point.units_per_minute), (&None, &None, None));
    assert_eq!((point.rate_interval, point.response.mean_interval), (None, None));
}

/// Seconds of A and B: done at 0.5 | 1.0, 1.5, 1.5 | 2.0, 2.5 | 3.0, 3.0, 3.5; in the drain 4.0 and 4.5.
#[test]
fn the_timeline_has_every_second() {
    let analysis = recorded(&operations()).analyze();
    let timeline = &only(&analysis).timeline;
    assert_eq!(timeline.iter().map(|second| second.at).collect::<Vec<_>>(), [0.5, 1.5, 2.5, 3.5, 4.5]);
    assert_eq!(timeline.iter().map(|second| second.rate).collect::<Vec<_>>(), [1.0, 3.0, 2.0, 3.0, 2.0]);
    assert!(timeline.iter().all(|second| second.p50.is_none() && second.error_rate == 0.0));
    assert!(timeline.iter().all(|second| second.generator_busy == 0.5 && second.sut_cpus == Some(0.25)));
    assert_eq!(timeline[4].phase, model::Phase::Drain);
}

/// 20 s at a rate of 133 or 134 per second: 10 users, 150 ms for two operations. The intervals hold the means.
#[test]
fn intervals_hold_the_means() {
    let analysis = RecordedRun::closed().analyze();
    let point = only(&analysis);
    let (low, high) = point.rate_interval.unwrap();
    assert!(low <= point.rate && point.rate <= high && high - low < 10.0, "{low} {high}");
    let (low, high) = point.response.mean_interval.unwrap();
    let mean = point.response.mean.unwrap();
    assert!(low <= mean && mean <= high && high - low < 0.01, "{low} {mean} {high}");
}

/// Ten users for 21 s, with 900 ms in the first second and 50 ms then: 20 batches leave that second out, which makes the mean.
#[test]
fn a_mean_outside_of_its_interval_has_none() {
    let with_first = |first: u64| {
        let plan = plan(Load::Users(10), 2, 21);
        // Forty fill the ramp-up of two seconds.
        let length = |_, k| ms(if k == 40 { first } else { 50 });
        let operations = crate::record::users(&plan, 10, length, ms(0));
        let analysis = RecordedRun::of(plan, &operations).analyze();
        let response = &only(&analysis).response;
        (response.mean.unwrap(), response.mean_interval)
    };
    let (mean, interval) = with_first(50);
    let (low, high) = interval.unwrap();
    assert!(low <= mean && mean <= high, "{low} {mean} {high}");
    let (mean, interval) = with_first(900);
    assert!(0.0515 < mean && interval.is_none(), "{mean} {interval:?}");
}

/// Ten users for 20 s, in every other pair of seconds 50 ms, else 100 ms: values of a second are alike, so that the
/// effective sample size of 2,600 is small, and the median may be either. Ranks of independent values would give 50
/// ms alone.
#[test]
fn intervals_of_percentiles_allow_for_autocorrelation() {
    let plan = plan(Load::Users(10), 2, 20);
    let mut operations = Vec::new();
    for user in 0..10 {
        let mut due = Nanos::ZERO;
        while due < plan.phases.issuing() {
            let done = due + if due.as_secs_f64() % 4.0 < 2.0 { ms(50) } else { ms(100) };
            let outcome = Outcome::Ok;
            operations.push(Operation {
                kind: user % 2,
                drawn: Nanos::ZERO,
                free: Nanos::ZERO,
                due_span: Nanos::ZERO,
                due,
                sent: due,
                done,
                connect: ms(1),
                outcome,
            });
            due = done;
        }
    }
    let analysis = RecordedRun::of(plan, &operations).analyze();
    let point = only(&analysis);
    let whole = point.response.histogram.quantile_interval(Ratio(0.5), Ratio(0.95)).unwrap();
    assert!(whole.low == ms(50) && whole.high < ms(51), "{whole:?}");
    let p50 = point.response.percentile(0.5).unwrap();
    let (low, high) = p50.interval.unwrap();
    assert!(low <= ms(50) && ms(100) <= high, "{p50:?}");
    assert_eq!(point.total.percentiles, point.response);
}

/// Eight seconds are too few for batches, not for the percentile itself.
#[test]
fn a_percentile_of_a_short_phase_has_no_interval() {
    let plan = plan(Load::Users(10), 2, 8);
    let operations = crate::record::users(&plan, 10, |_, _| ms(70), ms(0));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    let p99 = *only(&analysis).response.percentile(0.99).unwrap();
    assert_eq!(
        (p99.value, p99.interval),
        (only(&analysis).response.histogram.quantile(Ratio(0.99)).unwrap(), None)
    );
}

/// 200/s for 20 s, each 5 ms from sending: nothing waits, so service and response time are the same.
#[test]
fn an_open_loop_has_offered_rate_and_lateness() {
    let analysis = RecordedRun::open(Nanos::ZERO).analyze();
    let point = only(&analysis);
    near(point.offered_rate.unwrap(), 200.0);
    near(point.delivered_ratio.unwrap(), 1.0);
    assert_eq!(point.rate_per_user, None);
    near(point.rate, 200.0);
    near(point.load_factor, 1.0);
    assert_eq!(point.little_gap, None);
    // Single operations are scheduled, so there are no pages although the benchmark counts them.
    assert_eq!((point.total.units_ok, point.units_per_minute), (None, None));
    let lateness = point.lateness.as_ref().unwrap();
    assert_eq!((lateness.histogram.n(), lateness.max), (4_000, Some(Nanos::ZERO)));
    assert_eq!(point.service.histogram, point.response.histogram);
    let connect = point.spreads[0].as_ref().unwrap();
    assert_eq!((connect.histogram.n(), connect.max), (4_000, Some(ms(1))));
}
