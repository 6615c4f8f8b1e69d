//! JSON of the steady state of a load point.

use analysis::SteadyState;
use serde_json::{Value, json};
use stats::{Estimate, Steadiness};

/// Writes the state of rate and mean response time.
pub(super) fn steady_state(found: SteadyState) -> Value {
    json!({ "rate": steadiness(found.rate), "response": steadiness(found.response) })
}

/// Changes and variations are relative to the mean.
fn steadiness(steadiness: Steadiness) -> Value {
    let change =
        |one: Estimate| json!({ "value_ratio": one.value, "low_ratio": one.low, "high_ratio": one.high });
    match steadiness {
        Steadiness::Steady { change: by, variation } => {
            json!({ "state": "steady", "change": change(by), "variation_ratio": variation.0 })
        }
        Steadiness::Drifting { by } => json!({ "state": "drifting", "change": change(by) }),
        Steadiness::Unsteady { variation, by_chance } => {
            json!({ "state": "unsteady", "variation_ratio": variation.0, "by_chance_ratio": by_chance.0 })
        }
        Steadiness::TooFew => json!({ "state": "too few seconds" }),
    }
}
