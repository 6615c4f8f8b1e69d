//! Path and query in the normal form that both cache key and origin get (RFC 3986 §6.2.2).
//!
//! | in a target | in the path | in the query |
//! |---|---|---|
//! | `%41`, `%7e`: a code of a letter, a digit or `-._~` | decoded | decoded, unless it has what is in the third line |
//! | any other code, for example `%c3` or `%3D` | kept, with capital digits | kept, with capital digits |
//! | a percent sign without two hexadecimal digits | refused | kept |
//! | bytes above 127: UTF-8 that is not encoded | encoded | encoded |
//! | visible characters that are not allowed in a URI: ``"<>\^`{\|}`` | encoded | encoded |
//! | `%2F`, `%5C`, `\`: servers may decode them to a slash | kept, encoded | kept, encoded |
//! | segments `.` and `..`, plain or encoded | resolved, or refused; refused above the root | kept |
//! | the same behind `%2F` or `%5C`, or before `;` | refused | kept |
//! | `%00` | refused | refused |
//! | blanks, controls, `#` | refused | refused |
//!
//! What is refused is read in different ways by different servers, so that a cache could be made to store one
//! resource under the name of another. Everything else has one form, which means the same to any server that decodes
//! it once; normalizing it again changes nothing.

use crate::key_refused::KeyRefused;
use crate::settings::DotSegments;

/// The most bytes of a target; RFC 9110 §4.1 recommends at least 8,000.
pub(crate) const TARGET_BYTES_MAX: usize = 8192;

/// Visible characters that are not allowed in a URI but sent by browsers: they are percent-encoded.
const ENCODED: &[u8] = b"\"<>\\^`{|}";

/// Appends a request target, path and query, in normal form to `text`.
///
/// See the table above; empty segments, order and case are kept.
///
/// # Errors
///
/// A target that is not a path, or that servers read in different ways; the content of `text` is undefined then.
pub(crate) fn write_target(text: &mut String, target: &[u8], dots: DotSegments) -> Result<(), KeyRefused> {
    if TARGET_BYTES_MAX < target.len() {
        return Err(KeyRefused::TooLong);
    }
    let end = target.iter().position(|&byte| byte == b'?').unwrap_or(target.len());
    let (path, query) = target.split_at(end);
    match path {
        [] => text.push('/'),
        [b'/', ..] => write_path(text, path, dots)?,
        _ => return Err(KeyRefused::TargetForm),
    }
    // Behind a stray percent sign a decoded digit could become part of another code.
    let coding = if has_stray_percent(query) { PercentCoding::Kept } else { PercentCoding::Decoded };
    write_characters(text, query, coding)
}

/// The treatment of codes of characters that need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PercentCoding {
    Decoded,
    /// They are kept, and percent signs without two hexadecimal digits too.
    Kept,
}

fn has_stray_percent(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|&byte| byte == b'%');
    parts.next();
    parts.any(|part| part.first_chunk::<2>().and_then(decode).is_none())
}

fn write_path(text: &mut String, path: &[u8], dots: DotSegments) -> Result<(), KeyRefused> {
    let start = text.len();
    write_characters(text, path, PercentCoding::Decoded)?;
    let mut segments = text[start..].split('/');
    if segments.clone().any(hides_dots) {
        return Err(KeyRefused::HiddenDotSegment);
    }
    if !segments.any(is_dots) {
        return Ok(());
    }
    if dots == DotSegments::Refused {
        return Err(KeyRefused::DotSegment);
    }
    let resolved = resolve(&text[start..])?;
    text.truncate(start);
    text.push_str(&resolved);
    Ok(())
}

/// Writes characters in normal form.
fn write_characters(text: &mut String, bytes: &[u8], coding: PercentCoding) -> Result<(), KeyRefused> {
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => match after.first_chunk::<2>().and_then(decode) {
                Some(code) => {
                    rest = &after[2..];
                    write_code(text, code, coding)?;
                }
                // Servers take it for itself in a query; in a path some refuse it.
                None if coding == PercentCoding::Kept => text.push('%'),
                None => return Err(KeyRefused::PercentSign),
            },
            _ if !byte.is_ascii() || ENCODED.contains(&byte) => write_encoded(text, byte),
            b'#' => return Err(KeyRefused::Character),
            _ if byte.is_ascii_graphic() => text.push(char::from(byte)),
            _ => return Err(KeyRefused::Character),
        }
    }
    Ok(())
}

/// Returns the byte of two hexadecimal digits.
fn decode(digits: &[u8; 2]) -> Option<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some((value(digits[0])? << 4) | value(digits[1])?)
}

fn write_code(text: &mut String, code: u8, coding: PercentCoding) -> Result<(), KeyRefused> {
    match code {
        0 => return Err(KeyRefused::NullByte),
        _ if coding == PercentCoding::Kept => write_encoded(text, code),
        b'-' | b'.' | b'_' | b'~' => text.push(char::from(code)),
        _ if code.is_ascii_alphanumeric() => text.push(char::from(code)),
        _ => write_encoded(text, code),
    }
    Ok(())
}

fn write_encoded(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}

/// Returns whether some servers find a dot segment in this segment: behind an encoded slash or backslash, or before a
/// semicolon.
fn hides_dots(segment: &str) -> bool {
    let mut pieces = segment.split("%2F").flat_map(|piece| piece.split("%5C"));
    !is_dots(segment) && pieces.any(|piece| piece.split(';').next().is_some_and(is_dots))
}

