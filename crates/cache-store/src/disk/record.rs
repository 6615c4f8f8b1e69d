//! Records: the head of an object, and its body or the location of the body.
//!
//! ```text
//! "PLR1"  length of the head  length of the body that follows  checksum of all these and the head  head  body
//!    4            4                         4                                 32
//! ```
//!
//! The head holds the checksum of the body. Checksums are BLAKE3.

use std::hash::RandomState;

use bytes::Bytes;
use cache_policy::{ExchangeTimes, Key, ResponseMeta, Settings, StoredMeta, Variant, Vary};
use http1::HeaderLines;
use units::{Nanos, WallTime};

use super::codec::{Decoder, Encoder};
use super::index::VariantFingerprint;
use crate::stored_response::StoredResponse;

/// The magic bytes of a record; the digit is the version of the format.
const MAGIC: [u8; 4] = *b"PLR1";

/// The length of everything before the head, in bytes.
pub(super) const PREFIX_BYTES: usize = 44;

/// The longest head, in bytes; longer ones are not written, and read as invalid.
pub(super) const HEAD_BYTES_MAX: usize = 1 << 20;

/// A checksum.
pub(super) type Checksum = [u8; 32];

/// The value for a length that was not announced.
const UNKNOWN: u64 = u64::MAX;

/// A position on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiskOffset {
    pub(super) segment: u32,
    /// The position in bytes from the segment's start.
    pub(super) offset: u32,
}

/// The location of a body, with its length and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BodyLocation {
    pub(super) place: DiskOffset,
    pub(super) length: u32,
    pub(super) sum: Checksum,
}

/// The fixed-length part before a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordPrefix {
    pub(super) head_length: u32,
    /// The length of the body that follows; zero if it is elsewhere, or empty.
    pub(super) body_length: u32,
    sum: Checksum,
}

impl RecordPrefix {
    /// Makes the prefix of a head.
    pub(super) fn of(head: &[u8], body_length: u32) -> RecordPrefix {
        let head_length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        let mut prefix = RecordPrefix { head_length, body_length, sum: [0; 32] };
        prefix.sum = prefix.sum_with(head);
        prefix
    }

    /// Reads a prefix; `None` if it is invalid.
    pub(super) fn decode(bytes: &[u8; PREFIX_BYTES]) -> Option<RecordPrefix> {
        let mut decoder = Decoder::new(bytes);
        if decoder.array()? != MAGIC {
            return None;
        }
        let prefix =
            RecordPrefix { head_length: decoder.u32()?, body_length: decoder.u32()?, sum: decoder.array()? };
        (prefix.head_length as usize <= HEAD_BYTES_MAX).then_some(prefix)
    }

    pub(super) fn encode(&self) -> [u8; PREFIX_BYTES] {
        let mut bytes = [0; PREFIX_BYTES];
        bytes[..12].copy_from_slice(&self.start());
        bytes[12..].copy_from_slice(&self.sum);
        bytes
    }

    /// Returns whether a head is the one that the prefix was made for.
    pub(super) fn is_of(&self, head: &[u8]) -> bool {
        self.sum == self.sum_with(head)
    }

    fn start(&self) -> [u8; 12] {
        let mut start = [0; 12];
        start[..4].copy_from_slice(&MAGIC);
        start[4..8].copy_from_slice(&self.head_length.to_le_bytes());
        start[8..].copy_from_slice(&self.body_length.to_le_bytes());
        start
    }

    fn sum_with(&self, head: &[u8]) -> Checksum {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.start()).update(head);
        *hasher.finalize().as_bytes()
    }
}

/// The head of a record: everything about an object except its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordHead {
    /// The sequence number.
    pub(super) sequence: u64,
    pub(super) body: BodyLocation,
    pub(super) key: String,
    pub(super) tags: Box<[Box<str>]>,
    lines: HeaderLines,
    variant: Variant,
    status: u16,
    times: ExchangeTimes,
    origin_time: Nanos,
    /// The age on receipt, which cannot be read from the lines again.
    age: Nanos,
    content_length: Option<u64>,
    lifetime: Nanos,
    is_invalid: bool,
    sets_cookie: bool,
}

