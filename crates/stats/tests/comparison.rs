//! Error rates of comparisons: how often equal servers are called different, and how often a real difference is
//! found.
//!
//! `cargo test -p stats --test all comparison:: -- --nocapture` prints the tables of `docs/design/intervals.md`.

use stats::{
    BetweenRuns, ComparisonFinding, HypothesisFamily, LogRatio, MeasuredFigure, decide_significance, finding,
    standard_error,
};
use units::{Ratio, Rng, StreamPurpose};

use crate::queues::{self, Service};

const CONFIDENCE: Ratio = Ratio(0.95);
const ALPHA: Ratio = Ratio(0.05);

/// Figures that are compared: rate, mean response time, 99th percentile, CPU per operation.
const N_FIGURES: usize = 4;

/// Returns the most that a share of `n` may be, three deviations above 5 %.
fn most(n: u64) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / n as f64).sqrt()
}

/// A normal number; the sum of twelve uniform ones has variance 1.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
}

/// Runs that differ by nothing but their seconds.
const ALIKE_RUNS: BetweenRuns = BetweenRuns { deviation: Ratio(0.0), degrees_of_freedom: 1e6 };

type Scatter = fn(&mut Rng) -> f64;

/// The scatter of figures from one repetition to the next, relative to their mean.
const SCATTERS: [(&str, Scatter); 3] = [
    ("normal, 3 %", |rng| 0.03 * normal(rng)),
    ("skew, 5 %", |rng| -0.05 * rng.exponential_unit()),
    ("one in ten a fifth slower", |rng| {
        0.04 * (rng.uniform() - 0.5) - if rng.uniform() < 0.1 { 0.2 } else { 0.0 }
    }),
];

/// Repetitions of two servers of 1,000/s and `ratio` times that, on a machine that becomes 10 % slower on the way.
fn pairs(seed: u64, n: usize, ratio: f64, scatter: Scatter) -> Vec<(f64, f64)> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, n as u64);
    let pair = |index: usize| {
        let speed = 1_000.0 * (1.0 - 0.1 * index as f64 / n as f64);
        (speed * (1.0 + scatter(&mut rng)), ratio * speed * (1.0 + scatter(&mut rng)))
    };
    (0..n).map(pair).collect()
}

/// The same on a machine that stays as it is, in no order, with `n` of one and one more of the other.
fn unpaired(seed: u64, n: usize, scatter: Scatter) -> Option<LogRatio> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 1_000 + n as u64);
    let mut side = |n: usize| (0..n).map(|_| 1_000.0 * (1.0 + scatter(&mut rng))).collect::<Vec<f64>>();
    let a = side(n);
    let b = side(n + 1);
    LogRatio::of_repetitions(&a, &b, seed)
}

/// Returns the share of `n` seeds from 0 on that have it.
fn share(n: u64, mut has: impl FnMut(u64) -> bool) -> f64 {
    (0..n).filter(|seed| has(*seed)).count() as f64 / n as f64
}

fn misses(found: &LogRatio, truth: f64) -> bool {
    let ratio = found.ratio(CONFIDENCE).unwrap();
    truth < ratio.low || ratio.high < truth
}

/// Goal: an interval of 95 % misses the truth in at most 5 %: on average over all cases, and in each within three
/// deviations of that share. For repetitions that take turns and for those that do not.
#[test]
fn intervals_of_repetitions_cover_the_truth() {
    const N: u64 = 1_000;
    let mut in_turns = 0.0;
    let mut not_in_turns = 0.0;
    for (name, scatter) in SCATTERS {
        for n in [3, 4, 5, 7, 10, 20] {
            let of_pairs = |seed| {
                LogRatio::of_pairs(&pairs(seed, n, 1.0, scatter), seed).is_some_and(|one| misses(&one, 1.0))
            };
            let missed =
                (share(N, of_pairs), share(N, |seed| misses(&unpaired(seed, n, scatter).unwrap(), 1.0)));
            println!("| {name}, {n} repetitions | {:.3} | {:.3} |", missed.0, missed.1);
            assert!(missed.0 <= most(N) && missed.1 <= most(N), "{name}, {n} repetitions: {missed:?}");
            (in_turns, not_in_turns) = (in_turns + missed.0 / 18.0, not_in_turns + missed.1 / 18.0);
        }
    }
    assert!(in_turns <= 0.05 && not_in_turns <= 0.05, "{in_turns} {not_in_turns}");
}

