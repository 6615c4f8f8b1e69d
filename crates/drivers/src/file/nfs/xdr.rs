//! External data representation: numbers in network byte order, and bytes with their length before them, padded to four.
//!
//! Source: RFC 4506.

use super::failure::{NfsFailure, Violation};
use crate::file::frame_buffer::FrameBuffer;

/// The unit to which everything is padded.
const UNIT_BYTES: usize = 4;

/// A file handle of a server: at most 64 bytes with version 3, and 128 with version 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileHandle {
    bytes: [u8; FileHandle::BYTES_MAX],
    n_bytes: u8,
}

impl FileHandle {
    /// The most bytes of a handle.
    pub(super) const BYTES_MAX: usize = 128;

    /// Takes the bytes of a server; `None` if they are too many.
    pub(super) fn new(bytes: &[u8]) -> Option<FileHandle> {
        let n_bytes = u8::try_from(bytes.len()).ok()?;
        let mut handle = FileHandle { bytes: [0; FileHandle::BYTES_MAX], n_bytes };
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(handle)
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.n_bytes)]
    }
}

impl FrameBuffer {
    /// Appends a number of 32 bits.
    pub(super) fn number(&mut self, number: u32) {
        self.put(&number.to_be_bytes());
    }

    /// Appends numbers of 32 bits.
    pub(super) fn numbers(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.number(*number);
        }
    }

    /// Appends a number of 64 bits.
    pub(super) fn long(&mut self, number: u64) {
        self.put(&number.to_be_bytes());
    }

    /// Appends bytes behind their length.
    pub(super) fn opaque(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u32);
        self.put(bytes);
        self.pad(bytes.len());
    }

    /// Appends the zeros that follow so many bytes.
    pub(super) fn pad(&mut self, n_bytes: usize) {
        self.put_zeros(padding(n_bytes));
    }
}

/// Returns how many zeros follow so many bytes.
pub(super) fn padding(n_bytes: usize) -> usize {
    n_bytes.wrapping_neg() % UNIT_BYTES
}

/// A reader of what a server sent, which may lie about every length.
#[derive(Debug, Clone)]
pub(super) struct XdrReader<'a> {
    rest: &'a [u8],
}

impl<'a> XdrReader<'a> {
    /// Begins to read.
    pub(super) fn new(bytes: &'a [u8]) -> XdrReader<'a> {
        XdrReader { rest: bytes }
    }

    /// Reads bytes without a length before them.
    pub(super) fn bytes(&mut self, n_bytes: usize) -> Result<&'a [u8], NfsFailure> {
        let lying = NfsFailure::violation(Violation::LyingLength, n_bytes as u64);
        let (bytes, rest) = self.rest.split_at_checked(n_bytes).ok_or(lying)?;
        self.rest = rest.get(padding(n_bytes)..).ok_or(lying)?;
        Ok(bytes)
    }

    /// Reads bytes of a known number.
    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], NfsFailure> {
        let bytes = self.bytes(N)?;
        bytes.try_into().map_err(|_| NfsFailure::violation(Violation::LyingLength, N as u64))
    }

    /// Reads a number of 32 bits.
    pub(super) fn number(&mut self) -> Result<u32, NfsFailure> {
        self.fixed().map(u32::from_be_bytes)
    }

    /// Reads a number of 64 bits.
    pub(super) fn long(&mut self) -> Result<u64, NfsFailure> {
        self.fixed().map(u64::from_be_bytes)
    }

    /// Reads a truth value.
    pub(super) fn flag(&mut self) -> Result<bool, NfsFailure> {
        self.number().map(|number| number != 0)
    }

    /// Reads bytes behind their length, of which there may be so many.
    pub(super) fn opaque(&mut self, most: usize) -> Result<&'a [u8], NfsFailure> {
        let n_bytes = self.number()? as usize;
        if most < n_bytes {
            return Err(NfsFailure::violation(Violation::LyingLength, n_bytes as u64));
        }
        self.bytes(n_bytes)
    }

    /// Reads the length of a list of which each entry has at least so many bytes.
    pub(super) fn length(&mut self, entry_bytes: usize) -> Result<usize, NfsFailure> {
        let n_entries = self.number()? as usize;
        if self.rest.len() / entry_bytes < n_entries {
            return Err(NfsFailure::violation(Violation::LyingLength, n_entries as u64));
        }
        Ok(n_entries)
    }

    /// Reads a file handle.
    pub(super) fn handle(&mut self) -> Result<FileHandle, NfsFailure> {
        let bytes = self.opaque(FileHandle::BYTES_MAX)?;
        FileHandle::new(bytes)
            .ok_or_else(|| NfsFailure::violation(Violation::LyingLength, bytes.len() as u64))
    }

    /// Returns the number of bytes that are left.
    pub(super) fn n_left(&self) -> usize {
        self.rest.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut frame = FrameBuffer::default();
        frame.numbers(&[7, 1]);
        frame.long(1 << 40);
        frame.opaque(b"abcde");
        frame.opaque(b"");
        assert_eq!(frame.len(), 32);
        assert_eq!(frame.filled()[16..], *b"\0\0\0\x05abcde\0\0\0\0\0\0\0");
        let mut reader = XdrReader::new(frame.filled());
        assert_eq!((reader.number(), reader.flag(), reader.long()), (Ok(7), Ok(true), Ok(1 << 40)));
        assert_eq!((reader.opaque(5), reader.opaque(0)), (Ok(&b"abcde"[..]), Ok(&b""[..])));
        assert_eq!(reader.n_left(), 0);
        assert!(reader.number().is_err());
    }

    #[test]
    fn lengths_that_lead_out_of_the_reply_are_refused() {
        let lying = |length| Err(NfsFailure::violation(Violation::LyingLength, length));
        let of = |bytes: &'static [u8]| XdrReader::new(bytes);
        assert_eq!(of(b"\0\0\0\x05abcd").opaque(9), lying(5));
        assert_eq!(of(b"\0\0\0\x05abcde\0\0").opaque(9), lying(5), "without its padding");
        assert_eq!(of(b"\0\0\0\x05abcde\0\0\0").opaque(4), lying(5), "more than there may be");
        assert_eq!(of(b"\xff\xff\xff\xffabcd").opaque(usize::MAX), lying(0xffff_ffff));
        assert_eq!(of(b"\0\0\0\x03aaaabbbb").length(4).map_err(|failure| failure.detail), Err(3));
        assert_eq!(FileHandle::new(&[1; 129]), None);
        assert_eq!(FileHandle::new(&[1; 128]).unwrap().bytes(), [1; 128]);
    }
}
