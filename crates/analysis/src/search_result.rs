//! The result of a search for the highest load.

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchResult {
    /// The level found; `None` if even the least one fails.
    pub max: Option<Maximum>,
    /// The reason why the search went no higher.
    pub end: SearchEnd,
    /// The lowest level that fails, if one does.
    pub fails_at: Option<f64>,
    /// Whether results contradicted each other: a level both passed and failed, or one passed above one that fails.
    pub is_noisy: bool,
    /// Number of load points that were run, repeats included.
    pub n_runs: usize,
}

/// A level with its throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Maximum {
    /// Users, or operations per second.
    pub level: f64,
    /// The benchmark's score: the mean of the runs of this level that passed.
    pub throughput: f64,
}

/// A reason why a search went no higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// The server: more load fails, or brings no more throughput.
    Server,
    /// The range: its end passes (and brings more throughput), so the maximum is *at least* this.
    Range,
    /// The end without a decision: even the greatest level brings too few operations, see [`JudgedPoint::has_too_few`](crate::JudgedPoint::has_too_few).
    TooFew,
    /// The generator limited the next level, so the server's maximum is *at least* this.
    Generator,
}
