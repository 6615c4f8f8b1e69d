//! Latency that hides a stall (coordinated omission): service time reported as response time.

use analysis::Finding;
use model::web_measure;

use super::tamper::rebuild_response;
use crate::record::{RecordedRun, assert_caught, assert_valid, remarks, s};

/// The server stalls for 1 s at 200/s with 20 slots: 180 operations wait for a slot, up to 1 s.
#[test]
fn response_times_from_sending_are_caught_where_operations_waited() {
    let mut recorded = RecordedRun::open(s(1));
    assert_valid(&recorded.analyze());
    for record in &mut recorded.records {
        // The tool knows service times only: the histograms are exchanged, and the exact sums follow.
        let responses = &mut record.detail.as_mut().unwrap().response;
        responses.fill(stats::Histogram::new());
        for kind in &mut record.kinds {
            kind.response = stats::Moments::default();
        }
        let service: Vec<_> = record.service.buckets().collect();
        for (place, bucket) in service.iter().flat_map(|bucket| (0..bucket.count).map(move |k| (k, bucket))) {
            let kind = place as usize % 2;
            record.kinds[kind].response.record(bucket.high.0);
            responses[kind].record(bucket.high);
        }
        for kind in &mut record.kinds {
            let n = kind.response.n;
            let size = if n == 0 { 0 } else { kind.measures[web_measure::BODY_BYTES].max };
            // All measures that every operation has follow.
            let head_bytes = crate::record::HEAD_BYTES;
            for (measure, value) in [
                (web_measure::FIRST_BYTE, 1),
                (web_measure::BODY_BYTES, size),
                (web_measure::REPLY_BYTES, size + head_bytes),
            ] {
                kind.measures[measure] = stats::Moments::default();
                (0..n).for_each(|_| kind.measures[measure].record(value));
            }
        }
        rebuild_response(record);
    }
    let analysis = recorded.analyze();
    assert_caught(&analysis, "response-integral");
}

/// With times from the due time, the stall is in the percentiles; the service time shows less of it.
#[test]
fn response_time_shows_the_stall_and_service_time_does_not() {
    let analysis = RecordedRun::open(s(1)).analyze();
    let point = &analysis.load_points[0];
    let at = |summary: &analysis::TimeSummary, q: f64| {
        summary.percentiles.iter().find(|one| one.q == q).unwrap().value.as_millis_f64()
    };
    // By hand: p99 of 4,000 is the 41st longest. Of the operations in order, the one in flight when the stall
    // begins and the 19 after it are done at 11.005 s, the next 20 at 11.010 s, the 41st at 11.015 s; it fell
    // due at 10 s + 39.5 ÷ 200 s, 817.5 ms before. A bucket there is 0.5 ms wide.
    assert!((at(&point.response, 0.99) - 817.5).abs() < 0.6, "{}", at(&point.response, 0.99));
    assert!(at(&point.service, 0.99) < 6.0, "{}", at(&point.service, 0.99));
    assert!(matches!(remarks(&analysis, "places")[..], [Finding::FullSlots { slots: 20, .. }]));
    // The longest is the one in flight: due 2.5 ms before the stall, done 5 ms after it.
    assert_eq!(point.response.max, Some(units::Nanos(1_007_500_000)));
}
