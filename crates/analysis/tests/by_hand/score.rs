//! Scores of a load point that is small enough to be worked out on paper: the two users of `metrics`, T = 4 s.

use analysis::{Analysis, LoadPointResult, VerdictState};
use model::{Load, RateTime, Score, web_measure};

use super::metrics::{near, operations, recorded};
use crate::record::{OBJECT_BYTES, RecordedRun, ms, plan, users};

/// Seven operations of 0.5 s and 700 B, two of 1.5 s and 5,325 B.
fn analyzed(score: Score) -> Analysis {
    let mut run = recorded(&operations());
    run.plan.catalog.score = score;
    assert_eq!(run.plan.catalog.check(), Ok(()));
    run.analyze()
}

fn score_of(score: Score) -> f64 {
    let analysis = analyzed(score);
    let value = analysis.load_points[0].score.unwrap();
    assert_eq!(analysis.headline.map(|headline| headline.value), Some(value));
    value
}

/// 9 ÷ 4 s; the large ones alone: 60 · 2 ÷ 4 s.
#[test]
fn a_rate_counts_the_operations_of_its_kinds() {
    near(score_of(Score::Rate { kinds: vec![], per: RateTime::Second }), 2.25);
    near(score_of(Score::Rate { kinds: vec![1], per: RateTime::Minute }), 30.0);
}

/// Seven of weight 1 and two of weight 3: 60 · (7 + 6) ÷ 4 s. With half a weight, and none: 7 · 0.5 ÷ 4 s.
#[test]
fn a_weighted_rate_counts_operations_with_the_weights_of_their_kinds() {
    near(score_of(Score::Weighted { weights: vec![1.0, 3.0], per: RateTime::Minute }), 195.0);
    near(score_of(Score::Weighted { weights: vec![0.5, 0.0], per: RateTime::Second }), 0.875);
}

/// Replies: 7 · 700 + 2 · 5,325 = 15,550 B, times 8 ÷ (10⁶ · 4).
#[test]
fn a_throughput_adds_up_its_measures() {
    near(score_of(Score::Throughput { measures: vec![web_measure::REPLY_BYTES] }), 0.0311);
    assert_eq!(OBJECT_BYTES, [500, 5_125]);
}

/// N = 2, R̄ = 0.5 s and 1.5 s: 2 ÷ (0.75 · 0.5 + 0.25 · 1.5) = 2 ÷ 0.75. With all weight on one kind: 2 ÷ R̄. That the
/// mix was seven to two changes nothing.
#[test]
fn a_harmonic_score_weighs_the_kinds_as_declared() {
    near(score_of(Score::Harmonic { weights: vec![0.75, 0.25] }), 2.0 / 0.75);
    near(score_of(Score::Harmonic { weights: vec![1.0, 0.0] }), 4.0);
    near(score_of(Score::Harmonic { weights: vec![0.0, 1.0] }), 2.0 / 1.5);
}

#[test]
fn without_a_success_of_a_weighted_kind_there_is_no_harmonic_score() {
    let small: Vec<_> = operations().into_iter().filter(|operation| operation.kind == 0).collect();
    for (weights, expected) in [(vec![0.5, 0.5], None), (vec![1.0, 0.0], Some(4.0))] {
        let mut run = recorded(&small);
        run.plan.catalog.score = Score::Harmonic { weights };
        let analysis = run.analyze();
        let point = &analysis.load_points[0];
        assert_eq!(point.score, expected);
        assert_eq!((point.score_interval, point.score_seconds.is_empty()), (None, expected.is_none()));
        assert_eq!([analysis.headline.is_some(), analysis.curve.peak.is_some()], [expected.is_some(); 2]);
    }
}

/// A schedule has no users, whose number the score needs.
#[test]
fn an_open_loop_has_no_harmonic_score() {
    let mut run = RecordedRun::open(ms(0));
    run.plan.catalog.score = Score::Harmonic { weights: vec![0.5, 0.5] };
    let analysis = run.analyze();
    assert!(analysis.load_points[0].score.is_none() && analysis.headline.is_none());
}

/// The ratio of the sums over the seconds is the score, and the interval by batches of seconds has it inside.
#[test]
fn the_seconds_of_a_score_add_up_to_it() {
    let scores = [
        Score::default(),
        Score::Rate { kinds: vec![1], per: RateTime::Minute },
        Score::Weighted { weights: vec![2.0, 0.3], per: RateTime::Minute },
        Score::Throughput { measures: vec![web_measure::BODY_BYTES] },
        Score::Harmonic { weights: vec![0.3, 0.7] },
    ];
    for score in scores {
        let mut plan = plan(Load::Users(4), 1, 20);
        plan.catalog.score = score.clone();
        let response = |user: u32, k: usize| ms(30 + 20 * u64::from(user) + 7 * (k as u64 % 5));
        let operations = users(&plan, 4, response, ms(0));
        let analysis = RecordedRun::of(plan, &operations).analyze();
        let point = &analysis.load_points[0];
        let sum = |of: fn(&(f64, f64)) -> f64| point.score_seconds.iter().map(of).sum::<f64>();
        let value = point.score.unwrap();
        assert_eq!(point.score_seconds.len(), 20);
        near(sum(|one| one.0) / sum(|one| one.1), value);
        let (low, high) = point.score_interval.unwrap();
        assert!(low <= value && value <= high && high - low < 0.1 * value, "{score:?}: {low} {value} {high}");
    }
}

/// N = 2; seven operations of 0.5 s and two of 1.5 s took 6.5 s: 2 · 9 ÷ 6.5. Of another score there is no such figure.
#[test]
fn the_rate_of_clients_stands_beside_a_harmonic_score() {
    let rate = |score| analyzed(score).load_points[0].rate_of_clients;
    near(rate(Score::Harmonic { weights: vec![0.75, 0.25] }).unwrap(), 18.0 / 6.5);
    assert_eq!(rate(Score::default()), None);
    let mut run = RecordedRun::open(ms(0));
    run.plan.catalog.score = Score::Harmonic { weights: vec![0.5, 0.5] };
    assert_eq!(run.analyze().load_points[0].rate_of_clients, None);
}

/// Four load points with scores 100, 400, 200, 50 at 1, 4, 8, 12 users, the last one not valid: the peak is at 4, the greatest
/// load is 8, and the mean over three of them is 3 ÷ (1/100 + 1/400 + 1/200) = 171.43.
#[test]
fn a_suite_has_its_peak_its_greatest_load_and_a_harmonic_mean() {
    let mut analysis = analyzed(Score::Harmonic { weights: vec![0.5, 0.5] });
    let point = analysis.load_points[0].clone();
    let scored =
        |(users, score)| LoadPointResult { load: Load::Users(users), score: Some(score), ..point.clone() };
    analysis.load_points = [(1, 100.0), (4, 400.0), (8, 200.0), (12, 50.0)].map(scored).into();
    analysis.load_points[3].verdict.state = VerdictState::Invalid;
    let summary = analysis.score_summary().unwrap();
    assert_eq!((summary.peak, summary.greatest_load, summary.n_load_points), (1, 2, 3));
    near(summary.harmonic_mean, 3.0 / (0.01 + 0.0025 + 0.005));
    analysis.load_points[2].score = None;
    let summary = analysis.score_summary().unwrap();
    assert_eq!((summary.greatest_load, summary.n_load_points), (1, 2));
    let rates = Analysis { score: Score::default(), ..analysis.clone() };
    assert_eq!(rates.score_summary(), None);
    analysis.load_points.clear();
    assert_eq!(analysis.score_summary(), None);
}