impl RecordHead {
    pub(super) fn of(object: &StoredResponse, sequence: u64, body: BodyLocation) -> RecordHead {
        let StoredMeta { response, lifetime, variant, is_invalid, .. } = &object.stored;
        RecordHead {
            sequence,
            body,
            key: object.key.as_str().to_owned(),
            tags: object.tags.clone(),
            lines: object.lines.clone(),
            variant: variant.clone(),
            status: response.status,
            times: response.times,
            origin_time: object.origin_time,
            age: response.age,
            content_length: response.content_length,
            lifetime: lifetime.length,
            is_invalid: *is_invalid,
            sets_cookie: response.sets_cookie,
        }
    }

    /// Restores the object, under the current settings; its lifetime never grows.
    pub(super) fn into_object(self, key: &Key, body: Bytes, settings: &Settings) -> StoredResponse {
        let mut response = ResponseMeta::read(self.status, self.lines.iter(), self.times, settings).of(key);
        response.age = self.age;
        response.content_length = self.content_length;
        response.sets_cookie = self.sets_cookie;
        let mut stored = StoredMeta::new(response, self.variant, body.len() as u64, settings);
        stored.lifetime.length = stored.lifetime.length.min(self.lifetime);
        stored.is_invalid = self.is_invalid;
        StoredResponse::new(key.clone(), stored, self.lines, body, self.tags, self.origin_time)
    }

    /// Returns the fingerprint of the object's variant.
    pub(super) fn variant_fingerprint(&self, hasher: &RandomState) -> VariantFingerprint {
        VariantFingerprint::of(&Vary::read(self.lines.iter()), &self.variant, hasher)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.u64(self.sequence);
        to.u32(self.body.place.segment);
        to.u32(self.body.place.offset);
        to.u32(self.body.length);
        to.raw(&self.body.sum);
        to.text(self.key.as_bytes());
        to.u32(u32::from(self.status));
        to.u64(self.times.requested.0.cast_unsigned());
        to.u64(self.times.received.0.cast_unsigned());
        to.u64(self.origin_time.0);
        to.u64(self.age.0);
        to.u64(self.content_length.unwrap_or(UNKNOWN));
        to.u64(self.lifetime.0);
        to.u8(u8::from(self.is_invalid));
        to.u8(u8::from(self.sets_cookie));
        to.text(self.variant.as_bytes());
        to.u32(self.tags.len() as u32);
        self.tags.iter().for_each(|tag| to.text(tag.as_bytes()));
        for (name, value) in self.lines.iter() {
            to.text(name);
            to.text(value);
        }
        to.finish()
    }

    /// Reads a head; `None` if it is invalid.
    pub(super) fn decode(bytes: &[u8]) -> Option<RecordHead> {
        let from = &mut Decoder::new(bytes);
        let sequence = from.sequence()?;
        let place = DiskOffset { segment: from.u32()?, offset: from.u32()? };
        let body = BodyLocation { place, length: from.u32()?, sum: from.array()? };
        Some(RecordHead {
            sequence,
            body,
            key: from.str()?.to_owned(),
            status: u16::try_from(from.u32()?).ok()?,
            times: ExchangeTimes { requested: wall(from)?, received: wall(from)? },
            origin_time: Nanos(from.u64()?),
            age: Nanos(from.u64()?),
            content_length: Some(from.u64()?).filter(|length| *length != UNKNOWN),
            lifetime: Nanos(from.u64()?),
            is_invalid: from.u8()? != 0,
            sets_cookie: from.u8()? != 0,
            variant: Variant::from_bytes(from.text()?.to_vec()),
            tags: tags(from)?,
            lines: lines(from)?,
        })
    }
}

