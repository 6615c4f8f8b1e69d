//! Variable-length integers, and lengths that are limited to the bytes that are left.

use model::Outcome;
use stats::Histogram;

use super::CodecError;

/// Appends an integer in groups of seven bits, lowest first; the top bit of a byte marks that more follow.
pub(crate) fn put(value: impl Into<u128>, into: &mut Vec<u8>) {
    let mut value = value.into();
    while 0x80 <= value {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Appends a histogram behind its length.
pub(crate) fn put_histogram(histogram: &Histogram, into: &mut Vec<u8>) {
    let bytes = histogram.to_bytes();
    put(bytes.len() as u64, into);
    into.extend_from_slice(&bytes);
}

/// A reader of numbers from untrusted bytes.
pub(crate) struct ByteReader<'a> {
    left: &'a [u8],
    /// The memory that further histograms may take, in bytes.
    memory_left: usize,
}

impl<'a> ByteReader<'a> {
    /// Begins at the first byte and checks that the record is of a version.
    pub(crate) fn new(bytes: &'a [u8], version: u64) -> Result<ByteReader<'a>, CodecError> {
        let mut source = ByteReader { left: bytes, memory_left: usize::MAX };
        source.version(version)?;
        Ok(source)
    }

    /// Limits the memory of all histograms together: a few bytes can claim one that takes a quarter of a megabyte.
    pub(crate) fn with_memory(self, bytes_max: usize) -> ByteReader<'a> {
        ByteReader { memory_left: bytes_max, ..self }
    }

    /// Reads the version of a part and checks that it is the one expected.
    pub(crate) fn version(&mut self, expected: u64) -> Result<(), CodecError> {
        let found = self.u64()?;
        if found == expected { Ok(()) } else { Err(CodecError::Version { found, expected }) }
    }

    pub(crate) fn u128(&mut self) -> Result<u128, CodecError> {
        let mut value = 0u128;
        for shift in (0..128).step_by(7) {
            let (&byte, rest) = self.left.split_first().ok_or(CodecError::Truncated)?;
            self.left = rest;
            let bits = u128::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return Err(CodecError::TooLarge);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(CodecError::TooLarge)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, CodecError> {
        self.u128()?.try_into().map_err(|_| CodecError::TooLarge)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, CodecError> {
        self.u128()?.try_into().map_err(|_| CodecError::TooLarge)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, CodecError> {
        self.u128()?.try_into().map_err(|_| CodecError::TooLarge)
    }

    /// Reads an outcome, stored as its number.
    pub(crate) fn outcome(&mut self) -> Result<Outcome, CodecError> {
        let number = self.u64()?;
        let outcome = u8::try_from(number).ok().and_then(Outcome::from_number);
        outcome.ok_or(CodecError::Outcome(number))
    }

    /// Reads the number of items that follow; each takes at least one byte, so there cannot be more than bytes are
    /// left.
    pub(crate) fn count(&mut self) -> Result<usize, CodecError> {
        let count = usize::try_from(self.u64()?).map_err(|_| CodecError::TooLarge)?;
        if self.left.len() < count { Err(CodecError::Truncated) } else { Ok(count) }
    }

    pub(crate) fn histogram(&mut self) -> Result<Histogram, CodecError> {
        let length = self.count()?;
        let (bytes, rest) = self.left.split_at_checked(length).ok_or(CodecError::Truncated)?;
        self.left = rest;
        let histogram = Histogram::from_bytes(bytes)?;
        self.memory_left = self.memory_left.checked_sub(histogram.memory()).ok_or(CodecError::TooLarge)?;
        Ok(histogram)
    }

    /// Checks that no bytes are left.
    pub(crate) fn finish(self) -> Result<(), CodecError> {
        if self.left.is_empty() { Ok(()) } else { Err(CodecError::Trailing(self.left.len())) }
    }
}
