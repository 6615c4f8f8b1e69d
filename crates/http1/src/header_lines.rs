//! Header lines in one allocation.

use crate::headers;

/// Header lines as in an HTTP/1 head: `Name: value CR LF`, one after the other, without the empty line.
///
/// One allocation however many lines there are; an HTTP/1 head is written by copying it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderLines(Vec<u8>);

impl HeaderLines {
    /// Makes an empty list.
    #[inline]
    pub fn new() -> HeaderLines {
        HeaderLines::default()
    }

    /// Makes an empty list with room for this many bytes.
    #[inline]
    pub fn with_capacity(bytes: usize) -> HeaderLines {
        HeaderLines(Vec::with_capacity(bytes))
    }

    /// Copies the lines, with room for this many bytes more.
    #[inline]
    pub fn with_room(&self, bytes: usize) -> HeaderLines {
        let mut lines = HeaderLines::with_capacity(self.0.len() + bytes);
        lines.0.extend_from_slice(&self.0);
        lines
    }

    /// Takes the lines of a head that has been parsed: everything between its start line and its empty line.
    ///
    /// `head` as in [`headers`].
    pub fn of_head(head: &[u8]) -> HeaderLines {
        let mut lines = HeaderLines(Vec::with_capacity(head.len()));
        for (name, value) in headers(head) {
            lines.push(name, value);
        }
        lines
    }

    /// Appends a line; name and value come from a parsed head or from this program, so neither has a line end.
    #[inline]
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        debug_assert!(!value.contains(&b'\n') && !name.contains(&b':'), "one line");
        self.0.extend_from_slice(name);
        self.0.extend_from_slice(b": ");
        self.0.extend_from_slice(value);
        self.0.extend_from_slice(b"\r\n");
    }

    /// Appends a line whose value is a number.
    pub fn push_number(&mut self, name: &[u8], value: u64) {
        let mut digits = [0; 20];
        let mut start = digits.len();
        let mut rest = value;
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(name, &digits[start..]);
    }

    /// Returns the lines as pairs of name and value, in order.
    #[inline]
    pub fn iter(&self) -> LinesIter<'_> {
        LinesIter(&self.0)
    }

    /// Returns the value of the first line of this name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(one, _)| one.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// Removes all lines of this name, whatever its case.
    pub fn remove(&mut self, name: &str) {
        if self.get(name).is_some() {
            let mut rest = HeaderLines(Vec::with_capacity(self.0.len()));
            for (one, value) in self.iter().filter(|(one, _)| !one.eq_ignore_ascii_case(name.as_bytes())) {
                rest.push(one, value);
            }
            *self = rest;
        }
    }

    /// Returns the lines as they go over the wire.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Frees unused capacity.
    pub fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Returns the bytes of memory that the lines take.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

/// The pairs of [`HeaderLines::iter`].
#[derive(Debug, Clone)]
pub struct LinesIter<'a>(&'a [u8]);

impl<'a> Iterator for LinesIter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr::memchr(b'\n', self.0)?;
        let (line, rest) = self.0.split_at(end + 1);
        self.0 = rest;
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_head_iterate_as_pairs() {
        let lines = HeaderLines::of_head(b"HTTP/1.1 200 OK\r\nA:  b c \r\nEmpty:\r\n\r\nbody: x\r\n");
        assert_eq!(lines.as_bytes(), b"A: b c\r\nEmpty: \r\n");
        let pairs: Vec<_> = lines.iter().collect();
        assert_eq!(pairs, [(&b"A"[..], &b"b c"[..]), (b"Empty", b"")]);
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for value in [0, 7, 10, 512_000, u64::MAX] {
            let mut lines = HeaderLines::new();
            lines.push_number(b"Age", value);
            assert_eq!(lines.get("age"), Some(value.to_string().as_bytes()));
        }
    }

    #[test]
    fn remove_deletes_every_line_of_the_name() {
        let mut lines = HeaderLines::new();
        for (name, value) in [("A", "1"), ("b", "2"), ("a", "3")] {
            lines.push(name.as_bytes(), value.as_bytes());
        }
        lines.remove("A");
        assert_eq!(lines.as_bytes(), b"b: 2\r\n");
    }
}
