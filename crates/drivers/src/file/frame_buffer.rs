//! Buffers of frames, which are sent from where they are made, and read where the kernel has put them.

use std::cell::RefCell;
use std::fmt;

/// The room that a buffer has at first: the most common reads and writes, of 64 KiB at most, and their headers.
const FIRST_BYTES: usize = 66 * 1024;

/// The most buffers of a load thread that are kept for later, and their greatest size.
const KEPT_MAX: usize = 64;
const KEPT_BYTES_MAX: usize = 2 << 20;

/// A buffer that grows and never has to be cleared: bytes behind those that are filled keep what they had.
#[derive(Default)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
    n_filled: usize,
}

impl fmt::Debug for FrameBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameBuffer({} of {} bytes)", self.n_filled, self.bytes.len())
    }
}

impl FrameBuffer {
    /// Forgets what is filled.
    pub(crate) fn clear(&mut self) {
        self.n_filled = 0;
    }

    /// Forgets what is filled behind so many bytes.
    pub(crate) fn cut(&mut self, n: usize) {
        self.n_filled = self.n_filled.min(n);
    }

    /// Forgets the first bytes of what is filled.
    pub(crate) fn discard(&mut self, n: usize) {
        self.bytes.copy_within(n..self.n_filled, 0);
        self.n_filled -= n;
    }

    /// Returns the number of filled bytes.
    pub(crate) fn len(&self) -> usize {
        self.n_filled
    }

    /// Returns the filled bytes.
    pub(crate) fn filled(&self) -> &[u8] {
        &self.bytes[..self.n_filled]
    }

    /// Returns the filled bytes, to be changed in place.
    pub(crate) fn filled_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.n_filled]
    }

    /// Returns the room behind the filled bytes, at least so many.
    pub(crate) fn room(&mut self, least: usize) -> &mut [u8] {
        let needed = self.n_filled + least;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(FIRST_BYTES), 0);
        }
        &mut self.bytes[self.n_filled..]
    }

    /// Counts bytes of the room as filled.
    pub(crate) fn advance(&mut self, n: usize) {
        self.n_filled += n;
        assert!(self.n_filled <= self.bytes.len(), "more bytes than there is room for");
    }

    /// Fills so many bytes with whatever was there, and returns them.
    pub(crate) fn claim(&mut self, n: usize) -> &mut [u8] {
        self.room(n);
        let start = self.n_filled;
        self.n_filled += n;
        &mut self.bytes[start..start + n]
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.claim(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends zeros.
    pub(crate) fn put_zeros(&mut self, n: usize) {
        self.claim(n).fill(0);
    }
}

/// The buffers of a load thread that nobody uses: idle sessions have none.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    free: RefCell<Vec<FrameBuffer>>,
}

impl BufferPool {
    /// Returns an empty buffer.
    pub(crate) fn take(&self) -> FrameBuffer {
        let mut buffer = self.free.borrow_mut().pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Keeps a buffer for later, if it is not too large, and they are not too many.
    pub(crate) fn give(&self, buffer: FrameBuffer) {
        let mut free = self.free.borrow_mut();
        if free.len() < KEPT_MAX && buffer.bytes.len() <= KEPT_BYTES_MAX {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_buffers_of_moderate_size_are_kept() {
        let pool = BufferPool::default();
        for _ in 0..2 * KEPT_MAX {
            pool.give(FrameBuffer::default());
        }
        let mut large = pool.take();
        large.claim(KEPT_BYTES_MAX + 1);
        pool.give(large);
        assert_eq!(pool.free.borrow().len(), KEPT_MAX - 1);
    }
}
