//! Comparisons of runs whose numbers are known.

use analysis::compare::{
    BoundDirection, BoundOutcome, ChangeBound, CompareError, ComparedMetric, Comparison, IntervalBasis,
    MismatchPolicy, PlanDifference, RunInput, compare, compare_with_baseline, judge_bounds,
};
use analysis::{Analysis, VerdictState};
use model::{FactSection, Load, LoadPoint, Modification, Plan, RunEnding, Shape, Stage, Testbed};
use stats::ComparisonFinding;
use units::{Nanos, WallTime};

use crate::record::{RecordedRun, ms, plan, records, users};

static NOTHING: Testbed = Testbed { sections: Vec::new() };

pub(crate) type Run = (Plan, Analysis);

/// Four and eight users, `response` for each operation; the third load point only of `n_levels` = 3.
pub(crate) fn run(response: u64, n_levels: u32) -> Run {
    run_of(12, n_levels, |_| ms(response))
}

/// The same with a steady phase of so many seconds, and response times by operation.
fn run_of(steady: u64, n_levels: u32, response: impl Fn(usize) -> Nanos) -> Run {
    let mut plan = plan(Load::Users(4), 1, steady);
    plan.load_points =
        (0..n_levels).map(|index| LoadPoint { index, load: Load::Users(4 << index) }).collect();
    let of_point = |index: u32| {
        let operations = users(&plan, 4 << index, |_, k| response(k), Nanos::ZERO);
        records(&plan, index as usize, 0, &operations)
    };
    let records = (0..n_levels).flat_map(of_point).collect();
    let recorded = RecordedRun { plan, records, ending: RunEnding::Complete };
    let analysis = recorded.analyze();
    (recorded.plan, analysis)
}

/// A run of an unknown machine that was not interleaved.
pub(crate) fn seen_as<'a>(name: &'a str, server: &'a str, run: &'a Run) -> RunInput<'a> {
    RunInput {
        name,
        server,
        program: "plimsoll",
        plan: &run.0,
        analysis: &run.1,
        testbed: &NOTHING,
        began: &[],
    }
}

fn compared<'a>(name: &'a str, run: &'a Run) -> RunInput<'a> {
    seen_as(name, name, run)
}

fn like(runs: &[RunInput]) -> Comparison {
    compare(runs, MismatchPolicy::Refuse).unwrap()
}

/// Times of load points for the runs of a comparison: all runs are interleaved, in this order at every load.
fn turns<const N: usize>() -> [[(u32, WallTime); 2]; N] {
    std::array::from_fn(|run| [0, 1].map(|index| (index as u32, WallTime((index * 100 + run) as i64))))
}

/// 60 ms against 120 ms without think time: twice the rate at every load, X = N ÷ R; half the response time.
#[test]
fn the_faster_server_has_the_higher_ratio() {
    let slow = run(120, 2);
    let fast = run(60, 2);
    let found = like(&[compared("slow", &slow), compared("fast", &fast)]);
    let loads: Vec<f64> = found.levels.iter().map(|level| level.load.level()).collect();
    assert_eq!(loads, [4.0, 8.0]);
    for level in &found.levels {
        assert!(level.figures[0].changes.is_empty(), "the baseline");
        let rate = level.figures[1].change(ComparedMetric::Score).unwrap();
        assert!((rate.ratio - 2.0).abs() < 0.02, "{rate:?}");
        let (low, high) = rate.interval.unwrap();
        assert!(1.6 < low && low < rate.ratio && rate.ratio < high && high < 2.5, "{rate:?}");
        assert_eq!((rate.finding, rate.basis), (ComparisonFinding::Higher, IntervalBasis::Phases));
        let response = level.figures[1].change(ComparedMetric::ResponseMean).unwrap();
        assert!(
            (response.ratio - 0.5).abs() < 0.01 && response.finding == ComparisonFinding::Lower,
            "{response:?}"
        );
        assert!((level.figures[1].rate - level.load.level() / 0.060).abs() < 2.0);
        assert_eq!(level.figures[0].response_p99, Some(ms(120)));
    }
    let [slow, fast] = &found.sides[..] else { panic!("two sides") };
    assert_eq!((slow.name.as_str(), slow.state, slow.overall.len()), ("slow", VerdictState::Valid, 0));
    assert_eq!(fast.overall[0].n_loads, 2);
    assert!(
        (fast.overall[0].ratio - 2.0).abs() < 0.02 && fast.overall[0].finding == ComparisonFinding::Higher
    );
    // The best of both, at 8 users.
    let best = fast.best.as_ref().unwrap();
    assert_eq!(best.load, Load::Users(8));
    assert!((best.figures.change(ComparedMetric::Score).unwrap().ratio - 2.0).abs() < 0.02);
}

