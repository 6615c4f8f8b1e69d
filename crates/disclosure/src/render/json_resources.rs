//! JSON of host metrics and bottlenecks.

use analysis::attribute::{Attribution, Condition, DemandUnit, Threshold, UsedUpQuota};
use analysis::{LoadPointResult, ResourceUsage};
use serde_json::{Map, Value, json};

use crate::bottleneck::neighbor_use;

/// Renders what held a load point back; `null` if nothing was watched.
pub(super) fn bottleneck(point: &LoadPointResult) -> Value {
    let Some(attribution) = &point.attribution else { return Value::Null };
    let Attribution {
        bottleneck,
        certainty,
        evidence,
        indicators,
        demands,
        bounds,
        shared,
        neighbor,
        service,
        quota,
    } = attribution;
    let indicators: Map<String, Value> =
        indicators.iter().map(|(indicator, value)| (indicator.name().to_owned(), (*value).into())).collect();
    let demand = |unit| match unit {
        DemandUnit::Seconds => "s",
        DemandUnit::Requests => "requests",
        DemandUnit::Bytes => "bytes",
    };
    let shared = shared.map(|shared| {
        json!({
            "cpus": shared.n,
            "generator_cpus": shared.generator,
            "server_cpus": shared.server,
            "idle_cpus": shared.idle,
        })
    });
    let mut rendered = json!({
        "name": bottleneck.name(),
        "certainty": certainty.name(),
        "evidence": evidence.iter().map(|(condition, value)| found(condition, *value)).collect::<Vec<_>>(),
        "signs": indicators,
        "demands": demands.iter().map(|one| json!({
            "resource": one.resource,
            "per_operation": one.per_operation,
            "unit": demand(one.unit),
            "rate_max_per_s": one.rate_max,
        })).collect::<Vec<_>>(),
        "rate_max_per_s": bounds.rate_max,
        "users_at_bound": bounds.users,
        "shared_with_generator": shared,
    });
    if let Some(neighbor) = neighbor {
        let (program, cpus) = neighbor_use(neighbor);
        rendered["neighbor"] = json!({ "program": program, "cpus": cpus });
    }
    if let Some(service) = service {
        rendered["service"] = json!(service);
    }
    if let Some(UsedUpQuota { cpus, group }) = quota {
        rendered["cpu_quota"] = json!({ "cpus": cpus, "group": group });
    }
    rendered
}

fn found(condition: &Condition, value: f64) -> Value {
    let (comparison, threshold) = match condition.threshold {
        Threshold::AtLeast(least) => ("at least", least),
        Threshold::Below(limit) => ("below", limit),
    };
    json!({ "sign": condition.indicator.name(), "value": value, "comparison": comparison, "threshold": threshold })
}

/// Renders every counter that was read, one object each: totals as what they grew by per second, levels as their mean.
pub(super) fn counters(uses: &ResourceUsage) -> Value {
    let machine = |number: u32| uses.machines.get(number as usize).map(|machine| machine.name.as_str());
    let one = |one: &analysis::SeriesUsage| {
        let series = &one.series;
        json!({
            "machine": machine(series.machine),
            "counter": series.counter.name(),
            "instance": series.instance,
            "kind": series.counter.kind().name(),
            "unit": series.counter.unit().name(),
            "value": one.value,
            "min": one.min,
            "max": one.max,
            "readings": one.readings,
            "resets": one.resets,
        })
    };
    uses.series.iter().map(one).collect()
}
