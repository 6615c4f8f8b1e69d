//! Clocks, random streams by purpose, and quantities as types.
//!
//! The lowest room of the house: everything here can be used anywhere, and nothing here knows
//! what a benchmark is.

mod clock;
mod dice;
mod quantity;

pub use clock::{Clock, RealClock, SimClock, WallTime, thread_cpu, wall};
pub use dice::{Dice, Purpose, Weights, mix};
pub use quantity::{Bytes, Nanos, Ratio};
