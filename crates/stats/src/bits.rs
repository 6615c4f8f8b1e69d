//! Bits, variable-length integers and adaptive Exp-Golomb codes: the letters of the histogram codec.

use crate::HistogramError;

/// Appends an integer in groups of seven bits, lowest first; the top bit of a byte says that more follow.
pub(crate) fn write_varint(mut value: u128, into: &mut Vec<u8>) {
    while 0x80 <= value {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Reads an integer of [`write_varint`] and moves `from` past it.
pub(crate) fn read_varint(from: &mut &[u8]) -> Result<u128, HistogramError> {
    let mut value = 0u128;
    for shift in (0..128).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or(HistogramError::Truncated)?;
        *from = rest;
        let bits = u128::from(byte & 0x7f);
        if (bits << shift) >> shift != bits {
            return Err(HistogramError::TooLarge);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(HistogramError::TooLarge)
}

/// Appends bits, the highest of a byte first.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// How many bits of the last byte are used, 0 to 7; 0 also before the first byte.
    used: u32,
}

impl BitWriter {
    /// Continues after whole bytes.
    pub(crate) fn after(bytes: Vec<u8>) -> BitWriter {
        BitWriter { bytes, used: 0 }
    }

    /// Appends the lowest `length` bits of `value`, the highest of them first.
    pub(crate) fn write(&mut self, value: u128, length: u32) {
        for place in (0..length).rev() {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let bit = (value >> place & 1) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= bit << (7 - self.used);
            }
            self.used = (self.used + 1) % 8;
        }
    }

    /// Returns the bytes, the last padded with zeros.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads bits in the order of [`BitWriter`].
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// How many bits were read.
    position: usize,
}

impl<'a> BitReader<'a> {
    /// Starts at the first bit.
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, position: 0 }
    }

    /// Reads one bit.
    fn bit(&mut self) -> Result<bool, HistogramError> {
        let byte = self.bytes.get(self.position / 8).ok_or(HistogramError::Truncated)?;
        let bit = byte >> (7 - self.position % 8) & 1;
        self.position += 1;
        Ok(bit == 1)
    }

    /// Checks that only the padding of the last byte is left, and that it is zero.
    pub(crate) fn finish(mut self) -> Result<(), HistogramError> {
        let whole = self.bytes.len() - self.position.div_ceil(8);
        while !self.position.is_multiple_of(8) {
            if self.bit()? {
                return Err(HistogramError::Trailing(whole));
            }
        }
        if whole == 0 { Ok(()) } else { Err(HistogramError::Trailing(whole)) }
    }
}

/// Codes whole numbers of one kind by Exp-Golomb codes whose order follows their running mean.
///
/// Order k writes v + 2ᵏ, of b bits, after b − 1 − k zeros: short for numbers near 2ᵏ, and never
/// longer than twice their length. Writer and reader see the same numbers and so choose the same order.
pub(crate) struct Golomb {
    /// Sixteen times the running mean.
    mean_by_16: u128,
}

impl Golomb {
    /// Starts with a mean of one.
    pub(crate) fn new() -> Golomb {
        Golomb { mean_by_16: 16 }
    }

    /// Appends a number.
    pub(crate) fn write(&mut self, value: u64, into: &mut BitWriter) {
        let order = self.order();
        let raised = u128::from(value) + (1 << order);
        let length = raised.ilog2() + 1;
        into.write(0, length - 1 - order);
        into.write(raised, length);
        self.learn(value);
    }

    /// Reads a number of [`Golomb::write`].
    pub(crate) fn read(&mut self, from: &mut BitReader) -> Result<u64, HistogramError> {
        let order = self.order();
        let mut rest = order;
        while !from.bit()? {
            rest += 1;
            if 64 < rest {
                return Err(HistogramError::TooLarge);
            }
        }
        let mut raised = 1u128;
        for _ in 0..rest {
            raised = raised << 1 | u128::from(from.bit()?);
        }
        let value = u64::try_from(raised - (1 << order)).map_err(|_| HistogramError::TooLarge)?;
        self.learn(value);
        Ok(value)
    }

    /// The order whose short codes lie around the running mean.
    fn order(&self) -> u32 {
        (self.mean_by_16 / 16).max(1).ilog2()
    }

    fn learn(&mut self, value: u64) {
        self.mean_by_16 = self.mean_by_16 - self.mean_by_16 / 16 + u128::from(value);
    }
}
