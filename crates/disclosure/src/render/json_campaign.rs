//! JSON of a campaign: the reports of the runs of each benchmark, and their comparison.

use serde_json::{Value, json};

use super::json::json as report_json;
use super::json_comparison::comparison_json;
use crate::CampaignRun;
use crate::campaign::{BenchmarkGroup, groups};

/// The version of this format; it rises with every incompatible change.
pub const FORMAT: u32 = 1;

/// Renders a campaign as JSON. A benchmark with one run has no comparison: `null`.
pub fn campaign_json(runs: &[CampaignRun]) -> Value {
    json!({ "format": FORMAT, "benchmarks": groups(runs).iter().map(benchmark).collect::<Vec<_>>() })
}

fn benchmark(group: &BenchmarkGroup) -> Value {
    let benchmark = &group.runs[0].report.analysis.benchmark;
    let runs = group
        .runs
        .iter()
        .map(|run| json!({ "name": run.name, "server": run.server, "report": report_json(&run.report) }));
    json!({
        "benchmark": { "id": benchmark.id, "version": benchmark.version, "title": benchmark.title },
        "runs": runs.collect::<Vec<_>>(),
        "comparison": group.comparison.as_ref().map(|comparison| comparison_json(comparison, &[])),
    })
}
