//! Sentences of a comparison.

use analysis::compare::{
    BETWEEN_RUNS, ComparedLevel, ComparedMetric, ComparedSide, Comparison, FigureChange, IntervalBasis,
};
use stats::ComparisonFinding;
use units::Nanos;

use super::{answer_texts, certainty_text, comparison_answer, terms};
use crate::report::Terms;

/// Explanation of the confidence intervals of a comparison.
const ADJUSTED: &str =
    "Confidence intervals (CI) are adjusted for multiple comparisons, and findings are based on them.";

/// Ratio from which a difference is given as a factor ("2.0 times") instead of a percentage ("100 % more").
const TIMES_MIN: f64 = 1.95;

/// Returns the sentences of a comparison: the answer about servers that took turns while they ran, and how sure it is; the
/// answer of an open-loop comparison, the differences of each side from the
/// first, the basis of the confidence intervals, and the reason for missing intervals. Empty with a single side.
pub fn comparison_text(comparison: &Comparison) -> Vec<String> {
    let terms = terms(comparison);
    let mut text = answer_texts(comparison);
    text.extend(certainty_text(comparison));
    text.extend(comparison_answer(comparison));
    text.extend((1..comparison.sides.len()).map(|side| side_text(comparison, terms, side)));
    text.extend(basis_text(comparison));
    text.extend(lack_text(comparison));
    text
}

fn side_text(comparison: &Comparison, terms: Terms, index: usize) -> String {
    let base = &comparison.sides[0];
    let side = &comparison.sides[index];
    let mut sentences = Vec::new();
    match main_level(comparison, index) {
        Some((level, rate)) => {
            let first = rate_clause(terms, base, side, rate);
            let load = format!("at {}", terms.load_text(level.load));
            // Where the first clause is about both servers, the next one names the one it is about.
            let differs = matches!(rate.finding, ComparisonFinding::Higher | ComparisonFinding::Lower);
            let mut subject = (!differs).then_some(side.name.as_str());
            let changes = level.figures[index].changes.iter();
            let more: Vec<String> =
                changes.filter_map(|change| change_clause(change, &mut subject)).collect();
            let more = if more.is_empty() { String::new() } else { format!("; {}", joined(&more)) };
            sentences.push(format!("{first} {load}{more}"));
        }
        None => sentences
            .push(format!("{} and {} have no common load at which both are valid", side.name, base.name)),
    }
    sentences.extend(overall_sentence(comparison, terms, index));
    sentences.into_iter().map(|sentence| format!("{sentence}.")).collect::<Vec<_>>().join(" ")
}

/// Returns the load with the highest score of the first side among those at which both sides are valid.
fn main_level(comparison: &Comparison, side: usize) -> Option<(&ComparedLevel, &FigureChange)> {
    let levels = comparison.levels.iter();
    let compared =
        levels.filter_map(|level| Some((level, level.figures[side].change(ComparedMetric::Score)?)));
    compared.max_by(|(one, _), (other, _)| one.figures[0].score.total_cmp(&other.figures[0].score))
}

fn rate_clause(terms: Terms, base: &ComparedSide, side: &ComparedSide, change: &FigureChange) -> String {
    let name = &side.name;
    let other = &base.name;
    let rate = terms.score;
    match change.finding {
        ComparisonFinding::Higher | ComparisonFinding::Lower if is_times(change) => {
            format!("{name} serves {} the {rate} of {other}{}", times(change.ratio), in_brackets(change))
        }
        ComparisonFinding::Higher => {
            format!("{name} serves {} more {rate} than {other}{}", amount(change), in_brackets(change))
        }
        ComparisonFinding::Lower => {
            format!("{name} serves {} fewer {rate} than {other}{}", amount(change), in_brackets(change))
        }
        ComparisonFinding::Alike => {
            format!("{name} and {other} serve the same {rate}, {}", within(change))
        }
        ComparisonFinding::NoEvidence => {
            format!("No difference in {rate} was found between {name} and {other}{}", in_brackets(change))
        }
        ComparisonFinding::TooShort => {
            format!(
                "The runs are too short to determine whether {name} and {other} differ in {rate}{}",
                in_brackets(change)
            )
        }
        ComparisonFinding::TooNoisy => {
            format!(
                "{name} and {other} vary too much to determine whether they differ in {rate}{}",
                in_brackets(change)
            )
        }
    }
}

