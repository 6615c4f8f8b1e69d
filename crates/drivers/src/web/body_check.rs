//! Incremental checks of response bodies, independent of the protocol.

use model::{BUFFERED_BODY_MAX, Content, GENERATED_MARKUP, GeneratedText, JsonCheck, Outcome};
use serde_json::Value;
use units::{Nanos, mix_bits};

use super::media_type::media_type;
use super::seen::{SeenBodies, SeenBody, media_type_hash};
use crate::net::OperationFailure;

/// The expected body of a response, and the progress of its check.
#[derive(Debug)]
pub(crate) enum BodyCheck<'a> {
    /// An object of the file set.
    Content { content: &'a Content, object: u32, bytes: u64 },
    /// Generated letters, optionally after fixed markup.
    Letters { letters: GeneratedText, markup: bool, bytes: u64 },
    /// A body as in the first response for this object.
    Seen(SeenCheck<'a>),
    /// A body that contains a text; `matched` is the number of its bytes that match at the end of the bytes
    /// so far.
    Contains { needle: &'a Needle, matched: usize },
    /// A body of a length within limits.
    Length { least: u64, most: u64 },
    /// A JSON body with these values, of at most [`BUFFERED_BODY_MAX`] bytes.
    Json { checks: &'a [JsonCheck], body: Vec<u8> },
    /// Any body.
    Any,
}

/// The check of a body that nobody has described, and its progress.
#[derive(Debug)]
pub(crate) struct SeenCheck<'a> {
    pub(crate) seen: &'a SeenBodies,
    /// Kind and number.
    pub(crate) object: (u16, u64),
    /// Whether the page may change with time.
    pub(crate) may_change: bool,
    /// The time at which the request was sent.
    pub(crate) sent: Nanos,
    pub(crate) media_type: u64,
    pub(crate) digest: BodyDigest,
}

/// The details of wrong bytes of a JSON body; any other is the index of the value that is wrong.
pub(crate) const NOT_JSON: u64 = u64::MAX;
pub(crate) const JSON_TOO_LONG: u64 = u64::MAX - 1;

impl BodyCheck<'_> {
    /// Takes the `Content-Type`, which is read only if it matters.
    #[inline]
    pub(crate) fn typed<'f>(&mut self, field: impl FnOnce() -> Option<&'f [u8]>) {
        if let BodyCheck::Seen(check) = self {
            check.media_type = field().map_or(0, |value| media_type_hash(media_type(value)));
        }
    }

    /// Checks the announced length of the body.
    #[inline]
    pub(crate) fn announced(&self, length: u64) -> Result<(), OperationFailure> {
        match self {
            BodyCheck::Content { bytes, .. } | BodyCheck::Letters { bytes, .. } if *bytes != length => {
                Err(OperationFailure::new(Outcome::WrongLength, length))
            }
            BodyCheck::Length { least, most } if !(*least..=*most).contains(&length) => {
                Err(OperationFailure::new(Outcome::WrongLength, length))
            }
            _ => Ok(()),
        }
    }

    /// Checks the next piece of the body, which starts at position `at`.
    #[inline]
    pub(crate) fn take(&mut self, at: u64, data: &[u8]) -> Result<(), OperationFailure> {
        match self {
            BodyCheck::Content { content, object, bytes } => {
                not_beyond(*bytes, at, data)?;
                if content.matches(*object, at, data) {
                    return Ok(());
                }
                let place = content.first_difference(*object, at, data);
                Err(OperationFailure::new(Outcome::WrongBytes, place.unwrap_or(at)))
            }
            BodyCheck::Letters { letters, markup, bytes } => {
                not_beyond(*bytes, at, data)?;
                let prefix: &[u8] = if *markup { GENERATED_MARKUP.as_bytes() } else { b"" };
                let wrong = |index| OperationFailure::new(Outcome::WrongBytes, at + index as u64);
                let rest = check_prefix(prefix, at, data).map_err(wrong)?;
                letters.matches(rest).map_err(|index| wrong(data.len() - rest.len() + index))
            }
            BodyCheck::Seen(check) => {
                check.digest.take(data);
                Ok(())
            }
            BodyCheck::Contains { needle, matched } => {
                *matched = needle.advance(*matched, data);
                Ok(())
            }
            BodyCheck::Length { most, .. } => not_beyond(*most, at, data),
            BodyCheck::Json { body, .. } => {
                if BUFFERED_BODY_MAX < body.len() + data.len() {
                    return Err(OperationFailure::new(Outcome::WrongBytes, JSON_TOO_LONG));
                }
                body.extend_from_slice(data);
                Ok(())
            }
            BodyCheck::Any => Ok(()),
        }
    }

    /// Checks the end of the body after `length` bytes.
    #[inline]
    pub(crate) fn finish(&mut self, length: u64) -> Result<(), OperationFailure> {
        match self {
            BodyCheck::Content { bytes, .. } | BodyCheck::Letters { bytes, .. } if *bytes != length => {
                Err(OperationFailure::new(Outcome::WrongLength, length))
            }
            BodyCheck::Seen(check) => {
                let body = SeenBody { length, digest: check.digest.value(), media_type: check.media_type };
                check.seen.take(check.object, body, (check.may_change, check.sent))
            }
            BodyCheck::Contains { needle, matched } if *matched < needle.text.len() => {
                Err(OperationFailure::new(Outcome::WrongBytes, length))
            }
            BodyCheck::Length { least, .. } if length < *least => {
                Err(OperationFailure::new(Outcome::WrongLength, length))
            }
            BodyCheck::Json { checks, body } => check_json(checks, body),
            _ => Ok(()),
        }
    }
}

