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
        let mut left = length;
        while 0 < left {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let room = 8 - self.used;
            let part = room.min(left);
            left -= part;
            let bits = (value >> left) as u8 & (0xff >> (8 - part));
            if let Some(last) = self.bytes.last_mut() {
                *last |= bits << (room - part);
            }
            self.used = (self.used + part) % 8;
        }
    }

    /// Returns the bytes, the last padded with zeros.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// How many bits a [`BitReader`] sees at once, wherever in a byte it stands.
const WINDOW: u32 = 57;

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

    /// Reads `length` bits, up to 128.
    fn read(&mut self, length: u32) -> Result<u128, HistogramError> {
        let (mut value, mut left) = (0, length);
        while 0 < left {
            let part = left.min(WINDOW);
            value = value << part | u128::from(self.window() >> (64 - part));
            self.skip(part)?;
            left -= part;
        }
        Ok(value)
    }

    /// Moves past the zeros before the next one bit, and counts them.
    fn zeros(&mut self) -> Result<u32, HistogramError> {
        let mut zeros = 0;
        loop {
            let run = self.window().leading_zeros().min(WINDOW);
            self.skip(run)?;
            zeros += run;
            if run < WINDOW {
                return Ok(zeros);
            }
        }
    }

    /// Returns the next bits, the first of them highest; at least [`WINDOW`], with zeros after the end.
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or_default();
        let next = match rest.first_chunk::<8>() {
            Some(eight) => *eight,
            None => std::array::from_fn(|place| rest.get(place).copied().unwrap_or(0)),
        };
        u64::from_be_bytes(next) << (self.position % 8)
    }

    fn skip(&mut self, length: u32) -> Result<(), HistogramError> {
        self.position += length as usize;
        if self.bytes.len() * 8 < self.position { Err(HistogramError::Truncated) } else { Ok(()) }
    }

    /// Checks that only the padding of the last byte is left, and that it is zero.
    pub(crate) fn finish(mut self) -> Result<(), HistogramError> {
        let left = self.bytes.len() * 8 - self.position;
        let padding = self.read((left % 8) as u32)?;
        if padding == 0 && left < 8 { Ok(()) } else { Err(HistogramError::Trailing(left / 8)) }
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
        let rest = order + from.zeros()?;
        if 64 < rest {
            return Err(HistogramError::TooLarge);
        }
        let raised = from.read(rest + 1)?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By hand, starting at order 0: 0 is 1, `1`; 2 is 3, `011`; the mean stays below two, so 5 is 6, `00110`.
    #[test]
    fn numbers_are_coded_as_documented() {
        let (mut golomb, mut bits) = (Golomb::new(), BitWriter::default());
        [0, 2, 5].iter().for_each(|value| golomb.write(*value, &mut bits));
        assert_eq!(bits.finish(), [0b1011_0011, 0b0000_0000]);
    }

    proptest! {
        #[test]
        fn numbers_of_any_size_survive_in_a_row(
            values in prop::collection::vec((any::<u64>(), 0..64u32).prop_map(|(bits, shift)| bits >> shift), 0..40),
        ) {
            let (mut golomb, mut bits) = (Golomb::new(), BitWriter::default());
            values.iter().for_each(|value| golomb.write(*value, &mut bits));
            let bytes = bits.finish();
            let (mut golomb, mut bits) = (Golomb::new(), BitReader::new(&bytes));
            for value in values {
                prop_assert_eq!(golomb.read(&mut bits), Ok(value));
            }
            prop_assert_eq!(bits.finish(), Ok(()));
        }

        #[test]
        fn integers_of_any_size_survive(value in (any::<u128>(), 0..128u32).prop_map(|(bits, shift)| bits >> shift)) {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            prop_assert_eq!(read_varint(&mut bytes.as_slice()), Ok(value));
        }
    }
}
