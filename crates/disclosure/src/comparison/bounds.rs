//! The user's bounds for the changes of a comparison, and whether they are exceeded.

use analysis::compare::{
    BETWEEN_RUNS, BoundDirection, BoundOutcome, ChangeBound, ComparedMetric, Comparison, IntervalBasis,
    JudgedBound,
};
use stats::LogRatio;

use super::sentences::percent;
use crate::{Block, Cell, Column, NoteKind, Row, RowStyle, Section, Table, numbers};

/// Returns a bound as it is written on the command line: `rate<-5%`.
pub fn bound_text(bound: &ChangeBound) -> String {
    let metric = match bound.metric {
        ComparedMetric::Score => "rate".to_owned(),
        ComparedMetric::ResponseMean => "mean".to_owned(),
        ComparedMetric::ResponsePercentile(rank) => rank.to_string(),
        ComparedMetric::CpuPerOperation => "cpu".to_owned(),
        ComparedMetric::ErrorRatio => "errors".to_owned(),
    };
    // Rounded, because 0.95 − 1 is not exactly −0.05.
    let amount = (bound.metric.change_of(bound.ratio).abs() * 1e8).round() / 1e6;
    match bound.direction {
        BoundDirection::Decrease => format!("{metric}<-{amount}%"),
        BoundDirection::Increase => format!("{metric}>+{amount}%"),
    }
}

/// Returns the outcome of a bound in a word: `exceeded`.
pub(crate) fn outcome_word(outcome: BoundOutcome) -> &'static str {
    match outcome {
        BoundOutcome::Kept => "kept",
        BoundOutcome::Exceeded => "exceeded",
        BoundOutcome::Undecided => "undecided",
        BoundOutcome::NotMeasured => "not measured",
    }
}

/// Returns a judged bound as a sentence: `rate<-5% is exceeded by after: −9.1 % (95 % CI −10.2 to −8.0 %).`
pub fn judged_bound_text(comparison: &Comparison, judged: &JudgedBound) -> String {
    let bound = bound_text(&judged.bound);
    let side = &comparison.sides[judged.side].name;
    let lead = match judged.outcome {
        BoundOutcome::Kept => format!("{bound} is kept by {side}"),
        BoundOutcome::Exceeded => format!("{bound} is exceeded by {side}"),
        BoundOutcome::Undecided => format!("{bound} is undecided for {side}"),
        BoundOutcome::NotMeasured => format!("{bound} cannot be judged for {side}"),
    };
    format!("{lead}: {}.", found_text(judged))
}

/// Returns the change that was found, or why there is none.
pub(crate) fn found_text(judged: &JudgedBound) -> String {
    let Some(change) = &judged.change else { return absent_text(judged).to_owned() };
    let found = change_text(change.metric, change.ratio);
    let Some(interval) = change.single_interval else {
        return format!("{found}, and the runs are too short for an interval: three per side have one");
    };
    let found = format!("{found} (95 % CI {})", interval_text(change.metric, interval));
    match remedy(judged) {
        Some(remedy) => format!("{found}, which contains the bound; {remedy}"),
        None => found,
    }
}

/// Returns how many runs would decide an undecided bound; `None` of other outcomes, and without an interval.
fn remedy(judged: &JudgedBound) -> Option<String> {
    judged.change?.single_interval.filter(|_| judged.outcome == BoundOutcome::Undecided)?;
    Some(match judged.runs_needed {
        Some(n) => format!("{n} runs of each side would probably decide it"),
        None => format!("even {} runs of each side would probably not decide it", LogRatio::RUNS_MAX),
    })
}

/// Returns the number of runs of each side that would probably decide the bounds that are undecided; `None` if none is, or
/// if no reasonable number would.
pub fn runs_needed(judged: &[JudgedBound]) -> Option<u32> {
    judged.iter().filter_map(|one| one.runs_needed).max()
}

fn absent_text(judged: &JudgedBound) -> &'static str {
    match judged.bound.metric {
        ComparedMetric::CpuPerOperation => {
            "the CPU time of the server was not measured in all runs, or they have no common load at which all are valid"
        }
        _ => "the runs have no common load at which all are valid",
    }
}

/// Returns the caveat for a side with fewer than three runs, whose intervals do not show how much runs differ; `None` if
/// all intervals do.
pub fn single_runs_text(judged: &[JudgedBound]) -> Option<String> {
    let is_of_phases =
        |one: &JudgedBound| one.change.is_some_and(|change| change.basis == IntervalBasis::Phases);
    judged.iter().any(is_of_phases).then(|| {
        format!(
            "With fewer than three runs per side, the intervals allow for what identical processes usually differ by: {} of the \
             rate, more of high percentiles.",
            percent(BETWEEN_RUNS.0)
        )
    })
}

