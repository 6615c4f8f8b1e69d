//! Trends of runs whose numbers are known.

use analysis::VerdictState;
use analysis::compare::{ComparedMetric, RunInput};
use analysis::trend::{Trend, trends};
use model::Load;
use units::WallTime;

use super::compare::{Run, run, seen_as};

/// Runs of one site in the order of time, with these response times in ms.
fn night_after_night(responses: &[u64]) -> Vec<Run> {
    responses.iter().map(|response| run(*response, 2)).collect()
}

fn times(n: usize) -> Vec<[(u32, WallTime); 1]> {
    (0..n).map(|index| [(0, WallTime(index as i64 * 86_400_000))]).collect()
}

fn trends_of(runs: &[Run], servers: &[&str]) -> Vec<Trend> {
    let times = times(runs.len());
    let seen = runs.iter().enumerate().map(|(index, run)| RunInput {
        began: &times[index],
        ..seen_as("a run", servers[index % servers.len()], run)
    });
    let inputs: Vec<RunInput> = seen.collect();
    trends(&inputs)
}

/// X = N ÷ R over both loads: from 60 ms to 66 ms after eight of sixteen nights, with a ms of scatter.
#[test]
fn a_slower_server_is_a_change_of_rate_and_response_time() {
    let mut responses = vec![60, 61, 60, 62, 61, 60, 61, 62];
    responses.extend(responses.clone().iter().map(|response| response + 6));
    let found = trends_of(&night_after_night(&responses), &["site"]);
    let [trend] = &found[..] else { panic!("one trend") };
    assert_eq!((trend.runs.len(), trend.left_out.len()), (16, 0));
    assert_eq!(trend.loads, [Load::Users(4), Load::Users(8)]);
    let of = |metric| trend.series.iter().find(|series| series.metric == metric).unwrap();
    for (metric, ratio) in [(ComparedMetric::Score, 61.0 / 67.0), (ComparedMetric::ResponseMean, 67.0 / 61.0)]
    {
        let changes = of(metric).changes.as_ref().unwrap();
        assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [8], "{metric:?}");
        assert!((changes[0].to / changes[0].from - ratio).abs() < 0.01, "{changes:?}");
        assert!(changes[0].p < 0.01);
    }
    // √(4 · 8) ÷ 60 ms.
    assert!((of(ComparedMetric::Score).values[0] - 32.0f64.sqrt() / 0.060).abs() < 2.0);
}

#[test]
fn servers_and_plans_have_trends_of_their_own() {
    let mut runs = night_after_night(&[60, 60, 60, 60]);
    runs[3].0.seed = 7;
    let found = trends_of(&runs, &["one", "other"]);
    let shape: Vec<(&str, Vec<usize>)> = found
        .iter()
        .map(|trend| (trend.server.as_str(), trend.runs.iter().map(|(run, _)| *run).collect()))
        .collect();
    assert_eq!(shape, [("one", vec![0, 2]), ("other", vec![1]), ("other", vec![3])]);
    assert!(found.iter().flat_map(|trend| &trend.series).all(|series| series.changes.is_none()), "too few");
}

/// A label is the state of the server, which a trend follows.
#[test]
fn labels_do_not_divide_a_trend_and_invalid_runs_are_left_out() {
    let mut runs = night_after_night(&[60, 61, 62]);
    runs[0].0.sut.label = Some("1.24".into());
    runs[2].0.sut.label = Some("1.26".into());
    runs[1].1.load_points[1].verdict.state = VerdictState::Overloaded;
    let found = trends_of(&runs, &["site"]);
    let [trend] = &found[..] else { panic!("one trend") };
    assert_eq!(trend.left_out, [1]);
    assert_eq!(trend.runs.iter().map(|(run, _)| *run).collect::<Vec<_>>(), [0, 2]);

    runs.iter_mut().for_each(|run| {
        run.1.load_points.iter_mut().for_each(|point| point.verdict.state = VerdictState::Invalid);
    });
    let found = trends_of(&runs, &["site"]);
    assert!(found[0].loads.is_empty() && found[0].series.is_empty());
    assert_eq!(found[0].left_out, [0, 1, 2]);
}
