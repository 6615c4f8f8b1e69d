//! The fields of a message (RFC 5322, 2.2).

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadField<'a> {
    pub(super) name: &'a [u8],
    /// What stands behind the colon, with line ends where it is folded.
    value: &'a [u8],
    /// All of it, with its line end.
    pub(super) bytes: &'a [u8],
}

impl HeadField<'_> {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns its value in one line, without blanks around it.
    pub(super) fn text(&self) -> Vec<u8> {
        let line_ends = |byte: &&u8| !matches!(byte, b'\r' | b'\n');
        let text: Vec<u8> = self.value.iter().filter(line_ends).copied().collect();
        text.trim_ascii().to_vec()
    }
}

/// Returns the fields of a message, in their order; lines that are none are left out.
pub(super) fn head_fields(head: &[u8]) -> impl Iterator<Item = HeadField<'_>> {
    let mut rest = head;
    std::iter::from_fn(move || {
        let bytes = take_field(&mut rest)?;
        Some(field(bytes))
    })
    .flatten()
}

/// Takes a line with those that continue it; `None` at the empty line, or the end.
fn take_field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let mut end = line_length(rest);
    if rest[..end].trim_ascii().is_empty() {
        return None;
    }
    while matches!(rest.get(end), Some(b' ' | b'\t')) {
        end += line_length(&rest[end..]);
    }
    let (bytes, behind) = rest.split_at(end);
    *rest = behind;
    Some(bytes)
}

fn line_length(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1)
}

fn field(bytes: &[u8]) -> Option<HeadField<'_>> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    Some(HeadField { name: bytes[..colon].trim_ascii(), value: &bytes[colon + 1..], bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_unfolded_and_end_with_the_empty_line() {
        let head = b"To: a@b,\r\n c@d\r\nno field\r\nSUBJECT :  x: y \r\nEmpty:\r\n\r\nBody: z\r\n";
        let fields: Vec<HeadField> = head_fields(head).collect();
        let texts: Vec<(&[u8], Vec<u8>)> = fields.iter().map(|field| (field.name, field.text())).collect();
        let expected: [(&[u8], &[u8]); 3] = [(b"To", b"a@b, c@d"), (b"SUBJECT", b"x: y"), (b"Empty", b"")];
        assert_eq!(texts, expected.map(|(name, text)| (name, text.to_vec())));
        assert_eq!(fields[0].bytes, b"To: a@b,\r\n c@d\r\n");
        assert!(fields[1].is("Subject"));
        assert_eq!(head_fields(b"").count(), 0);
        assert_eq!(head_fields(b"a: b").count(), 1);
    }
}
