//! Conservation identities, checked directly on records: independent of the analysis.

use model::{Flow, IntervalRecord, Outcome};

/// Checks every interval of one load point and the transitions between them, share by share.
///
/// `records` as in [`crate::Recording`], of one load point.
///
/// # Panics
/// An identity is broken.
pub fn assert_conserved(records: &[IntervalRecord]) {
    assert!(!records.is_empty(), "nothing was recorded");
    let n_threads = records.iter().filter_map(|record| record.thread).max().unwrap_or(0) + 1;
    for thread in 0..n_threads {
        let mut before = Flow::default();
        let mut end = units::Nanos::ZERO;
        let share: Vec<_> = records.iter().filter(|record| record.thread == Some(thread)).collect();
        for (index, record) in share.into_iter().enumerate() {
            let place = format!("thread {thread}, interval {index}");
            assert_eq!(record.index as usize, index, "{place}: order");
            assert_eq!(record.start, end, "{place}: begins where the one before ended");
            assert!(record.start < record.end, "{place}: has a length");
            assert_eq!(record.flow.waiting_at_start, before.waiting_at_end, "{place}: waiting");
            assert_eq!(record.flow.in_flight_at_start, before.in_flight_at_end, "{place}: in flight");
            assert_flow(&record.flow, &place);
            assert!(
                record.notices.iter().all(|notice| notice.sides()[0] == notice.sides()[1]),
                "{place}: notices"
            );
            assert_sums(record, &place);
            (before, end) = (record.flow, record.end);
        }
    }
}

fn assert_flow(flow: &Flow, place: &str) {
    assert_eq!(
        flow.waiting_at_start + flow.due,
        flow.started + flow.skipped + flow.waiting_at_end,
        "{place}: what waited or fell due was started or skipped, or waits"
    );
    assert_eq!(
        flow.in_flight_at_start + flow.started,
        flow.ok + flow.failed + flow.timed_out + flow.abandoned + flow.in_flight_at_end,
        "{place}: what was in flight or started has ended, or is in flight"
    );
}

fn assert_sums(record: &IntervalRecord, place: &str) {
    let failures = |timed_out: bool| -> u64 {
        let all = record.kinds.iter().flat_map(|kind| &kind.failed);
        all.filter(|(outcome, _)| (**outcome == Outcome::TimedOut) == timed_out).map(|(_, n)| n).sum()
    };
    let ok: u64 = record.kinds.iter().map(|kind| kind.response.n).sum();
    let responses: u128 = record.kinds.iter().map(|kind| kind.response.sum).sum();
    assert_eq!(ok, record.flow.ok, "{place}: successes");
    assert_eq!(failures(false), record.flow.failed, "{place}: failures");
    assert_eq!(failures(true), record.flow.timed_out, "{place}: timed out");
    assert_eq!(record.response.n(), ok, "{place}: response times");
    assert_eq!(record.response.sum(), responses, "{place}: sum of response times");
}
