//! The limits that end a load point early: which broke, at what load, and up to what load they held.

use model::Limit;
use units::Nanos;

/// The findings about the limits that end a load point with a shape early.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilResult {
    /// The limits.
    pub limits: Vec<Limit>,
    /// The first limit that broke, which ended the load point; `None` if all held to the end.
    pub broken: Option<BrokenLimit>,
    /// The window of the highest load at which all limits held; `None` if there was too little to judge any window.
    pub held: Option<LoadWindow>,
    /// Number of windows in which all limits held.
    pub windows_judged: u32,
}

/// A limit that broke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrokenLimit {
    /// The limit.
    pub limit: Limit,
    /// The value in the window, in the unit of [`Limit::value`].
    pub value: f64,
    /// The window.
    pub window: LoadWindow,
}

/// A window of seconds within a shape, with its level of load: users, or operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadWindow {
    /// The start, from the start of the load point.
    pub start: Nanos,
    /// The end.
    pub end: Nanos,
    /// The level at the start.
    pub level_from: f64,
    /// The level at the end.
    pub level_to: f64,
    /// The mean level.
    pub level_mean: f64,
}
