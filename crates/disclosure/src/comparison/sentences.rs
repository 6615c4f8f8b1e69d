//! What a comparison says, in sentences.

use analysis::compare::{BETWEEN_RUNS, Basis, Change, ComparedLevel, Comparison, Metric, Side};
use stats::Finding;

use super::words;
use crate::report::Words;

/// From this ratio on people say "twice as many", not "100 % more".
const TIMES_MIN: f64 = 1.95;

/// Says how each side differs from the first, what that rests on, and why there are differences without an interval; a
/// sentence or two each. Empty if there is but one side.
pub fn comparison_text(comparison: &Comparison) -> Vec<String> {
    let words = words(comparison);
    let mut text: Vec<String> =
        (1..comparison.sides.len()).map(|side| side_text(comparison, words, side)).collect();
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
            let more = if more.is_empty() { String::new() } else { format!("; it {}", joined(&more)) };
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
    let compared = levels.filter_map(|level| Some((level, level.figures[side].change(Metric::Rate)?)));
    compared.max_by(|(one, _), (other, _)| one.figures[0].rate.total_cmp(&other.figures[0].rate))
}

fn rate_clause(words: Words, base: &Side, side: &Side, change: &Change) -> String {
    let (name, other, rate) = (&side.name, &base.name, words.rate);
    match change.finding {
        Finding::Higher | Finding::Lower if is_times(change) => {
            format!("{name} serves {} the {rate} of {other}{}", times(change.ratio), in_brackets(change))
        }
        Finding::Higher => {
            format!("{name} serves {} more {rate} than {other}{}", amount(change), in_brackets(change))
        }
        Finding::Lower => {
            format!("{name} serves {} fewer {rate} than {other}{}", amount(change), in_brackets(change))
        }
        Finding::Alike => {
            format!("{name} and {other} serve the same {rate}, {}", within(change))
        }
        Finding::NoEvidence => {
            format!("No evidence that {name} and {other} differ in {rate}{}", in_brackets(change))
        }
        Finding::TooNoisy => {
            format!("Too noisy to tell whether {name} and {other} differ in {rate}{}", in_brackets(change))
        }
    }
}

/// Says what is told of a figure besides the rate: `responds in 20 % less time (17 to 23 %)`.
fn told_clause(change: &Change) -> Option<String> {
    let less = match change.finding {
        Finding::Higher => false,
        Finding::Lower => true,
        Finding::Alike | Finding::NoEvidence | Finding::TooNoisy => return None,
    };
    let much = match is_times(change) {
        true => times(change.ratio),
        false => format!("{} {}", amount(change), if less { "less" } else { "more" }),
    };
    let clause = match (change.metric, is_times(change)) {
        (Metric::Rate, _) => return None,
        (Metric::ResponseMean, true) => format!("responds in {much} the time"),
        (Metric::ResponseMean, false) => format!("responds in {much} time"),
        (Metric::ResponseP99, true) => format!("has {much} the 99th percentile"),
        (Metric::ResponseP99, false) => {
            format!("has a 99th percentile {} {}", amount(change), if less { "lower" } else { "higher" })
        }
        (Metric::CpuPerOperation, true) => format!("uses {much} the CPU time per operation"),
        (Metric::CpuPerOperation, false) => format!("uses {much} CPU time per operation"),
    };
    Some(format!("{clause}{}", in_brackets(change)))
}

/// Says what holds over all loads, and at how many of them; `None` with fewer than two.
fn overall_sentence(comparison: &Comparison, words: Words, index: usize) -> Option<String> {
    let side = &comparison.sides[index];
    let mut overall = side.overall.iter();
    let rate = overall.find(|change| change.metric == Metric::Rate && 1 < change.n_loads)?;
    let whole = match rate.finding {
        Finding::Higher | Finding::Lower if is_times(rate) => {
            format!("{} the {}", times(rate.ratio), words.rate)
        }
        Finding::Higher => format!("{} more {}", amount(rate), words.rate),
        Finding::Lower => format!("{} fewer {}", amount(rate), words.rate),
        Finding::Alike => format!("the same, {}", within(rate)),
        Finding::NoEvidence => "no evidence of a difference".to_owned(),
        Finding::TooNoisy => "too noisy to tell".to_owned(),
    };
    let brackets = if rate.finding == Finding::Alike { String::new() } else { in_brackets(rate) };
    Some(format!("Over {} loads: {whole}{brackets}; {}", rate.n_loads, tally(comparison, index)))
}

