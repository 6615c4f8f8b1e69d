//! Schedules that are kept: no change moves a due time of a run that was recorded before it.
//!
//! `PLIMSOLL_GOLDEN=write` keeps what is found; the difference then shows in review.

use std::path::PathBuf;

use model::{Arrivals, Phases, Schedule};
use serde_json::json;
use testkit::golden;
use units::{Nanos, mix_bits};

/// Number of operations that are kept from the beginning and from the end of each schedule.
const KEPT: usize = 40;

/// Rates at which one schedule each is kept: whole, fractional, and with many operations.
const RATES: [f64; 3] = [4.0, 333.3, 20_000.0];

const PHASES: Phases = Phases {
    quiet: Nanos::from_secs(1),
    ramp_up: Nanos::from_millis(1_500),
    settle: Nanos::from_millis(500),
    steady: Nanos::from_secs(3),
    ramp_down: Nanos::from_secs(1),
    drain: Nanos::from_secs(2),
};

/// Checks the schedules of all rates, with seed 7 and load points from 2 on, against those kept under a name.
#[track_caller]
fn check(name: &str, arrivals: Arrivals) {
    let schedule = |(rate, load_point)| {
        let operations: Vec<(u64, u64)> =
            Schedule::new(rate, arrivals, &PHASES, 7, load_point).map(|(k, due)| (k, due.0)).collect();
        let all = operations.iter().fold(0, |sum, (k, due)| mix_bits(mix_bits(sum ^ k) ^ due));
        json!({
            "per_second": rate,
            "n": operations.len(),
            "all": format!("{all:016x}"),
            "first": operations[..operations.len().min(KEPT)],
            "last": operations[operations.len().saturating_sub(KEPT)..],
        })
    };
    let found: Vec<_> = RATES.into_iter().zip(2..).map(schedule).collect();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schedules/{name}.json"));
    golden::assert_kept(&path, &format!("{}\n", json!(found)));
}

#[test]
fn constant_schedules_never_change() {
    check("constant", Arrivals::Constant);
}

#[test]
fn poisson_schedules_never_change() {
    check("poisson", Arrivals::Poisson);
}
