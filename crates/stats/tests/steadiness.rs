//! Error rates of `stats::steadiness`, on series that are steady and on series that are not.
//!
//! `cargo test -p stats --test all steadiness:: -- --nocapture` prints the table of `docs/design/intervals.md`.

use stats::{Steadiness, SteadyLimit, steadiness};
use units::{Rng, StreamPurpose};

use crate::queues::{self, Service};

/// The variation of the values of a steady series.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Normal with this deviation, relative to the mean, and this correlation from one value to the next (AR(1)).
    Autocorrelated { deviation: f64, autocorrelation: f64 },
    /// The same, but half of the variance remembers nothing, which hides the memory of the other half.
    HalfRemembering { deviation: f64, autocorrelation: f64 },
    /// Operations per second of a simulated queue.
    Rate(Service, f64),
    /// Mean response time per second of a simulated queue.
    Response(Service, f64),
}

impl Noise {
    fn series(self, seed: u64, n: usize) -> Vec<f64> {
        match self {
            Noise::Autocorrelated { deviation, autocorrelation } => {
                autocorrelated(seed, n, deviation, autocorrelation)
            }
            Noise::HalfRemembering { deviation, autocorrelation } => {
                let part = deviation * 0.5f64.sqrt();
                let other = autocorrelated(seed + 1_000_000, n, part, 0.0);
                autocorrelated(seed, n, part, autocorrelation)
                    .iter()
                    .zip(other)
                    .map(|(one, other)| one + other - 1.0)
                    .collect()
            }
            Noise::Rate(service, utilization) => queues::seconds(seed, service, utilization, n)
                .iter()
                .map(|second| second.len() as f64)
                .collect(),
            Noise::Response(service, utilization) => {
                let seconds = queues::seconds(seed, service, utilization, n);
                let busy = seconds.iter().filter(|second| !second.is_empty());
                busy.map(|second| second.iter().sum::<f64>() / second.len() as f64).collect()
            }
        }
    }
}

fn autocorrelated(seed: u64, n: usize, deviation: f64, autocorrelation: f64) -> Vec<f64> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 1);
    // The sum of twelve uniform numbers has variance 1.
    let mut normal = || deviation * ((0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0);
    let mut noise = normal();
    let value = |_| {
        noise = autocorrelation * noise + (1.0 - autocorrelation * autocorrelation).sqrt() * normal();
        1.0 + noise
    };
    (0..n).map(value).collect()
}

/// Returns the share of `n_series` series of `length` values, seeds from 0 on, that are not called steady.
fn share_alarmed(noise: Noise, length: usize, n_series: u64, shape: fn(f64) -> f64) -> f64 {
    let alarmed = |seed: &u64| {
        let mut values = noise.series(*seed, length);
        let n = values.len() as f64;
        values.iter_mut().enumerate().for_each(|(index, value)| *value *= shape((index as f64 + 0.5) / n));
        match steadiness(&values, &SteadyLimit::DEFAULT) {
            Steadiness::Steady { .. } => false,
            Steadiness::Drifting { .. } | Steadiness::Unsteady { .. } => true,
            Steadiness::TooFew => panic!("seed {seed}: {length} values are enough"),
        }
    };
    (0..n_series).filter(alarmed).count() as f64 / n_series as f64
}

/// 5 % up over the window.
fn ramp(time: f64) -> f64 {
    1.0 + 0.05 * (time - 0.5)
}

/// 10 % down in the middle.
fn step(time: f64) -> f64 {
    if time < 0.5 { 1.0 } else { 0.9 }
}

/// A fifth less for a fifth of the window.
fn dip(time: f64) -> f64 {
    if (0.4..0.6).contains(&time) { 0.8 } else { 1.0 }
}

/// Goal: steady series raise an alarm in at most 5 %: on average over windows of 60 to 600 s, and in
/// each within three deviations of that share.
fn check_false_alarms(noise: Noise, n_series: u64) {
    let lengths = [60, 120, 300, 600];
    let alpha = lengths.map(|length| share_alarmed(noise, length, n_series, |_| 1.0));
    println!("| {noise:?} | {alpha:.3?} |");
    let most = 0.05 + 3.0 * (0.05 * 0.95 / n_series as f64).sqrt();
    assert!(alpha.iter().all(|alpha| *alpha <= most), "{noise:?}: {alpha:?}");
    assert!(alpha.iter().sum::<f64>() / 4.0 <= 0.05, "{noise:?}: {alpha:?}");
}

