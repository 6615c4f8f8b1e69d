//! The answer of an open-loop comparison, in one sentence: the servers that handled the highest offered load, and the
//! limits of the others.

use analysis::VerdictState;
use analysis::compare::{BestLoad, ComparedSide, Comparison};
use model::Load;

use super::sentences::joined;
use crate::numbers;

/// Returns the answer: `apache behind plimsoll handled the highest offered load, 8,000/s, in 0.21 ms on average; apache
/// reached its limit near 4,600/s.` `None` unless all loads are rates and a server reached its limit or handled the
/// highest offered load.
pub(crate) fn comparison_answer(comparison: &Comparison) -> Option<String> {
    let is_open = comparison.levels.iter().all(|level| !level.load.is_closed());
    if !is_open || comparison.levels.is_empty() || comparison.sides.len() < 2 {
        return None;
    }
    let leaders = comparison.leaders();
    let full: Vec<(&ComparedSide, &BestLoad)> = leaders
        .iter()
        .filter_map(|index| {
            let side = &comparison.sides[*index];
            Some((side, side.best.as_ref().filter(|best| best.is_all_offered)?))
        })
        .collect();
    let limited = comparison.sides.iter().enumerate().filter(|(index, side)| {
        !side.best.as_ref().is_some_and(|best| best.is_all_offered) || !leaders.contains(index)
    });
    let limited: Vec<String> = limited
        .filter_map(|(index, side)| Some(format!("{} {}", side.name, limit_clause(comparison, index)?)))
        .collect();
    let clauses: Vec<String> = full_load_clause(&full).into_iter().chain(limited).collect();
    (!clauses.is_empty()).then(|| format!("{}.", clauses.join("; ")))
}

/// Returns the clause about the servers that handled the highest offered load, with their mean response times.
fn full_load_clause(full: &[(&ComparedSide, &BestLoad)]) -> Option<String> {
    let (_, first) = full.first()?;
    let time = |best: &BestLoad| numbers::seconds(best.figures.response_mean);
    let offered = rate_text(first.load);
    Some(match full {
        [(side, best)] => {
            format!("{} handled the highest offered load, {offered}, in {} on average", side.name, time(best))
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|(side, best)| format!("{} (in {} on average)", side.name, time(best)))
                .collect();
            format!("{} handled the highest offered load, {offered}", joined(&names))
        }
    })
}

/// Returns the clause about the limit of a server: the highest delivered rate, overloaded or not. `None` if no load point
/// is valid.
fn limit_clause(comparison: &Comparison, side: usize) -> Option<String> {
    let best = comparison.sides[side].best.as_ref()?;
    let figures = || comparison.levels.iter().map(|level| &level.figures[side]);
    let overloaded =
        figures().filter(|figures| figures.state == VerdictState::Overloaded).map(|figures| figures.rate);
    match overloaded.reduce(f64::max) {
        Some(rate) => Some(format!("reached its limit near {}", rounded(rate.max(best.figures.rate)))),
        None => Some(format!("handled at least {}", rate_text(best.load))),
    }
}

fn rate_text(load: Load) -> String {
    format!("{}/s", numbers::count(load.level().round() as u64))
}

/// Formats a rate with two significant digits.
fn rounded(rate: f64) -> String {
    let unit = 10f64.powf(rate.log10().floor() - 1.0).max(1.0);
    format!("{}/s", numbers::count(((rate / unit).round() * unit).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_to_two_digits() {
        for (rate, digits) in [(4_617.0, "4600"), (46_170.0, "46000"), (73.4, "73"), (7.4, "7")] {
            let found = rounded(rate);
            assert!(found.ends_with("/s"), "{found}");
            assert_eq!(found.chars().filter(char::is_ascii_digit).collect::<String>(), digits);
        }
    }
}