#[inline]
fn not_beyond(bytes: u64, at: u64, data: &[u8]) -> Result<(), OperationFailure> {
    let end = at + data.len() as u64;
    if bytes < end { Err(OperationFailure::new(Outcome::WrongLength, end)) } else { Ok(()) }
}

/// Compares the part of `data`, which starts at position `at`, with a prefix. Returns the bytes after the
/// prefix, or the index of the first wrong byte.
fn check_prefix<'a>(prefix: &[u8], at: u64, data: &'a [u8]) -> Result<&'a [u8], usize> {
    let left = &prefix[prefix.len().min(usize::try_from(at).unwrap_or(usize::MAX))..];
    let n = left.len().min(data.len());
    match left[..n].iter().zip(data).position(|(right, found)| right != found) {
        Some(index) => Err(index),
        None => Ok(&data[n..]),
    }
}

/// Checks the values of a JSON body.
fn check_json(checks: &[JsonCheck], body: &[u8]) -> Result<(), OperationFailure> {
    let wrong = |detail| OperationFailure::new(Outcome::WrongBytes, detail);
    let json: Value = serde_json::from_slice(body).map_err(|_| wrong(NOT_JSON))?;
    let is_right = |check: &JsonCheck| {
        let found = json.pointer(&check.pointer);
        found.is_some_and(|found| check.value.as_ref().is_none_or(|value| is_equal(found, value)))
    };
    match checks.iter().position(|check| !is_right(check)) {
        None => Ok(()),
        Some(index) => Err(wrong(index as u64)),
    }
}

/// Returns whether two values are equal; of numbers, whether they are, however they are written: 5 and 5.0.
fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
}

/// A hash of bytes that does not depend on the pieces in which they arrive: h(0) = 0, and for every eight
/// bytes, read as a little-endian number w, h = mix_bits(h ⊕ w) + 1. The last word is padded with zeros, so
/// lengths are compared separately. Detects accidents, not forgery.
#[derive(Debug, Default)]
pub(crate) struct BodyDigest {
    state: u64,
    word: u64,
    n_pending: u32,
}