#[test]
fn noise_without_autocorrelation_is_steady() {
    for deviation in [0.03, 0.1, 0.3] {
        check_false_alarms(Noise::Autocorrelated { deviation, autocorrelation: 0.0 }, 1_000);
    }
}

#[test]
fn noise_with_autocorrelation_is_steady() {
    for (deviation, autocorrelation) in [(0.05, 0.5), (0.1, 0.5), (0.05, 0.8), (0.1, 0.8), (0.1, 0.9)] {
        check_false_alarms(Noise::Autocorrelated { deviation, autocorrelation }, 1_000);
    }
}

#[test]
fn queues_are_steady() {
    for noise in [
        Noise::Rate(Service::Exponential, 0.5),
        Noise::Rate(Service::Exponential, 0.8),
        Noise::Response(Service::Exponential, 0.5),
        Noise::Response(Service::Exponential, 0.8),
        Noise::Response(Service::Fixed, 0.8),
        Noise::Response(Service::TwoExponential, 0.8),
    ] {
        check_false_alarms(noise, 200);
    }
}

/// Goal: at least nine of ten of 300 series with this shape are not called steady.
fn check_detection(shape: fn(f64) -> f64, cases: &[(f64, f64, usize)]) {
    for (deviation, autocorrelation, length) in cases {
        let noise = Noise::Autocorrelated { deviation: *deviation, autocorrelation: *autocorrelation };
        let found = share_alarmed(noise, *length, 300, shape);
        println!("| {noise:?}, {length} s | {found:.3} |");
        assert!(0.9 <= found, "{noise:?}, {length} s: {found}");
    }
}

#[test]
fn a_ramp_of_5_percent_is_found() {
    println!("ramp");
    check_detection(
        ramp,
        &[(0.02, 0.0, 60), (0.03, 0.0, 120), (0.05, 0.0, 300), (0.03, 0.5, 300), (0.05, 0.5, 600)],
    );
}

#[test]
fn a_step_of_10_percent_is_found() {
    println!("step");
    let quiet = [(0.02, 0.0, 600), (0.03, 0.0, 60), (0.05, 0.0, 60)];
    check_detection(step, &quiet);
    check_detection(step, &[(0.1, 0.0, 120), (0.1, 0.0, 600), (0.05, 0.5, 120), (0.1, 0.5, 300)]);
}

#[test]
fn a_dip_that_recovers_is_found() {
    println!("dip");
    check_detection(dip, &[(0.03, 0.0, 120), (0.03, 0.0, 600), (0.05, 0.0, 300), (0.05, 0.5, 300)]);
}

/// A limit of the test: an autocorrelation over many seconds behind as much other noise is not seen in a short window.
#[test]
fn hidden_autocorrelation_raises_alarms_in_short_windows() {
    let noise = Noise::HalfRemembering { deviation: 0.1, autocorrelation: 0.8 };
    let alpha = [60, 120, 300, 600].map(|length| share_alarmed(noise, length, 1_000, |_| 1.0));
    println!("| {noise:?} | {alpha:.3?} |");
    assert!((0.05..0.25).contains(&alpha[0]) && alpha[3] <= 0.07, "{alpha:?}");
}

/// A limit of any test: noise that hides a ramp hides it.
#[test]
fn a_ramp_that_noise_hides_is_called_steady_with_a_wide_interval() {
    let noise = Noise::Response(Service::Exponential, 0.8);
    let mut values = noise.series(1, 60);
    values.iter_mut().enumerate().for_each(|(index, value)| *value *= ramp(index as f64 / 60.0));
    let found = steadiness(&values, &SteadyLimit::DEFAULT);
    let Steadiness::Steady { change, .. } = found else { panic!("{found:?}") };
    assert!(0.2 < change.high - change.low, "{change:?}");
}
