//! What a comparison says, in sentences.

use analysis::compare::{BETWEEN_RUNS, Basis, Change, ComparedLevel, ComparedMetric, Comparison, Side};
use stats::ComparisonFinding;

use super::{comparison_answer, words};
use crate::report::Words;

/// What the intervals of a comparison are.
const ADJUSTED: &str =
    "Confidence intervals (CI) hold for all comparisons together, and findings follow from them.";

/// From this ratio on people say "twice as many", not "100 % more".
const TIMES_MIN: f64 = 1.95;

/// Says who answered what where rates were offered, how each side differs from the first, what that rests on, and why there are differences without an interval; a
/// sentence or two each. Empty if there is but one side.
pub fn comparison_text(comparison: &Comparison) -> Vec<String> {
    let words = words(comparison);
    let mut text: Vec<String> = comparison_answer(comparison).into_iter().collect();
    text.extend((1..comparison.sides.len()).map(|side| side_text(comparison, words, side)));
    text.extend(basis_text(comparison));
    text.extend(lack_text(comparison));
    text
}

fn side_text(comparison: &Comparison, words: Words, index: usize) -> String {
    let (base, side) = (&comparison.sides[0], &comparison.sides[index]);
    let mut sentences = Vec::new();
    match main_level(comparison, index) {
        Some((level, rate)) => {
            let first = rate_clause(words, base, side, rate);
            let place = format!("at {}", words.load_text(level.load));
            let more: Vec<String> = level.figures[index].changes.iter().filter_map(told_clause).collect();
            let more = if more.is_empty() { String::new() } else { format!("; {}", joined(&more)) };
            sentences.push(format!("{first} {place}{more}"));
        }
        None => sentences
            .push(format!("{} and {} have no load in common at which both are valid", side.name, base.name)),
    }
    sentences.extend(overall_sentence(comparison, words, index));
    sentences.into_iter().map(|sentence| format!("{sentence}.")).collect::<Vec<_>>().join(" ")
}

/// Returns the load at which the first side's rate is highest, of those at which both are valid.
fn main_level(comparison: &Comparison, side: usize) -> Option<(&ComparedLevel, &Change)> {
    let levels = comparison.levels.iter();
    let compared =
        levels.filter_map(|level| Some((level, level.figures[side].change(ComparedMetric::Rate)?)));
    compared.max_by(|(one, _), (other, _)| one.figures[0].rate.total_cmp(&other.figures[0].rate))
}

fn rate_clause(words: Words, base: &Side, side: &Side, change: &Change) -> String {
    let (name, other, rate) = (&side.name, &base.name, words.rate);
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
                "The runs are too short to say whether {name} and {other} differ in {rate}{}",
                in_brackets(change)
            )
        }
        ComparisonFinding::TooNoisy => {
            format!(
                "{name} and {other} vary too much to say whether they differ in {rate}{}",
                in_brackets(change)
            )
        }
    }
}

/// Says what is told of a figure besides the rate: `its responses take 20 % less time (95 % CI 17–23 %)`.
fn told_clause(change: &Change) -> Option<String> {
    let is_less = match change.finding {
        ComparisonFinding::Higher => false,
        ComparisonFinding::Lower => true,
        ComparisonFinding::Alike
        | ComparisonFinding::NoEvidence
        | ComparisonFinding::TooShort
        | ComparisonFinding::TooNoisy => return None,
    };
    let (much, as_much) = (amount(change), times(change.ratio));
    let clause = match (change.metric, is_times(change), is_less) {
        (ComparedMetric::Rate, ..) => return None,
        (ComparedMetric::ResponseMean, true, _) => format!("its responses take {as_much} as long"),
        (ComparedMetric::ResponseMean, false, true) => format!("its responses take {much} less time"),
        (ComparedMetric::ResponseMean, false, false) => format!("its responses take {much} longer"),
        (ComparedMetric::ResponseP99, true, _) => format!("its 99th percentile is {as_much} as high"),
        (ComparedMetric::ResponseP99, false, true) => format!("its 99th percentile is {much} lower"),
        (ComparedMetric::ResponseP99, false, false) => format!("its 99th percentile is {much} higher"),
        (ComparedMetric::CpuPerOperation, true, _) => format!("it uses {as_much} the CPU time per operation"),
        (ComparedMetric::CpuPerOperation, false, true) => {
            format!("it uses {much} less CPU time per operation")
        }
        (ComparedMetric::CpuPerOperation, false, false) => {
            format!("it uses {much} more CPU time per operation")
        }
    };
    Some(format!("{clause}{}", in_brackets(change)))
}

/// Says what holds over all loads, and at how many of them; `None` with fewer than two.
fn overall_sentence(comparison: &Comparison, words: Words, index: usize) -> Option<String> {
    let side = &comparison.sides[index];
    let mut overall = side.overall.iter();
    let rate = overall.find(|change| change.metric == ComparedMetric::Rate && 1 < change.n_loads)?;
    let whole = match rate.finding {
        ComparisonFinding::Higher | ComparisonFinding::Lower if is_times(rate) => {
            format!("{} the {}", times(rate.ratio), words.rate)
        }
        ComparisonFinding::Higher => format!("{} more {}", amount(rate), words.rate),
        ComparisonFinding::Lower => format!("{} fewer {}", amount(rate), words.rate),
        ComparisonFinding::Alike => format!("the same, {}", within(rate)),
        ComparisonFinding::NoEvidence => "no difference was found".to_owned(),
        ComparisonFinding::TooShort => "too short to say".to_owned(),
        ComparisonFinding::TooNoisy => "too noisy to say".to_owned(),
    };
    let brackets = if rate.finding == ComparisonFinding::Alike { String::new() } else { in_brackets(rate) };
    Some(format!("Over {} loads: {whole}{brackets}; {}", rate.n_loads, tally(comparison, index)))
}

