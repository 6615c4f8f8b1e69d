//! Values of a line: numbers, texts, lists.

use memchr::{memchr, memchr2};

use super::error::ImapError;

/// The byte before and behind the length of a body that has passed through.
pub(super) const BODY_MARK: u8 = 0;

/// The most lists within each other.
const DEPTH_MAX: usize = 64;

/// Reads a number that may have 64 bits.
pub(super) fn decimal(digits: &[u8]) -> Result<u64, ImapError> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ImapError::Malformed("a number"));
    }
    let add = |value: u64, digit: &u8| value.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    digits.iter().try_fold(0, add).ok_or(ImapError::NumberTooLarge)
}

/// Reads a number that has 32 bits.
pub(super) fn number(digits: &[u8]) -> Result<u32, ImapError> {
    u32::try_from(decimal(digits)?).map_err(|_| ImapError::NumberTooLarge)
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Anything without blanks: a number, a flag, NIL.
    Atom(&'a [u8]),
    /// A text, as it is written: with backslashes if it was quoted.
    Text(&'a [u8]),
    /// A body of so many bytes that has passed through.
    Body(u64),
    /// The beginning and the end of a list.
    Open,
    Close,
}

/// A cursor in a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: line }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn skip_blanks(&mut self) {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes a byte if it is the next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect(&mut self, byte: u8, name: &'static str) -> Result<(), ImapError> {
        if self.take(byte) { Ok(()) } else { Err(ImapError::Malformed(name)) }
    }

    /// Takes everything up to a blank, which is taken, too.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let end = memchr(b' ', self.rest).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        word
    }

    /// Takes the name of an item of a FETCH response: up to a blank that is not within brackets.
    pub(super) fn item_name(&mut self) -> &'a [u8] {
        let mut in_brackets = false;
        let is_end = |byte: &u8| {
            in_brackets = (in_brackets || *byte == b'[') && *byte != b']';
            !in_brackets && matches!(byte, b' ' | b'(' | b')')
        };
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// Takes the next value or bracket of a list.
    pub(super) fn value(&mut self) -> Result<Value<'a>, ImapError> {
        match self.rest {
            [b'(', rest @ ..] => {
                self.rest = rest;
                Ok(Value::Open)
            }
            [b')', rest @ ..] => {
                self.rest = rest;
                Ok(Value::Close)
            }
            [b'"', rest @ ..] => self.quoted(rest),
            [b'{', ..] | [b'~', b'{', ..] => self.literal(),
            [BODY_MARK, rest @ ..] => {
                let end = rest.iter().position(|byte| *byte == BODY_MARK);
                let end = end.ok_or(ImapError::Malformed("a body"))?;
                self.rest = &rest[end + 1..];
                Ok(Value::Body(decimal(&rest[..end])?))
            }
            rest => {
                let is_end = |byte: &u8| matches!(byte, b' ' | b'(' | b')' | b'"');
                let end = rest.iter().position(is_end).unwrap_or(rest.len());
                if end == 0 {
                    return Err(ImapError::Malformed("a value"));
                }
                self.rest = &rest[end..];
                Ok(Value::Atom(&rest[..end]))
            }
        }
    }

    fn quoted(&mut self, rest: &'a [u8]) -> Result<Value<'a>, ImapError> {
        let mut at = 0;
        loop {
            let behind = rest.get(at..).and_then(|part| memchr2(b'"', b'\\', part));
            at += behind.ok_or(ImapError::Malformed("the end of a quoted text"))?;
            if rest[at] == b'"' {
                break;
            }
            at += 2;
        }
        self.rest = &rest[at + 1..];
        Ok(Value::Text(&rest[..at]))
    }

    fn literal(&mut self) -> Result<Value<'a>, ImapError> {
        let rest = self.rest.strip_prefix(b"~").unwrap_or(self.rest);
        let end = rest.iter().position(|byte| *byte == b'}').ok_or(ImapError::LiteralLength)?;
        let bytes = usize::try_from(decimal(&rest[1..end])?).map_err(|_| ImapError::NumberTooLarge)?;
        let behind = rest[end + 1..].strip_prefix(b"\r\n").ok_or(ImapError::Malformed("a literal"))?;
        let text = behind.get(..bytes).ok_or(ImapError::Malformed("a literal"))?;
        self.rest = &behind[bytes..];
        Ok(Value::Text(text))
    }

    /// Takes a value with all that is in it.
    pub(super) fn skip_value(&mut self) -> Result<(), ImapError> {
        let mut depth = 0;
        loop {
            self.skip_blanks();
            match self.value()? {
                Value::Open => depth += 1,
                Value::Close if depth == 0 => return Err(ImapError::Malformed("a value")),
                Value::Close => depth -= 1,
                Value::Atom(_) | Value::Text(_) | Value::Body(_) => {}
            }
            if DEPTH_MAX < depth {
                return Err(ImapError::TooDeep(DEPTH_MAX));
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Takes a text, or NIL, which is none.
    pub(super) fn text_or_nil(&mut self) -> Result<Option<&'a [u8]>, ImapError> {
        match self.value()? {
            Value::Text(text) => Ok(Some(text)),
            Value::Atom(atom) if atom.eq_ignore_ascii_case(b"NIL") => Ok(None),
            _ => Err(ImapError::Malformed("a text")),
        }
    }
}