/// Returns the clause about a metric other than the rate: `its responses take 20 % less time (95 % CI 17–23 %)`. It takes the
/// name of the server that has to be named, if any.
fn change_clause(change: &FigureChange, subject: &mut Option<&str>) -> Option<String> {
    let is_less = match change.finding {
        ComparisonFinding::Higher => false,
        ComparisonFinding::Lower => true,
        ComparisonFinding::Alike
        | ComparisonFinding::NoEvidence
        | ComparisonFinding::TooShort
        | ComparisonFinding::TooNoisy => return None,
    };
    let percentage = amount(change);
    let factor = times(change.ratio);
    let predicate = match (change.metric, is_times(change), is_less) {
        (ComparedMetric::Score | ComparedMetric::ErrorRatio, ..) => return None,
        (ComparedMetric::ResponseMean, true, _) => format!("take {factor} as long"),
        (ComparedMetric::ResponseMean, false, true) => format!("take {percentage} less time"),
        (ComparedMetric::ResponseMean, false, false) => format!("take {percentage} longer"),
        (ComparedMetric::ResponsePercentile(_), true, _) => format!("is {factor} as high"),
        (ComparedMetric::ResponsePercentile(_), false, true) => format!("is {percentage} lower"),
        (ComparedMetric::ResponsePercentile(_), false, false) => format!("is {percentage} higher"),
        (ComparedMetric::CpuPerOperation, true, _) => format!("uses {factor} the CPU time per operation"),
        (ComparedMetric::CpuPerOperation, false, true) => {
            format!("uses {percentage} less CPU time per operation")
        }
        (ComparedMetric::CpuPerOperation, false, false) => {
            format!("uses {percentage} more CPU time per operation")
        }
    };
    let named = match (change.metric, subject.take()) {
        (ComparedMetric::ResponseMean, Some(name)) => format!("responses of {name}"),
        (ComparedMetric::ResponseMean, None) => "its responses".to_owned(),
        (ComparedMetric::ResponsePercentile(_), Some(name)) => format!("the 99th percentile of {name}"),
        (ComparedMetric::ResponsePercentile(_), None) => "its 99th percentile".to_owned(),
        (_, Some(name)) => name.to_owned(),
        (_, None) => "it".to_owned(),
    };
    Some(format!("{named} {predicate}{}", in_brackets(change)))
}

/// Returns the sentence about all loads together, with the number of findings of each kind; `None` with fewer than two
/// loads.
fn overall_sentence(comparison: &Comparison, terms: Terms, index: usize) -> Option<String> {
    let side = &comparison.sides[index];
    let mut overall = side.overall.iter();
    let rate = overall.find(|change| change.metric == ComparedMetric::Score && 1 < change.n_loads)?;
    let whole = match rate.finding {
        ComparisonFinding::Higher | ComparisonFinding::Lower if is_times(rate) => {
            format!("{} the {}", times(rate.ratio), terms.score)
        }
        ComparisonFinding::Higher => format!("{} more {}", amount(rate), terms.score),
        ComparisonFinding::Lower => format!("{} fewer {}", amount(rate), terms.score),
        ComparisonFinding::Alike => format!("the same, {}", within(rate)),
        ComparisonFinding::NoEvidence => "no difference was found".to_owned(),
        ComparisonFinding::TooShort => "too short to determine".to_owned(),
        ComparisonFinding::TooNoisy => "too noisy to determine".to_owned(),
    };
    let brackets = if rate.finding == ComparisonFinding::Alike { String::new() } else { in_brackets(rate) };
    Some(format!("Over {} loads: {whole}{brackets}; {}", rate.n_loads, finding_counts(comparison, index)))
}

