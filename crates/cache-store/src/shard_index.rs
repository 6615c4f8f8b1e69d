//! The shard that a key belongs to.

/// Returns the shard, of so many, of a key with this hash; their number is a power of two.
pub(crate) fn shard_of(hash: u64, shards: usize) -> usize {
    // The tables inside use the lowest and the highest bits.
    (hash >> 32) as usize & (shards - 1)
}