/// Returns the section of the bounds; `None` without any.
pub(super) fn section(comparison: &Comparison, judged: &[JudgedBound]) -> Option<Section> {
    if judged.is_empty() {
        return None;
    }
    let caveat = single_runs_text(judged).map(|text| Block::Note(NoteKind::Warning, text.into()));
    let blocks = std::iter::once(Block::Table(table(comparison, judged))).chain(caveat).collect();
    Some(Section { id: "bounds", title: "Bounds".into(), blocks })
}

fn table(comparison: &Comparison, judged: &[JudgedBound]) -> Table {
    let columns = vec![
        Column::words("Fails if"),
        Column::words("Server"),
        Column::numbers("Change", ""),
        Column::words("Outcome"),
    ];
    let row = |one: &JudgedBound| {
        let change = match &one.change {
            Some(change) => Cell::with(
                change_text(change.metric, change.ratio),
                change.single_interval.map_or(String::new(), |ends| interval_text(change.metric, ends)),
            ),
            None => numbers::ABSENT.into(),
        };
        let is_failed = matches!(one.outcome, BoundOutcome::Exceeded | BoundOutcome::NotMeasured);
        Row {
            cells: vec![
                bound_text(&one.bound).into(),
                comparison.sides[one.side].name.clone().into(),
                change,
                Cell::with(outcome_word(one.outcome).to_owned(), remedy(one).unwrap_or_default()),
            ],
            style: if is_failed { RowStyle::Invalid } else { RowStyle::Plain },
        }
    };
    let caption = format!("Changes from {} against the bounds", comparison.sides[0].name);
    Table::new(&caption, columns, judged.iter().map(row).collect()).note(
        "Changes over all loads together, with their 95 % confidence intervals. A bound is exceeded if the whole interval is \
         beyond it, and undecided if the interval contains it.",
    )
}

/// Formats a change for people: `−5.0 %`, of shares `+0.52 points`.
fn change_text(metric: ComparedMetric, ratio: f64) -> String {
    if !metric.is_share() {
        return signed_percent(ratio);
    }
    let points = 100.0 * metric.change_of(ratio);
    let sign = if points < 0.0 { '−' } else { '+' };
    format!("{sign}{:.2} points", points.abs())
}

fn interval_text(metric: ComparedMetric, (low, high): (f64, f64)) -> String {
    let low = change_text(metric, low);
    format!("{} to {}", low.trim_end_matches(" %").trim_end_matches(" points"), change_text(metric, high))
}

/// Formats a ratio as a change: `−5.0 %`, `+12 %`.
pub(crate) fn signed_percent(ratio: f64) -> String {
    let sign = if ratio < 1.0 { '−' } else { '+' };
    format!("{sign}{}", percent((ratio - 1.0).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_written_as_it_is_typed() {
        use BoundDirection::{Decrease, Increase};
        let text = |metric, direction, change| bound_text(&ChangeBound::new(metric, direction, change));
        assert_eq!(text(ComparedMetric::Score, Decrease, -5.0 / 100.0), "rate<-5%");
        assert_eq!(text(ComparedMetric::RESPONSE_P99, Increase, 12.5 / 100.0), "p99>+12.5%");
        assert_eq!(text(ComparedMetric::ResponseMean, Increase, 0.0), "mean>+0%");
        assert_eq!(text(ComparedMetric::ErrorRatio, Increase, 0.005), "errors>+0.5%");
    }

    #[test]
    fn changes_of_shares_are_in_percentage_points() {
        let of = |metric: ComparedMetric, change| change_text(metric, metric.ratio_of(change));
        assert_eq!(of(ComparedMetric::ErrorRatio, 0.0052), "+0.52 points");
        assert_eq!(of(ComparedMetric::ResponseMean, -0.05), "−5.0 %");
        let ends = (-0.001, 0.02);
        let of = |metric: ComparedMetric| {
            interval_text(metric, (metric.ratio_of(ends.0), metric.ratio_of(ends.1)))
        };
        assert_eq!(of(ComparedMetric::ErrorRatio), "−0.10 to +2.00 points");
        assert_eq!(of(ComparedMetric::ResponseMean), "−0.1 to +2.0 %");
    }
}