/// The variation of the seconds of a phase around their mean.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Normal with this deviation, relative to the mean, and this correlation from one second to the next (AR(1)).
    Autocorrelated { deviation: f64, autocorrelation: f64 },
    /// Operations per second of a simulated queue.
    Rate(Service, f64),
    /// Their mean response time.
    Response(Service, f64),
}

impl Noise {
    fn seconds(self, seed: u64, n: usize) -> Vec<(f64, f64)> {
        let queue = |service, utilization| queues::seconds(seed, service, utilization, n);
        match self {
            Noise::Autocorrelated { deviation, autocorrelation } => {
                autocorrelated(seed, n, deviation, autocorrelation)
                    .into_iter()
                    .map(|value| (value, 1.0))
                    .collect()
            }
            Noise::Rate(service, utilization) => {
                queue(service, utilization).iter().map(|second| (second.len() as f64, 1.0)).collect()
            }
            Noise::Response(service, utilization) => queue(service, utilization)
                .iter()
                .map(|second| (second.iter().sum(), second.len() as f64))
                .collect(),
        }
    }

    /// A run of so many seconds, as its own phase shows it.
    fn figure(self, seed: u64, n: usize) -> MeasuredFigure {
        let seconds = self.seconds(seed, n);
        let error = standard_error(&seconds).unwrap();
        let (above, below) = seconds.iter().fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
        MeasuredFigure {
            value: above / below,
            relative: error.relative,
            degrees_of_freedom: error.degrees_of_freedom,
        }
    }
}

fn autocorrelated(seed: u64, n: usize, deviation: f64, autocorrelation: f64) -> Vec<f64> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 1);
    let mut noise = deviation * normal(&mut rng);
    let value = |_| {
        noise = autocorrelation * noise
            + (1.0 - autocorrelation * autocorrelation).sqrt() * deviation * normal(&mut rng);
        1.0 + noise
    };
    (0..n).map(value).collect()
}

/// Goal: two runs of one server that differ by nothing but their seconds are told apart in at most 5 %, without
/// anything taken for granted between runs: on average over lengths, and in each within three deviations.
#[test]
fn intervals_of_single_runs_cover_the_truth() {
    const N: u64 = 500;
    let cases = [
        Noise::Autocorrelated { deviation: 0.1, autocorrelation: 0.0 },
        Noise::Autocorrelated { deviation: 0.1, autocorrelation: 0.5 },
        Noise::Autocorrelated { deviation: 0.1, autocorrelation: 0.8 },
        Noise::Rate(Service::Exponential, 0.8),
        Noise::Response(Service::Exponential, 0.5),
        Noise::Response(Service::Exponential, 0.8),
        Noise::Response(Service::Fixed, 0.8),
        Noise::Response(Service::TwoExponential, 0.5),
    ];
    for noise in cases {
        let missed = [30, 60, 300].map(|length| {
            share(N, |seed| {
                let run = |seed| noise.figure(seed, length);
                let found = LogRatio::of_runs(&[run(2 * seed)], &[run(2 * seed + 1)], ALIKE_RUNS).unwrap();
                misses(&found, 1.0)
            })
        });
        println!("| {noise:?} | {missed:.3?} |");
        assert!(missed.iter().all(|missed| *missed <= most(N)), "{noise:?}: {missed:?}");
        assert!(missed.iter().sum::<f64>() / 3.0 <= 0.05, "{noise:?}: {missed:?}");
    }
}

/// A comparison of two servers at several loads.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    n_loads: usize,
    n_repetitions: usize,
    /// Deviation of a run's figures at one load, and at the noisiest: the last one.
    deviation: (f64, f64),
    /// The part of it that a run has in common at all loads: how its server happened to start.
    common: f64,
    /// The factor by which the second server's figures are higher at each load.
    ratio: f64,
}