impl BodyDigest {
    pub(super) fn take(&mut self, mut data: &[u8]) {
        while self.n_pending != 0 && !data.is_empty() {
            self.push(data[0]);
            data = &data[1..];
        }
        let (words, rest) = data.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.push(*byte);
        }
    }

    fn push(&mut self, byte: u8) {
        self.word |= u64::from(byte) << (8 * self.n_pending);
        self.n_pending += 1;
        if self.n_pending == 8 {
            self.fold(self.word);
            (self.word, self.n_pending) = (0, 0);
        }
    }

    fn fold(&mut self, word: u64) {
        self.state = mix_bits(self.state ^ word).wrapping_add(1);
    }

    pub(super) fn value(&self) -> u64 {
        mix_bits(self.state ^ self.word)
    }
}

/// A text to find in a stream (Knuth, Morris, Pratt 1977).
#[derive(Debug)]
pub(crate) struct Needle {
    pub(crate) text: Box<[u8]>,
    /// For each length of a matching prefix, the next shorter prefix that then matches as well.
    borders: Box<[usize]>,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Needle {
        let text = text.as_bytes();
        let mut borders = vec![0; text.len()];
        let mut k = 0;
        for i in 1..text.len() {
            while k != 0 && text[k] != text[i] {
                k = borders[k - 1];
            }
            k += usize::from(text[k] == text[i]);
            borders[i] = k;
        }
        Needle { text: text.into(), borders: borders.into() }
    }

