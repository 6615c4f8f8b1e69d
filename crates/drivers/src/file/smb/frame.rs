//! Buffers of frames, and the length that stands before each on a connection.
//!
//! Replies are verified and read where the kernel has put them, and what is written is made where it is sent from.

use std::cell::RefCell;
use std::fmt;

use super::failure::{SmbFailure, Violation};

/// Size of the length before a frame: a byte that is 0, and 24 bits in network byte order.
pub(super) const FRAME_HEAD_BYTES: usize = 4;

/// The room that a buffer has at first: the most common reads and writes, of 64 KiB at most, and their headers.
const FIRST_BYTES: usize = 66 * 1024;

/// The most buffers of a load thread that are kept for later, and their greatest size.
const KEPT_MAX: usize = 64;
const KEPT_BYTES_MAX: usize = 2 << 20;

/// A buffer that grows and never has to be cleared: bytes behind those that are filled keep what they had.
#[derive(Default)]
pub(super) struct FrameBuffer {
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
    pub(super) fn clear(&mut self) {
        self.n_filled = 0;
    }

    /// Forgets the first bytes of what is filled.
    pub(super) fn discard(&mut self, n: usize) {
        self.bytes.copy_within(n..self.n_filled, 0);
        self.n_filled -= n;
    }

    /// Returns the number of filled bytes.
    pub(super) fn len(&self) -> usize {
        self.n_filled
    }

    /// Returns the filled bytes.
    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.n_filled]
    }

    /// Returns the filled bytes, to be changed in place.
    pub(super) fn filled_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.n_filled]
    }

    /// Returns the room behind the filled bytes, at least so many.
    pub(super) fn room(&mut self, least: usize) -> &mut [u8] {
        let needed = self.n_filled + least;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(FIRST_BYTES), 0);
        }
        &mut self.bytes[self.n_filled..]
    }

    /// Counts bytes of the room as filled.
    pub(super) fn advance(&mut self, n: usize) {
        self.n_filled += n;
        assert!(self.n_filled <= self.bytes.len(), "more bytes than there is room for");
    }

    /// Fills so many bytes with whatever was there, and returns them.
    pub(super) fn claim(&mut self, n: usize) -> &mut [u8] {
        self.room(n);
        let start = self.n_filled;
        self.n_filled += n;
        &mut self.bytes[start..start + n]
    }

    /// Appends bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.claim(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends zeros.
    pub(super) fn put_zeros(&mut self, n: usize) {
        self.claim(n).fill(0);
    }

    /// Appends a number of 16 bits.
    pub(super) fn put_u16(&mut self, number: u16) {
        self.put(&number.to_le_bytes());
    }

    /// Appends a number of 32 bits.
    pub(super) fn put_u32(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    /// Appends a number of 64 bits.
    pub(super) fn put_u64(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    /// Appends a text in UTF-16.
    pub(super) fn put_text(&mut self, text: &str) {
        for unit in text.encode_utf16() {
            self.put_u16(unit);
        }
    }

    /// Writes the length of all that follows it at the beginning.
    ///
    /// # Errors
    /// It does not fit 24 bits: more was asked for than any server takes.
    pub(super) fn set_frame_length(&mut self) -> Result<(), SmbFailure> {
        let length = self.n_filled - FRAME_HEAD_BYTES;
        if 1 << 24 <= length {
            return Err(SmbFailure::violation(Violation::FrameTooLong, length as u64));
        }
        self.bytes[..FRAME_HEAD_BYTES].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
    }
}

/// Returns the length of the frame that begins here, without these four bytes; `None` if they have not all arrived.
///
/// # Errors
/// They are no length, or the frame is longer than any reply to what was asked.
pub(super) fn frame_length(bytes: &[u8], length_max: usize) -> Result<Option<usize>, SmbFailure> {
    let Some(head) = bytes.first_chunk::<FRAME_HEAD_BYTES>() else { return Ok(None) };
    if head[0] != 0 {
        return Err(SmbFailure::violation(Violation::NotSmb, u32::from_be_bytes(*head).into()));
    }
    let length = u32::from_be_bytes(*head) as usize;
    if length_max < length {
        return Err(SmbFailure::violation(Violation::FrameTooLong, length as u64));
    }
    Ok(Some(length))
}

/// The buffers of a load thread that nobody uses: idle sessions have none.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    free: RefCell<Vec<FrameBuffer>>,
}

impl BufferPool {
    /// Returns an empty buffer.
    pub(super) fn take(&self) -> FrameBuffer {
        let mut buffer = self.free.borrow_mut().pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Keeps a buffer for later, if it is not too large, and they are not too many.
    pub(super) fn give(&self, buffer: FrameBuffer) {
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
    fn a_frame_has_its_length_before_it() {
        let mut frame = FrameBuffer::default();
        frame.put_zeros(FRAME_HEAD_BYTES);
        frame.put_text("a\u{e4}");
        frame.set_frame_length().unwrap();
        assert_eq!(frame.filled(), [0, 0, 0, 4, b'a', 0, 0xe4, 0]);
        assert_eq!(frame_length(frame.filled(), 4), Ok(Some(4)));
        assert_eq!(frame_length(&frame.filled()[..3], 4), Ok(None));
    }

    /// A length of 2 GB has its first byte set, which is none of a message; 16 MB have not.
    #[test]
    fn frames_longer_than_what_was_asked_for_are_refused_before_they_are_read() {
        let too_long = |length| Err(SmbFailure::violation(Violation::FrameTooLong, length));
        assert_eq!(frame_length(&[0, 0, 0, 5], 4), too_long(5));
        assert_eq!(frame_length(&[0, 0xff, 0xff, 0xff], 1 << 20), too_long(0xff_ffff));
        let two_gigabytes = frame_length(&[0x7f, 0xff, 0xff, 0xff], 1 << 20);
        assert_eq!(two_gigabytes, Err(SmbFailure::violation(Violation::NotSmb, 0x7fff_ffff)));
    }

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
