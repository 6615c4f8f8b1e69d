//! Workloads by which the load generator is calibrated.

/// A workload by which the load generator is calibrated.
pub(crate) struct CalibratedWorkload {
    /// The id of its benchmark.
    pub(crate) benchmark: &'static str,
    /// Whether connections are persistent; `None` for what the benchmark prescribes.
    pub(crate) keep: Option<bool>,
    /// Number of users, enough to keep both sides busy.
    pub(crate) users: u32,
}

impl CalibratedWorkload {
    /// Returns its name in the stored calibration.
    pub(crate) fn name(&self) -> String {
        let how = match self.keep {
            Some(true) => "connections kept",
            Some(false) => "connection per request",
            None => "as it is",
        };
        format!("{}, {how}", self.benchmark)
    }
}
