//! What a comparison under a schedule comes to, in one sentence: who answered all that was offered, and where others
//! stopped.

use analysis::VerdictState;
use analysis::compare::{Best, Comparison, Side};
use model::Load;

use super::sentences::joined;
use crate::numbers;

/// Returns the answer: `apache behind plimsoll answered 8,000/s, all that was offered, in 0.21 ms; apache stopped near
/// 4,600/s.` `None` unless all loads were rates, and unless a server reached its limit or answered all that was offered.
pub(crate) fn comparison_answer(comparison: &Comparison) -> Option<String> {
    let is_open = comparison.levels.iter().all(|level| !level.load.is_closed());
    if !is_open || comparison.levels.is_empty() || comparison.sides.len() < 2 {
        return None;
    }
    let leaders = comparison.leaders();
    let full: Vec<(&Side, &Best)> = leaders
        .iter()
        .filter_map(|index| {
            let side = &comparison.sides[*index];
            Some((side, side.best.as_ref().filter(|best| best.is_all_offered)?))
        })
        .collect();
    let stopped = comparison.sides.iter().enumerate().filter(|(index, side)| {
        !side.best.as_ref().is_some_and(|best| best.is_all_offered) || !leaders.contains(index)
    });
    let stopped: Vec<String> = stopped
        .filter_map(|(index, side)| Some(format!("{} {}", side.name, stop(comparison, index)?)))
        .collect();
    let clauses: Vec<String> = answered(&full).into_iter().chain(stopped).collect();
    (!clauses.is_empty()).then(|| format!("{}.", clauses.join("; ")))
}

/// Says who answered all that was offered, and in what time.
fn answered(full: &[(&Side, &Best)]) -> Option<String> {
    let (_, first) = full.first()?;
    let time = |best: &Best| numbers::seconds(best.figures.response_mean);
    let offered = rate_text(first.load);
    Some(match full {
        [(side, best)] => {
            format!("{} answered {offered}, all that was offered, in {}", side.name, time(best))
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|(side, best)| format!("{} (in {})", side.name, time(best))).collect();
            format!("{} answered {offered}, all that was offered", joined(&names))
        }
    })
}

/// Says near which rate a server stopped: the highest that it delivered, kept up with or not. `None` if it never kept up.
fn stop(comparison: &Comparison, side: usize) -> Option<String> {
    let best = comparison.sides[side].best.as_ref()?;
    let figures = || comparison.levels.iter().map(|level| &level.figures[side]);
    let overloaded =
        figures().filter(|figures| figures.state == VerdictState::Overloaded).map(|figures| figures.rate);
    match overloaded.reduce(f64::max) {
        Some(rate) => Some(format!("stopped near {}", rounded(rate.max(best.figures.rate)))),
        None => Some(format!("is only known to answer {}", rate_text(best.load))),
    }
}

fn rate_text(load: Load) -> String {
    format!("{}/s", numbers::count(load.level().round() as u64))
}

/// Writes a rate with two significant digits.
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