/// Counts the findings about the rate: `faster at 18, no difference at 2`.
fn tally(comparison: &Comparison, side: usize) -> String {
    const WORDS: [(ComparisonFinding, &str); 6] = [
        (ComparisonFinding::Higher, "faster"),
        (ComparisonFinding::Lower, "slower"),
        (ComparisonFinding::Alike, "alike"),
        (ComparisonFinding::NoEvidence, "no difference found"),
        (ComparisonFinding::TooShort, "too short"),
        (ComparisonFinding::TooNoisy, "too noisy"),
    ];
    let rates =
        || comparison.levels.iter().filter_map(|level| level.figures[side].change(ComparedMetric::Rate));
    let counted = WORDS.iter().filter_map(|(finding, word)| {
        let n = rates().filter(|change| change.finding == *finding).count();
        (0 < n).then(|| format!("{word} at {n}"))
    });
    counted.collect::<Vec<_>>().join(", ")
}

/// Says what the intervals rest on where that limits what they say; once for each way.
fn basis_text(comparison: &Comparison) -> Vec<String> {
    let mut bases: Vec<Basis> = Vec::new();
    for change in changes(comparison).filter(|change| change.interval.is_some()) {
        let is_known =
            bases.iter().any(|known| std::mem::discriminant(known) == std::mem::discriminant(&change.basis));
        if !is_known {
            bases.push(change.basis);
        }
    }
    bases.iter().map(|basis| basis_sentence(*basis)).collect()
}

/// Says of how many differences nothing can be said, and what to do; `None` if all have an interval.
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
    Some(format!(
        "The runs are too short to say whether {which}. Use at least 10 s per load point (`--duration 10s`), or three \
         runs per server (`--repeat 3`)."
    ))
}

/// Returns all differences from the first side, load by load.
fn changes(comparison: &Comparison) -> impl Iterator<Item = &Change> {
    let others = comparison.levels.iter().flat_map(|level| level.figures.iter().skip(1));
    others.flat_map(|figures| &figures.changes)
}

fn basis_sentence(basis: Basis) -> String {
    match basis {
        Basis::Interleaved(n) => {
            format!("{ADJUSTED} They rest on {n} repetitions of each server, which took turns.")
        }
        Basis::Repetitions(a, b) => format!(
            "{ADJUSTED} They rest on {a} and {b} repetitions that took no turns: whatever changed on the machine between \
             them counts as a difference. `plimsoll run BENCHMARK --sut A,B --repeat 5` lets them take turns."
        ),
        Basis::Phases => format!(
            "{ADJUSTED} Where a server has fewer than three runs, they rest on the seconds of steady phases (10 at least), \
             and up to {} from run to run is taken for granted. `--repeat 5` measures it instead.",
            percent(BETWEEN_RUNS.0)
        ),
    }
}

/// Returns a finding in a word, with a sign that can be told apart without color.
pub(super) fn finding_text(change: &Change) -> String {
    let is_better = (change.finding == ComparisonFinding::Higher) == change.metric.is_better_higher();
    let text = match (change.finding, change.metric) {
        (ComparisonFinding::Alike, _) => "= alike",
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

/// Writes a ratio as percent with two digits at least: `0.3 %`, `15 %`.
pub(super) fn percent(ratio: f64) -> String {
    let percent = 100.0 * ratio;
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn is_times(change: &Change) -> bool {
    TIMES_MIN <= change.ratio
}

fn times(ratio: f64) -> String {
    format!("{ratio:.1} times")
}

/// Returns by how much a figure is higher or lower, without the sign.
fn amount(change: &Change) -> String {
    percent((change.ratio - 1.0).abs())
}

/// Returns how far apart two sides are at most that are alike.
fn within(change: &Change) -> String {
    let (low, high) = change.interval.unwrap_or((change.ratio, change.ratio));
    format!("within {}", percent((high - 1.0).max(1.0 - low)))
}

/// Returns the interval in brackets, in the words of the finding; with what would have been detected where nothing was.
fn in_brackets(change: &Change) -> String {
    let Some((low, high)) = change.interval else { return String::new() };
    let bare = |ratio: f64| percent(ratio).trim_end_matches(" %").to_owned();
    let signed = |ratio: f64| match ratio < 1.0 {
        true => format!("−{}", bare(1.0 - ratio)),
        false => format!("+{}", bare(ratio - 1.0)),
    };
    let seen = change.detectable.map_or("any size".to_owned(), percent);
    match change.finding {
        ComparisonFinding::Higher | ComparisonFinding::Lower if is_times(change) => {
            format!(" (95 % CI {low:.1}–{})", times(high))
        }
        ComparisonFinding::Higher => format!(" (95 % CI {}–{})", bare(low - 1.0), percent(high - 1.0)),
        ComparisonFinding::Lower => format!(" (95 % CI {}–{})", bare(1.0 - high), percent(1.0 - low)),
        ComparisonFinding::Alike => String::new(),
        ComparisonFinding::NoEvidence => format!(
            " (95 % CI {} to {} %; a difference of {seen} or more would have been detected)",
            signed(low),
            signed(high)
        ),
        ComparisonFinding::TooShort | ComparisonFinding::TooNoisy => format!(
            " (95 % CI {} to {} %; a difference of less than {seen} could have been overlooked)",
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