/// Counts the findings about the rate: `faster at 18 loads, no evidence at 2`.
fn tally(comparison: &Comparison, side: usize) -> String {
    const WORDS: [(Finding, &str); 5] = [
        (Finding::Higher, "faster"),
        (Finding::Lower, "slower"),
        (Finding::Alike, "alike"),
        (Finding::NoEvidence, "no evidence"),
        (Finding::TooNoisy, "too noisy"),
    ];
    let rates = || comparison.levels.iter().filter_map(|level| level.figures[side].change(Metric::Rate));
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

/// Says how many differences have no interval, why, and what to do; `None` if all have one.
fn lack_text(comparison: &Comparison) -> Option<String> {
    let n = changes(comparison).count();
    let lacking = changes(comparison).filter(|change| change.interval.is_none()).count();
    let have = if lacking == 1 { "has" } else { "have" };
    (0 < lacking).then(|| {
        format!(
            "{lacking} of {n} differences {have} no interval, so nothing is said of them: a server has fewer than three \
             runs, and a steady phase with fewer than 10 s that can be used. `--duration 60` makes steady phases longer, \
             `--repeat 5` runs every server more often."
        )
    })
}

/// Returns all differences from the first side, load by load.
fn changes(comparison: &Comparison) -> impl Iterator<Item = &Change> {
    let others = comparison.levels.iter().flat_map(|level| level.figures.iter().skip(1));
    others.flat_map(|figures| &figures.changes)
}

fn basis_sentence(basis: Basis) -> String {
    match basis {
        Basis::Turns(n) => format!("Intervals rest on {n} repetitions of each server, which took turns."),
        Basis::Repetitions(a, b) => format!(
            "Intervals rest on {a} and {b} repetitions that took no turns: whatever changed on the machine between them \
             counts as a difference. `plimsoll run BENCHMARK --sut A,B --repeat 5` lets them take turns."
        ),
        Basis::Phases => format!(
            "Where a server has fewer than three runs, intervals rest on the seconds of their steady phases (10 at least), and \
             up to {} from run to run is taken for granted. `--repeat 5` measures it instead.",
            percent(BETWEEN_RUNS.0)
        ),
    }
}

/// Returns a finding in a word, with a sign that can be told apart without color.
pub(super) fn finding_text(change: &Change) -> String {
    let is_better = (change.finding == Finding::Higher) == change.metric.is_better_higher();
    let text = match (change.finding, change.metric) {
        (Finding::Alike, _) => "= alike",
        (Finding::NoEvidence, _) => "· no evidence",
        (Finding::TooNoisy, _) => "~ too noisy",
        (_, Metric::CpuPerOperation) if is_better => "▲ less",
        (_, Metric::CpuPerOperation) => "▼ more",
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

/// Returns the interval in brackets, in the words of the finding; with what would have been seen where nothing was.
fn in_brackets(change: &Change) -> String {
    let Some((low, high)) = change.interval else {
        return " (no interval: too few runs, and steady phases too short)".to_owned();
    };
    let bare = |ratio: f64| percent(ratio).trim_end_matches(" %").to_owned();
    let signed = |ratio: f64| match ratio < 1.0 {
        true => format!("−{}", bare(1.0 - ratio)),
        false => format!("+{}", bare(ratio - 1.0)),
    };
    let seen = change.detectable.map_or("nothing".to_owned(), percent);
    match change.finding {
        Finding::Higher | Finding::Lower if is_times(change) => format!(" ({low:.1} to {})", times(high)),
        Finding::Higher => format!(" ({} to {})", bare(low - 1.0), percent(high - 1.0)),
        Finding::Lower => format!(" ({} to {})", bare(1.0 - high), percent(1.0 - low)),
        Finding::Alike => String::new(),
        Finding::NoEvidence => {
            format!(" ({} to {} %; {seen} would have been seen)", signed(low), signed(high))
        }
        Finding::TooNoisy => {
            format!(" ({} to {} %; less than {seen} could have been overlooked)", signed(low), signed(high))
        }
    }
}

/// Joins clauses: `a`, `a and b`, `a, b and c`.
fn joined(clauses: &[String]) -> String {
    match clauses {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
