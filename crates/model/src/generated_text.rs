//! The text of a generated page: a function of its seed alone.
//!
//! The server computes every letter, which is all the work of the page, and the load generator checks every letter.
//! All gateways, in whatever language, use this generator.

/// The start of a generated HTML page, before its letters.
pub const GENERATED_MARKUP: &str = "<!DOCTYPE html><title>Made by a program</title><p>";

/// Multiplier of the generator (the example generator of ISO C, C90 §7.10.2.2).
const MULTIPLIER: u32 = 1_103_515_245;

/// Increment of the generator; same source.
const INCREMENT: u32 = 12_345;

/// An endless pseudorandom sequence of letters `A` to `Z`.
///
/// x(0) = seed mod 2^31; for every letter x(k) = (x(k−1) · 1103515245 + 12345) mod 2^31 and the letter
/// is `A` + ((x(k) >> 16) mod 26). There are no tables and nothing is precomputed, because the page must cost CPU time.
#[derive(Debug, Clone)]
pub struct GeneratedText {
    /// x(k) in the lower 31 bits; the highest bit affects neither them nor the letter.
    state: u32,
}

impl GeneratedText {
    /// Makes the sequence of a seed; only the seed's lowest 31 bits count.
    pub fn new(seed: u64) -> GeneratedText {
        GeneratedText { state: seed as u32 }
    }

    /// Writes the next letters into all of `buffer`.
    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for byte in buffer {
            *byte = self.step();
        }
    }

    /// Compares `bytes` with the next letters, so that a body can be checked piece by piece.
    ///
    /// # Errors
    ///
    /// The index in `bytes` of the first wrong letter; the sequence then continues after it.
    #[inline]
    pub fn matches(&mut self, bytes: &[u8]) -> Result<(), usize> {
        match bytes.iter().position(|byte| *byte != self.step()) {
            None => Ok(()),
            Some(index) => Err(index),
        }
    }

    #[inline]
    fn step(&mut self) -> u8 {
        // Arithmetic modulo 2^32 agrees with that modulo 2^31 in the lower 31 bits.
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        b'A' + ((self.state >> 16 & 0x7fff) % 26) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(seed: u64, n: usize) -> String {
        let mut buffer = vec![0; n];
        GeneratedText::new(seed).fill(&mut buffer);
        String::from_utf8(buffer).unwrap()
    }

    /// Goal: every gateway agrees. Seed 1: x(1) = 1103527590, >> 16 = 16838 = 647·26 + 16, letter Q.
    /// The others were computed independently, in Python, from the formula.
    #[test]
    fn the_letters_of_a_seed_never_change() {
        assert_eq!(letters(0, 32), "ASEROBDHGMPMRIBFYZCHIBDTMRKUMTUH");
        assert_eq!(letters(1, 32), "QMZRHLAJOETBKWLTZTVIEMHPFYBPSWAJ");
        assert_eq!(letters(u64::MAX, 32), "RPIQDQGFYULPZURIPEJHLQYOMRUSHZXF");
        assert_eq!(letters(7, 100_000)[99_984..], *"VLMMCZFHMBWDASTW");
    }

    #[test]
    fn seeds_count_modulo_2_to_the_31() {
        for seed in [0, 1, 12_345] {
            assert_eq!(letters(seed, 100), letters(seed + (1 << 31), 100));
            assert_ne!(letters(seed, 100), letters(seed + 1, 100));
        }
    }

    #[test]
    fn any_split_of_a_text_generates_and_checks_the_same_letters() {
        let whole = letters(5, 1000).into_bytes();
        for cut in [0, 1, 17, 999, 1000] {
            let mut making = GeneratedText::new(5);
            let mut checking = GeneratedText::new(5);
            let mut made = vec![0; 1000];
            let (first, second) = made.split_at_mut(cut);
            making.fill(first);
            making.fill(second);
            assert_eq!(made, whole);
            assert_eq!(checking.matches(&whole[..cut]), Ok(()));
            assert_eq!(checking.matches(&whole[cut..]), Ok(()));
        }
    }

    #[test]
    fn a_wrong_letter_is_found_with_its_index() {
        let right = letters(9, 500).into_bytes();
        for index in [0, 1, 499] {
            let mut wrong = right.clone();
            wrong[index] = b'a';
            assert_eq!(GeneratedText::new(9).matches(&wrong), Err(index));
        }
        assert_eq!(GeneratedText::new(9).matches(&right[1..]), Err(0));
    }
}
