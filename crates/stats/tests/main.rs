//! Intervals and tests of statistics, held against simulations whose truth is known.

mod queues;

mod anything;
mod change_points;
mod comparison;
mod coverage;
mod steadiness;
