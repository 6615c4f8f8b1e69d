//! What is kept: responses in memory, up to an exact limit, and behind them on disk.
//!
//! [`Store`] is shared by all threads. A lookup takes one lock for a few hundred nanoseconds; an answer that is
//! remembered elsewhere is checked without any ([`EpochSeen::is_current`]). Everything that a response takes is counted
//! ([`Object::cost`]), and what the tables beside it take too.
//!
//! Which objects stay when room runs out is the business of `queues`: S3-FIFO, aware of sizes.

mod body;
mod cost;
mod epochs;
mod ghosts;
mod marks;
mod object;
mod pattern;
mod purge;
mod queues;
mod settings;
mod shard;
mod slab;
mod table;
mod tags;
mod usage;

#[cfg(test)]
mod samples;

pub mod disk;

pub use epochs::{EpochSeen, Since};
pub use object::Object;
pub use pattern::Pattern;
pub use purge::{Purge, Removal};
pub use settings::StoreSettings;
pub use table::{Found, Store};
pub use tags::tags_of;
pub use usage::{HotObject, Usage};