/// Resolves the dot segments of a path that begins with a slash (RFC 3986 §5.2.4).
fn resolve(path: &str) -> Result<String, KeyRefused> {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                kept.pop().ok_or(KeyRefused::AboveRoot)?;
            }
            _ => kept.push(segment),
        }
    }
    // A dot segment at the end stands for a directory, which ends with a slash.
    if path.rsplit('/').next().is_some_and(is_dots) {
        kept.push("");
    }
    Ok(format!("/{}", kept.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(target: &str) -> Result<String, KeyRefused> {
        let mut text = String::new();
        write_target(&mut text, target.as_bytes(), DotSegments::Resolved).map(|()| text)
    }

    /// The examples of RFC 3986 §5.2.4 and more; what leads above the root is refused there.
    #[test]
    fn dot_segments_are_resolved() {
        for (target, expected) in [
            ("/a/b/c/./../../g", "/a/g"),
            ("/mid/content=5/../6", "/mid/6"),
            ("/a/..", "/"),
            ("/a/b/..", "/a/"),
            ("/a/.", "/a/"),
            ("/.", "/"),
            ("/a//../b", "/a/b"),
            ("/a/%2e%2E/b", "/b"),
            ("/a/...", "/a/..."),
            ("/a?../b", "/a?../b"),
        ] {
            assert_eq!(written(target).as_deref(), Ok(expected), "{target}");
        }
        for target in ["/..", "/../a", "/a/../..", "/%2e%2e/etc/passwd"] {
            assert_eq!(written(target), Err(KeyRefused::AboveRoot), "{target}");
        }
    }

    #[test]
    fn hidden_dot_segments_are_refused() {
        for target in
            ["/a/..%2fb", "/a%2F../b", "/a/..%5cb", "/a/..\\b", "/a/..;x/b", "/a/.;/b", "/%2e%2e%2f"]
        {
            assert_eq!(written(target), Err(KeyRefused::HiddenDotSegment), "{target}");
        }
        for target in ["/a%2Fb", "/a;..", "/a/..b", "/a/b..;c"] {
            assert_eq!(written(target).as_deref(), Ok(target));
        }
    }

    #[test]
    fn characters_are_normalized() {
        for (target, expected) in [
            ("", "/"),
            ("?a", "/?a"),
            ("/%7Euser/%41", "/~user/A"),
            ("/%c3%a9", "/%C3%A9"),
            ("/a|b{c}", "/a%7Cb%7Bc%7D"),
            ("/a%2fb?c=%3d", "/a%2Fb?c=%3D"),
            ("/A?B", "/A?B"),
            ("/%25zz", "/%25zz"),
            ("/%41?%", "/A?%"),
            ("/?%4", "/?%4"),
            ("/?%4g%3d", "/?%4g%3D"),
            ("/?%+1", "/?%+1"),
            ("/?%4\u{e9}", "/?%4%C3%A9"),
            ("/q?x=100%", "/q?x=100%"),
            ("/q?x=5%&y=%41%2", "/q?x=5%&y=%41%2"),
            ("/q?%%32%35", "/q?%%32%35"),
            ("/q?x=5%25&y=%41", "/q?x=5%25&y=A"),
            ("/caf\u{e9}?\u{20ac}", "/caf%C3%A9?%E2%82%AC"),
            ("/caf%c3%a9", "/caf%C3%A9"),
            ("/a?b/../c%2f..%5c;", "/a?b/../c%2F..%5C;"),
        ] {
            assert_eq!(written(target).as_deref(), Ok(expected), "{target}");
            assert_eq!(written(expected).as_deref(), Ok(expected), "{target}, once more");
        }
    }

    /// Bytes that are not UTF-8, Latin-1 of old links for example, are encoded one by one.
    #[test]
    fn non_utf8_bytes_are_encoded() {
        let mut text = String::new();
        write_target(&mut text, b"/caf\xe9?\xff", DotSegments::Resolved).unwrap();
        assert_eq!(text, "/caf%E9?%FF");
    }

    /// A code that begins with a stray percent sign is no second chance for what is refused.
    #[test]
    fn stray_percent_signs_are_refused_in_paths_and_hide_nothing_in_queries() {
        for target in ["/%", "/%4", "/%4g", "/%+1", "/a%", "/%%32%35", "/%u002e%u002e/a", "/a/..%%2fb"] {
            assert_eq!(written(target), Err(KeyRefused::PercentSign), "{target}");
        }
        for target in ["/?%%00", "/a?b=%00%"] {
            assert_eq!(written(target), Err(KeyRefused::NullByte), "{target}");
        }
    }

    #[test]
    fn invalid_targets_are_refused() {
        for (target, reason) in [
            ("*", KeyRefused::TargetForm),
            ("a/b", KeyRefused::TargetForm),
            ("/%00", KeyRefused::NullByte),
            ("/a?b=%00", KeyRefused::NullByte),
            ("/a b", KeyRefused::Character),
            ("/a\tb", KeyRefused::Character),
            ("/a#b", KeyRefused::Character),
            ("/\u{7f}", KeyRefused::Character),
        ] {
            assert_eq!(written(target), Err(reason), "{target}");
        }
        assert!(written(&"/".repeat(TARGET_BYTES_MAX)).is_ok());
        assert_eq!(written(&"/".repeat(TARGET_BYTES_MAX + 1)), Err(KeyRefused::TooLong));
    }
}