fn wall(from: &mut Decoder) -> Option<WallTime> {
    from.u64().map(|bits| WallTime(bits.cast_signed()))
}

fn tags(from: &mut Decoder) -> Option<Box<[Box<str>]>> {
    let n = from.u32()?;
    (0..n).map(|_| from.str().map(Box::from)).collect()
}

fn lines(from: &mut Decoder) -> Option<HeaderLines> {
    let mut lines = HeaderLines::new();
    while !from.is_empty() {
        let name = from.text()?;
        let value = from.text()?;
        if name.contains(&b':') || [name, value].iter().any(|text| text.contains(&b'\n')) {
            return None;
        }
        lines.push(name, value);
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    fn head(object: &StoredResponse) -> RecordHead {
        let place = DiskOffset { segment: 3, offset: 77 };
        let sum = *blake3::hash(&object.body).as_bytes();
        RecordHead::of(object, 9, BodyLocation { place, length: object.body.len() as u32, sum })
    }

    #[test]
    fn an_object_round_trips() {
        let object = sample("/a", b"the body", &["Cache-Control: max-age=60", "ETag: \"1\"", "Vary: x"]);
        let decoded = RecordHead::decode(&head(&object).encode()).unwrap();
        assert_eq!(decoded, head(&object));
        let again = decoded.into_object(&object.key, object.body.clone(), &Settings::default());
        assert_eq!((&again.stored, &again.lines, &again.tags), (&object.stored, &object.lines, &object.tags));
        assert_eq!((again.origin_time, again.status()), (object.origin_time, object.status()));
    }

    #[test]
    fn stale_and_invalid_objects_stay_so() {
        let object = sample("/a", b"", &["Cache-Control: max-age=60"]);
        let mut stored = object.stored.clone();
        stored.lifetime.length = Nanos::from_secs(5);
        stored.invalidate();
        let object = object.updated(stored, object.lines.clone());
        let again = head(&object).into_object(&object.key, Bytes::new(), &Settings::default());
        assert_eq!(again.stored.lifetime.length, Nanos::from_secs(5));
        assert!(again.stored.is_invalid);
    }

    #[test]
    fn a_truncated_head_is_invalid() {
        let whole = head(&sample("/a", b"b", &["Vary: x"])).encode();
        // Lines come last, so a head may end between two of them: that is what its checksum is for.
        let lines = 2 * 4 + "Vary".len() + "x".len();
        assert!((0..whole.len() - lines).all(|end| RecordHead::decode(&whole[..end]).is_none()));
    }

    #[test]
    fn heads_that_are_never_written_are_invalid() {
        let whole = head(&sample("/a", b"b", &["Vary: x"])).encode();
        for (name, value, is_line) in
            [("a", "b", true), ("a:", "b", false), ("a\n", "b", false), ("a", "b\n", false)]
        {
            let mut line = Encoder::default();
            line.text(name.as_bytes());
            line.text(value.as_bytes());
            let bytes = [&whole[..], &line.finish()].concat();
            assert_eq!(RecordHead::decode(&bytes).is_some(), is_line, "{name:?}: {value:?}");
        }
        let last = [&u64::MAX.to_le_bytes(), &whole[8..]].concat();
        assert_eq!(RecordHead::decode(&last), None);
    }

    #[test]
    fn a_prefix_verifies_its_head() {
        let prefix = RecordPrefix::of(b"head", 5);
        assert_eq!(RecordPrefix::decode(&prefix.encode()), Some(prefix));
        assert!(prefix.is_of(b"head") && !prefix.is_of(b"heap"));
        for place in 0..4 {
            let mut bytes = prefix.encode();
            bytes[place] ^= 1;
            assert_eq!(RecordPrefix::decode(&bytes), None);
        }
        let other_length = RecordPrefix { body_length: 6, ..prefix };
        assert!(!other_length.is_of(b"head"));
    }
}
