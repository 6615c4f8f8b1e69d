//! Percent-encoding of parts of URLs (RFC 3986 section 2.1).

/// Decodes a part of a URL; `None` if a `%` has no two digits behind it, or the result is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    String::from_utf8(percent_decoded_bytes(text)?).ok()
}

/// Decodes a part of a URL, whatever its bytes mean; `None` if a `%` has no two digits behind it.
pub fn percent_decoded_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => 16 * hex_digit(rest.next()?)? + hex_digit(rest.next()?)?,
            byte => byte,
        });
    }
    Some(bytes)
}

/// The characters beside letters and digits that need no encoding anywhere in a URL (RFC 3986 section 2.3).
pub const UNRESERVED_MARKS: &str = "-._~";

/// Encodes a text as one part of a URL: only unreserved characters stay as they are.
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    push_percent_encoded(text, UNRESERVED_MARKS, &mut encoded);
    encoded
}

/// Appends a text with all bytes percent-encoded but letters, digits and these marks.
pub fn push_percent_encoded(text: &str, marks: &str, out: &mut String) {
    for byte in text.bytes() {
        match char::from(byte) {
            c if c.is_ascii_alphanumeric() || marks.contains(c) => out.push(c),
            _ => *out += &format!("%{byte:02X}"),
        }
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_decoded_whatever_the_case_of_digits() {
        assert_eq!(percent_decoded("%2Frun%2fan%20app.sock").as_deref(), Some("/run/an app.sock"));
        assert_eq!(percent_encoded("/run/an app.sock"), "%2Frun%2Fan%20app.sock");
        for wrong in ["%", "%2", "%2x", "%+1", "%ff"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in "\\PC{0,20}") {
            prop_assert_eq!(percent_decoded(&percent_encoded(&text)), Some(text));
        }
    }
}
