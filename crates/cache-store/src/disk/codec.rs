//! Encoding of numbers and texts: little-endian, texts prefixed with their length.

/// An encoder of what [`Decoder`] reads.
#[derive(Debug, Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes a length and so many bytes; texts are far below 4 GiB.
    pub(super) fn text(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.raw(bytes);
    }
}

/// A decoder of what [`Encoder`] wrote; `None` for input that is too short.
#[derive(Debug)]
pub(super) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads the sequence number of a record or a removal; the largest one is invalid, because another must be able
    /// to follow.
    pub(super) fn sequence(&mut self) -> Option<u64> {
        self.u64().filter(|number| *number <= u64::MAX / 2)
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    pub(super) fn str(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.text()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_values_round_trip_and_truncated_ones_fail() {
        let mut encoder = Encoder::default();
        encoder.u8(1);
        encoder.u32(2);
        encoder.u64(3);
        encoder.raw(b"abc");
        encoder.text(b"de");
        let bytes = encoder.finish();
        let read = |bytes| {
            let mut decoder = Decoder::new(bytes);
            let read = (decoder.u8()?, decoder.u32()?, decoder.u64()?, decoder.array::<3>()?, decoder.str()?);
            decoder.is_empty().then_some(read)
        };
        assert_eq!(read(&bytes), Some((1, 2, 3, *b"abc", "de")));
        assert!((0..bytes.len()).all(|end| read(&bytes[..end]).is_none()));
    }
}