/// Counts the findings about the rate: `faster at 18, no difference at 2`.
fn finding_counts(comparison: &Comparison, side: usize) -> String {
    const WORDS: [(ComparisonFinding, &str); 6] = [
        (ComparisonFinding::Higher, "faster"),
        (ComparisonFinding::Lower, "slower"),
        (ComparisonFinding::Alike, "equivalent"),
        (ComparisonFinding::NoEvidence, "no difference found"),
        (ComparisonFinding::TooShort, "too short"),
        (ComparisonFinding::TooNoisy, "too noisy"),
    ];
    let rates =
        || comparison.levels.iter().filter_map(|level| level.figures[side].change(ComparedMetric::Score));
    let counted = WORDS.iter().filter_map(|(finding, word)| {
        let n = rates().filter(|change| change.finding == *finding).count();
        (0 < n).then(|| format!("{word} at {n}"))
    });
    counted.collect::<Vec<_>>().join(", ")
}

/// Returns one sentence for each basis of the confidence intervals.
fn basis_text(comparison: &Comparison) -> Vec<String> {
    let mut bases: Vec<IntervalBasis> = Vec::new();
    for change in changes(comparison).filter(|change| change.interval.is_some()) {
        let is_known =
            bases.iter().any(|known| std::mem::discriminant(known) == std::mem::discriminant(&change.basis));
        if !is_known {
            bases.push(change.basis);
        }
    }
    bases.iter().filter_map(|basis| basis_sentence(*basis)).collect()
}

/// Returns the number of differences without a confidence interval, with a remedy; `None` if all have one.
fn lack_text(comparison: &Comparison) -> Option<String> {
    let n = changes(comparison).count();
    let lacking = changes(comparison).filter(|change| change.interval.is_none()).count();
    let which = match (lacking, n) {
        (0, _) => return None,
        (1, 1) => "the only difference is real".to_owned(),
        (lacking, n) if lacking == n => format!("any of the {n} differences is real"),
        (1, n) => format!("one of the {n} differences is real"),
        (lacking, n) => format!("{lacking} of the {n} differences are real"),
    };
    let length = if comparison.steady < INTERVAL_MIN {
        format!("at least 10 s per load point (`--duration {}s`)", INTERVAL_MIN.0 / SECOND)
    } else {
        "longer load points (`--duration`)".to_owned()
    };
    let repeats = "three runs per server (`--repeat 3`)";
    Some(format!("The runs are too short to determine whether {which}. Use {length}, or {repeats}."))
}

/// The steady phase from which a single run has an interval for its rate.
const INTERVAL_MIN: Nanos = Nanos(10 * SECOND);
const SECOND: u64 = 1_000_000_000;

/// Returns all differences from the first side, by load.
fn changes(comparison: &Comparison) -> impl Iterator<Item = &FigureChange> {
    let others = comparison.levels.iter().flat_map(|level| level.figures.iter().skip(1));
    others.flat_map(|figures| &figures.changes)
}

/// Returns what intervals are based on; `None` where the answer says it.
fn basis_sentence(basis: IntervalBasis) -> Option<String> {
    Some(match basis {
        IntervalBasis::Turns(_) => return None,
        IntervalBasis::Interleaved(n) => {
            format!("{ADJUSTED} They are based on {n} interleaved repetitions of each server.")
        }
        IntervalBasis::Repetitions(a, b) => format!(
            "{ADJUSTED} They are based on {a} and {b} repetitions that were not interleaved: changes of the machine between \
             the repetitions appear as differences. `plimsoll run BENCHMARK --sut A,B --repeat 5` interleaves them."
        ),
        IntervalBasis::Phases => format!(
            "{ADJUSTED} For servers with fewer than three runs, they are based on the seconds of the steady phases (at least \
             10), and allow for what identical processes usually differ by, {} of the rate. `--repeat 5` measures it instead.",
            percent(BETWEEN_RUNS.0)
        ),
    })
}

