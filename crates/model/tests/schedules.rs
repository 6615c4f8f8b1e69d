//! Schedules: kept ones, their slices, and the law of Poisson arrivals.
//!
//! `PLIMSOLL_GOLDEN=write` keeps the schedules that are found; the difference then shows in review. A change of one that
//! is kept changes what a seed means: the versions of all benchmarks with such arrivals rise.

use std::num::NonZeroU16;
use std::path::PathBuf;

use model::{Arrivals, Load, LoadPoint, POISSON_LANES, Phases, Schedule, Shape, Stage};
use proptest::prelude::*;
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

/// The number of an operation and its due time in ns.
type Operation = (u64, u64);

fn schedule(
    per_second: f64,
    arrivals: Arrivals,
    phases: &Phases,
    index: u32,
    n_lanes: NonZeroU16,
) -> Schedule {
    let load = Load::Rate { per_second, arrivals, in_flight_max: 1 };
    Schedule::new(LoadPoint { index, load }, phases, 7, n_lanes).expect("an open loop")
}

/// Returns the operations of all slices, in order of due times, equal ones in order of lanes.
///
/// Checks that each slice is in that order by itself.
fn union(schedule: &Schedule, n_slices: u32, n_lanes: NonZeroU16) -> Vec<Operation> {
    let order = |(k, due): &Operation| (*due, k % u64::from(n_lanes.get()), *k);
    let mut all = Vec::new();
    for index in 0..n_slices {
        let slice: Vec<Operation> = schedule.slice(index, n_slices).map(|(k, due)| (k, due.0)).collect();
        assert!(slice.is_sorted_by_key(order), "slice {index} of {n_slices}");
        all.extend(slice);
    }
    all.sort_by_key(order);
    all
}

/// Checks the schedules of all rates, with seed 7 and load points from 2 on, against those kept under a name, for each
/// number of slices.
#[track_caller]
fn check(name: &str, arrivals: Arrivals, n_lanes: NonZeroU16, slices: &[u32]) {
    for n_slices in slices {
        let operations = |(rate, load_point)| {
            let operations =
                union(&schedule(rate, arrivals, &PHASES, load_point, n_lanes), *n_slices, n_lanes);
            let all = operations.iter().fold(0, |sum, (k, due)| mix_bits(mix_bits(sum ^ k) ^ due));
            json!({
                "per_second": rate,
                "n": operations.len(),
                "all": format!("{all:016x}"),
                "first": operations[..operations.len().min(KEPT)],
                "last": operations[operations.len().saturating_sub(KEPT)..],
            })
        };
        let found: Vec<_> = RATES.into_iter().zip(2..).map(operations).collect();
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schedules/{name}.json"));
        golden::assert_kept(&path, &format!("{}\n", json!(found)));
    }
}

/// The file was written before schedules had slices.
#[test]
fn constant_schedules_never_change_however_many_slices() {
    check("constant", Arrivals::Constant, NonZeroU16::MIN, &[1, 2, 7, 300]);
}

#[test]
fn poisson_schedules_never_change_however_many_slices() {
    check("poisson", Arrivals::Poisson, POISSON_LANES, &[1, 2, 7, 256]);
}

/// The schedules of run files from before there were lanes, by which they are still judged. The file was written then.
#[test]
fn poisson_schedules_of_one_lane_never_change() {
    check("poisson-one-lane", Arrivals::Poisson, NonZeroU16::MIN, &[1]);
}

/// Rate of the schedules whose law is tested, per s; 100 s of it are 10⁶ operations.
const RATE: f64 = 10_000.0;

/// The allowance for chance, in standard deviations; of some twenty figures with a fixed seed none is beyond.
const DEVIATIONS: f64 = 3.0;

fn poisson(ramp_up: u64, steady: u64, ramp_down: u64) -> Schedule {
    let zero = Nanos::ZERO;
    let [ramp_up, steady, ramp_down] = [ramp_up, steady, ramp_down].map(Nanos::from_secs);
    let phases = Phases { quiet: zero, ramp_up, settle: zero, steady, ramp_down, drain: zero };
    schedule(RATE, Arrivals::Poisson, &phases, 0, POISSON_LANES)
}

fn seconds(operations: impl Iterator<Item = (u64, Nanos)>) -> Vec<f64> {
    operations.map(|(_, due)| due.as_secs_f64()).collect()
}

