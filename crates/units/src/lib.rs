//! Clocks, random streams by purpose, and quantities as types.
//!
//! The lowest room of the house: everything here can be used anywhere, and nothing here knows
//! what a benchmark is.

mod clock;
mod decimal;
mod dice;
mod money;
mod quantity;

pub use clock::{Clock, RealClock, SimClock, WallTime, thread_cpu, wall};
pub use decimal::Decimal;
pub use dice::{Dice, Purpose, Weights, mix};
pub use money::{Currency, Money, UnitPrice};
pub use quantity::{Bytes, Nanos, Ratio};
