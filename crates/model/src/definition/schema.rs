//! The published JSON Schema of the definition language.
//!
//! The types here stand for how a value is written where the value itself has another shape in memory.

#![allow(dead_code, reason = "only the shape of these types is used")]

use schemars::{JsonSchema, Schema};

use super::Definition;

/// Returns the JSON Schema (2020-12) of benchmark definitions.
pub fn definition_schema() -> Schema {
    schemars::schema_for!(Definition)
}

/// A time: a number and a unit (ns, us, ms, s, min, h), such as `600 s`; at most 30 days.
#[derive(JsonSchema)]
#[schemars(rename = "Time")]
pub(super) struct TimeText(#[schemars(regex(pattern = r"^[0-9.]+ ?(ns|us|µs|ms|s|min|h)$"))] String);

/// Load levels: a range with a step such as `10..200/10`, a list such as `1,2,5`, or both.
#[derive(JsonSchema)]
#[schemars(rename = "LoadLevels")]
pub(super) struct LoadText(#[schemars(regex(pattern = r"^[0-9]+[0-9., /]*$"))] String);

/// How long the phases of a load point are; those that are left out have no length.
#[derive(JsonSchema)]
#[schemars(rename = "Phases", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PhasesText {
    /// A pause before the load point.
    quiet: Option<TimeText>,
    /// Load rising.
    ramp_up: Option<TimeText>,
    /// Full load, not measured.
    settle: Option<TimeText>,
    /// Measured; above zero.
    steady: TimeText,
    /// Load falling.
    ramp_down: Option<TimeText>,
    /// The longest time in which operations in flight may finish afterwards; without it they are given up.
    drain: Option<TimeText>,
}

/// How long a connection lives.
#[derive(JsonSchema)]
#[schemars(rename = "Connection", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum ConnectionText {
    /// A new one for every request; the body ends with it.
    PerRequest,
    /// Kept until one side closes it or it has carried so many requests.
    KeepAlive(KeepAliveText),
}

/// Limits of a kept connection.
#[derive(JsonSchema)]
#[schemars(rename = "KeepAlive", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct KeepAliveText {
    /// Requests per connection at most; no limit if absent.
    #[schemars(range(min = 1))]
    requests_max: Option<u32>,
}

/// When the operations of an open loop fall due.
#[derive(JsonSchema)]
#[schemars(rename = "Arrivals", rename_all = "kebab-case")]
pub(super) enum ArrivalsText {
    /// At equal distances.
    Constant,
    /// At random, with exponential distances.
    Poisson,
}

/// Limits that the verdict of a load point depends on. Ratios are from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Rules", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RulesText {
    /// Failed ÷ completed operations above which a load point is not valid.
    error_ratio_max: Option<RatioText>,
    /// Relative gap in N = X·(R + Z) above which a load point must explain itself.
    little_gap_max: Option<RatioText>,
    /// Busy part of the load CPUs from which the generator counts as the bottleneck.
    generator_busy_max: Option<RatioText>,
    /// 99th percentile of lateness above which the generator counts as the bottleneck (open loop).
    lateness_p99_max: Option<TimeText>,
    /// Time that load threads waited for a CPU, as a part of the run's length, above which the generator counts
    /// as the bottleneck.
    run_queue_ratio_max: Option<RatioText>,
    /// Part of its own CPU allowance from which the SUT counts as saturated.
    sut_saturated_min: Option<RatioText>,
    /// Fewest completed operations for which a load point's numbers mean anything.
    operations_min: Option<u64>,
    /// Delivered ÷ offered rate below which an open-loop load point is not valid.
    delivered_ratio_min: Option<RatioText>,
}

/// A ratio from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Ratio")]
pub(super) struct RatioText(#[schemars(range(min = 0.0, max = 1.0))] f64);
