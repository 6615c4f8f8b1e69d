//! The search against the formula of a queue.

use analysis::{LevelKind, SearchGoal};
use testkit::{ServiceTimeDistribution, SimServer, phases, with_seed};
use units::Nanos;

use super::scenario::{Noise, Scenario};

/// M/M/1: the response time is exponential with mean 1 ÷ (μ − λ), so its 99th percentile is −ln 0.01 ÷ (μ − λ):
/// with μ = 1,000/s, 20 ms at λ = 1,000 − 4.605 ÷ 0.020 = 769.7/s.
///
/// Source: Kleinrock 1975, Queueing Systems I, section 3.2 and chapter 5.
#[test]
fn the_highest_rate_of_a_single_queue_matches_the_formula() {
    let limit = 0.020;
    let expected = 1000.0 + 0.01_f64.ln() / limit;
    assert!((testkit::mm1_response_quantile(expected, 0.001, 0.99).unwrap() - limit).abs() < 1e-9);
    for seed in [21, 22] {
        with_seed(seed, |seed| {
            let search = Scenario {
                name: "",
                seed,
                kind: LevelKind::Rate,
                goal: SearchGoal::HighestPass,
                limits: "p99<20ms",
                least: 200.0,
                most: 2000.0,
                phases: phases(2, 60),
                server: |_| {
                    SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(1)), Some(1))
                },
                noise: Noise::Fresh,
            };
            let found = search.search();
            let level = found.max.expect("a maximum").level;
            println!(
                "M/M/1, p99<20ms: {level:.1}/s in {} load points, {expected:.1}/s by formula",
                found.n_runs
            );
            assert!((level - expected).abs() <= 0.03 * expected, "{found:?}");
        });
    }
}
