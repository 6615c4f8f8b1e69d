//! The payload of the reply to `STATS`: the load of a server at one moment, and what it has done since its start.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | service threads |
//! | 4..8 | service threads that perform a request |
//! | 8..12 | requests that wait for a service thread |
//! | 12..16 | requests that may wait |
//! | 16..20 | connections, that of the request included |
//! | 20..24 | 0 |
//! | 24..32 | requests performed |
//! | 32..40 | requests answered with `busy` |

use crate::header::part;

/// Length of the payload.
pub const STATS_BYTES: usize = 40;

/// The load of an application server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppServerStats {
    /// Service threads.
    pub threads: u32,
    /// Service threads that perform a request.
    pub busy_threads: u32,
    /// Requests that wait for a service thread.
    pub queued: u32,
    /// Requests that may wait; any further one is answered with `busy`.
    pub queue_max: u32,
    /// Connections, that of the request included.
    pub connections: u32,
    /// Requests that service threads have performed since the start.
    pub performed: u64,
    /// Requests that were answered with `busy` since the start.
    pub refused: u64,
}

impl AppServerStats {
    /// Writes the payload.
    pub fn to_bytes(&self) -> [u8; STATS_BYTES] {
        let &AppServerStats { threads, busy_threads, queued, queue_max, connections, performed, refused } =
            self;
        let mut bytes = [0; STATS_BYTES];
        let levels = [threads, busy_threads, queued, queue_max, connections];
        let (places, _) = bytes.as_chunks_mut::<4>();
        places.iter_mut().zip(levels).for_each(|(place, level)| *place = level.to_le_bytes());
        bytes[24..32].copy_from_slice(&performed.to_le_bytes());
        bytes[32..].copy_from_slice(&refused.to_le_bytes());
        bytes
    }

    /// Reads the payload; `None` if it has another length.
    pub fn read(bytes: &[u8]) -> Option<AppServerStats> {
        let bytes: &[u8; STATS_BYTES] = bytes.try_into().ok()?;
        let level = |at| u32::from_le_bytes(part(bytes, at));
        let total = |at| u64::from_le_bytes(part(bytes, at));
        Some(AppServerStats {
            threads: level(0),
            busy_threads: level(4),
            queued: level(8),
            queue_max: level(12),
            connections: level(16),
            performed: total(24),
            refused: total(32),
        })
    }
}
