//! Change points of simulated series: how often one is found where nothing changed, and how well known ones are found.
//!
//! `cargo test -p stats --test all change_points:: -- --nocapture` prints the table of `docs/design/intervals.md`.

use stats::change_points;
use units::{Ratio, Rng, StreamPurpose};

/// The level of one of four figures that are looked at together, and that of one alone.
const LEVELS: [Ratio; 2] = [Ratio(0.05 / 4.0), Ratio(0.05)];

/// A number of values, and their level.
type Level = (usize, f64);

type Scatter = fn(&mut Rng) -> f64;

/// The scatter of a figure from one run to the next, relative to its level.
const SCATTERS: [(&str, Scatter); 3] = [
    ("normal, 2 %", |rng| 0.02 * normal(rng)),
    ("skew, 3 %", |rng| -0.03 * rng.exponential_unit()),
    ("one in ten a fifth slower", |rng| {
        0.02 * (rng.uniform() - 0.5) - if rng.uniform() < 0.1 { 0.2 } else { 0.0 }
    }),
];

/// A normal number; the sum of twelve uniform ones has variance 1.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
}

/// A series with these levels: (number of values, level).
fn series(seed: u64, levels: &[Level], scatter: Scatter) -> Vec<f64> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 77);
    let values = levels.iter().flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
    values.map(|level| 1_000.0 * level * (1.0 + scatter(&mut rng))).collect()
}

fn found(seed: u64, levels: &[Level], scatter: Scatter, level: Ratio) -> Vec<usize> {
    change_points(&series(seed, levels, scatter), level, seed).iter().map(|one| one.at).collect()
}

fn share(n: u64, is: impl Fn(u64) -> bool) -> f64 {
    (0..n).filter(|seed| is(*seed)).count() as f64 / n as f64
}

/// Returns the most that a share of `n` may be, three deviations above the level.
fn most(level: Ratio, n: u64) -> f64 {
    level.0 + 3.0 * (level.0 * (1.0 - level.0) / n as f64).sqrt()
}

#[test]
fn where_nothing_changes_false_alarms_are_as_rare_as_the_level() {
    const N: u64 = 400;
    for (name, scatter) in SCATTERS {
        for n_values in [8, 20, 40] {
            for level in LEVELS {
                let alarms = share(N, |seed| !found(seed, &[(n_values, 1.0)], scatter, level).is_empty());
                println!("{name}, {n_values} runs, level {}: {:.1} % false alarms", level.0, 100.0 * alarms);
                assert!(alarms <= most(level, N), "{name}, {n_values}, {level:?}: {alarms}");
            }
        }
    }
}

/// Found: every change within one value of its place, and no others.
#[test]
fn known_changes_are_found_in_their_places() {
    const N: u64 = 100;
    let cases: [(&str, &[Level], f64); 5] = [
        ("a fall of 5 % after 15 of 30", &[(15, 1.0), (15, 0.95)], 0.8),
        ("a fall of 10 % after 15 of 30", &[(15, 1.0), (15, 0.9)], 0.9),
        ("a fall of 10 % after 25 of 30", &[(25, 1.0), (5, 0.9)], 0.9),
        ("a fall of 10 %, undone after 10 of 40", &[(15, 1.0), (10, 0.9), (15, 1.0)], 0.9),
        ("falls of 10 % after 12 and 24 of 36", &[(12, 1.0), (12, 0.9), (12, 0.81)], 0.85),
    ];
    for (name, levels, least) in cases {
        let mut at = Vec::new();
        levels.iter().fold(0, |sum, (n, _)| {
            at.push(sum + n);
            sum + n
        });
        at.pop();
        let is_near = |one: &usize, other: &usize| one.abs_diff(*other) <= 1;
        let is_found = |seed, scatter| {
            let found = found(seed, levels, scatter, LEVELS[0]);
            found.len() == at.len() && found.iter().zip(&at).all(|(one, other)| is_near(one, other))
        };
        let shares = SCATTERS.map(|(_, scatter)| share(N, |seed| is_found(seed, scatter)));
        println!("{name}: {shares:?}");
        // With normal scatter; skewed and disturbed values have other places for a change now and then.
        assert!(least <= shares[0], "{name}: {shares:?}");
    }
}

#[test]
fn one_disturbed_run_is_no_change() {
    const N: u64 = 200;
    let alarms = share(N, |seed| {
        let mut values = series(seed, &[(20, 1.0)], SCATTERS[0].1);
        values[13] *= 0.5;
        !change_points(&values, LEVELS[0], seed).is_empty()
    });
    assert!(alarms <= most(LEVELS[0], N), "{alarms}");
}
