//! JSON of the stages of a load point with a shape, and of the limits that end it early.

use analysis::{Analysis, LoadWindow, StageResult, UntilResult};
use model::Limit;
use serde_json::{Value, json};

use super::json::{seconds, times, verdict};
use super::json_steady::steady_state;

/// Returns a stage.
pub(super) fn stage(stage: &StageResult, analysis: &Analysis) -> Value {
    json!({
        "index": stage.index,
        "start_s": seconds(stage.start),
        "planned": {
            "length_s": seconds(stage.planned.length),
            "level_from": stage.planned.from,
            "level_to": stage.planned.to,
        },
        "steady_s": seconds(stage.length),
        "level_mean": stage.planned.level_mean(),
        "verdict": verdict(analysis, &stage.verdict),
        "steady_state": steady_state(stage.steadiness),
        "n": stage.n,
        "errors": stage.errors,
        "offered_per_s": stage.offered_rate,
        "delivered_ratio": stage.delivered_ratio,
        "rate_per_s": stage.rate,
        "rate_interval_per_s": stage.rate_interval,
        "users_mean": stage.users_mean,
        "little_gap_ratio": stage.little_gap,
        "response": times(Some(&stage.response)),
        "lateness": times(stage.lateness.as_ref()),
        "generator": { "busy_ratio": stage.generator_busy },
        "sut": { "cpus": stage.sut_cpus, "busy_ratio": stage.sut_busy },
    })
}

/// Returns what is known of the limits that end a load point early.
pub(super) fn until(until: &UntilResult) -> Value {
    let broken = until.broken.map(|broken| {
        json!({ "limit": broken.limit.to_string(), "value": broken.value, "window": window(broken.window) })
    });
    json!({
        "limits": until.limits.iter().map(Limit::to_string).collect::<Vec<_>>(),
        "broken": broken,
        "held": until.held.map(window),
        "windows_judged": until.windows_judged,
    })
}

fn window(window: LoadWindow) -> Value {
    json!({
        "start_s": seconds(window.start),
        "end_s": seconds(window.end),
        "level_from": window.level_from,
        "level_to": window.level_to,
        "level_mean": window.level_mean,
    })
}
