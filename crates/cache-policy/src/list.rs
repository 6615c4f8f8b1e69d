//! Lists, directives and numbers in field values.

use std::borrow::Cow;

use http1::is_token_byte;
use units::Nanos;

/// The largest number of seconds in a field; larger ones count as this (RFC 9111 §1.2.2).
pub(crate) const SECONDS_MAX: u64 = 1 << 31;

/// Returns the bytes of each heap allocation of a list of names: its own, then that of each name.
pub(crate) fn allocations_of(names: &Vec<String>) -> impl Iterator<Item = usize> {
    std::iter::once(names.capacity() * size_of::<String>()).chain(names.iter().map(String::capacity))
}

/// Returns the members of a comma-separated list without surrounding blanks; empty ones are left out.
///
/// Commas in a quoted string do not separate (RFC 9110 §5.6.1). After a quotation mark that is never closed, marks
/// have no meaning: otherwise it would hide the members after it, and one of them may be `no-store`.
/// mean nothing: otherwise it would hide the members after it, and one of them may be `no-store`.
pub(crate) fn members(value: &[u8]) -> Members<'_> {
    Members { rest: value, are_quotes_closed: true }
}

/// The iterator of [`members`].
#[derive(Debug, Clone)]
pub(crate) struct Members<'a> {
    rest: &'a [u8],
    are_quotes_closed: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = self.member_end();
            let member = self.rest[..end].trim_ascii();
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !member.is_empty() {
                return Some(member);
            }
        }
        None
    }
}

impl Members<'_> {
    /// Finds the first comma that separates, or the end.
    fn member_end(&mut self) -> usize {
        let mut at = 0;
        while at < self.rest.len() {
            match self.rest[at] {
                b',' => return at,
                b'"' if self.are_quotes_closed => match quoted_length(&self.rest[at..]) {
                    Some(length) => at += length,
                    None => self.are_quotes_closed = false,
                },
                _ => at += 1,
            }
        }
        at
    }
}

/// Returns the length of the quoted string at the start, including its marks; `None` if it is never closed.
fn quoted_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Splits a member into a directive's name and argument: `max-age=60`, `no-cache="a, b"`, `public`.
///
/// No blank is allowed before the equals sign (RFC 9111 §5.2): the argument is empty then, which is not a number.
pub(crate) fn directive(member: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(equals) = member.iter().position(|&byte| byte == b'=') else {
        return (member, None);
    };
    let name = member[..equals].trim_ascii_end();
    let argument = if name.len() == equals { &member[equals + 1..] } else { &[] };
    (name, Some(argument))
}

/// Returns the text of a quoted string, or other text as it is.
///
/// Directives take both forms (RFC 9111 §5.2).
pub(crate) fn unquote(argument: &[u8]) -> Cow<'_, [u8]> {
    let inner = argument.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let Some(inner) = inner else {
        return Cow::Borrowed(argument);
    };
    if !inner.contains(&b'\\') {
        return Cow::Borrowed(inner);
    }
    let mut bytes = inner.iter();
    let next = || match bytes.next() {
        Some(b'\\') => bytes.next().copied(),
        byte => byte.copied(),
    };
    Cow::Owned(std::iter::from_fn(next).collect())
}

/// Reads a number; one that does not fit counts as the largest. `None` for anything but digits.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let append = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Some(digits.iter().fold(0, append))
}

/// Reads a number of seconds (RFC 9111 §1.2.2), at most [`SECONDS_MAX`]; `None` for anything but digits.
pub(crate) fn delta_seconds(digits: &[u8]) -> Option<Nanos> {
    number(digits).map(|seconds| Nanos::from_secs(seconds.min(SECONDS_MAX)))
}

/// Returns whether a text is a token, a field name for example (RFC 9110 §5.6.2).
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&byte| is_token_byte(byte))
}

/// Returns a token in lower case; `None` for anything else.
pub(crate) fn lower_token(text: &[u8]) -> Option<String> {
    is_token(text).then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_members(value: &str, expected: &[&str]) {
        let found: Vec<_> = members(value.as_bytes()).map(String::from_utf8_lossy).collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn members_are_separated_by_commas_outside_of_quotes() {
        check_members("", &[]);
        check_members(" , ,, ", &[]);
        check_members("a,b , c", &["a", "b", "c"]);
        check_members(r#"a="x, y", b"#, &[r#"a="x, y""#, "b"]);
        check_members(r#"a="x\", y", b"#, &[r#"a="x\", y""#, "b"]);
    }

    #[test]
    fn an_unclosed_quote_hides_no_members() {
        check_members(r#"no-cache="a, no-store"#, &[r#"no-cache="a"#, "no-store"]);
        check_members(r#"a="\", no-store"#, &[r#"a="\""#, "no-store"]);
        check_members("\"", &["\""]);
    }

    /// 64 KiB of marks of which none is closed: a search from each of them would take 10⁹ steps.
    #[test]
    fn many_unclosed_quotes_cost_one_search() {
        let value = "\"\\".repeat(32 * 1024);
        assert_eq!(members(value.as_bytes()).count(), 1);
    }

    #[test]
    fn directives_split_at_the_equals_sign() {
        for (member, name, argument) in [
            ("public", "public", None),
            ("max-age=60", "max-age", Some("60")),
            ("max-age=", "max-age", Some("")),
            ("max-age =60", "max-age", Some("")),
            ("max-age= 60", "max-age", Some(" 60")),
            ("a=b=c", "a", Some("b=c")),
            ("=", "", Some("")),
        ] {
            let expected = (name.as_bytes(), argument.map(str::as_bytes));
            assert_eq!(directive(member.as_bytes()), expected, "{member}");
        }
    }

    #[test]
    fn quoted_arguments_equal_plain_ones() {
        for (argument, text) in [
            ("60", "60"),
            (r#""60""#, "60"),
            (r#""a\"b""#, "a\"b"),
            ("\"", "\""),
            (r#""""#, ""),
            ("'6'", "'6'"),
        ] {
            assert_eq!(unquote(argument.as_bytes()), text.as_bytes(), "{argument}");
        }
    }

    #[test]
    fn seconds_are_digits_and_bounded() {
        let seconds = |text: &str| delta_seconds(text.as_bytes());
        assert_eq!(seconds("0"), Some(Nanos::ZERO));
        assert_eq!(seconds("0060"), Some(Nanos::from_secs(60)));
        for large in ["2147483648", "2147483649", "99999999999999999999999999"] {
            assert_eq!(seconds(large), Some(Nanos::from_secs(2_147_483_648)), "{large}");
        }
        for text in ["", "-1", "+1", "1.5", "1s", " 1", "1 ", "0x1", "\u{0661}"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
