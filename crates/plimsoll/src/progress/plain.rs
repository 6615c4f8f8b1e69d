//! The plain display: one line of text per event.

use fleet::Event;

use super::state::{FinishedPoint, State};
use super::text::{adding_text, load_text, score_text, stage_load_text, time};
use units::Nanos;

/// A message of the progress display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgressMessage {
    /// A step of the preparation.
    Step(String),
    /// A line of information.
    Line(String),
    /// A warning.
    Warning(String),
}

/// Returns the message of an event, if it has one.
pub(super) fn event_message(event: &Event<'_>) -> Option<ProgressMessage> {
    match event {
        Event::Preparing(what) | Event::Probing(what) => Some(ProgressMessage::Step((*what).to_owned())),
        Event::Ready { address, server } => {
            Some(ProgressMessage::Line(format!("Server: {server}, {address}")))
        }
        Event::Example(example) => {
            Some(ProgressMessage::Line(format!("  first `{}`: {}", example.outcome.name(), example.text)))
        }
        Event::Warning(text) => Some(ProgressMessage::Warning(text.clone())),
        Event::Adding(added) => Some(ProgressMessage::Line(format!("  {}", adding_text(added)))),
        Event::Files { .. }
        | Event::Rows { .. }
        | Event::Turn(_)
        | Event::LoadPoint(_)
        | Event::Interval(_)
        | Event::Status(_)
        | Event::Readings { .. } => None,
    }
}

/// Formats a finished load point; `None` if nothing was measured.
pub(super) fn finished_text(state: &State, point: &FinishedPoint) -> Option<String> {
    if point.length == Nanos::ZERO {
        return None;
    }
    let words = state.words(point.run);
    if let Some(text) = stage_text(state, point) {
        return Some(text);
    }
    let score = if state.is_operation_rate(point.run) {
        String::new()
    } else {
        format!("   {}", score_text(point.score, words))
    };
    let label = state.label_if_several(point.run).map_or(String::new(), |label| format!("   {label}"));
    let few = if point.p99.is_none() { "   (too few requests for p99)" } else { "" };
    Some(format!(
        "  {:>2}{}  {:<16} {:>10.1}/s   p99 {:>8}   errors {}{score}{label}{few}",
        point.index + 1,
        state.total_suffix(point.run),
        load_text(point.load, words),
        point.rate,
        time(point.p99),
        point.errors,
    ))
}

/// Formats a finished stage of a load point whose load changes over time; `None` if it has none.
fn stage_text(state: &State, point: &FinishedPoint) -> Option<String> {
    let index = point.stage?;
    let words = state.words(point.run);
    let stages = &state.runs[point.run].plan.shape.as_ref()?.stages;
    let stage = stages.get(index as usize)?;
    let load = stage_load_text(stage, point.load, words);
    let broken = point.broken.map_or(String::new(), |broken| {
        let level = point.load.at_level(broken.window.level_mean.round());
        format!("   {} broke at {}", broken.limit, load_text(level, words))
    });
    Some(format!(
        "  stage {:>2}/{}  {load:<24} {:>10.1}/s   p99 {:>8}   errors {}{broken}",
        index + 1,
        stages.len(),
        point.rate,
        time(point.p99),
        point.errors,
    ))
}

#[cfg(test)]
mod tests {
    use analysis::refinement::AddedLoad;

    use super::super::fixtures;
    use super::*;

    #[test]
    fn a_finished_load_point_is_one_line() {
        let mut state = fixtures::closed();
        let point = state.end_point().expect("a load point is running");
        assert_eq!(
            finished_text(&state, &point).unwrap(),
            "   3/4  30 users              305.0/s   p99   146 ms   errors 3"
        );
        assert_eq!(finished_text(&state, &FinishedPoint { length: Nanos::ZERO, ..point }), None);
    }

    /// By hand: seconds 10 to 12 complete 120, 140 and 160 operations.
    #[test]
    fn a_finished_stage_is_one_line() {
        let mut state = fixtures::stages();
        let point = state.end_point().expect("a load point is running");
        let text = finished_text(&state, &point).unwrap();
        let expected = "  stage  2/2  10 to 30 users                140.0/s   p99 ";
        assert!(text.starts_with(expected) && text.ends_with("   errors 0"), "{text}");
        let limit = model::parse_limits("p99<200ms").unwrap()[0];
        let window = analysis::LoadWindow {
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            level_from: 10.0,
            level_to: 20.0,
            level_mean: 15.0,
        };
        let broken = Some(analysis::BrokenLimit { limit, value: 0.25, window });
        let text = finished_text(&state, &FinishedPoint { broken, ..point }).unwrap();
        assert!(text.ends_with("   p99<200ms broke at 15 users"), "{text}");
    }

    #[test]
    fn a_load_point_that_is_added_says_why() {
        let [load, below, saturated] = [3, 1, 10].map(model::Load::Users);
        let added = Event::Adding(AddedLoad { load, below, saturated });
        let line = "  adding 3 users: the rate stops growing between 1 and 10";
        assert_eq!(event_message(&added), Some(ProgressMessage::Line(line.to_owned())));
        let mut state = fixtures::closed();
        state.event(&added);
        assert_eq!(state.messages.back().map(String::as_str), Some(line.trim()));
    }

    /// 500 transfers of 600 bytes per second: 2.4 Mbit/s.
    #[test]
    fn a_score_of_its_own_stands_at_the_end_in_the_words_of_the_benchmark() {
        let mut state = fixtures::throughput();
        let point = state.end_point().unwrap();
        assert_eq!(
            finished_text(&state, &point).unwrap(),
            "   2/2  20 stations           500.0/s   p99  59.5 ms   errors 0   2.4 megabits per second"
        );
        let first = finished_text(&state, &state.finished[0]).unwrap();
        assert!(first.contains(" 1 station "), "{first}");
    }

    #[test]
    fn lines_of_interleaved_runs_show_the_server() {
        let state = fixtures::interleaved();
        let labels = state.finished.iter().map(|point| finished_text(&state, point).unwrap());
        let labels: Vec<String> =
            labels.map(|text| text.split_once("errors 0").unwrap().1.to_owned()).collect();
        assert_eq!(labels, ["   nginx, php-fpm × 4", "   apache"]);
    }
}