    /// Returns how many bytes of the text match after `data`; all of them from the first occurrence on.
    fn advance(&self, mut matched: usize, data: &[u8]) -> usize {
        for byte in data {
            if matched == self.text.len() {
                return matched;
            }
            while matched != 0 && self.text[matched] != *byte {
                matched = self.borders[matched - 1];
            }
            matched += usize::from(self.text[matched] == *byte);
        }
        matched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::RealClock;

    /// Passes a body to a check in pieces of `step` bytes.
    fn run(mut check: BodyCheck<'_>, body: &[u8], step: usize) -> Result<(), OperationFailure> {
        let mut at = 0;
        for piece in body.chunks(step) {
            check.take(at, piece)?;
            at += piece.len() as u64;
        }
        check.finish(at)
    }

    fn wrong(outcome: Outcome, detail: u64) -> Result<(), OperationFailure> {
        Err(OperationFailure::new(outcome, detail))
    }

    #[test]
    fn every_letter_is_checked_with_and_without_markup() {
        for markup in [false, true] {
            let check = || BodyCheck::Letters { letters: GeneratedText::new(7), markup, bytes: 200 };
            let mut body = if markup { GENERATED_MARKUP.as_bytes().to_vec() } else { Vec::new() };
            let start = body.len();
            body.resize(200, 0);
            GeneratedText::new(7).fill(&mut body[start..]);
            for step in [1, 7, 60, 200] {
                assert_eq!(run(check(), &body, step), Ok(()));
                for place in [0, 30, 49, 50, 51, 199] {
                    let mut other = body.clone();
                    other[place] ^= 1;
                    assert_eq!(run(check(), &other, step), wrong(Outcome::WrongBytes, place as u64));
                }
                assert_eq!(run(check(), &body[..199], step), wrong(Outcome::WrongLength, 199));
            }
            assert_eq!(run(check(), &[&body[..], b"A"].concat(), 201), wrong(Outcome::WrongLength, 201));
            assert_eq!(check().announced(201), wrong(Outcome::WrongLength, 201));
        }
    }

    #[test]
    fn the_first_body_is_expected_for_its_object() {
        let seen = SeenBodies::new(RealClock::start());
        let seen = |number| {
            BodyCheck::Seen(SeenCheck {
                seen: &seen,
                object: (1, number),
                may_change: false,
                sent: Nanos::ZERO,
                media_type: 0,
                digest: BodyDigest::default(),
            })
        };
        assert_eq!(run(seen(1), b"the first body", 3), Ok(()));
        assert_eq!(run(seen(1), b"the first body", 100), Ok(()));
        assert_eq!(run(seen(1), b"the first bodx", 100), wrong(Outcome::WrongBytes, 0));
        assert_eq!(run(seen(1), b"the first body\0", 100), wrong(Outcome::WrongLength, 15));
        assert_eq!(run(seen(2), b"another", 100), Ok(()));
    }

    #[test]
    fn a_text_is_found_across_pieces_or_reported_missing() {
        let needle = Needle::new("aabaaab");
        for step in 1..12 {
            let check = || BodyCheck::Contains { needle: &needle, matched: 0 };
            assert_eq!(run(check(), b"xxaabaabaaabxx", step), Ok(()));
            assert_eq!(run(check(), b"aabaabaaaab", step), wrong(Outcome::WrongBytes, 11));
        }
    }

    #[test]
    fn lengths_are_within_their_limits() {
        let check = || BodyCheck::Length { least: 2, most: 4 };
        assert_eq!(check().announced(5), wrong(Outcome::WrongLength, 5));
        assert_eq!(check().announced(1), wrong(Outcome::WrongLength, 1));
        for (body, expected) in [
            (&b"a"[..], wrong(Outcome::WrongLength, 1)),
            (b"ab", Ok(())),
            (b"abcd", Ok(())),
            (b"abcde", wrong(Outcome::WrongLength, 5)),
        ] {
            assert_eq!(run(check(), body, 1), expected);
        }
    }

    #[test]
    fn json_has_the_values_that_are_expected() {
        let value = |pointer: &str, value| JsonCheck { pointer: pointer.to_owned(), value };
        let checks =
            [value("/id", Some(5.into())), value("/user/name", Some("a".into())), value("/list/0", None)];
        let found =
            |body: &str| run(BodyCheck::Json { checks: &checks, body: Vec::new() }, body.as_bytes(), 3);
        assert_eq!(found(r#"{"id": 5.0, "user": {"name": "a"}, "list": [null]}"#), Ok(()));
        assert_eq!(found(r#"{"id": 6, "user": {"name": "a"}, "list": [1]}"#), wrong(Outcome::WrongBytes, 0));
        assert_eq!(found(r#"{"id": 5, "user": "a", "list": [1]}"#), wrong(Outcome::WrongBytes, 1));
        assert_eq!(found(r#"{"id": 5, "user": {"name": "a"}, "list": []}"#), wrong(Outcome::WrongBytes, 2));
        assert_eq!(found("<html>"), wrong(Outcome::WrongBytes, NOT_JSON));
        let long = " ".repeat(BUFFERED_BODY_MAX + 1);
        let check = BodyCheck::Json { checks: &checks, body: Vec::new() };
        assert_eq!(run(check, long.as_bytes(), 100_000), wrong(Outcome::WrongBytes, JSON_TOO_LONG));
    }

    proptest! {
        #[test]
        fn a_needle_is_found_iff_the_body_contains_it(
            text in "[ab]{1,6}", body in "[ab]{0,60}", step in 1usize..20,
        ) {
            let needle = Needle::new(&text);
            let found = run(BodyCheck::Contains { needle: &needle, matched: 0 }, body.as_bytes(), step).is_ok();
            prop_assert_eq!(found, body.contains(&text));
        }

        #[test]
        fn a_digest_depends_on_every_byte_but_not_on_pieces(
            body in prop::collection::vec(any::<u8>(), 1..100), step in 1usize..40, place in any::<prop::sample::Index>(),
        ) {
            let digest = |body: &[u8], step| {
                let mut digest = BodyDigest::default();
                body.chunks(step).for_each(|piece| digest.take(piece));
                digest.value()
            };
            prop_assert_eq!(digest(&body, step), digest(&body, 100));
            let mut other = body.clone();
            other[place.index(body.len())] ^= 1;
            prop_assert_ne!(digest(&body, step), digest(&other, step));
        }
    }
}
