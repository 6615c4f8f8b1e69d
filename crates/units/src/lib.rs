//! Clocks, random streams by purpose, and quantities as types.
//!
//! The lowest layer: everything here can be used anywhere, and nothing here knows what a
//! benchmark is.

mod clock;
mod decimal;
mod money;
mod quantity;
mod rng;

pub use clock::{Clock, RealClock, SimClock, WallTime, thread_cpu, wall};
pub use decimal::Decimal;
pub use money::{Currency, Money, UnitPrice};
pub use quantity::{Bytes, Nanos, Ratio, saturating_u64};
pub use rng::{Purpose, Rng, Weights, mix_bits};
