//! Short texts of a bounded length, random ones among them.

use std::fmt;
use std::ops::RangeInclusive;

use units::Rng;

use super::uniform;

/// The word by which a tenth of items and stocks is marked.
pub(crate) const ORIGINAL: &str = "ORIGINAL";

/// Characters of random texts; the first 26 are capitals, the last ten digits.
const CHARACTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const N_CAPITALS: usize = 26;
const FIRST_DIGIT: usize = 52;

/// Syllables of last names, by digit.
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// A text of at most `MAX` bytes, kept without a memory allocation.
///
/// Invariant: the first `length` bytes are UTF-8, and the others are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortText<const MAX: usize> {
    length: u16,
    bytes: [u8; MAX],
}

impl<const MAX: usize> ShortText<MAX> {
    /// Makes a text. `None` if it is too long.
    pub fn new(text: &str) -> Option<ShortText<MAX>> {
        let mut short = ShortText::<MAX>::default();
        short.bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        short.length = u16::try_from(text.len()).ok()?;
        Some(short)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("texts are made of UTF-8")
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Draws an alphanumeric text ("a-string"), with a length of the range.
    pub(crate) fn alphanumeric(rng: &mut Rng, lengths: RangeInclusive<u32>) -> ShortText<MAX> {
        ShortText::random(rng, CHARACTERS, lengths)
    }

    /// Draws a text of digits ("n-string"), with a length of the range.
    pub(crate) fn digits(rng: &mut Rng, lengths: RangeInclusive<u32>) -> ShortText<MAX> {
        ShortText::random(rng, &CHARACTERS[FIRST_DIGIT..], lengths)
    }

    /// Draws a text of capitals, with a length of the range.
    pub(crate) fn capitals(rng: &mut Rng, lengths: RangeInclusive<u32>) -> ShortText<MAX> {
        ShortText::random(rng, &CHARACTERS[..N_CAPITALS], lengths)
    }

    fn random(rng: &mut Rng, characters: &[u8], lengths: RangeInclusive<u32>) -> ShortText<MAX> {
        let length = uniform(rng, *lengths.start(), *lengths.end());
        let mut text = ShortText { length: u16::try_from(length).expect("texts are short"), bytes: [0; MAX] };
        // A number is a fraction of 2⁶⁴, whose digits in base 62 are the characters. After eight of them, 16 bits are
        // left, so that none is more likely than another by more than 2⁻¹⁰.
        for eight in text.bytes[..length as usize].chunks_mut(8) {
            let mut fraction = rng.bits();
            for byte in eight {
                let scaled = u128::from(fraction) * characters.len() as u128;
                *byte = characters[(scaled >> 64) as usize];
                fraction = scaled as u64;
            }
        }
        text
    }

    /// Writes a word over a random part of the text, which is longer than the word.
    pub(crate) fn overwrite(&mut self, rng: &mut Rng, word: &str) {
        let start = rng.index(usize::from(self.length) - word.len() + 1);
        self.bytes[start..start + word.len()].copy_from_slice(word.as_bytes());
    }
}

impl<const MAX: usize> Default for ShortText<MAX> {
    fn default() -> ShortText<MAX> {
        ShortText { length: 0, bytes: [0; MAX] }
    }
}

impl<const MAX: usize> fmt::Debug for ShortText<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const MAX: usize> fmt::Display for ShortText<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Returns whether the data of an item or of its stock are marked as original.
pub fn is_original(data: &str) -> bool {
    data.contains(ORIGINAL)
}

/// Returns the last name of a number from 0 to 999: a syllable for each of its three digits.
pub fn last_name(number: u32) -> ShortText<16> {
    let syllable = |place: u32| SYLLABLES[(number / place % 10) as usize];
    ShortText::new(&[syllable(100), syllable(10), syllable(1)].concat())
        .expect("three syllables have at most 15 letters")
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    /// Golden check 9.1.
    #[test]
    fn last_names_are_made_of_three_syllables() {
        let numbers = [0, 1, 40, 99, 371, 500, 999];
        let names = numbers.map(|number| last_name(number).to_string());
        let expected = [
            "BARBARBAR",
            "BARBAROUGHT",
            "BARPRESBAR",
            "BAREINGEING",
            "PRICALLYOUGHT",
            "ESEBARBAR",
            "EINGEINGEING",
        ];
        assert_eq!(names, expected);
        let lengths: Vec<usize> = (0..1000).map(|number| last_name(number).as_str().len()).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&9), Some(&15)));
    }

    #[test]
    fn random_texts_have_all_lengths_and_characters() {
        let mut rng = Rng::new(1, StreamPurpose::Content, 0);
        let mut lengths = [0u32; 26];
        let mut counts = [0u32; 256];
        for _ in 0..20_000 {
            let text = ShortText::<25>::alphanumeric(&mut rng, 14..=24);
            lengths[text.as_str().len()] += 1;
            text.as_str().bytes().for_each(|byte| counts[usize::from(byte)] += 1);
        }
        // Eleven lengths, four standard deviations: 4 · √(20,000 · 1/11 · 10/11) = 163.
        assert!(lengths[14..=24].iter().all(|count| count.abs_diff(20_000 / 11) < 163), "{lengths:?}");
        assert_eq!(lengths.iter().sum::<u32>(), lengths[14..=24].iter().sum());
        // 380,000 characters of 62 kinds: 6,129 of each, 4 · √6,029 = 311.
        let of_kind = |byte: &u8| counts[usize::from(*byte)];
        assert!(CHARACTERS.iter().all(|byte| of_kind(byte).abs_diff(6129) < 311), "{counts:?}");
        assert_eq!(CHARACTERS.iter().map(of_kind).sum::<u32>(), counts.iter().sum());
    }

    #[test]
    fn digits_and_capitals_are_what_they_are_called() {
        let mut rng = Rng::new(1, StreamPurpose::Content, 0);
        let phone = ShortText::<16>::digits(&mut rng, 16..=16);
        assert!(phone.as_str().len() == 16 && phone.as_str().bytes().all(|byte| byte.is_ascii_digit()));
        let state = ShortText::<2>::capitals(&mut rng, 2..=2);
        assert!(state.as_str().len() == 2 && state.as_str().bytes().all(|byte| byte.is_ascii_uppercase()));
    }

    #[test]
    fn a_word_is_written_at_every_position() {
        let mut rng = Rng::new(1, StreamPurpose::Content, 0);
        let mut positions = [0u32; 3];
        for _ in 0..100 {
            let mut text = ShortText::<10>::digits(&mut rng, 10..=10);
            text.overwrite(&mut rng, ORIGINAL);
            positions[text.as_str().find(ORIGINAL).unwrap()] += 1;
            assert!(text.as_str().len() == 10 && is_original(text.as_str()));
        }
        assert!(positions.iter().all(|count| 15 < *count), "{positions:?}");
    }

    #[test]
    fn texts_that_are_too_long_are_refused() {
        assert_eq!(ShortText::<4>::new("four").unwrap().as_str(), "four");
        assert_eq!(ShortText::<4>::new("fours"), None);
        assert_eq!(ShortText::<4>::new("é€").map(|text| text.to_string()), None);
        assert_eq!(ShortText::<4>::new("").unwrap(), ShortText::default());
    }
}
