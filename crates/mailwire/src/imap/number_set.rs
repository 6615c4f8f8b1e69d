//! Sets of message numbers, as they are written.

use super::error::ImapError;
use super::value::number;

/// Numbers with blanks between them, as a search returns them. They have been checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    /// Reads numbers, behind which there may be a modification sequence in brackets.
    pub(super) fn parse(text: &'a [u8]) -> Result<Numbers<'a>, ImapError> {
        let end = text.iter().position(|byte| *byte == b'(').unwrap_or(text.len());
        let numbers = Numbers(&text[..end]);
        numbers.words().try_for_each(|word| number(word).map(drop))?;
        Ok(numbers)
    }

    /// Returns the numbers in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words().filter_map(|word| number(word).ok())
    }

    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        self.0.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
    }
}

/// Numbers in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// The least.
    pub first: u32,
    /// The greatest.
    pub last: u32,
}

impl NumberRange {
    /// Returns how many numbers there are.
    pub fn n(&self) -> u64 {
        u64::from(self.last) - u64::from(self.first) + 1
    }
}

/// A set of numbers as ranges: `1:5,7`. It has been checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NumberSet<'a>(&'a [u8]);

impl<'a> NumberSet<'a> {
    /// Reads a set.
    ///
    /// # Errors
    ///
    /// When it is none, or has the number 0 or `*`, which servers do not send.
    pub fn read(text: &'a [u8]) -> Result<NumberSet<'a>, ImapError> {
        text.split(|byte| *byte == b',').try_for_each(|part| range(part).map(drop))?;
        Ok(NumberSet(text))
    }

    /// Returns the ranges in the order in which they were written.
    pub fn ranges(&self) -> NumberRanges<'a> {
        NumberRanges { rest: Some(self.0).filter(|text| !text.is_empty()) }
    }
}

/// An iterator over the ranges of a set.
#[derive(Debug, Clone)]
pub struct NumberRanges<'a> {
    rest: Option<&'a [u8]>,
}

impl Iterator for NumberRanges<'_> {
    type Item = NumberRange;

    fn next(&mut self) -> Option<NumberRange> {
        let rest = self.rest?;
        let end = rest.iter().position(|byte| *byte == b',');
        self.rest = end.map(|end| &rest[end + 1..]);
        range(&rest[..end.unwrap_or(rest.len())]).ok()
    }
}

/// Reads a range; its numbers may be in either order.
fn range(text: &[u8]) -> Result<NumberRange, ImapError> {
    let (one, other) = match text.iter().position(|byte| *byte == b':') {
        Some(colon) => (number(&text[..colon])?, number(&text[colon + 1..])?),
        None => {
            let only = number(text)?;
            (only, only)
        }
    };
    if one == 0 || other == 0 {
        return Err(ImapError::Malformed("a number above 0"));
    }
    Ok(NumberRange { first: one.min(other), last: one.max(other) })
}