/// Returns a short name of a finding, with a symbol that does not depend on color.
pub(super) fn finding_text(change: &FigureChange) -> String {
    let is_better = (change.finding == ComparisonFinding::Higher) == change.metric.is_better_higher();
    let text = match (change.finding, change.metric) {
        (ComparisonFinding::Alike, _) => "= equivalent",
        (ComparisonFinding::NoEvidence, _) => "· no difference found",
        (ComparisonFinding::TooShort, _) => "~ too short",
        (ComparisonFinding::TooNoisy, _) => "~ too noisy",
        (_, ComparedMetric::CpuPerOperation) if is_better => "▲ less",
        (_, ComparedMetric::CpuPerOperation) => "▼ more",
        _ if is_better => "▲ faster",
        _ => "▼ slower",
    };
    text.replace(' ', "\u{a0}")
}

/// Formats a ratio as a percentage with at least two digits: `0.3 %`, `15 %`; of nearly all with so many that it is not all:
/// `99.8 %`.
pub(super) fn percent(ratio: f64) -> String {
    let percent = 100.0 * ratio;
    let is_nearly_all = (99.5..100.0).contains(&percent);
    let percent = if is_nearly_all { percent.min(99.999) } else { percent };
    let decimals = match percent.abs() {
        little if little < 9.95 => 1,
        most if is_nearly_all => (100.0 - most).log10().abs().ceil().clamp(1.0, 3.0) as usize,
        _ => 0,
    };
    format!("{percent:.decimals$} %")
}

fn is_times(change: &FigureChange) -> bool {
    TIMES_MIN <= change.ratio
}

fn times(ratio: f64) -> String {
    format!("{ratio:.1} times")
}

/// Returns the relative difference as a percentage without sign.
fn amount(change: &FigureChange) -> String {
    percent((change.ratio - 1.0).abs())
}

/// Returns the maximum difference between two equivalent sides.
fn within(change: &FigureChange) -> String {
    let (low, high) = change.interval.unwrap_or((change.ratio, change.ratio));
    format!("within {}", percent((high - 1.0).max(1.0 - low)))
}

/// Returns the confidence interval in parentheses, and the smallest detectable difference if no difference was found.
fn in_brackets(change: &FigureChange) -> String {
    let Some((low, high)) = change.interval else { return String::new() };
    let bare = |ratio: f64| percent(ratio).trim_end_matches(" %").to_owned();
    let signed = |ratio: f64| {
        if ratio < 1.0 { format!("−{}", bare(1.0 - ratio)) } else { format!("+{}", bare(ratio - 1.0)) }
    };
    let detectable = change.detectable.map_or("any size".to_owned(), percent);
    match change.finding {
        ComparisonFinding::Higher | ComparisonFinding::Lower if is_times(change) => {
            format!(" (95 % CI {low:.1}–{})", times(high))
        }
        ComparisonFinding::Higher => format!(" (95 % CI {}–{})", bare(low - 1.0), percent(high - 1.0)),
        ComparisonFinding::Lower => format!(" (95 % CI {}–{})", bare(1.0 - high), percent(1.0 - low)),
        ComparisonFinding::Alike => String::new(),
        ComparisonFinding::NoEvidence => format!(
            " (95 % CI {} to {} %; a difference of {detectable} or more would have been detected)",
            signed(low),
            signed(high)
        ),
        ComparisonFinding::TooShort | ComparisonFinding::TooNoisy => format!(
            " (95 % CI {} to {} %; a difference of less than {detectable} could have been missed)",
            signed(low),
            signed(high)
        ),
    }
}

/// Joins clauses: `a`, `a and b`, `a, b and c`.
pub(super) fn joined(clauses: &[String]) -> String {
    match clauses {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_is_not_rounded_to_all() {
        let texts = [0.003, 0.15, 0.994, 0.9951, 0.9982, 0.9996, 0.999_999, 1.0, 1.3].map(percent);
        assert_eq!(
            texts,
            ["0.3 %", "15 %", "99 %", "99.5 %", "99.8 %", "99.96 %", "99.999 %", "100 %", "130 %"]
        );
    }
}
