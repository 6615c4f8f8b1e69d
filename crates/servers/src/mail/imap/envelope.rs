//! Envelopes: the fields of a message that lists of messages show (RFC 3501, 7.4.2).

use super::head::{HeadField, head_fields};

/// The most addresses of a field.
const ADDRESSES_MAX: usize = 256;

/// The name of a person and the address, as far as they are there.
#[derive(Debug, PartialEq, Eq)]
struct PersonAddress {
    name: Option<Vec<u8>>,
    local_part: Vec<u8>,
    domain: Vec<u8>,
}

/// Appends the envelope of a message with this head.
pub(super) fn write_envelope(head: &[u8], output: &mut Vec<u8>) {
    let fields: Vec<HeadField> = head_fields(head).collect();
    let text = |name: &str| fields.iter().find(|field| field.is(name)).map(HeadField::text);
    let people = |name: &str| text(name).map(|text| addresses(&text)).filter(|people| !people.is_empty());
    output.push(b'(');
    for name in ["Date", "Subject"] {
        write_text(text(name).as_deref(), output);
        output.push(b' ');
    }
    for name in ["From", "Sender", "Reply-To", "To", "Cc", "Bcc"] {
        let is_author = matches!(name, "Sender" | "Reply-To");
        let found = people(name).or_else(|| is_author.then(|| people("From")).flatten());
        write_addresses(&found.unwrap_or_default(), output);
        output.push(b' ');
    }
    write_text(text("In-Reply-To").as_deref(), output);
    output.push(b' ');
    write_text(text("Message-ID").as_deref(), output);
    output.push(b')');
}

/// Appends a text in quotes, as a literal where it cannot be in quotes, or NIL.
pub(super) fn write_text(text: Option<&[u8]>, output: &mut Vec<u8>) {
    let Some(text) = text else { return output.extend_from_slice(b"NIL") };
    if text.iter().any(|byte| !(b' '..=b'~').contains(byte)) {
        output.extend_from_slice(format!("{{{}}}\r\n", text.len()).as_bytes());
        // A NUL is in no literal.
        output.extend(text.iter().map(|byte| if *byte == 0 { b'?' } else { *byte }));
        return;
    }
    output.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            output.push(b'\\');
        }
        output.push(*byte);
    }
    output.push(b'"');
}

fn write_addresses(people: &[PersonAddress], output: &mut Vec<u8>) {
    if people.is_empty() {
        return output.extend_from_slice(b"NIL");
    }
    output.push(b'(');
    for PersonAddress { name, local_part, domain } in people {
        output.push(b'(');
        write_text(name.as_deref(), output);
        output.extend_from_slice(b" NIL ");
        write_text(Some(local_part), output);
        output.push(b' ');
        write_text(Some(domain), output);
        output.push(b')');
    }
    output.push(b')');
}

fn addresses(text: &[u8]) -> Vec<PersonAddress> {
    split_list(text).into_iter().take(ADDRESSES_MAX).filter_map(address).collect()
}

/// Splits a list at its commas, of which those in quotes and brackets are none.
fn split_list(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_quoted = false;
    let mut depth = 0_u32;
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        let escapes = is_quoted && !is_escaped && *byte == b'\\';
        match byte {
            _ if is_escaped => {}
            b'"' => is_quoted = !is_quoted,
            b'(' | b'<' if !is_quoted => depth += 1,
            b')' | b'>' if !is_quoted => depth = depth.saturating_sub(1),
            b',' if !is_quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        is_escaped = escapes;
    }
    parts.push(&text[start..]);
    parts
}

/// Reads `NAME <LOCAL@DOMAIN>` or `LOCAL@DOMAIN`; `None` if there is nothing.
fn address(part: &[u8]) -> Option<PersonAddress> {
    let part = part.trim_ascii();
    let open = part.iter().rposition(|byte| *byte == b'<');
    let (name, address) = match open {
        Some(open) => {
            let inner = part[open + 1..].split(|byte| *byte == b'>').next().unwrap_or_default();
            (unquoted(part[..open].trim_ascii()), inner)
        }
        None => (None, part),
    };
    if address.is_empty() {
        return None;
    }
    let at = address.iter().rposition(|byte| *byte == b'@');
    let (local_part, domain) = at.map_or((address, &b""[..]), |at| (&address[..at], &address[at + 1..]));
    Some(PersonAddress { name, local_part: local_part.to_vec(), domain: domain.to_vec() })
}

/// Returns a name without its quotes; `None` if it is empty.
fn unquoted(name: &[u8]) -> Option<Vec<u8>> {
    let Some(inner) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else {
        return (!name.is_empty()).then(|| name.to_vec());
    };
    let mut text = Vec::with_capacity(inner.len());
    let mut is_escaped = false;
    for byte in inner {
        is_escaped = !is_escaped && *byte == b'\\';
        if !is_escaped {
            text.push(*byte);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(head: &str) -> String {
        let mut output = Vec::new();
        write_envelope(head.as_bytes(), &mut output);
        String::from_utf8(output).unwrap()
    }

    /// The example of RFC 3501, 8, without the names.
    #[test]
    fn an_envelope_has_ten_parts() {
        let head = "Date: Wed, 17 Jul 1996 02:23:25 -0700 (PDT)\r\nFrom: Terry Gray <gray@cac.example>\r\n\
                    Subject: IMAP4rev1 WG mtg summary and minutes\r\nTo: imap@cac.example\r\n\
                    Cc: minutes@CNRI.example,\r\n \"Klensin, J.\" <klensin@MIT.example>\r\nMessage-Id: <B27397@cac>\r\n\r\n";
        let gray = "((\"Terry Gray\" NIL \"gray\" \"cac.example\"))";
        let expected = format!(
            "(\"Wed, 17 Jul 1996 02:23:25 -0700 (PDT)\" \"IMAP4rev1 WG mtg summary and minutes\" {gray} {gray} {gray} \
             ((NIL NIL \"imap\" \"cac.example\")) ((NIL NIL \"minutes\" \"CNRI.example\")\
             (\"Klensin, J.\" NIL \"klensin\" \"MIT.example\")) NIL NIL \"<B27397@cac>\")"
        );
        assert_eq!(envelope(head), expected);
    }

    #[test]
    fn what_is_not_there_is_nil_and_what_cannot_be_quoted_a_literal() {
        assert_eq!(envelope(""), "(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)");
        let head = "Subject: gr\u{fc}\u{df}e \"a\"\r\nFrom: ,<>\r\nSender: x\r\n\r\n";
        let expected =
            "(NIL {11}\r\ngr\u{fc}\u{df}e \"a\" NIL ((NIL NIL \"x\" \"\")) NIL NIL NIL NIL NIL NIL)";
        assert_eq!(envelope(head), expected);
        assert_eq!(
            envelope("Subject: a\\b \"c\"\r\n"),
            "(NIL \"a\\\\b \\\"c\\\"\" NIL NIL NIL NIL NIL NIL NIL NIL)"
        );
    }

    #[test]
    fn commas_in_names_divide_nothing() {
        let people = addresses(b"\"a\\\", b\" <c@d>, e@f (g, h), <i@j");
        let read: Vec<(Option<&[u8]>, &[u8])> =
            people.iter().map(|one| (one.name.as_deref(), &one.local_part[..])).collect();
        assert_eq!(read, [(Some(&b"a\", b"[..]), &b"c"[..]), (None, b"e"), (None, b"i")]);
    }
}
