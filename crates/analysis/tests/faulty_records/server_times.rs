//! An application server that is believed what it states of itself: times that are longer than the responses, that are left
//! out now and then, or whose long ones are missing, and replies that are shorter than they were to be.

use analysis::Finding;
use analysis::finding::{DetailDifference, KindMeasure, LocatedFault, MeasureMismatch};
use model::{
    AppFileIo, AppPayload, AppProtocol, AppSuite, AppWorkload, Load, ThinkTime, Workload, app_measure,
};
use stats::{Histogram, Moments};
use units::Nanos;

use crate::record::{MESSAGE_BYTES, RecordedRun, assert_caught, assert_valid, ms, plan, users};

const PROTOCOLS: [AppProtocol; 2] = [AppProtocol::Binary, AppProtocol::Http];

/// Ten clients of the suite NET, of which half make CS and half SC, in 100 ms and 50 ms alternately: 1 ms in the queue, and
/// all but another one in service.
fn recorded(protocol: AppProtocol) -> RecordedRun {
    let workload = AppWorkload {
        suite: AppSuite::Network,
        payloads: vec![AppPayload { bytes: MESSAGE_BYTES as u32, weight: 1 }],
        rounds: 1,
        range_bytes: 1 << 20,
        auto_range: None,
        io: AppFileIo::Buffered,
        is_cold: false,
        protocol,
        think: ThinkTime::None,
    };
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.catalog = workload.catalog();
    plan.workload = Workload::App(workload);
    let operations = users(&plan, 10, |_, k| if k % 2 == 0 { ms(100) } else { ms(50) }, Nanos::ZERO);
    RecordedRun::of(plan, &operations)
}

/// Returns what the rule `conservation` found in a measure.
#[track_caller]
fn fault(recorded: &RecordedRun) -> (u32, KindMeasure) {
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Measure(found) = found else { panic!("{found:?}") };
    let LocatedFault { interval, fault, .. } = found.first;
    (interval, fault)
}

#[test]
fn times_that_leave_a_rest_pass() {
    for protocol in PROTOCOLS {
        let analysis = recorded(protocol).analyze();
        assert_valid(&analysis);
        let rest = analysis.load_points[0].total.rest_mean.unwrap();
        assert!((rest - 0.001).abs() < 1e-9, "{rest}");
    }
}

/// By hand, of two operations: 98 and 48 of 100 and 50 ms are service, and the rest is 2 ms. A clock that is 2 % too fast adds
/// 2.92 ms.
#[test]
fn times_by_a_clock_that_is_too_fast_are_caught() {
    for protocol in PROTOCOLS {
        let mut recorded = recorded(protocol);
        let totals = &mut recorded.records[7].kinds[1];
        let response = totals.response.sum;
        let service = &mut totals.measures[app_measure::SERVICE];
        service.sum = service.sum * 102 / 100;
        let queue = totals.measures[app_measure::QUEUE].sum;
        let sum = queue + totals.measures[app_measure::SERVICE].sum;
        assert!(response < sum, "{sum} of {response}");
        let (interval, found) = fault(&recorded);
        assert_eq!((interval, found.kind, found.measure.as_str()), (7, 1, "queue + service"));
        let whole = "response time".to_owned();
        assert_eq!(found.fault, MeasureMismatch::Part { sum, whole, whole_sum: response });
    }
}

/// Frames always have both times; over HTTP one that is absent is unknown, and no rest is told.
#[test]
fn a_second_without_times_is_a_fault_of_frames_alone() {
    let without = |protocol| {
        let mut recorded = recorded(protocol);
        let record = &mut recorded.records[7];
        record.kinds.iter_mut().for_each(|kind| kind.measures[app_measure::QUEUE] = Moments::default());
        record.detail.as_mut().unwrap().spreads[app_measure::QUEUE] = Histogram::new();
        recorded
    };
    let analysis = without(AppProtocol::Http).analyze();
    assert_valid(&analysis);
    assert_eq!(analysis.load_points[0].total.rest_mean, None);
    let (interval, found) = fault(&without(AppProtocol::Binary));
    assert_eq!((interval, found.kind, found.measure.as_str()), (7, 0, "queue"));
    assert!(matches!(found.fault, MeasureMismatch::Count { values: 0, ok } if 0 < ok), "{found:?}");
}

/// The percentiles of the queue would look well.
#[test]
fn a_distribution_without_the_long_waits_is_caught() {
    let recorded = recorded(AppProtocol::Binary);
    let analysis = recorded.analyze_details(|detail| {
        let spread = &mut detail.spreads[app_measure::QUEUE];
        let n = spread.n();
        *spread = Histogram::new();
        (0..n).for_each(|_| spread.record(Nanos(100)));
    });
    let found = assert_caught(&analysis, "conservation");
    let Finding::Details { difference, .. } = found else { panic!("{found:?}") };
    let DetailDifference::Measure { name, details, intervals } = difference else { panic!("{difference:?}") };
    assert_eq!((name.as_str(), details.n), ("queue", intervals.n));
    assert!(details.sum < intervals.sum);
}

/// SC: a frame is 56 bytes and the message.
#[test]
fn replies_that_are_shorter_than_their_frames_are_caught() {
    let mut recorded = recorded(AppProtocol::Binary);
    recorded.records[7].kinds[1].measures[app_measure::RECEIVED_BYTES].sum -= 1;
    let (interval, found) = fault(&recorded);
    assert_eq!((interval, found.kind, found.measure.as_str()), (7, 1, "received bytes"));
    let MeasureMismatch::Expected { sum, ok, least, .. } = found.fault else { panic!("{found:?}") };
    assert_eq!((sum + 1, least), (least, u128::from(ok * (56 + MESSAGE_BYTES))));
}
