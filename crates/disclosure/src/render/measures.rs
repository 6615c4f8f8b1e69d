//! Keys and values of what a benchmark's catalog names: its measures and its units.

use analysis::TimeSummary;
use model::{Catalog, Measure, MeasureUnit, Plan, export_key};
use serde_json::{Value, json};
use units::Nanos;

/// Added to the key of a measure that has the name of another field.
const DISTINCTION: &str = "_measure";

/// Returns the measures that have a distribution, in the order of [`analysis::LoadPointResult::spreads`].
pub(super) fn spread_measures(catalog: &Catalog) -> impl Iterator<Item = &Measure> {
    catalog.spread_measures().map(move |measure| &catalog.measures[measure])
}

/// Returns the end of a key that says the unit of a measure: times are in s.
pub(super) fn unit_suffix(unit: MeasureUnit) -> &'static str {
    match unit {
        MeasureUnit::Nanoseconds => "_s",
        MeasureUnit::Bytes | MeasureUnit::Count => "",
    }
}

/// Returns the key of units, the benchmark's noun for them: `pages`; `None` where it counts none. The web has its pages,
/// counted or not.
pub(super) fn units_key(plan: &Plan) -> Option<String> {
    let counts = plan.workload.web().is_some() || !plan.catalog.units.is_empty();
    counts.then(|| export_key(&plan.catalog.words.unit.many))
}

/// Returns a key that is not taken: a measure may have the name of another field.
pub(super) fn free_key(key: String, is_taken: impl Fn(&str) -> bool) -> String {
    if is_taken(&key) { free_key(key + DISTINCTION, is_taken) } else { key }
}

/// Adds what belongs to a measure to an object.
pub(super) fn add(object: &mut Value, key: String, value: Value) {
    let key = free_key(key, |key| object.get(key).is_some());
    object[key] = value;
}

/// Returns the distribution of a measure that is no time, like that of a time but in the measure's own unit.
pub(super) fn amounts(summary: &TimeSummary) -> Value {
    let amount = |Nanos(amount): Nanos| amount;
    let percentile = |one: &analysis::Percentile| {
        json!({
            "q": one.q,
            "value": amount(one.value),
            "low": one.interval.map(|(low, _)| amount(low)),
            "high": one.interval.map(|(_, high)| amount(high)),
            "n": one.n,
        })
    };
    json!({
        "n": summary.histogram.n(),
        "mean": summary.mean.map(in_nanos),
        "percentiles": summary.percentiles.iter().map(percentile).collect::<Vec<_>>(),
        "max": summary.max.map(amount),
    })
}

/// Converts a mean of amounts, which was divided like times.
fn in_nanos(seconds: f64) -> f64 {
    seconds * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_with_the_name_of_another_field_is_told_apart() {
        let mut object = json!({ "score": 1.0 });
        for (key, value) in [("score", 2), ("score", 3), ("wait", 4)] {
            add(&mut object, key.to_owned(), value.into());
        }
        let expected = json!({ "score": 1.0, "score_measure": 2, "score_measure_measure": 3, "wait": 4 });
        assert_eq!(object, expected);
    }
}
