//! The text and the attached files of messages: bytes that follow from a key and an offset, so that nobody has to keep
//! them.

use units::mix_bits;

/// Distance of the states of SplitMix64, whose finalizer is [`mix_bits`].
const STATE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The end of a line.
pub(super) const LINE_END: [u8; 2] = *b"\r\n";

/// The bytes of a line of the text of an attached file (RFC 2045, 6.8).
const FILE_LINE: u64 = 76;

/// The bytes of a word with the blanks behind it.
const CELL: usize = 8;

/// The words of texts: lines can be compressed as letters can. None begins with a dot, nor is one `From`, which mail servers
/// would change at the beginning of a line.
const WORDS: [&[u8; CELL]; 64] = [
    b"account ",
    b"again   ",
    b"agenda  ",
    b"all     ",
    b"and     ",
    b"annual  ",
    b"answer  ",
    b"are     ",
    b"as      ",
    b"at      ",
    b"because ",
    b"before  ",
    b"branch  ",
    b"budget  ",
    b"but     ",
    b"by      ",
    b"can     ",
    b"change  ",
    b"client  ",
    b"copy    ",
    b"date    ",
    b"day     ",
    b"desk    ",
    b"draft   ",
    b"each    ",
    b"every   ",
    b"figures ",
    b"first   ",
    b"for     ",
    b"form    ",
    b"group   ",
    b"have    ",
    b"in      ",
    b"invoice ",
    b"is      ",
    b"item    ",
    b"last    ",
    b"letter  ",
    b"list    ",
    b"market  ",
    b"meeting ",
    b"month   ",
    b"next    ",
    b"not     ",
    b"note    ",
    b"number  ",
    b"of      ",
    b"office  ",
    b"on      ",
    b"order   ",
    b"our     ",
    b"page    ",
    b"plan    ",
    b"price   ",
    b"project ",
    b"report  ",
    b"review  ",
    b"sales   ",
    b"table   ",
    b"team    ",
    b"the     ",
    b"to      ",
    b"week    ",
    b"with    ",
];

/// The digits of base64 (RFC 4648, 4).
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Eight random bytes of a sequence.
fn eight(key: u64, index: u64) -> [u8; 8] {
    mix_bits(key.wrapping_add(STATE_STEP.wrapping_mul(index))).to_le_bytes()
}

/// A text of words in lines of one length, but for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordText {
    key: u64,
    /// The number of bytes, with the line ends; 0, or at least 2.
    bytes: u64,
    /// The bytes of a line without its end.
    line: u64,
}

impl WordText {
    pub(super) fn new(key: u64, bytes: u32, line: u16) -> WordText {
        WordText { key, bytes: u64::from(bytes), line: u64::from(line.max(1)) }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the bytes from an offset on; the text has that many.
    pub(super) fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let full = self.line + 2;
        let mut line = offset / full;
        let mut column = offset % full;
        let mut rest = buffer;
        while !rest.is_empty() {
            let left = self.bytes - line * full;
            if left == 1 {
                rest[0] = LINE_END[1];
                return;
            }
            // A single byte before the last line end belongs to the line before it.
            let length = if left == full + 1 { left - 2 } else { self.line.min(left.saturating_sub(2)) };
            let (piece, behind) = rest.split_at_mut(rest.len().min((length + 2 - column) as usize));
            self.fill_line(line, column as usize, length as usize, piece);
            line += 1;
            column = 0;
            rest = behind;
        }
    }

    /// Writes a piece of a line, which has so many bytes before its end.
    fn fill_line(&self, line: u64, column: usize, length: usize, piece: &mut [u8]) {
        let n_words = length.saturating_sub(column).min(piece.len());
        let (words, end) = piece.split_at_mut(n_words);
        let skipped = (column + n_words).saturating_sub(length);
        end.copy_from_slice(&LINE_END[skipped..][..end.len()]);
        let cells_per_line = self.line / CELL as u64 + 1;
        let first = line * cells_per_line + (column / CELL) as u64;
        self.fill_words(first, column % CELL, words);
    }