/// The same run twice: no significant difference, and only the seconds bound it.
#[test]
fn a_run_does_not_differ_from_itself() {
    let one = run(60, 2);
    let found = like(&[compared("one", &one), compared("other", &one)]);
    for change in found.levels.iter().flat_map(|level| &level.figures[1].changes) {
        assert_eq!(change.ratio, 1.0);
        assert!(
            matches!(change.finding, ComparisonFinding::NoEvidence | ComparisonFinding::TooNoisy),
            "{change:?}"
        );
    }
}

/// Two servers that both deliver the scheduled rate have exactly the same rate; as soon as one falls behind, it sets
/// its own rate. With users who think 99 % of the time it is nearly so.
#[test]
fn rates_that_the_load_set_are_alike() {
    let mut one = run(60, 1);
    let mut other = run(60, 1);
    let finding = |one: &Run, other: &Run| {
        let found = like(&[compared("one", one), compared("other", other)]);
        found.levels[0].figures[1].change(ComparedMetric::Score).unwrap().finding
    };
    let deliver = |run: &mut Run, ratio| {
        run.1.load_points[0].delivered_ratio = Some(ratio);
        // As a schedule with equal distances makes it: the same in every second.
        let rate = run.1.load_points[0].rate;
        run.1.load_points[0].score_seconds.iter_mut().for_each(|second| *second = (rate, 1.0));
    };
    let mut set = run(60, 1);
    deliver(&mut set, 1.0);
    deliver(&mut other, 1.0);
    assert_eq!(finding(&set, &other), ComparisonFinding::Alike);
    deliver(&mut other, 0.99);
    assert_ne!(finding(&set, &other), ComparisonFinding::Alike);
    assert_ne!(finding(&one, &one), ComparisonFinding::Alike, "without think time the server sets the rate");
    let rate = one.1.load_points[0].rate;
    one.1.load_points[0].score_seconds.iter_mut().for_each(|second| *second = (rate, 1.0));
    assert_ne!(finding(&one, &one), ComparisonFinding::Alike, "however even it was");
    one.1.load_points[0].thinking_mean = 99.0 * one.1.load_points[0].in_flight_mean;
    assert_eq!(finding(&one, &one), ComparisonFinding::Alike);
}

