//! Messages: a letter, the length with that of the length itself, and the content; numbers in network order.

use std::io::{Error, ErrorKind, Result};

/// The length of a message without its content: a letter and the length.
const HEAD_BYTES: usize = 5;

/// The longest message that is accepted. The parts of our rows are shorter.
const BYTES_MAX: usize = 1 << 20;

/// Object identifiers of types. Source: `pg_type.dat` of PostgreSQL 15.
pub(super) mod oid {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const BOOL_ARRAY: u32 = 1000;
    pub(crate) const INT4_ARRAY: u32 = 1007;
    pub(crate) const TEXT_ARRAY: u32 = 1009;
    pub(crate) const INT8_ARRAY: u32 = 1016;
    pub(crate) const TIMESTAMPTZ: u32 = 1184;
    pub(crate) const TIMESTAMPTZ_ARRAY: u32 = 1185;
}

/// Returns the error of a client that sends something else.
pub(super) fn malformed() -> Error {
    Error::new(ErrorKind::InvalidData, "not of PostgreSQL's protocol")
}

/// A message of a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientMessage<'a> {
    /// Its letter; 0 of the first one, which has none.
    pub(super) letter: u8,
    pub(super) content: &'a [u8],
    /// Its length in bytes with all that is before the content.
    pub(super) length: usize,
}

/// Returns the message at the beginning of the bytes; `None` if it is not complete.
pub(super) fn next_message(bytes: &[u8], is_first: bool) -> Result<Option<ClientMessage<'_>>> {
    let head = if is_first { HEAD_BYTES - 1 } else { HEAD_BYTES };
    let Some(stated) = bytes.get(head - 4..head) else { return Ok(None) };
    let stated = stated.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    if !(4..=BYTES_MAX).contains(&stated) {
        return Err(malformed());
    }
    let length = head - 4 + stated;
    let letter = if is_first { 0 } else { bytes[0] };
    Ok(bytes.get(head..length).map(|content| ClientMessage { letter, content, length }))
}

/// The content of a message, from left to right.
#[derive(Debug)]
pub(super) struct Content<'a>(pub(super) &'a [u8]);

