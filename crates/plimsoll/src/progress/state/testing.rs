//! Records for tests.

use model::{Flow, Health, IntervalRecord, KindHistograms, KindTotals, Phase, SutUse, web_measure};
use stats::Histogram;
use units::Nanos;

/// Sizes of a reply and of the object in it, the one of the simulated plans.
const REPLY_BYTES: u64 = 600;
const BODY_BYTES: u64 = 500;

/// Makes a histogram of equal times.
pub(crate) fn histogram(n: u64, time: Nanos) -> Histogram {
    let mut histogram = Histogram::new();
    (0..n).for_each(|_| histogram.record(time));
    histogram
}

/// Makes the record of a second with `n` successful operations of 10 ms.
pub(crate) fn record(index: u32, phase: Phase, n: u64) -> IntervalRecord {
    timed(index, phase, (0..n).map(|_| Nanos::from_millis(10)))
}

/// Makes the record of a second with successful operations of these lengths; generator and server are mostly idle.
pub(crate) fn timed(index: u32, phase: Phase, times: impl Iterator<Item = Nanos>) -> IntervalRecord {
    let mut kind = KindTotals::new(4);
    let mut detail = KindHistograms::new(1, 1, 0);
    let mut response = Histogram::new();
    for time in times {
        response.record(time);
        kind.response.record(time.0);
        detail.response[0].record(time);
        kind.measures[web_measure::FIRST_BYTE].record(time.0);
        kind.measures[web_measure::REPLY_BYTES].record(REPLY_BYTES);
        kind.measures[web_measure::BODY_BYTES].record(BODY_BYTES);
    }
    let n = response.n();
    let start = Nanos::from_secs(u64::from(index));
    IntervalRecord {
        load_point: 0,
        agent: 0,
        thread: None,
        index,
        phase,
        start,
        end: start + Nanos::from_secs(1),
        flow: Flow { due: n, started: n, ok: n, in_flight_ns: response.sum(), ..Flow::default() },
        kinds: vec![kind],
        units: Vec::new(),
        pauses: Vec::new(),
        notices: Vec::new(),
        clients: stats::Moments::default(),
        response,
        service: Histogram::new(),
        lateness: Histogram::new(),
        health: Health { threads: 1, cpu: Nanos::from_millis(300), run_queue: Nanos::from_millis(20) },
        sut: Some(SutUse { cpu: Nanos::from_millis(250), throttled: Nanos::ZERO }),
        detail: Some(detail),
    }
}
