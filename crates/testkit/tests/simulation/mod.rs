//! The engine and the analysis against servers with a known law: the analysis must find the parameters of the
//! simulation.

mod blocking;
mod capacity;
mod due_pauses;
mod faults;
mod little;
mod memory;
mod mix;
mod notices;
mod phases;
mod queues;
mod schedule;
mod shapes;
mod stall;
mod status;
mod time_limit;
mod timestamps;
mod user_state;
mod users;

use analysis::{Analysis, LoadPointResult, VerdictState};
use units::Nanos;

const fn s(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

const fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

const fn us(microseconds: u64) -> Nanos {
    Nanos::from_micros(microseconds)
}

/// Checks that a figure is as expected within a relative tolerance.
#[track_caller]
fn close(what: &str, found: f64, expected: f64, within: f64) {
    let gap = (found - expected).abs() / expected;
    assert!(gap <= within, "{what}: {found} where {expected} was expected, a gap of {:.2} %", 100.0 * gap);
}

/// Checks that a run is valid; otherwise its reasons are shown.
#[track_caller]
fn assert_valid(analysis: &Analysis) {
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict.reasons);
}

/// Returns the rules that made remarks on a load point.
fn remarks(point: &LoadPointResult) -> Vec<&'static str> {
    point.verdict.remarks.iter().map(|remark| remark.rule()).collect()
}

/// Returns the rules that made a load point invalid.
fn reasons(point: &LoadPointResult) -> Vec<&'static str> {
    point.verdict.reasons.iter().map(|reason| reason.rule()).collect()
}

/// Returns quantile `q` of a summary, in s.
#[track_caller]
fn quantile(times: &analysis::TimeSummary, q: f64) -> f64 {
    let found = times.percentiles.iter().find(|percentile| percentile.q == q);
    found.expect("enough values for the percentile").value.as_secs_f64()
}
