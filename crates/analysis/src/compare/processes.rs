//! The scatter between processes of identical code, where servers ran all the time.
//!
//! Servers that take turns without being started anew are compared ever more exactly the more turns they have: but as the
//! two processes that they are. Two processes of one program differ, by where their memory lies, by the seeds of their hash
//! tables, by the CPUs that they run on; and no number of turns shows by how much.

use model::{Plan, Testbed};
use units::Ratio;

use super::between_runs::{self, BETWEEN_RUNS};
use super::{ComparedMetric, RunInput};
use crate::LoadPointResult;

/// The standard deviation of the ratio of two processes of identical code, in rate, mean and CPU time per operation.
///
/// A house rule after what pairs of built-in servers showed: `docs/design/intervals.md`. It is taken as known, because a prior as wide as
/// that of [`BETWEEN_RUNS`], which covers all kinds of servers, would hide every difference below 20 %.
pub const BETWEEN_PROCESSES: Ratio = Ratio(0.012);

/// The name of a server in plans that Plimsoll did not start.
const RUNNING: &str = "external";

/// Returns whether two runs loaded different servers that were running before them and after them. Runs of one server with
/// different settings loaded the same process.
pub(super) fn are_of_running_servers(one: &RunInput, other: &RunInput) -> bool {
    let is_other = one.plan.sut.label != other.plan.sut.label || target(one.testbed) != target(other.testbed);
    is_running(one.plan) && is_running(other.plan) && is_other
}

fn is_running(plan: &Plan) -> bool {
    plan.sut.name == RUNNING
}

fn target(testbed: &Testbed) -> Option<&str> {
    let section = testbed.sections.iter().find(|section| section.title == "System under test")?;
    section.facts.iter().find(|fact| fact.name == "target").map(|fact| fact.value.as_str())
}

/// Returns the deviation of the ratio of a figure of a load point between two processes of identical code. Figures are in
/// proportion as between runs; a share of failures says nothing about code.
pub(super) fn deviation(point: &LoadPointResult, metric: ComparedMetric) -> f64 {
    if matches!(metric, ComparedMetric::ErrorRatio) {
        return 0.0;
    }
    between_runs::deviation(point, metric) / BETWEEN_RUNS.0 * BETWEEN_PROCESSES.0
}