impl Comparison {
    /// Returns logarithms per figure, load and repetition.
    fn runs(&self, seed: u64, side: u64) -> Vec<Vec<Vec<f64>>> {
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 10_000 + side);
        let shift = if side == 0 { 0.0 } else { self.ratio.ln() };
        let mut figure = |_| {
            let common: Vec<f64> = (0..self.n_repetitions).map(|_| normal(&mut rng)).collect();
            let load = |load: usize| {
                let deviation = if load + 1 < self.n_loads { self.deviation.0 } else { self.deviation.1 };
                let own = (1.0 - self.common * self.common).sqrt();
                let value =
                    |common: &f64| shift + deviation * (self.common * common + own * normal(&mut rng));
                common.iter().map(value).collect()
            };
            (0..self.n_loads).map(load).collect()
        };
        (0..N_FIGURES).map(&mut figure).collect()
    }

    /// Decides for both servers, as `analysis::compare` does: overall by the geometric means over all loads.
    fn decided(&self, seed: u64) -> (Vec<bool>, Vec<Vec<ComparisonFinding>>) {
        let a = self.runs(seed, 0);
        let b = self.runs(seed, 1);
        let changes: Vec<(LogRatio, Vec<LogRatio>)> =
            a.iter().zip(&b).map(|(a, b)| self.changes(a, b, seed)).collect();
        let family = |(overall, loads): &(LogRatio, Vec<LogRatio>)| HypothesisFamily {
            overall: overall.p_value(),
            loads: loads.iter().map(LogRatio::p_value).collect(),
        };
        let decided = decide_significance(&changes.iter().map(family).collect::<Vec<_>>(), ALPHA);
        let findings = changes.iter().zip(&decided).map(|((_, loads), decided)| {
            loads.iter().zip(&decided.loads).map(|(load, decided)| finding(Some(load), *decided)).collect()
        });
        (decided.iter().map(|decided| decided.overall.holds).collect(), findings.collect())
    }

    fn changes(&self, a: &[Vec<f64>], b: &[Vec<f64>], seed: u64) -> (LogRatio, Vec<LogRatio>) {
        let of = |a: &[f64], b: &[f64]| {
            let pairs: Vec<(f64, f64)> = a.iter().zip(b).map(|(a, b)| (a.exp(), b.exp())).collect();
            LogRatio::of_pairs(&pairs, seed).unwrap()
        };
        let mean = |side: &[Vec<f64>]| -> Vec<f64> {
            let at =
                |repetition: usize| side.iter().map(|load| load[repetition]).sum::<f64>() / side.len() as f64;
            (0..self.n_repetitions).map(at).collect()
        };
        (of(&mean(a), &mean(b)), a.iter().zip(b).map(|(a, b)| of(a, b)).collect())
    }

    /// Returns the share of `n` comparisons with any significant difference.
    fn share_alarmed(&self, n: u64) -> f64 {
        share(n, |seed| {
            let (overall, loads) = self.decided(seed);
            let is_significant = |finding: &ComparisonFinding| {
                matches!(finding, ComparisonFinding::Higher | ComparisonFinding::Lower)
            };
            overall.contains(&true) || loads.iter().flatten().any(is_significant)
        })
    }
}

/// Goal: where nothing differs, at most 5 % of comparisons have any significant difference, of four figures at one,
/// five or twenty loads: whether the loads scatter alike or one far more, and whether runs have their deviations in
/// common.
#[test]
fn equal_servers_are_seldom_called_different_in_many_figures() {
    let mut sum = 0.0;
    let mut n_cases = 0.0;
    for n_repetitions in [3, 5] {
        for (n_loads, n) in [(1, 600), (5, 300), (20, 100)] {
            for deviation in [(0.02, 0.02), (0.02, 0.2)] {
                for common in [0.0, 0.8] {
                    let comparison = Comparison { n_loads, n_repetitions, deviation, common, ratio: 1.0 };
                    let share_alarmed = comparison.share_alarmed(n);
                    println!("| {comparison:?} | {share_alarmed:.3} |");
                    assert!(share_alarmed <= most(n), "{comparison:?}: {share_alarmed}");
                    (sum, n_cases) = (sum + share_alarmed, n_cases + 1.0);
                }
            }
        }
    }
    assert!(sum / n_cases <= 0.05, "{sum} of {n_cases}");
}

