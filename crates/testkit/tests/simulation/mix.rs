//! The operations of users and schedules match the expectations of the analysis' rules.

use benchmarks::find;
use model::{Arrivals, Plan, RateTime, Score};
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, closed_plan, open_plan, phases, with_seed, with_workload,
};

use super::{assert_valid, close, ms, remarks};

/// Replaces the workload and the rules of a plan by those of a benchmark.
fn of_benchmark(id: &str, plan: Plan) -> Plan {
    with_workload(plan, find(id).unwrap().load().workload)
}

/// 20,000 operations: class 3 has 1 % of them, ± 0.07 % by chance; 10 % of 1 % is more than that.
#[test]
fn classes_have_their_shares() {
    with_seed(101, |seed| {
        let plan = open_plan(seed, 1_000.0, Arrivals::Constant, phases(1, 20));
        let plan = of_benchmark("web96", plan);
        let found =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(2)), None)).analyze();
        assert_valid(&found);
        let point = &found.load_points[0];
        for (kind, (share, within)) in
            point.kinds.iter().zip([(0.35, 0.03), (0.50, 0.02), (0.14, 0.05), (0.01, 0.25)])
        {
            close(&kind.name, kind.n as f64 / point.total.n as f64, share, within);
        }
    });
}

/// 100 users who think for 270 ms on average. With a fast server X = N ÷ (R + Z), below N ÷ Z = 370.37
/// (golden check G26). With a capacity of 100/s R = N ÷ X − Z = 0.73 s.
#[test]
fn users_with_think_time_obey_the_interactive_law() {
    with_seed(102, |seed| {
        let plan = of_benchmark("dynpage", closed_plan(seed, &[100], phases(2, 30)));
        let fast = Simulation::new(plan.clone(), SimServer::new(ServiceTimeDistribution::Fixed(ms(5)), None))
            .analyze();
        assert_valid(&fast);
        let point = &fast.load_points[0];
        close("rate", point.rate, 100.0 / 0.275, 0.03);
        assert!(point.rate < 370.37 && !remarks(point).contains(&"think"), "{:?}", point.verdict);
        assert!(point.little_gap.unwrap() < 0.01);

        let slow =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), Some(1))).analyze();
        assert_valid(&slow);
        let point = &slow.load_points[0];
        close("rate", point.rate, 100.0, 0.01);
        close("response", point.response.mean.unwrap(), 0.73, 0.03);
        assert!(!remarks(point).contains(&"think"), "{:?}", point.verdict);
    });
}

/// Eight users who never think share one worker of 5 ms: 200 operations/s of the kinds' shares 0.35, 0.5, 0.14 and 0.01, so
/// 60 · 200 · (0.35 · 1 + 0.5 · 2 + 0.14 · 10) = 33,000 per minute, of which chance moves 1 %. Curve, headline and interval
/// are those of the score.
#[test]
fn a_weighted_score_is_the_rate_times_the_mean_weight() {
    with_seed(104, |seed| {
        let mut plan = of_benchmark("web96", closed_plan(seed, &[8], phases(2, 120)));
        let weights = vec![1.0, 2.0, 10.0, 0.0];
        plan.catalog.score = Score::Weighted { weights, per: RateTime::Minute };
        assert_eq!(plan.catalog.check(), Ok(()));
        let server = SimServer::new(ServiceTimeDistribution::Exponential(ms(5)), Some(1));
        let found = Simulation::new(plan, server).analyze();
        assert_valid(&found);
        let point = &found.load_points[0];
        let score = point.score.unwrap();
        close("score", score, 33_000.0, 0.05);
        let (low, high) = point.score_interval.unwrap();
        assert!(low < score && score < high && high < 1.2 * low);
        assert_eq!((found.curve.peak, found.headline.unwrap().value), (Some(0), score));
    });
}

/// Eight users who never think share one worker: whatever the kinds and their weights, R̄ = N·S, so that N ÷ Σ w·R̄ is the
/// capacity 1 ÷ S. With as many workers as users R̄ = S, and the score is N ÷ S.
#[test]
fn the_harmonic_score_of_equal_kinds_is_the_capacity() {
    with_seed(103, |seed| {
        for (workers, expected) in [(1, 200.0), (8, 1_600.0)] {
            let mut plan = of_benchmark("web96", closed_plan(seed, &[8], phases(2, 60)));
            plan.catalog.score = Score::Harmonic { weights: vec![0.25, 0.25, 0.4, 0.1] };
            assert_eq!(plan.catalog.check(), Ok(()));
            let found = Simulation::new(
                plan,
                SimServer::new(ServiceTimeDistribution::Exponential(ms(5)), Some(workers)),
            )
            .analyze();
            assert_valid(&found);
            let point = &found.load_points[0];
            close("score", point.score.unwrap(), expected, 0.03);
            let (low, high) = point.score_interval.unwrap();
            assert!(low < point.score.unwrap() && point.score.unwrap() < high && high < 1.2 * low);
            assert_eq!(found.headline.unwrap().value, point.score.unwrap());
        }
    });
}