    /// Writes words from this cell on, of the first not the bytes that are skipped.
    fn fill_words(&self, first: u64, skipped: usize, buffer: &mut [u8]) {
        let mut cell = first;
        let mut drawn = eight(self.key, cell / 8);
        let mut next = || {
            let word = WORDS[usize::from(drawn[(cell % 8) as usize] & 63)];
            cell += 1;
            if cell.is_multiple_of(8) {
                drawn = eight(self.key, cell / 8);
            }
            word
        };
        let mut rest = buffer;
        if skipped != 0 {
            let (head, behind) = rest.split_at_mut(rest.len().min(CELL - skipped));
            head.copy_from_slice(&next()[skipped..][..head.len()]);
            rest = behind;
        }
        let mut whole = rest.chunks_exact_mut(CELL);
        for cell in &mut whole {
            cell.copy_from_slice(next());
        }
        let tail = whole.into_remainder();
        if !tail.is_empty() {
            let n_tail = tail.len();
            tail.copy_from_slice(&next()[..n_tail]);
        }
    }
}

/// An attached file in base64, in lines of 76 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileText {
    key: u64,
    /// The number of bytes of the file itself.
    file_bytes: u64,
}

impl FileText {
    pub(super) fn new(key: u64, file_bytes: u32) -> FileText {
        FileText { key, file_bytes: u64::from(file_bytes) }
    }

    /// Returns the number of digits and signs of padding.
    fn digits(&self) -> u64 {
        self.file_bytes.div_ceil(3) * 4
    }

    /// Returns the number of bytes as it travels, with line ends.
    pub(super) fn bytes(&self) -> u64 {
        self.digits() + 2 * self.digits().div_ceil(FILE_LINE)
    }