impl<'a> Content<'a> {
    /// Returns so many bytes.
    pub(super) fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Returns a number of 16 bits.
    pub(super) fn int2(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.bytes(2)?.try_into().map_err(|_| malformed())?))
    }

    /// Returns a number of 32 bits.
    pub(super) fn int4(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.bytes(4)?.try_into().map_err(|_| malformed())?))
    }

    /// Returns a text, which ends with a zero.
    pub(super) fn text(&mut self) -> Result<&'a str> {
        let length = self.0.iter().position(|byte| *byte == 0).ok_or_else(malformed)?;
        let text = std::str::from_utf8(self.bytes(length)?).map_err(|_| malformed())?;
        self.bytes(1)?;
        Ok(text)
    }

    /// Returns a value with its length before it; `None` of null.
    pub(super) fn value(&mut self) -> Result<Option<&'a [u8]>> {
        match usize::try_from(self.int4()?) {
            Ok(length) => self.bytes(length).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// Returns the elements of an array of numbers of 32 or 64 bits.
pub(super) fn numbers(array: &[u8]) -> Result<Vec<i64>> {
    let mut content = Content(array);
    let n_dimensions = content.int4()?;
    // Whether it has nulls, and the type of its elements.
    content.bytes(8)?;
    if n_dimensions == 0 {
        return Ok(Vec::new());
    }
    // The number of elements, and the index of the first.
    content.bytes(8)?;
    let mut numbers = Vec::new();
    while !content.0.is_empty() {
        numbers.push(number(content.value()?.ok_or_else(malformed)?)?);
    }
    Ok(numbers)
}

/// Returns a number of 32 or 64 bits.
pub(super) fn number(value: &[u8]) -> Result<i64> {
    match *value {
        [a, b, c, d] => Ok(i32::from_be_bytes([a, b, c, d]).into()),
        _ => Ok(i64::from_be_bytes(value.try_into().map_err(|_| malformed())?)),
    }
}

/// Writes a message whose content `write` writes.
pub(super) fn message(to: &mut Vec<u8>, letter: u8, write: impl FnOnce(&mut Vec<u8>)) {
    to.push(letter);
    let begin = to.len();
    to.extend([0; 4]);
    write(to);
    let length = (to.len() - begin) as u32;
    to[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

/// Writes a text with the zero that ends it.
pub(super) fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend(text.as_bytes());
    to.push(0);
}

/// Writes the description of columns: name and type of each; their values are binary or texts.
pub(super) fn row_description<'a>(
    to: &mut Vec<u8>,
    columns: impl ExactSizeIterator<Item = (&'a str, u32)>,
    is_binary: bool,
) {
    message(to, b'T', |to| {
        to.extend((columns.len() as i16).to_be_bytes());
        for (name, kind) in columns {
            put_text(to, name);
            // No column of a table.
            to.extend([0; 6]);
            to.extend(kind.to_be_bytes());
            // Of no fixed length, and without a modifier.
            to.extend((-1i16).to_be_bytes());
            to.extend((-1i32).to_be_bytes());
            to.extend(i16::from(is_binary).to_be_bytes());
        }
    });
}

/// Writes the end of a statement.
pub(super) fn command_complete(to: &mut Vec<u8>, tag: &str) {
    message(to, b'C', |to| put_text(to, tag));
}

/// Writes a refusal.
pub(super) fn error_response(to: &mut Vec<u8>, state: &str, text: &str) {
    message(to, b'E', |to| {
        for (field, value) in [(b'S', "ERROR"), (b'V', "ERROR"), (b'C', state), (b'M', text)] {
            to.push(field);
            put_text(to, value);
        }
        to.push(0);
    });
}

/// The values of a row, each with its length before it.
#[derive(Debug, Default)]
pub(super) struct RowValues {
    n_columns: i16,
    bytes: Vec<u8>,
}

impl RowValues {
    fn value(&mut self, bytes: &[u8]) {
        self.n_columns += 1;
        self.bytes.extend((bytes.len() as i32).to_be_bytes());
        self.bytes.extend(bytes);
    }

    pub(super) fn null(&mut self) {
        self.n_columns += 1;
        self.bytes.extend((-1i32).to_be_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.value(text.as_bytes());
    }

    pub(super) fn int4(&mut self, number: i32) {
        self.value(&number.to_be_bytes());
    }

    pub(super) fn int8(&mut self, number: i64) {
        self.value(&number.to_be_bytes());
    }

    /// Adds an array of elements of a type, of which each has its bytes or is null.
    pub(super) fn array(&mut self, kind: u32, elements: &[Option<Vec<u8>>]) {
        let mut bytes = Vec::new();
        let has_nulls = elements.iter().any(Option::is_none);
        for number in [1, i32::from(has_nulls), kind as i32, elements.len() as i32, 1] {
            bytes.extend(number.to_be_bytes());
        }
        for element in elements {
            match element {
                Some(element) => {
                    bytes.extend((element.len() as i32).to_be_bytes());
                    bytes.extend(element);
                }
                None => bytes.extend((-1i32).to_be_bytes()),
            }
        }
        self.value(&bytes);
    }

    /// Writes the row.
    pub(super) fn write(&self, to: &mut Vec<u8>) {
        message(to, b'D', |to| {
            to.extend(self.n_columns.to_be_bytes());
            to.extend(&self.bytes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_when_they_are_complete() {
        let mut bytes = Vec::new();
        message(&mut bytes, b'Q', |to| put_text(to, "BEGIN"));
        assert_eq!(bytes, b"Q\0\0\0\x0aBEGIN\0");
        for end in 0..bytes.len() {
            assert_eq!(next_message(&bytes[..end], false).unwrap(), None, "{end}");
        }
        let found = next_message(&bytes, false).unwrap().unwrap();
        assert_eq!((found.letter, found.content, found.length), (b'Q', &b"BEGIN\0"[..], 11));
        assert_eq!(Content(found.content).text().unwrap(), "BEGIN");
        // The first one has no letter.
        let found = next_message(&bytes[1..], true).unwrap().unwrap();
        assert_eq!((found.letter, found.length), (0, 10));
    }

    #[test]
    fn lengths_that_no_message_has_are_refused() {
        for bytes in [&b"Q\0\0\0\x03"[..], b"Q\x7f\0\0\0"] {
            assert!(next_message(bytes, false).is_err(), "{bytes:?}");
        }
        assert!(Content(b"\0\0\0\x09abc").value().is_err());
    }

    #[test]
    fn arrays_are_read_as_they_are_written() {
        let mut row = RowValues::default();
        row.array(oid::INT4, &[Some(7i32.to_be_bytes().to_vec()), Some((-1i32).to_be_bytes().to_vec())]);
        row.array(oid::INT8, &[]);
        let mut content = Content(&row.bytes);
        assert_eq!(numbers(content.value().unwrap().unwrap()).unwrap(), [7, -1]);
        assert_eq!(numbers(content.value().unwrap().unwrap()).unwrap(), [0i64; 0]);
        assert!(content.0.is_empty());
    }
}
