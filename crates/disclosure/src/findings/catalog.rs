//! The wording of differences between the catalog of a plan and the one that its benchmark's definition gives.

use analysis::audit::CatalogDifference;
use model::{RateTime, Score};

/// Returns the sentence of a difference: a clause without a full stop, with what is stored and what the definition gives.
pub fn catalog_difference_text(difference: &CatalogDifference) -> String {
    match difference {
        CatalogDifference::Score { stored, defined } => {
            let stored = score_text(stored);
            let defined = score_text(defined);
            format!("the plan's score is {stored}, the benchmark's is {defined}")
        }
        CatalogDifference::Word { place, stored, defined } => {
            format!("the plan's word for the {place} is `{stored}`, the benchmark's is `{defined}`")
        }
    }
}

/// Describes a score; kinds and measures by their numbers from 1, in the order of the catalog.
fn score_text(score: &Score) -> String {
    match score {
        Score::Rate { kinds, per } => {
            let counted = match &kinds[..] {
                [] => "all operations".to_owned(),
                kinds => format!("operations of kinds {}", numbers(kinds)),
            };
            format!("the rate of {counted} per {}", time_text(*per))
        }
        Score::Weighted { weights, per } => {
            format!("the rate of operations with weights {} per {}", weights_text(weights), time_text(*per))
        }
        Score::Throughput { measures } => format!("the throughput of measures {}", numbers(measures)),
        Score::Harmonic { weights } => format!("the harmonic mean with weights {}", weights_text(weights)),
    }
}

fn time_text(time: RateTime) -> &'static str {
    match time {
        RateTime::Second => "second",
        RateTime::Minute => "minute",
    }
}

fn weights_text(weights: &[f64]) -> String {
    weights.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

fn numbers(indexes: &[usize]) -> String {
    indexes.iter().map(|index| (index + 1).to_string()).collect::<Vec<_>>().join(", ")
}
