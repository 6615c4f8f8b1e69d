//! Quick facts for lists of runs.

use std::path::Path;

use model::{BenchmarkId, RunEnding};
use units::WallTime;

use crate::{Run, RunFileError};

/// The summary of a run for a list of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The benchmark.
    pub benchmark: BenchmarkId,
    /// The time at which the file was made.
    pub created: WallTime,
    /// The ending of the run.
    pub ending: RunEnding,
    /// The time at which it ended; `None` if its end is missing.
    pub ended: Option<WallTime>,
    /// Number of load points in the plan.
    pub load_points_planned: u32,
    /// Number of load points that began.
    pub load_points_begun: u32,
    /// Whether the plan differs from the benchmark's definition.
    pub modified: bool,
    /// The system under test as asked for: `built-in`, `nginx`.
    pub sut: String,
    /// The user's name for the state of the server.
    pub label: Option<String>,
}

/// Reads the quick facts of a run file, without its records.
///
/// # Errors
///
/// As for [`Run::open`].
pub fn summary(path: &Path) -> Result<Summary, RunFileError> {
    let run = Run::open(path)?;
    let plan = run.plan();
    Ok(Summary {
        benchmark: plan.benchmark.clone(),
        created: run.header().created,
        ending: run.ending().clone(),
        ended: run.ended(),
        load_points_planned: plan.load_points.len() as u32,
        load_points_begun: run.load_points()?.len() as u32,
        modified: !plan.modifications.is_empty(),
        sut: plan.sut.name.clone(),
        label: plan.sut.label.clone(),
    })
}
