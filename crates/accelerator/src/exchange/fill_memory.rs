//! The memory of responses on their way into the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of all responses on their way into the store, with its limit; shared by all threads.
#[derive(Debug)]
pub(super) struct FillMemory {
    bytes: AtomicU64,
    bytes_max: u64,
}

/// A reservation of memory for one response; released when it is dropped.
///
/// It lasts as long as the memory: also of a response that is not stored after all, until its readers have passed it.
#[derive(Debug)]
pub(super) struct FillReservation {
    memory: Arc<FillMemory>,
    bytes: u64,
}

impl FillMemory {
    /// Makes an account without reservations.
    pub(super) fn new(bytes_max: u64) -> FillMemory {
        FillMemory { bytes: AtomicU64::new(0), bytes_max }
    }

    /// Returns the bytes that are reserved.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl FillReservation {
    /// Makes an empty reservation.
    pub(super) fn new(memory: &Arc<FillMemory>) -> FillReservation {
        FillReservation { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Reserves more bytes; `false` if the limit is exceeded.
    pub(super) fn reserve(&mut self, bytes: u64) -> bool {
        let before = self.memory.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        before.saturating_add(bytes) <= self.memory.bytes_max
    }

    /// Releases what is above so many bytes.
    pub(super) fn shrink_to(&mut self, bytes: u64) {
        let released = self.bytes.saturating_sub(bytes);
        self.memory.bytes.fetch_sub(released, Ordering::Relaxed);
        self.bytes -= released;
    }
}

impl Drop for FillReservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_for_responses_in_progress_is_limited_and_released() {
        let memory = Arc::new(FillMemory::new(100));
        let mut one = FillReservation::new(&memory);
        let mut other = FillReservation::new(&memory);
        assert!(one.reserve(60) && other.reserve(40) && !one.reserve(1));
        assert_eq!(memory.bytes(), 101);
        drop(one);
        assert_eq!(memory.bytes(), 40);
        other.shrink_to(50);
        assert_eq!(memory.bytes(), 40);
        other.shrink_to(10);
        assert_eq!(memory.bytes(), 10);
    }
}
