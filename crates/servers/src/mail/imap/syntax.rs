//! The parts of commands (RFC 3501, 9): atoms, texts, numbers, sets.
//!
//! A literal stands in its command behind its announcement, as it came.

use std::borrow::Cow;

/// A cursor in a command. Whatever is expected and not there is `None`.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

/// A set of message numbers: `1:5,7,9:*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SequenceSet {
    ranges: Vec<(SetNumber, SetNumber)>,
}

/// A number in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetNumber {
    /// A number above 0.
    Number(u32),
    /// That of the last message.
    Last,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(command: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: command }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next byte, which stays.
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes a text if it is the next; case is no difference.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let begin = self.rest.get(..text.len());
        let is_next = begin.is_some_and(|begin| begin.eq_ignore_ascii_case(text.as_bytes()));
        if is_next {
            self.rest = &self.rest[text.len()..];
        }
        is_next
    }

    pub(super) fn expect(&mut self, text: &str) -> Option<()> {
        self.take(text).then_some(())
    }

    pub(super) fn blank(&mut self) -> Option<()> {
        self.expect(" ")
    }

    /// Takes all bytes that are of a kind: at least one.
    fn take_while(&mut self, is_of_kind: impl Fn(u8) -> bool) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| !is_of_kind(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!taken.is_empty()).then_some(taken)
    }

    /// Takes an atom: a tag, the name of a command, a keyword.
    pub(super) fn atom(&mut self) -> Option<&'a str> {
        let atom = self.take_while(|byte| is_atom(byte) && byte != b']')?;
        std::str::from_utf8(atom).ok()
    }

    /// Takes the name of an item or of a key: letters, digits, dots and hyphens.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))?;
        std::str::from_utf8(name).ok()
    }

    /// Takes a flag: `\Seen`, `$Label1`.
    pub(super) fn flag(&mut self) -> Option<&'a str> {
        let before = self.rest;
        let n_sign = usize::from(self.take("\\"));
        let length = self.atom()?.len();
        std::str::from_utf8(&before[..n_sign + length]).ok()
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let digits = self.take_while(|byte| byte.is_ascii_digit())?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Takes a text: an atom, in quotes, or a literal.
    pub(super) fn text(&mut self) -> Option<Cow<'a, [u8]>> {
        match self.peek()? {
            b'"' | b'{' => self.string(),
            _ => self.take_while(is_atom).map(Cow::Borrowed),
        }
    }

    /// Takes the pattern of a list, which may have wildcards.
    pub(super) fn pattern(&mut self) -> Option<Cow<'a, [u8]>> {
        match self.peek()? {
            b'"' | b'{' => self.string(),
            _ => self.take_while(|byte| is_atom(byte) || b"*%".contains(&byte)).map(Cow::Borrowed),
        }
    }

    /// Takes a text in quotes or a literal.
    pub(super) fn string(&mut self) -> Option<Cow<'a, [u8]>> {
        if self.take("\"") { self.rest_of_quoted() } else { self.literal().map(Cow::Borrowed) }
    }

    fn rest_of_quoted(&mut self) -> Option<Cow<'a, [u8]>> {
        let end = self.rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if self.rest[end] == b'"' {
            let text = &self.rest[..end];
            self.rest = &self.rest[end + 1..];
            return is_quotable(text).then_some(Cow::Borrowed(text));
        }
        let mut text = Vec::new();
        loop {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            match first {
                b'"' => return is_quotable(&text).then_some(Cow::Owned(text)),
                b'\\' => {
                    let (escaped, rest) =
                        self.rest.split_first().filter(|(byte, _)| b"\"\\".contains(byte))?;
                    text.push(*escaped);
                    self.rest = rest;
                }
                byte => text.push(*byte),
            }
        }
    }

    fn literal(&mut self) -> Option<&'a [u8]> {
        self.expect("{")?;
        let bytes = self.number()?;
        self.take("+");
        self.expect("}\r\n")?;
        let (literal, rest) = self.rest.split_at_checked(bytes as usize)?;
        self.rest = rest;
        Some(literal)
    }

    /// Takes what is between round brackets, with blanks between; at least one.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.expect("(")?;
        let mut items = vec![item(self)?];
        while self.take(" ") {
            items.push(item(self)?);
        }
        self.expect(")")?;
        Some(items)
    }

    pub(super) fn sequence_set(&mut self) -> Option<SequenceSet> {
        let mut ranges = vec![self.range()?];
        while self.take(",") {
            ranges.push(self.range()?);
        }
        Some(SequenceSet { ranges })
    }

    fn range(&mut self) -> Option<(SetNumber, SetNumber)> {
        let first = self.set_number()?;
        let last = if self.take(":") { self.set_number()? } else { first };
        Some((first, last))
    }

    fn set_number(&mut self) -> Option<SetNumber> {
        if self.take("*") {
            return Some(SetNumber::Last);
        }
        self.number().filter(|number| 0 < *number).map(SetNumber::Number)
    }
}