/// Three interleaved runs of each, at 100, 110, 120 ms and 10 % less: pairs whose ratio is always 1 ÷ 0.9.
#[test]
fn interleaved_repetitions_are_pairs() {
    let times = [100, 110, 120].map(|time| [run(time, 2), run(time * 9 / 10, 2)]);
    let began = turns::<6>();
    let names = ["a #1", "b #1", "a #2", "b #2", "a #3", "b #3"];
    let runs: Vec<RunInput> = (0..6)
        .map(|k| RunInput { began: &began[k], ..seen_as(names[k], &names[k][..1], &times[k / 2][k % 2]) })
        .collect();
    let found = like(&runs);
    let sides: Vec<(&str, &[usize])> =
        found.sides.iter().map(|side| (side.name.as_str(), side.runs.as_slice())).collect();
    assert_eq!(sides, [("a", [0, 2, 4].as_slice()), ("b", &[1, 3, 5])]);
    assert_eq!(found.runs.iter().map(|run| run.side).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    let b = &found.levels[0].figures[1];
    let rate = b.change(ComparedMetric::Score).unwrap();
    assert_eq!(
        (rate.basis, rate.finding, b.n_valid),
        (IntervalBasis::Interleaved(3), ComparisonFinding::Higher, 3)
    );
    assert!((rate.ratio - 1.0 / 0.9).abs() < 0.02, "{rate:?}");
    // Figures are geometric means, so that their ratio is the ratio.
    assert!((b.rate / found.levels[0].figures[0].rate / rate.ratio - 1.0).abs() < 1e-9);
    // One after the other they are no pairs.
    let runs: Vec<RunInput> = runs.iter().map(|run| RunInput { began: &[], ..*run }).collect();
    let rate = *like(&runs).levels[0].figures[1].change(ComparedMetric::Score).unwrap();
    assert_eq!(rate.basis, IntervalBasis::Repetitions(3, 3));
}

/// Turns of two servers that were running before and after them: A B, B A, …, `n` of each, at 100, 110, 120 ms … and of B
/// `share` as long. The turns of these numbers are not valid.
fn in_turns(n: u64, invalid: &[u64], share: impl Fn(u64) -> u64) -> Comparison {
    let turn = |place: u64| {
        let time = 100 + 10 * (place / 2);
        let is_b = [1, 2].contains(&(place % 4));
        let mut run = run(if is_b { share(time) } else { time }, 1);
        run.0.sut.name = "external".to_owned();
        run.0.sut.label = Some(if is_b { "B" } else { "A" }.to_owned());
        if invalid.contains(&place) {
            run.1.load_points[0].verdict.state = VerdictState::Invalid;
        }
        (run, [(0, WallTime(place as i64))])
    };
    let turns: Vec<(Run, [(u32, WallTime); 1])> = (0..2 * n).map(turn).collect();
    let mut inputs: Vec<RunInput> = Vec::new();
    for (run, began) in &turns {
        let label = run.0.sut.label.as_deref().unwrap();
        inputs.push(RunInput { began, ..seen_as(label, label, run) });
    }
    like(&inputs)
}

/// By hand: ratios of 1 ÷ 0.9 that scatter by nothing leave what processes differ by: exp(±1.96 · 0.012) is 0.977 to 1.024, so
/// 1.085 to 1.138, and (1.960 + 1.645) · 0.012 = 0.0433 is found in 19 of 20: 4.4 %. What is known so well is settled.
#[test]
fn servers_that_took_turns_while_they_ran_are_answered() {
    let found = in_turns(3, &[], |time| time * 9 / 10);
    let [answer] = found.answers.as_slice() else { panic!("one answer") };
    assert_eq!(
        (answer.side, answer.change.metric, answer.is_faster()),
        (1, ComparedMetric::Score, Some(true))
    );
    assert_eq!(answer.change.basis, IntervalBasis::Turns(3));
    let (speed, interval) = answer.speed();
    let (low, high) = interval.unwrap();
    assert!((speed - 1.111).abs() < 0.01 && (low / speed - 0.977).abs() < 0.004, "{speed} {low}");
    assert!((high / speed - 1.024).abs() < 0.004, "{speed} {high}");
    let (own_low, own_high) = answer.speed_as_found().unwrap();
    assert!(low < own_low && own_high < high, "the processes as they ran are known better");
    assert!((answer.found_mostly.unwrap() - 0.044).abs() < 0.005, "{answer:?}");
    assert!(answer.is_settled() && answer.known_within().unwrap().0 < 0.005, "{answer:?}");
    let mean = found.levels[0].figures[1].change(ComparedMetric::ResponseMean).unwrap();
    assert_eq!(mean.finding, ComparisonFinding::Lower, "looked at, because the rate differs");
}

/// Goal: a turn that is not valid is left out with its pair, not the whole load with it.
#[test]
fn an_answer_leaves_out_turns_that_are_not_valid() {
    let n_pairs = |invalid: &[u64]| {
        let found = in_turns(5, invalid, |time| time * 9 / 10);
        found.answers.first().map(|answer| (answer.change.basis, answer.is_faster()))
    };
    assert_eq!(n_pairs(&[]), Some((IntervalBasis::Turns(5), Some(true))));
    assert_eq!(n_pairs(&[0]), Some((IntervalBasis::Turns(4), Some(true))));
    assert_eq!(n_pairs(&[0, 1, 2]), Some((IntervalBasis::Turns(3), Some(true))));
    assert_eq!(n_pairs(&[0, 3, 4]), None, "two turns of A");
}

/// Goal: identical code that differs by 2 % from process to process is not called different in any metric.
#[test]
fn processes_of_one_program_are_not_called_different() {
    let found = in_turns(3, &[], |time| time * 98 / 100);
    assert_eq!(found.answers[0].is_faster(), None);
    let of_levels = found.levels.iter().flat_map(|level| &level.figures[1].changes);
    for change in of_levels.chain(&found.sides[1].overall) {
        let is_told = matches!(change.finding, ComparisonFinding::Higher | ComparisonFinding::Lower);
        assert!(!is_told, "{change:?}");
    }
    assert!(like(&[compared("a", &run(60, 1)), compared("b", &run(60, 1))]).answers.is_empty());
}

/// A phase of nine seconds is too short to show its own noise.
#[test]
fn runs_that_are_too_short_are_not_called_noisy() {
    let runs = [run_of(9, 1, |_| ms(60)), run_of(9, 1, |_| ms(120))];
    let found = like(&[compared("one", &runs[0]), compared("other", &runs[1])]);
    let rate = found.levels[0].figures[1].change(ComparedMetric::Score).unwrap();
    assert_eq!((rate.finding, rate.interval, rate.detectable), (ComparisonFinding::TooShort, None, None));
    assert!((rate.ratio - 0.5).abs() < 0.01);
}

#[test]
fn invalid_load_points_have_no_ratio() {
    let one = run(120, 2);
    let mut other = run(60, 2);
    other.1.load_points[1].verdict.state = VerdictState::Invalid;
    let found = like(&[compared("one", &one), compared("other", &other)]);
    let n_changes: Vec<_> = found.levels.iter().map(|level| level.figures[1].changes.len()).collect();
    assert!(0 < n_changes[0] && n_changes[1] == 0, "{n_changes:?}");
    assert_eq!(found.levels[1].figures[1].state, VerdictState::Invalid);
    assert_eq!(found.sides[1].overall[0].n_loads, 1, "over the loads that are valid in both");
}

/// One of three repetitions is not valid: only the other two are compared, and counted.
#[test]
fn an_invalid_repetition_does_not_count() {
    let base = run(120, 1);
    let mut runs = [run(60, 1), run(60, 1), run(6, 1)];
    runs[2].1.load_points[0].verdict.state = VerdictState::Invalid;
    let mut all = vec![compared("base", &base)];
    all.extend(["b #1", "b #2", "b #3"].iter().zip(&runs).map(|(name, run)| seen_as(name, "b", run)));
    let figures = &like(&all).levels[0].figures[1];
    assert_eq!((figures.state, figures.n_runs, figures.n_valid), (VerdictState::Valid, 3, 2));
    assert!((figures.change(ComparedMetric::Score).unwrap().ratio - 2.0).abs() < 0.02);
}

/// 60 ms against 120 ms: half the rate, twice the time, far beyond any bound, over both loads.
#[test]
fn bounds_are_judged_by_the_change_over_all_loads() {
    let fast = run(60, 2);
    let slow = run(120, 2);
    let runs = [compared("fast", &fast), compared("slow", &slow)];
    let found = like(&runs);
    let bound = |metric, direction, ratio| ChangeBound { metric, direction, ratio };
    let outcomes = |bounds: &[ChangeBound]| {
        judge_bounds(&found, &runs, bounds).iter().map(|one| (one.side, one.outcome)).collect::<Vec<_>>()
    };
    let bounds = [
        bound(ComparedMetric::Score, BoundDirection::Decrease, 0.95),
        bound(ComparedMetric::Score, BoundDirection::Decrease, 0.4),
        bound(ComparedMetric::Score, BoundDirection::Decrease, 0.5),
        bound(ComparedMetric::ResponseMean, BoundDirection::Increase, 1.1),
    ];
    let expected =
        [BoundOutcome::Exceeded, BoundOutcome::Kept, BoundOutcome::Undecided, BoundOutcome::Exceeded];
    assert_eq!(outcomes(&bounds), expected.map(|outcome| (1, outcome)));
    let mut invalid = run(120, 2);
    invalid.1.load_points.iter_mut().for_each(|point| point.verdict.state = VerdictState::Invalid);
    let runs = [compared("fast", &fast), compared("invalid", &invalid)];
    let not_comparable = like(&runs);
    assert_eq!(judge_bounds(&not_comparable, &runs, &bounds[..1])[0].outcome, BoundOutcome::NotMeasured);
    // An interval by itself is no wider than among others, and both hold the same ratio.
    let rate = found.sides[1].overall[0];
    let ((low, high), (from, to)) = (rate.single_interval.unwrap(), rate.interval.unwrap());
    assert!(from < low && low < 0.5 && 0.5 < high && high < to, "{rate:?}");
}

/// 1,000 operations of 50 ms in 12 s: a percentile that is in no table, and failures, which no side had.
#[test]
fn bounds_of_any_percentile_and_of_failures_are_judged() {
    let fast = run(60, 1);
    let slow = run(120, 1);
    let runs = [compared("fast", &fast), compared("slow", &slow)];
    let found = like(&runs);
    let judge = |metric, change| {
        judge_bounds(&found, &runs, &[ChangeBound::new(metric, BoundDirection::Increase, change)])[0].clone()
    };
    for name in ["p50", "p87.5", "p95"] {
        let rank = model::PercentileRank::parse(name).unwrap();
        let judged = judge(ComparedMetric::ResponsePercentile(rank), 0.1);
        assert!((judged.change.unwrap().ratio - 2.0).abs() < 0.01, "{judged:?}");
        assert_eq!((judged.outcome, judged.runs_needed), (BoundOutcome::Exceeded, None), "{name}");
        let near = judge(ComparedMetric::ResponsePercentile(rank), 0.8);
        assert_eq!(near.outcome, BoundOutcome::Undecided, "{name}");
        assert!(near.runs_needed.is_some_and(|n| 3 < n), "{near:?}");
    }
    let errors = judge(ComparedMetric::ErrorRatio, 0.01);
    assert_eq!((errors.outcome, errors.change.unwrap().ratio), (BoundOutcome::Kept, 1.0), "{errors:?}");
}

/// 3 % of failures where there were none: far more than half a percentage point, and not clearly more than 2.9.
#[test]
fn a_share_of_failures_is_compared_as_a_difference() {
    let good = run(60, 1);
    let mut bad = run(60, 1);
    let point = &mut bad.1.load_points[0];
    point.total.errors = point.total.n * 3 / 97;
    let rate = point.rate;
    point.timeline.iter_mut().for_each(|second| second.error_rate = rate * 3.0 / 97.0);
    let runs = [compared("good", &good), compared("bad", &bad)];
    let found = like(&runs);
    let outcome = |change| {
        let bound = ChangeBound::new(ComparedMetric::ErrorRatio, BoundDirection::Increase, change);
        judge_bounds(&found, &runs, &[bound])[0].outcome
    };
    assert_eq!(
        [0.002, 0.029, 0.1].map(outcome),
        [BoundOutcome::Exceeded, BoundOutcome::Undecided, BoundOutcome::Kept]
    );
}

/// A label is the user's word for what is the same: it outweighs what was found to differ, but not another server.
#[test]
fn labels_make_sides() {
    let labeled = |label: &str| {
        let mut run = run(60, 1);
        run.0.sut.label = Some(label.to_owned());
        run
    };
    let before = [labeled("before"), labeled("before")];
    let after = [labeled("after"), labeled("after")];
    let old = testbed("1.24", 41_000, "6.1");
    let new = testbed("1.26", 41_001, "6.1");
    let input = |name, server, run, testbed| RunInput { testbed, ..seen_as(name, server, run) };
    let runs = [
        input("1", "site", &before[0], &old),
        input("2", "site", &after[0], &old),
        input("3", "site", &before[1], &new),
        input("4", "another site", &after[1], &old),
    ];
    let sides: Vec<Vec<usize>> = like(&runs).sides.iter().map(|side| side.runs.clone()).collect();
    assert_eq!(sides, [vec![0, 2], vec![1], vec![3]]);
}

#[test]
fn a_baseline_divides_the_runs_of_one_server_only() {
    let one = run(60, 1);
    let other = run(120, 1);
    let same = |name| seen_as(name, "site", &one);
    let sides = |runs: &[RunInput], n_baseline| -> Vec<Vec<usize>> {
        let found = compare_with_baseline(runs, n_baseline, MismatchPolicy::Refuse).unwrap();
        found.sides.iter().map(|side| side.runs.clone()).collect()
    };
    let three = [same("1"), same("2"), same("3")];
    assert_eq!(sides(&three, 0), [vec![0, 1, 2]]);
    assert_eq!(sides(&three, 1), [vec![0], vec![1, 2]]);
    assert_eq!(sides(&three, 2), [vec![0, 1], vec![2]]);
    assert_eq!(sides(&three, 3), [vec![0, 1, 2]], "nothing is left for the other side");
    let two_servers = [same("1"), same("2"), seen_as("3", "another", &other)];
    assert_eq!(sides(&two_servers, 1), [vec![0, 1], vec![2]], "repetitions stay together");
}

/// Returns the differences for which runs are refused: both names, the setting, and its values.
fn refused(runs: &[RunInput]) -> Vec<String> {
    let Err(CompareError::Differ { differences }) = compare(runs, MismatchPolicy::Refuse) else {
        panic!("the runs are alike");
    };
    let line = |one: &PlanDifference| {
        format!("{}, {}: {}, {}, {}", one.run, one.from, one.what, one.here, one.there)
    };
    differences.iter().map(line).collect()
}

#[test]
fn runs_of_different_plans_are_refused_with_what_differs() {
    let one = run(60, 1);
    let mut other = run(60, 1);
    other.0.seed = 7;
    other.0.phases.steady = ms(9_000);
    other.0.agents[0].threads = 1;
    other.0.workload.web_mut().unwrap().pages[0].weight = 9;
    other.0.modifications =
        vec![Modification { what: "steady phase".into(), standard: "12 s".into(), ours: "9 s".into() }];
    // Where a server has its programs is its own affair.
    other.0.workload.web_mut().unwrap().requests[0].path = "/cgi-bin/small".parse().unwrap();
    let both = [compared("one", &one), compared("other", &other)];
    assert_eq!(
        refused(&both),
        [
            "other, one: mix, , ",
            "other, one: phases, steady phase 9 s, steady phase 12 s",
            "other, one: seed, 7, 1",
            "other, one: modifications, steady phase 9 s, nothing",
            "other, one: load generator, 1 thread, 2 threads",
        ]
    );
    assert_eq!(compare(&both, MismatchPolicy::Allow).unwrap().plan_differences.len(), 5);
    assert_eq!(compare(&both[..1], MismatchPolicy::Refuse), Err(CompareError::TooFew { found: 1 }));
}

#[test]
fn other_load_points_and_other_benchmarks_are_not_alike() {
    let one = run(60, 2);
    let mut other = run(60, 3);
    let text = |other: &Run| refused(&[compared("one", &one), compared("other", other)]).join("\n");
    assert!(text(&other).ends_with(": load points, 3 from 4 users to 16 users, 2 from 4 users to 8 users"));
    other.0.benchmark.version = 2;
    assert!(text(&other).contains(": benchmark version, version 2, version 1"));
    other.0.benchmark.id = "another".into();
    assert!(text(&other).contains(": benchmark, another, test") && !text(&other).contains("version"));
    // All the same: at the loads that both have.
    let both = [compared("one", &one), compared("other", &other)];
    assert_eq!(compare(&both, MismatchPolicy::Allow).unwrap().levels.len(), 2);
}

fn testbed(version: &str, folder: u32, kernel: &str) -> Testbed {
    let server = [
        ("version", version.to_owned()),
        ("command line", format!("nginx -p /dev/shm/plimsoll-sut-{folder}-0")),
        ("address", format!("http://127.0.0.1:{folder}/")),
    ];
    let file = format!("pid /dev/shm/plimsoll-sut-{folder}-0;\nworkers {version};\n");
    Testbed {
        sections: vec![
            FactSection::new("Server", server),
            FactSection::new("Server configuration", [("nginx.conf", file)]),
            FactSection::new("System", [("kernel", kernel.to_owned()), ("load average", folder.to_string())]),
        ],
    }
}

/// Runs of one server that differ only in values made for each run are repetitions; another version is another side.
#[test]
fn differences_of_configuration_are_listed() {
    let run = run(60, 1);
    let beds = [testbed("1.22", 11, "6.1"), testbed("1.22", 12, "6.1"), testbed("1.24", 13, "6.1")];
    let names = ["first", "second", "third"];
    let runs: Vec<RunInput> = names
        .iter()
        .zip(&beds)
        .map(|(name, bed)| RunInput { testbed: bed, ..seen_as(name, "nginx", &run) })
        .collect();
    let found = like(&runs);
    let sides: Vec<&str> = found.sides.iter().map(|side| side.name.as_str()).collect();
    assert_eq!(sides, ["nginx (first)", "nginx (third)"]);
    assert_eq!(found.sides[0].runs, [0, 1]);
    let differences: Vec<(&str, Vec<&str>)> = found
        .configuration
        .iter()
        .map(|one| {
            (one.name.as_str(), one.values.iter().map(|value| value.as_deref().unwrap_or("-")).collect())
        })
        .collect();
    assert_eq!(
        differences,
        [("version", vec!["1.22", "1.24"]), ("nginx.conf", vec!["workers 1.22;", "workers 1.24;"])]
    );
}

/// Another kernel is another machine.
#[test]
fn another_machine_is_another_side() {
    let run = run(60, 1);
    let beds = [testbed("1.22", 11, "6.1"), testbed("1.22", 12, "6.5")];
    let runs: Vec<RunInput> = ["one", "other"]
        .iter()
        .zip(&beds)
        .map(|(name, bed)| RunInput { testbed: bed, ..seen_as(name, "nginx", &run) })
        .collect();
    let found = like(&runs);
    assert_eq!(found.sides.len(), 2);
    assert_eq!(found.configuration[0].values, [Some("6.1".to_owned()), Some("6.5".to_owned())]);
}

/// The reported case: "too noisy" stood beside an interval that left out "no difference", because that was the
/// interval of the comparison by itself. The interval and the finding always follow from one decision.
#[test]
fn no_interval_contradicts_its_finding() {
    let runs = [run_of(12, 2, |_| ms(60)), run_of(12, 2, |k| ms(60 + k as u64 % 3))];
    let found = like(&[compared("one", &runs[0]), compared("other", &runs[1])]);
    let changes = found.levels.iter().flat_map(|level| &level.figures[1].changes);
    let all: Vec<_> = changes.chain(&found.sides[1].overall).collect();
    assert!(all.iter().any(|change| change.interval.is_some()), "{all:?}");
    for change in all {
        assert!(0.95 <= change.confidence.0, "{change:?}");
        let Some((low, high)) = change.interval else { continue };
        let excludes = high < 1.0 || 1.0 < low;
        match change.finding {
            ComparisonFinding::Higher => assert!(1.0 < low, "{change:?}"),
            ComparisonFinding::Lower => assert!(high < 1.0, "{change:?}"),
            ComparisonFinding::Alike => {}
            ComparisonFinding::NoEvidence | ComparisonFinding::TooShort | ComparisonFinding::TooNoisy => {
                assert!(!excludes, "{change:?}")
            }
        }
    }
}

/// Even two runs of one plan: what is compared is the rate at a load, and theirs changes.
#[test]
fn runs_with_stages_are_refused_by_name() {
    let one = run(60, 1);
    let mut other = run(60, 1);
    let stage = Stage { length: ms(6_000), from: 1.0, to: 4.0 };
    other.0.shape = Some(Shape { stages: vec![stage], until: Vec::new() });
    let both = [compared("one", &one), compared("other", &other)];
    for policy in [MismatchPolicy::Refuse, MismatchPolicy::Allow] {
        assert_eq!(compare(&both, policy), Err(CompareError::Shaped { name: "other".to_owned() }));
    }
}
