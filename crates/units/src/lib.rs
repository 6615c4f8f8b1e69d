//! Clocks, random streams by purpose, quantities as types, and the limit on open files.
//!
//! The lowest layer: everything here can be used anywhere, and nothing here knows what a
//! benchmark is.

mod clock;
mod decimal;
mod money;
mod open_files;
mod quantity;
mod rng;

pub use clock::{Clock, RealClock, SimClock, WallTime, thread_cpu, wall};
pub use decimal::Decimal;
pub use money::{Currency, Money, UnitPrice};
pub use open_files::raise_open_files;
pub use quantity::{Bytes, Nanos, Ratio, saturating_u64};
pub use rng::{Rng, StreamPurpose, Weights, mix_bits};
