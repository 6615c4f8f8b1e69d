//! Values as bytes, one after the other: numbers, flags, texts, times.

use thiserror::Error;
use units::WallTime;

use crate::{BasisPoints, Cents, Credit, DistrictKey, PostalAddress, ShortText};

/// A reason why a payload does not have the form that its operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WireError {
    /// It ends within a value.
    #[error("the payload ends within the value at byte {0}")]
    Truncated(usize),
    /// Bytes follow the last value.
    #[error("the payload goes on behind its last value, at byte {0}")]
    Trailing(usize),
    /// A value has no meaning.
    #[error("the value at byte {0} of the payload has no meaning")]
    Value(usize),
}

/// The values of a payload, from its start to its end.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    /// Position of the next value.
    at: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, at: 0 }
    }

    /// Returns the position of the next value.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn slice(&mut self, length: usize) -> Result<&'b [u8], WireError> {
        let end = self.at.saturating_add(length);
        let slice = self.bytes.get(self.at..end).ok_or(WireError::Truncated(self.at))?;
        self.at = end;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let at = self.at;
        self.slice(N)?.try_into().map_err(|_| WireError::Truncated(at))
    }

    pub(super) fn u8(&mut self) -> Result<u8, WireError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a value that a byte stands for, if `meaning` knows one.
    pub(super) fn meaning<T>(&mut self, meaning: impl FnOnce(u8) -> Option<T>) -> Result<T, WireError> {
        let at = self.at;
        meaning(self.u8()?).ok_or(WireError::Value(at))
    }

    pub(super) fn flag(&mut self) -> Result<bool, WireError> {
        self.meaning(|byte| (byte < 2).then_some(byte == 1))
    }

    /// Reads a value that a flag may announce.
    pub(super) fn optional<T>(
        &mut self,
        value: impl FnOnce(&mut Reader<'b>) -> Result<T, WireError>,
    ) -> Result<Option<T>, WireError> {
        if self.flag()? { value(self).map(Some) } else { Ok(None) }
    }

    /// Reads as many values as a byte states.
    pub(super) fn list<T>(
        &mut self,
        value: impl Fn(&mut Reader<'b>) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let n_values = self.u8()?;
        (0..n_values).map(|_| value(self)).collect()
    }

    pub(super) fn str(&mut self) -> Result<&'b str, WireError> {
        let at = self.at;
        let length = usize::from(self.u16()?);
        std::str::from_utf8(self.slice(length)?).map_err(|_| WireError::Value(at))
    }

    pub(super) fn text<const MAX: usize>(&mut self) -> Result<ShortText<MAX>, WireError> {
        let at = self.at;
        ShortText::new(self.str()?).ok_or(WireError::Value(at))
    }

    pub(super) fn cents(&mut self) -> Result<Cents, WireError> {
        self.i64().map(Cents)
    }

    pub(super) fn rate(&mut self) -> Result<BasisPoints, WireError> {
        self.u16().map(BasisPoints)
    }

    pub(super) fn time(&mut self) -> Result<WallTime, WireError> {
        self.i64().map(WallTime)
    }

    pub(super) fn credit(&mut self) -> Result<Credit, WireError> {
        Ok(if self.flag()? { Credit::Bad } else { Credit::Good })
    }

    pub(super) fn district(&mut self) -> Result<DistrictKey, WireError> {
        Ok(DistrictKey { warehouse: self.u32()?, district: self.u32()? })
    }

    pub(super) fn address(&mut self) -> Result<PostalAddress, WireError> {
        Ok(PostalAddress {
            street_1: self.text()?,
            street_2: self.text()?,
            city: self.text()?,
            state: self.text()?,
            zip: self.text()?,
        })
    }

    /// Returns a value that has been read to the end of the payload.
    pub(super) fn end<T>(self, value: T) -> Result<T, WireError> {
        if self.at < self.bytes.len() { Err(WireError::Trailing(self.at)) } else { Ok(value) }
    }
}

/// A payload to which values are appended.
pub(super) struct Writer<'b> {
    bytes: &'b mut Vec<u8>,
}

impl<'b> Writer<'b> {
    pub(super) fn new(bytes: &'b mut Vec<u8>) -> Writer<'b> {
        Writer { bytes }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    pub(super) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Appends values behind their number; those beyond the 255th are left out.
    pub(super) fn list<T>(&mut self, values: &[T], write: impl Fn(&mut Self, &T)) {
        let n_values = u8::try_from(values.len()).unwrap_or(u8::MAX);
        self.u8(n_values);
        values.iter().take(usize::from(n_values)).for_each(|value| write(self, value));
    }

    /// Appends a text; of a longer one than its length can be stated, the start.
    pub(super) fn str(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(usize::from(u16::MAX))];
        self.u16(u16::try_from(text.len()).expect("the text has been cut"));
        self.bytes.extend(text.as_bytes());
    }

    pub(super) fn text<const MAX: usize>(&mut self, text: &ShortText<MAX>) {
        self.str(text.as_str());
    }

    pub(super) fn cents(&mut self, amount: Cents) {
        self.i64(amount.0);
    }

    pub(super) fn rate(&mut self, rate: BasisPoints) {
        self.u16(rate.0);
    }

    pub(super) fn time(&mut self, time: WallTime) {
        self.i64(time.0);
    }

    pub(super) fn credit(&mut self, credit: Credit) {
        self.flag(credit == Credit::Bad);
    }

    pub(super) fn district(&mut self, key: DistrictKey) {
        self.u32(key.warehouse);
        self.u32(key.district);
    }

    pub(super) fn address(&mut self, address: &PostalAddress) {
        let PostalAddress { street_1, street_2, city, state, zip } = address;
        self.text(street_1);
        self.text(street_2);
        self.text(city);
        self.text(state);
        self.text(zip);
    }
}
