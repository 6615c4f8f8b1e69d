//! Records for tests.

use model::{Flow, Health, IntervalRecord, Phase, SutUse};
use stats::Histogram;
use units::Nanos;

/// Makes a histogram of equal times.
pub fn histogram(n: u64, time: Nanos) -> Histogram {
    let mut histogram = Histogram::new();
    (0..n).for_each(|_| histogram.record(time));
    histogram
}

/// Makes the record of a second with `n` successful operations of 10 ms.
pub fn record(index: u32, phase: Phase, n: u64) -> IntervalRecord {
    timed(index, phase, n, Nanos::from_millis(10))
}

/// Makes the record of a second with `n` successful operations of equal length; generator and server are mostly idle.
pub fn timed(index: u32, phase: Phase, n: u64, response: Nanos) -> IntervalRecord {
    let start = Nanos::from_secs(u64::from(index));
    IntervalRecord {
        load_point: 0,
        agent: 0,
        index,
        phase,
        start,
        end: start + Nanos::from_secs(1),
        flow: Flow { due: n, started: n, ok: n, in_flight_ns: u128::from(n * response.0), ..Flow::default() },
        kinds: Vec::new(),
        units: Vec::new(),
        response: histogram(n, response),
        service: Histogram::new(),
        lateness: Histogram::new(),
        connect: Histogram::new(),
        health: Health { threads: 1, cpu: Nanos::from_millis(300), run_queue: Nanos::from_millis(20) },
        sut: Some(SutUse { cpu: Nanos::from_millis(250), throttled: Nanos::ZERO }),
    }
}