/// Goal: three repetitions in turns that scatter by 1 % find a tenth at nearly every one of twenty loads, and five find
/// a twentieth.
#[test]
fn differences_that_matter_are_found() {
    let comparison = |n_repetitions, ratio| Comparison {
        n_loads: 20,
        n_repetitions,
        deviation: (0.01, 0.01),
        common: 0.5,
        ratio,
    };
    for (comparison, least) in [(comparison(3, 1.1), 0.9), (comparison(5, 1.05), 0.9)] {
        let mut loads = 0.0;
        let mut overall = 0.0;
        for seed in 0..100 {
            let (whole, findings) = comparison.decided(seed);
            overall += whole.iter().filter(|decided| **decided).count() as f64 / 400.0;
            let higher =
                findings.iter().flatten().filter(|finding| **finding == ComparisonFinding::Higher).count();
            loads += higher as f64 / (100 * N_FIGURES * comparison.n_loads) as f64;
        }
        println!("| {comparison:?} | overall {overall:.3} | at single loads {loads:.3} |");
        assert!(least <= loads && least <= overall, "{comparison:?}: {overall} {loads}");
    }
}

/// The scatter that a comparison of single runs expects between runs, as `analysis::compare` does for rates.
const BETWEEN: BetweenRuns = BetweenRuns { deviation: Ratio(0.05), degrees_of_freedom: 6.0 };

/// Goal: where runs of one server really differ by 5 %, single runs of four figures at five loads raise false alarms in
/// at most 5 %, and a rate twice as high is found in nine of ten.
#[test]
fn single_runs_allow_for_differences_between_runs() {
    const N: u64 = 400;
    let decided = |seed: u64, ratio: f64| {
        let noise = Noise::Autocorrelated { deviation: 0.05, autocorrelation: 0.5 };
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 77);
        let mut run = |index: u64, ratio: f64| {
            let figure = noise.figure(1_000 * seed + index, 60);
            MeasuredFigure {
                value: ratio * figure.value * (1.0 + BETWEEN.deviation.0 * normal(&mut rng)),
                ..figure
            }
        };
        let p: Vec<f64> = (0..(5 * N_FIGURES) as u64)
            .map(|index| {
                let a = run(2 * index, 1.0);
                let b = run(2 * index + 1, ratio);
                LogRatio::of_runs(&[a], &[b], BETWEEN).unwrap().p_value()
            })
            .collect();
        decide_significance(&[HypothesisFamily { overall: 1.0, loads: p }], ALPHA)[0]
            .loads
            .iter()
            .map(|load| load.holds)
            .collect::<Vec<bool>>()
    };
    let share_alarmed = share(N, |seed| decided(seed, 1.0).contains(&true));
    let found =
        (0..N).map(|seed| decided(seed, 2.0).iter().filter(|decided| **decided).count() as f64).sum::<f64>()
            / (N as f64 * 5.0 * N_FIGURES as f64);
    println!("| single runs | alpha {share_alarmed:.3} | found {found:.3} |");
    assert!(share_alarmed <= most(N) && 0.9 <= found, "{share_alarmed} {found}");
}

/// Goal: the smallest detectable difference is found in about four of five comparisons.
///
/// Method: the true difference is the mean detectable difference of comparisons of equal servers.
#[test]
fn the_smallest_detectable_difference_is_detected() {
    const N: u64 = 1_000;
    for n in [3, 5, 10] {
        let of =
            |seed: u64, ratio: f64| LogRatio::of_pairs(&pairs(seed, n, ratio, SCATTERS[0].1), seed).unwrap();
        let detectable = |seed: u64| of(seed, 1.0).detectable(ALPHA, stats::POWER).unwrap().0;
        let mean = (0..N).map(detectable).sum::<f64>() / N as f64;
        let found = share(N, |seed| of(N + seed, 1.0 + mean).p_value() < ALPHA.0);
        println!("| {n} repetitions | detectable {mean:.4} | found {found:.3} |");
        assert!((0.7..0.93).contains(&found), "{n} repetitions: {mean} is found in {found}");
    }
}
