//! The rules that a load point must keep, one file each; the reasons are in `docs/design/measurement-rules.md`.
//!
//! A rule takes the evidence and returns findings. Rules that need every single record
//! (conservation, time axis) also hold the bookkeeping that the fold feeds.

mod boundary;
mod censoring;
pub(crate) mod conservation;
mod delivery;
mod errors;
mod finding;
mod generator;
mod histogram;
mod integral;
mod left_open;
mod little;
mod load_agents;
mod mix;
mod other_programs;
mod sample_size;
mod steady_length;
mod steady_state;
mod think;
pub(crate) mod time_axis;
mod warm_up;

use model::Plan;

pub(crate) use finding::{RuleFinding, Severity};

use crate::LoadPointResult;
use crate::fold::PointFold;

/// The evidence for the verdict on a load point.
pub(crate) struct Evidence<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// The fold of the load point's records.
    pub(crate) fold: &'a PointFold,
    /// Its numbers.
    pub(crate) result: &'a LoadPointResult,
    /// Whether the run ended early in this load point.
    pub(crate) interrupted: bool,
}

/// A rule: a pure function of the evidence.
pub(crate) type Rule = fn(&Evidence) -> Vec<RuleFinding>;

/// All rules, in the order in which their findings are reported: first what makes the record itself
/// doubtful, then what the record says about generator and server, then how far the numbers reach.
pub(crate) const RULES: &[Rule] = &[
    steady_length::check,
    time_axis::check,
    load_agents::check,
    conservation::check,
    histogram::check,
    integral::check,
    little::check,
    think::check,
    delivery::schedule,
    generator::check,
    other_programs::check,
    errors::check,
    delivery::delivered,
    mix::check,
    boundary::check,
    sample_size::check,
    censoring::check,
    left_open::check,
    steady_state::check,
    warm_up::check,
];
