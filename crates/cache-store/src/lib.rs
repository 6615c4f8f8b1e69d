//! The store: responses in memory, up to an exact limit, and behind them on disk.
//!
//! [`Store`] is shared by all threads. A lookup takes one lock for a few hundred nanoseconds; a memoized response is
//! checked without any ([`EpochSnapshot::is_current`]). Everything that a response takes is counted
//! ([`StoredResponse::cost`]), and so are the tables beside it.
//!
//! The eviction policy is in `queues`: S3-FIFO, aware of sizes.

mod body;
mod cost;
mod epochs;
mod ghost_queue;
mod hit_for_miss;
mod pattern;
mod purge;
mod queues;
mod settings;
mod shard;
mod shard_index;
mod shards;
mod slab;
mod stored_response;
mod table;
mod tags;
mod usage;

#[cfg(test)]
mod samples;

pub mod disk;

pub use epochs::{EpochSnapshot, RemovalSnapshot};
pub use pattern::Pattern;
pub use purge::{Purge, Removal};
pub use settings::StoreSettings;
pub use stored_response::StoredResponse;
pub use table::{Lookup, Store};
pub use tags::tags_of;
pub use usage::{HotObject, StoreUsage};