impl SequenceSet {
    /// Returns its ranges, each from the least number to the greatest, in a mailbox whose last message has this number.
    pub(super) fn ranges(&self, last: u32) -> impl Iterator<Item = (u32, u32)> {
        let number = move |number: SetNumber| match number {
            SetNumber::Number(number) => number,
            SetNumber::Last => last,
        };
        self.ranges.iter().map(move |(one, other)| {
            let (one, other) = (number(*one), number(*other));
            (one.min(other), one.max(other))
        })
    }
}

/// Returns whether an atom can have a byte, or a text that is one.
fn is_atom(byte: u8) -> bool {
    (b'!'..=b'~').contains(&byte) && !b"(){%*\"\\".contains(&byte)
}

/// Returns whether a text can be in quotes.
fn is_quotable(text: &[u8]) -> bool {
    !text.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_three_forms() {
        for (command, text, rest) in [
            (&b"INBOX x"[..], &b"INBOX"[..], &b" x"[..]),
            (b"a]b)", b"a]b", b")"),
            (b"\"a b\" x", b"a b", b" x"),
            (b"\"\"", b"", b""),
            (b"\"a\\\"b\\\\\"x", b"a\"b\\", b"x"),
            (b"{3}\r\na\r\nrest", b"a\r\n", b"rest"),
            (b"{0+}\r\n x", b"", b" x"),
        ] {
            let mut cursor = Cursor::new(command);
            assert_eq!(cursor.text().as_deref(), Some(text));
            assert_eq!(cursor.rest(), rest);
        }
        for command in [
            &b""[..],
            b" a",
            b"\"a",
            b"\"a\\b\"",
            b"\"a\\",
            b"\"a\r\nb\"",
            b"{3}\r\nab",
            b"{3}ab",
            b"{}\r\n",
            b"{99999999999}\r\n",
            b"*",
            b"\xff",
        ] {
            assert_eq!(Cursor::new(command).text(), None, "{command:?}");
        }
    }

    #[test]
    fn sets_have_ranges_in_any_order() {
        let ranges = |text: &str| -> Option<Vec<(u32, u32)>> {
            let mut cursor = Cursor::new(text.as_bytes());
            let set = cursor.sequence_set().filter(|_| cursor.is_at_end())?;
            Some(set.ranges(9).collect())
        };
        assert_eq!(ranges("1:5,7,*:4"), Some(vec![(1, 5), (7, 7), (4, 9)]));
        assert_eq!(ranges("12:*"), Some(vec![(9, 12)]));
        for text in ["", "0", "1:0", "1,", ":", "1:", "1;2", "4294967296"] {
            assert_eq!(ranges(text), None, "{text}");
        }
    }

    #[test]
    fn lists_have_blanks_between_their_items() {
        let flags = |text: &'static str| Cursor::new(text.as_bytes()).list(Cursor::flag);
        assert_eq!(flags("(\\Seen $Label1)"), Some(vec!["\\Seen", "$Label1"]));
        for text in ["()", "(\\Seen", "(\\Seen  a)", "\\Seen", "(\\)", "(\\\\a)"] {
            assert_eq!(flags(text), None, "{text}");
        }
    }
}