fn gaps(due: &[f64]) -> Vec<f64> {
    due.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[track_caller]
fn near(what: &str, found: f64, expected: f64, deviation: f64) {
    let off = (found - expected) / deviation;
    assert!(off.abs() < DEVIATIONS, "{what}: {found}, expected {expected}, {off:.1} standard deviations");
}

/// Counts in windows of 1 ms are Poisson with mean λ = 10: mean and variance are λ. The variance of a sample variance of
/// N values is (2λ² + λ) ÷ N.
#[test]
fn counts_have_the_mean_and_the_variance_of_poisson() {
    let due = seconds(poisson(0, 100, 0).whole());
    near("operations", due.len() as f64, 1e6, 1e3);
    let mut counts = vec![0.0; 100_000];
    due.iter().for_each(|due| counts[((due * 1e3) as usize).min(99_999)] += 1.0);
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0);
    near("mean", mean, 10.0, (10.0 / n).sqrt());
    near("variance", variance, 10.0, (210.0 / n).sqrt());
}

/// Checks that gaps are exponential with a rate (per s) by Kolmogorov and Smirnov: the greatest distance between the
/// distributions passes 1.95 ÷ √n once in a thousand samples.
#[track_caller]
fn assert_exponential(mut gaps: Vec<f64>, rate: f64) {
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let off = |(rank, gap): (usize, &f64)| {
        let expected = -(-gap * rate).exp_m1();
        (expected - rank as f64 / n).abs().max((expected - (rank + 1) as f64 / n).abs())
    };
    let greatest = gaps.iter().enumerate().map(off).fold(0.0, f64::max);
    assert!(greatest < 1.95 / n.sqrt(), "{greatest} with n = {n}");
}

#[test]
fn gaps_are_exponential_in_the_whole_and_in_a_slice() {
    let schedule = poisson(0, 100, 0);
    assert_exponential(gaps(&seconds(schedule.whole())), RATE);
    // The fourth of seven slices has lanes 3, 10 … 255: 37 of 256. One of 256 has a single lane.
    assert_exponential(gaps(&seconds(schedule.slice(3, 7))), RATE * 37.0 / 256.0);
    assert_exponential(gaps(&seconds(schedule.slice(200, 256))), RATE / 256.0);
}

/// The correlation of neighbors is 0 ± 1 ÷ √n.
#[test]
fn gaps_do_not_depend_on_the_gap_before() {
    let gaps = gaps(&seconds(poisson(0, 100, 0).whole()));
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
    for lag in [1, 2, 256] {
        let products = gaps.iter().zip(&gaps[lag..]).map(|(one, other)| (one - mean) * (other - mean));
        near("correlation", products.sum::<f64>() / n / variance, 0.0, 1.0 / n.sqrt());
    }
}

/// Of 256 lanes, the first four of seven slices have 37 and the others 36.
#[test]
fn slices_have_operations_in_proportion_to_their_lanes() {
    let schedule = poisson(0, 100, 0);
    for index in 0..7 {
        let expected = 1e6 / 256.0 * if index < 4 { 37.0 } else { 36.0 };
        near("operations", schedule.slice(index, 7).count() as f64, expected, expected.sqrt());
        let lane = |(k, _): (u64, Nanos)| k % 256;
        assert!(schedule.slice(index, 7).all(|operation| lane(operation) % 7 == u64::from(index)));
    }
}

/// Over a ramp of 20 s to 10,000/s half of 200,000 operations are expected, a quarter of them in its first half.
#[test]
fn ramps_have_half_of_the_full_rate() {
    let mut cursor = poisson(20, 10, 20).whole();
    for (second, expected) in [(10, 25e3), (20, 75e3), (30, 100e3), (40, 75e3), (50, 25e3)] {
        let found = cursor.pass_before(Nanos::from_secs(second)) as f64;
        near("operations", found, expected, expected.sqrt());
    }
    assert_eq!(cursor.next_due(), None);
}

/// Returns the schedule of a shape, from stages of seconds and two rates.
fn shaped(stages: &[(u64, f64, f64)], arrivals: Arrivals, n_lanes: NonZeroU16) -> (Schedule, Shape) {
    let stage =
        |&(seconds, from, to): &(u64, f64, f64)| Stage { length: Nanos::from_secs(seconds), from, to };
    let shape = Shape { stages: stages.iter().map(stage).collect(), until: Vec::new() };
    let zero = Nanos::ZERO;
    let steady = shape.length();
    let phases = Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain: zero };
    (schedule(shape.level_max(), arrivals, &phases, 0, n_lanes).with_shape(&shape, &phases), shape)
}

