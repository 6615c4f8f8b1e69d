//! Folds of a load point's records: totals of the steady phase, one line per second, and the bookkeeping of the rules
//! that need every record.

mod agent;
mod intervals;
mod ledger;
mod notices;
mod point;
mod resources;
mod score;
mod second;
mod stages;
mod steady;
mod time_axis;
mod until;

pub(crate) use agent::AgentTotals;
pub(crate) use intervals::QuantileIntervals;
pub(crate) use notices::Notices;
pub(crate) use point::PointFold;
pub(crate) use resources::{Resources, SeriesFold};
pub(crate) use score::{ScoreSecond, ScoreSeconds, counts};
pub(crate) use second::{SecondTotals, Seconds};
pub(crate) use stages::StageFold;
pub(crate) use steady::{KindSums, PauseSums, SteadyTotals};
pub(crate) use until::UntilFold;
