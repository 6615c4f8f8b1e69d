//! A bound on bytes.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number of bytes that may be used at once.
#[derive(Debug)]
pub(crate) struct Room {
    used: AtomicU64,
    bytes_max: u64,
}

impl Room {
    /// Creates an empty room.
    pub(crate) fn new(bytes_max: u64) -> Room {
        Room { used: AtomicU64::new(0), bytes_max }
    }

    /// Takes bytes; returns whether there was room for them.
    pub(crate) fn reserve(&self, bytes: u64) -> bool {
        let sum = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.bytes_max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
    }

    /// Gives bytes back that were taken.
    pub(crate) fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_holds_what_it_is_given_and_no_more() {
        let room = Room::new(10);
        assert_eq!([4, 6, 1, u64::MAX].map(|bytes| room.reserve(bytes)), [true, true, false, false]);
        room.release(6);
        assert_eq!([7, 6].map(|bytes| room.reserve(bytes)), [false, true]);
    }
}
