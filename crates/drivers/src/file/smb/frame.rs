//! The numbers and texts that SMB puts into frames, and the length that stands before each on a connection.
//!
//! Replies are verified and read where the kernel has put them, and what is written is made where it is sent from.

use super::failure::{SmbFailure, Violation};
pub(super) use crate::file::frame_buffer::{BufferPool, FrameBuffer};

/// Size of the length before a frame: a byte that is 0, and 24 bits in network byte order.
pub(super) const FRAME_HEAD_BYTES: usize = 4;

impl FrameBuffer {
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
        let length = self.len() - FRAME_HEAD_BYTES;
        if 1 << 24 <= length {
            return Err(SmbFailure::violation(Violation::FrameTooLong, length as u64));
        }
        self.filled_mut()[..FRAME_HEAD_BYTES].copy_from_slice(&(length as u32).to_be_bytes());
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
}
