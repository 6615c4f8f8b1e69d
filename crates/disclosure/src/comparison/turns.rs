//! The answer of a comparison of servers that were loaded in turns while they ran: which is faster, by how much, and how
//! sure that is.

use analysis::compare::{BETWEEN_PROCESSES, ComparedMetric, Comparison, IntervalBasis, ServerAnswer};
use stats::ComparisonFinding;

use super::sentences::percent;
use super::terms;

/// Returns the answers, one sentence for each server but the first; empty of other comparisons.
pub(crate) fn answer_texts(comparison: &Comparison) -> Vec<String> {
    comparison.answers.iter().map(|answer| answer_text(comparison, answer)).collect()
}

fn answer_text(comparison: &Comparison, answer: &ServerAnswer) -> String {
    let [base, side] = [0, answer.side].map(|index| comparison.sides[index].name.as_str());
    let (speed, interval) = answer.speed();
    let Some((low, high)) = interval else {
        return format!("No answer: {} turns of each server are too few for an interval.", n_turns(answer));
    };
    let mostly = answer.found_mostly.map_or("any size".to_owned(), percent);
    match (answer.is_faster(), answer.change.finding) {
        (Some(true), _) => {
            let ends = range(low - 1.0, high - 1.0);
            format!("{side} is {} faster than {base} (95 % CI {ends}).", percent(speed - 1.0))
        }
        (Some(false), _) => {
            let ends = range(1.0 - high, 1.0 - low);
            format!("{side} is {} slower than {base} (95 % CI {ends}).", percent(1.0 - speed))
        }
        (None, ComparisonFinding::TooShort | ComparisonFinding::TooNoisy) => format!(
            "Not decided: {side} ÷ {base} is {speed:.3} (95 % CI {low:.3} to {high:.3}); the turns vary so much that only a \
             difference of {mostly} is found in 19 of 20 such comparisons."
        ),
        (None, _) => format!(
            "No difference: {side} ÷ {base} is {speed:.3} (95 % CI {low:.3} to {high:.3}); a difference of {mostly} is found in \
             19 of 20 such comparisons."
        ),
    }
}

/// Returns how sure the answers are: what they rest on, and what was allowed for; `None` of other comparisons.
pub(crate) fn certainty_text(comparison: &Comparison) -> Option<String> {
    let first = comparison.answers.first()?;
    let metric = match first.change.metric {
        ComparedMetric::Score => format!("{} at the same load", terms(comparison).score),
        _ => "mean response time at the same load".to_owned(),
    };
    let loads = match first.change.n_loads {
        0 | 1 => String::new(),
        n => format!(" at each of {n} loads"),
    };
    let as_found: Vec<String> =
        comparison.answers.iter().filter_map(|one| as_found(comparison, one)).collect();
    let as_found = match as_found.as_slice() {
        [] => String::new(),
        all => format!(" As they ran, {}.", all.join("; ")),
    };
    Some(format!(
        "How sure: {} turns of each server{loads}, in alternating order; faster means {metric}.{as_found} The intervals also allow \
         for what two processes of identical code differ by: {} (standard deviation), because of the layout of memory, hash seeds \
         and CPUs. Of some servers it is more: start all of them anew and compare again before a small difference is put down to \
         their code. If nothing differs, at most one of 20 comparisons finds a difference; other figures are called different only \
         where the answer is one.",
        n_turns(first),
        percent(BETWEEN_PROCESSES.0),
    ))
}

/// Returns the speed of a server as it ran, without an allowance.
fn as_found(comparison: &Comparison, answer: &ServerAnswer) -> Option<String> {
    let (low, high) = answer.speed_as_found()?;
    let [base, side] = [0, answer.side].map(|index| label(&comparison.sides[index].name));
    Some(format!("{side} ÷ {base} was {:.3} ({low:.3} to {high:.3})", answer.speed().0))
}

/// Returns the label of a server that is followed by its address in brackets.
fn label(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(label, _)| label)
}

fn n_turns(answer: &ServerAnswer) -> usize {
    match answer.change.basis {
        IntervalBasis::Turns(n) | IntervalBasis::Interleaved(n) => n,
        IntervalBasis::Repetitions(a, b) => a.min(b),
        IntervalBasis::Phases => 1,
    }
}

/// Formats the ends of an interval of shares: `4.8 to 7.4 %`.
fn range(low: f64, high: f64) -> String {
    format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high))
}
