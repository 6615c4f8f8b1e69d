//! The user's bounds for the changes of a comparison, and whether they are exceeded.

use analysis::compare::{
    BETWEEN_RUNS, Basis, BoundDirection, BoundOutcome, ChangeBound, ComparedMetric, Comparison, JudgedBound,
};

use super::sentences::percent;
use crate::{Block, Cell, Column, NoteKind, Row, RowStyle, Section, Table, numbers};

/// Returns a bound as it is written on the command line: `rate<-5%`.
pub fn bound_text(bound: &ChangeBound) -> String {
    let metric = match bound.metric {
        ComparedMetric::Score => "rate",
        ComparedMetric::ResponseMean => "mean",
        ComparedMetric::ResponseP99 => "p99",
        ComparedMetric::CpuPerOperation => "cpu",
    };
    // Rounded, because 0.95 − 1 is not exactly −0.05.
    let amount = ((bound.ratio - 1.0).abs() * 1e8).round() / 1e6;
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
    let (bound, side) = (bound_text(&judged.bound), &comparison.sides[judged.side].name);
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
    match (change.single_interval, judged.outcome) {
        (None, _) => {
            format!(
                "{}, and the runs are too short for an interval: three per side have one",
                signed_percent(change.ratio)
            )
        }
        (Some(interval), BoundOutcome::Undecided) => {
            format!(
                "{} ({}), which contains the bound",
                signed_percent(change.ratio),
                interval_text(interval)
            )
        }
        (Some(interval), _) => format!("{} ({})", signed_percent(change.ratio), interval_text(interval)),
    }
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
    let is_of_phases = |one: &JudgedBound| one.change.is_some_and(|change| change.basis == Basis::Phases);
    judged.iter().any(is_of_phases).then(|| {
        format!(
            "With fewer than three runs per side, the intervals carry only the scatter within the runs, and an assumed \
             {} from run to run.",
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
                signed_percent(change.ratio),
                change.single_interval.map_or(String::new(), interval_ends),
            ),
            None => numbers::ABSENT.into(),
        };
        let is_failed = matches!(one.outcome, BoundOutcome::Exceeded | BoundOutcome::NotMeasured);
        Row {
            cells: vec![
                bound_text(&one.bound).into(),
                comparison.sides[one.side].name.clone().into(),
                change,
                outcome_word(one.outcome).into(),
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

fn interval_text(interval: (f64, f64)) -> String {
    format!("95 % CI {}", interval_ends(interval))
}

fn interval_ends((low, high): (f64, f64)) -> String {
    format!("{} to {}", signed_percent(low).trim_end_matches(" %"), signed_percent(high))
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
        let text = |metric, direction, ratio| bound_text(&ChangeBound { metric, direction, ratio });
        assert_eq!(text(ComparedMetric::Score, BoundDirection::Decrease, 1.0 - 5.0 / 100.0), "rate<-5%");
        assert_eq!(
            text(ComparedMetric::ResponseP99, BoundDirection::Increase, 1.0 + 12.5 / 100.0),
            "p99>+12.5%"
        );
        assert_eq!(text(ComparedMetric::ResponseMean, BoundDirection::Increase, 1.0), "mean>+0%");
    }
}