/// By hand: 0..4/s in 2 s are 4 operations, Λ(t) = t²: they are due at √½, √1½, √2½ and √3½ s. Nothing in a second without
/// load. 3/s for 1 s are operations 5 to 7, at 3⅙, 3½ and 3⅚ s. 2..0/s in 1 s is one, Λ = 2x − x²: ½ at 1 − √½.
#[test]
fn arrivals_follow_the_stages() {
    let stages = [(2, 0.0, 4.0), (1, 0.0, 0.0), (1, 3.0, 3.0), (1, 2.0, 0.0)];
    let (schedule, _) = shaped(&stages, Arrivals::Constant, NonZeroU16::MIN);
    let found = seconds(schedule.whole());
    let half = 0.5f64;
    let expected = [
        half.sqrt(),
        1.5f64.sqrt(),
        2.5f64.sqrt(),
        3.5f64.sqrt(),
        3.0 + 1.0 / 6.0,
        3.5,
        3.0 + 5.0 / 6.0,
        5.0 - half.sqrt(),
    ];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-9, "{found}, expected {expected}");
    }
}

/// A schedule of stages that change nothing is the one without them, to the nanosecond.
#[test]
fn a_constant_shape_has_the_schedule_of_a_constant_load() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let (of_shape, shape) = shaped(&[(4, 250.0, 250.0)], arrivals, POISSON_LANES);
        let zero = Nanos::ZERO;
        let steady = shape.length();
        let phases =
            Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain: zero };
        let plain = schedule(250.0, arrivals, &phases, 0, POISSON_LANES);
        assert!(of_shape.whole().eq(plain.whole()), "{arrivals}");
    }
}

/// Counts in each second of Poisson arrivals are Poisson with the mean of the level in it, also where it changes.
#[test]
fn poisson_arrivals_follow_the_stages() {
    let stages = [(10, 0.0, 20_000.0), (5, 20_000.0, 20_000.0), (1, 500.0, 500.0), (4, 8_000.0, 0.0)];
    let (schedule, shape) = shaped(&stages, Arrivals::Poisson, POISSON_LANES);
    let mut cursor = schedule.whole();
    for second in 0..20 {
        let (start, end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        let expected = shape.level_mean(start..end);
        near("operations", cursor.pass_before(end) as f64, expected, expected.sqrt());
    }
    assert_eq!(cursor.next_due(), None);
}

proptest! {
    /// Constant arrivals fall due as the integral of the level says, to the half operation, in every stage and whatever the slices.
    #[test]
    fn counts_are_the_integral_of_the_level_and_slices_are_the_whole(
        stages in prop::collection::vec((1u64..10, 0u32..100, 0u32..100), 1..6),
        is_poisson: bool,
        n_slices in 1u32..9,
    ) {
        let stages: Vec<_> = stages.iter().map(|(s, from, to)| (*s, f64::from(*from), f64::from(*to))).collect();
        prop_assume!(stages.iter().any(|(_, from, to)| 0.0 < from + to));
        let (arrivals, lanes) =
            if is_poisson { (Arrivals::Poisson, POISSON_LANES) } else { (Arrivals::Constant, NonZeroU16::MIN) };
        let (schedule, shape) = shaped(&stages, arrivals, lanes);
        let whole = union(&schedule, 1, lanes);
        prop_assert_eq!(&union(&schedule, n_slices, lanes), &whole);
        prop_assert!(whole.iter().all(|(_, due)| *due < shape.length().0 + 1));
        if !is_poisson {
            let mut passed = 0.0;
            for (span, stage) in shape.spans() {
                passed += stage.level_mean() * stage.length.as_secs_f64();
                let n = whole.iter().filter(|(_, due)| *due < span.end.0).count() as f64;
                prop_assert!((n - passed).abs() <= 0.5 + 1e-6, "{n} by {}, expected {passed}", span.end);
            }
        }
    }

    /// Users with state have the operations of the whole, however they are divided.
    #[test]
    fn users_of_a_shape_have_the_operations_of_the_whole(border in 0u32..=7, is_poisson: bool) {
        let lanes = NonZeroU16::new(7).expect("not zero");
        let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let (schedule, _) = shaped(&[(3, 0.0, 100.0), (2, 40.0, 40.0)], arrivals, lanes);
        let mut whole: Vec<_> = schedule.whole().collect();
        let mut parts: Vec<_> = schedule.of_users(0..border, 7).chain(schedule.of_users(border..7, 7)).collect();
        whole.sort();
        parts.sort();
        prop_assert_eq!(parts, whole);
    }
}
