//! The payload of the reply to `STATS`: the load of a server at one moment, and what it has done since its start.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | service threads: the writer and the readers |
//! | 4..8 | service threads that perform a request |
//! | 8..12 | requests that wait for a service thread |
//! | 12..16 | requests that may wait |
//! | 16..20 | connections, that of the request included |
//! | 20..24 | requests that wait for the writer, a part of those that wait |
//! | 24..32 | requests performed |
//! | 32..40 | requests answered with `busy` |
//! | 40..48 | waits of transactions for a lock of the database |
//! | 48..56 | checkpoints of the write-ahead log |
//! | 56..64 | pages that checkpoints have written into the database's file |

use super::bytes::{Reader, WireError, Writer};

/// Length of the payload.
pub const STATS_BYTES: usize = 64;

/// Returns the counts of SQLite with their names: that of its result code, and those of its write-ahead log.
pub fn sqlite_counts(lock_waits: u64, checkpoints: u64, pages: u64) -> [(&'static str, u64); 3] {
    [("SQLITE_BUSY", lock_waits), ("wal_checkpoints", checkpoints), ("wal_checkpoint_pages", pages)]
}

/// The load of an order-entry server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderServerStats {
    /// Service threads: the writer and the readers.
    pub threads: u32,
    /// Service threads that perform a request.
    pub busy_threads: u32,
    /// Requests that wait for a service thread.
    pub queued: u32,
    /// Requests that may wait; any further one is answered with `busy`.
    pub queue_max: u32,
    /// Connections, that of the request included.
    pub connections: u32,
    /// Requests that wait for the writer, a part of `queued`.
    pub queued_writes: u32,
    /// Requests that service threads have performed since the start.
    pub performed: u64,
    /// Requests that were answered with `busy` since the start.
    pub refused: u64,
    /// Times that a transaction waited for a lock of the database: SQLite was busy.
    pub lock_waits: u64,
    /// Checkpoints of the write-ahead log.
    pub checkpoints: u64,
    /// Pages that checkpoints have written into the database's file.
    pub checkpoint_pages: u64,
}

impl OrderServerStats {
    /// Returns the counts of the database with their names.
    pub fn sqlite_counts(&self) -> [(&'static str, u64); 3] {
        sqlite_counts(self.lock_waits, self.checkpoints, self.checkpoint_pages)
    }

    /// Appends the load to a payload.
    pub fn write(&self, payload: &mut Vec<u8>) {
        let mut writer = Writer::new(payload);
        let levels = [
            self.threads,
            self.busy_threads,
            self.queued,
            self.queue_max,
            self.connections,
            self.queued_writes,
        ];
        levels.into_iter().for_each(|level| writer.u32(level));
        let totals = [self.performed, self.refused, self.lock_waits, self.checkpoints, self.checkpoint_pages];
        totals.into_iter().for_each(|total| writer.u64(total));
    }

    /// Reads the payload of a reply.
    ///
    /// # Errors
    /// It has another length.
    pub fn read(payload: &[u8]) -> Result<OrderServerStats, WireError> {
        let mut reader = Reader::new(payload);
        let stats = OrderServerStats {
            threads: reader.u32()?,
            busy_threads: reader.u32()?,
            queued: reader.u32()?,
            queue_max: reader.u32()?,
            connections: reader.u32()?,
            queued_writes: reader.u32()?,
            performed: reader.u64()?,
            refused: reader.u64()?,
            lock_waits: reader.u64()?,
            checkpoints: reader.u64()?,
            checkpoint_pages: reader.u64()?,
        };
        reader.end(stats)
    }
}