    /// Writes the bytes from an offset on; the text has that many.
    pub(super) fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let mut at = offset;
        let mut rest = buffer;
        while !rest.is_empty() {
            let (line, column) = (at / (FILE_LINE + 2), at % (FILE_LINE + 2));
            let length = FILE_LINE.min(self.digits() - line * FILE_LINE);
            let (piece, behind) = rest.split_at_mut(rest.len().min((length + 2 - column) as usize));
            let n_digits = length.saturating_sub(column).min(piece.len() as u64);
            let (digits, end) = piece.split_at_mut(n_digits as usize);
            self.fill_digits(line * FILE_LINE + column, digits);
            let skipped = (column + n_digits - length.min(column + n_digits)) as usize;
            end.copy_from_slice(&LINE_END[skipped..][..end.len()]);
            at += piece.len() as u64;
            rest = behind;
        }
    }

    fn fill_digits(&self, first: u64, digits: &mut [u8]) {
        let mut index = first;
        let mut drawn = eight(self.key, index / 8);
        for digit in digits.iter_mut() {
            *digit = DIGITS[usize::from(drawn[(index % 8) as usize] & 63)];
            index += 1;
            if index.is_multiple_of(8) {
                drawn = eight(self.key, index / 8);
            }
        }
        self.pad(first, digits);
    }

    /// Makes the last group one of a file whose size is no multiple of three: unused bits are zeros.
    fn pad(&self, first: u64, digits: &mut [u8]) {
        let group = self.digits().saturating_sub(4);
        let (zeroed, n_used) = match self.file_bytes % 3 {
            0 => return,
            1 => (0x30, 2),
            _ => (0x3C, 3),
        };
        for (index, digit) in (first..).zip(digits.iter_mut()) {
            if index == group + n_used - 1 {
                let value = DIGITS.iter().position(|known| known == digit).unwrap_or(0);
                *digit = DIGITS[value & zeroed];
            } else if group + n_used <= index {
                *digit = b'=';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(bytes: u32, line: u16) -> Vec<u8> {
        let text = WordText::new(5, bytes, line);
        let mut buffer = vec![0; bytes as usize];
        text.fill(0, &mut buffer);
        buffer
    }

    fn file(bytes: u32) -> Vec<u8> {
        let text = FileText::new(5, bytes);
        let mut buffer = vec![0; text.bytes() as usize];
        text.fill(0, &mut buffer);
        buffer
    }

    /// Whatever the size, lines end with both characters, no line is longer than one more than asked for, and nothing else
    /// is there but words.
    #[test]
    fn a_text_has_its_size_and_whole_lines() {
        for line in [8, 9, 72, 500] {
            for bytes in 2..400 {
                let text = String::from_utf8(words(bytes, line)).unwrap();
                assert!(text.ends_with("\r\n"), "{bytes} of {line}: {text:?}");
                let lines: Vec<&str> = text.strip_suffix("\r\n").unwrap().split("\r\n").collect();
                for one in &lines {
                    assert!(one.len() <= usize::from(line) + 1, "{bytes} of {line}: {one:?}");
                    assert!(one.bytes().all(|byte| byte == b' ' || byte.is_ascii_lowercase()), "{one:?}");
                }
                assert!(lines[..lines.len() - 1].iter().all(|one| one.len() == usize::from(line)));
            }
        }
        assert_eq!(words(0, 72), b"");
    }

    #[test]
    fn words_fill_their_cells() {
        for word in WORDS {
            assert!(word.ends_with(b" ") && word[0].is_ascii_lowercase(), "{word:?}");
        }
        let one_of_each: std::collections::BTreeSet<_> = WORDS.into_iter().collect();
        assert_eq!(one_of_each.len(), WORDS.len());
    }

    /// Lengths by hand: of 1, 2 and 3 bytes, 4 digits and a line end; of 57, one line; of 58, 4 digits more on a second.
    #[test]
    fn a_file_is_valid_base64_of_its_size() {
        for (bytes, length) in [(1, 6), (2, 6), (3, 6), (57, 78), (58, 84), (100, 140), (10_000, 13_688)] {
            let text = file(bytes);
            assert_eq!(text.len(), length, "{bytes}");
            let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            assert!(lines.iter().all(|line| line.ends_with(b"\r\n") && line.len() <= 78));
            let digits: Vec<u8> = text.into_iter().filter(|byte| !b"\r\n".contains(byte)).collect();
            assert_eq!(decode(&digits).len(), bytes as usize);
        }
    }

    /// Decodes strictly: padding only at the end, and unused bits are zeros.
    fn decode(digits: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for group in digits.chunks(4) {
            let n_digits = group.iter().take_while(|digit| **digit != b'=').count();
            assert!(2 <= n_digits && group.len() == 4);
            let value = |digit: &u8| DIGITS.iter().position(|known| known == digit).unwrap() as u32;
            let bits = group[..n_digits].iter().fold(0, |bits, digit| bits << 6 | value(digit))
                << (6 * (4 - n_digits));
            let all = bits.to_be_bytes();
            assert!(all[n_digits..].iter().all(|byte| *byte == 0), "{group:?}");
            bytes.extend_from_slice(&all[1..n_digits]);
        }
        bytes
    }

    proptest! {
        #[test]
        fn any_range_has_the_bytes_of_the_whole(
            bytes in 2_u32..5_000, line in 8_u16..200, at in 0.0..1.0, length in 0_usize..1_000,
        ) {
            let whole = words(bytes, line);
            let from = (f64::from(bytes) * at) as usize;
            let to = (from + length).min(whole.len());
            let mut piece = vec![0; to - from];
            WordText::new(5, bytes, line).fill(from as u64, &mut piece);
            prop_assert_eq!(&piece[..], &whole[from..to]);

            let whole = file(bytes);
            let from = (whole.len() as f64 * at) as usize;
            let to = (from + length).min(whole.len());
            let mut piece = vec![0; to - from];
            FileText::new(5, bytes).fill(from as u64, &mut piece);
            prop_assert_eq!(&piece[..], &whole[from..to]);
        }
    }
}
