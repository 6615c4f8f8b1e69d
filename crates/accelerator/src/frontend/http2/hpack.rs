//! A reader of header blocks (RFC 7541), for the two things that `h2` does not report of them.

use std::collections::VecDeque;

/// The largest dynamic table: what every client may assume (RFC 9113 §6.5.2).
const TABLE_BYTES_MAX: usize = 4096;

/// The bytes that an entry of that table counts besides its name and its value (RFC 7541 §4.1).
const ENTRY_BYTES: usize = 32;

/// The names of the static table (RFC 7541 appendix A); a name with several values stands once for each.
const NAMES: [&str; 61] = [
    ":authority",
    ":method",
    ":method",
    ":path",
    ":path",
    ":scheme",
    ":scheme",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    ":status",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "accept",
    "access-control-allow-origin",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "etag",
    "expect",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "link",
    "location",
    "max-forwards",
    "proxy-authenticate",
    "proxy-authorization",
    "range",
    "referer",
    "refresh",
    "retry-after",
    "server",
    "set-cookie",
    "strict-transport-security",
    "transfer-encoding",
    "user-agent",
    "vary",
    "via",
    "www-authenticate",
];

/// The length in bits of each byte's Huffman code (RFC 7541 appendix B). Codes of one length follow each other in the
/// order of bytes, and longer ones after them, so that nothing else needs to be known.
#[rustfmt::skip]
const CODE_BITS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

/// The lengths of the shortest and the longest code.
const BITS: std::ops::RangeInclusive<usize> = 5..=30;

/// Codes by their length.
static CODES: Codes = Codes::new();

/// The first code of each length, and the position in `bytes` at which the bytes of that length begin.
struct Codes {
    first: [u32; 32],
    start: [usize; 32],
    bytes: [u8; 256],
}

impl Codes {
    const fn new() -> Codes {
        let mut codes = Codes { first: [0; 32], start: [0; 32], bytes: [0; 256] };
        let mut code = 0_u32;
        let mut n = 0;
        let mut bits = 1;
        while bits < 32 {
            code <<= 1;
            (codes.first[bits], codes.start[bits]) = (code, n);
            let mut byte = 0;
            while byte < 256 {
                if CODE_BITS[byte] as usize == bits {
                    codes.bytes[n] = byte as u8;
                    (code, n) = (code + 1, n + 1);
                }
                byte += 1;
            }
            bits += 1;
        }
        codes
    }

    /// Returns the byte of a code with this many bits.
    fn byte(&self, code: u32, bits: usize) -> Option<u8> {
        let end = self.start.get(bits + 1).copied().unwrap_or(self.bytes.len());
        let place = self.start[bits] + code.checked_sub(self.first[bits])? as usize;
        self.bytes.get(place).copied().filter(|_| place < end)
    }
}

/// The findings about a header block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeaderBlock {
    /// Whether any field is a pseudo-header field.
    pub(super) has_pseudo: bool,
    /// Whether a `:path` has a fragment.
    pub(super) has_fragment: bool,
}

/// The kind of a field, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Path,
    OtherPseudo,
    Field,
}

/// An entry of the dynamic table.
#[derive(Debug, Clone, Copy)]
struct Entry {
    name: Name,
    name_bytes: usize,
    value_bytes: usize,
    has_fragment: bool,
}

/// A decoder of the header blocks of a connection, which build upon each other.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The dynamic table, newest entry first.
    entries: VecDeque<Entry>,
    bytes: usize,
    bytes_max: usize,
    /// A string literal, decoded.
    text: Vec<u8>,
}

impl Decoder {
    pub(super) fn new() -> Decoder {
        Decoder { entries: VecDeque::new(), bytes: 0, bytes_max: TABLE_BYTES_MAX, text: Vec::new() }
    }

    /// Reads a whole block; `None` if it is malformed, after which no other can be read.
    pub(super) fn read(&mut self, mut block: &[u8]) -> Option<HeaderBlock> {
        let mut found = HeaderBlock::default();
        while let Some(&first) = block.first() {
            let entry = match first {
                0x80.. => self.entry(number(&mut block, 7)?)?,
                0x20..0x40 => {
                    self.bytes_max = number(&mut block, 5).filter(|bytes| *bytes <= TABLE_BYTES_MAX)?;
                    self.shrink(self.bytes_max);
                    continue;
                }
                0x40..0x80 => {
                    let entry = self.literal(&mut block, 6)?;
                    self.insert(entry);
                    entry
                }
                _ => self.literal(&mut block, 4)?,
            };
            found.has_pseudo |= entry.name != Name::Field;
            found.has_fragment |= entry.has_fragment;
        }
        Some(found)
    }

    /// Reads a literal field; its name may be indexed.
    fn literal(&mut self, block: &mut &[u8], prefix: u32) -> Option<Entry> {
        let (name, name_bytes) = match number(block, prefix)? {
            0 => {
                let name = self.text(block)?;
                (name_of(name), name.len())
            }
            index => {
                let entry = self.entry(index)?;
                (entry.name, entry.name_bytes)
            }
        };
        let value = self.text(block)?;
        let has_fragment = name == Name::Path && value.contains(&b'#');
        Some(Entry { name, name_bytes, value_bytes: value.len(), has_fragment })
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        let place = index.checked_sub(1)?;
        match NAMES.get(place) {
            // The length of the value does not matter: it is not taken over.
            Some(name) => Some(Entry {
                name: name_of(name.as_bytes()),
                name_bytes: name.len(),
                value_bytes: 0,
                has_fragment: false,
            }),
            None => self.entries.get(place - NAMES.len()).copied(),
        }
    }

    fn insert(&mut self, entry: Entry) {
        let bytes = entry.bytes();
        self.shrink(self.bytes_max.saturating_sub(bytes));
        if bytes <= self.bytes_max {
            self.bytes += bytes;
            self.entries.push_front(entry);
        }
    }

    /// Removes the oldest entries until at most `bytes_max` bytes are left.
    fn shrink(&mut self, bytes_max: usize) {
        while bytes_max < self.bytes
            && let Some(oldest) = self.entries.pop_back()
        {
            self.bytes -= oldest.bytes();
        }
    }

    /// Reads a string literal and decodes it if it is Huffman-coded.
    fn text<'a, 'b: 'a>(&'a mut self, block: &mut &'b [u8]) -> Option<&'a [u8]> {
        let is_coded = *block.first()? & 0x80 != 0;
        let length = number(block, 7)?;
        let (raw, rest) = block.split_at_checked(length)?;
        *block = rest;
        if !is_coded {
            return Some(raw);
        }
        decode(raw, &mut self.text)?;
        Some(&self.text)
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        self.name_bytes + self.value_bytes + ENTRY_BYTES
    }
}

fn name_of(name: &[u8]) -> Name {
    match name {
        b":path" => Name::Path,
        [b':', ..] => Name::OtherPseudo,
        _ => Name::Field,
    }
}

/// Reads an integer with a prefix of this many bits (RFC 7541 §5.1); `None` for more than anybody needs.
fn number(block: &mut &[u8], prefix: u32) -> Option<usize> {
    let mask = (1_usize << prefix) - 1;
    let (&first, mut rest) = block.split_first()?;
    let mut value = usize::from(first) & mask;
    if value == mask {
        for shift in [0, 7, 14, 21, 28] {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            value = value.checked_add((usize::from(byte) & 0x7f) << shift)?;
            if byte & 0x80 == 0 {
                *block = rest;
                return Some(value);
            }
        }
        return None;
    }
    *block = rest;
    Some(value)
}

/// Decodes a Huffman-coded string (RFC 7541 §5.2). The padding must be ones, fewer than eight bits.
fn decode(raw: &[u8], text: &mut Vec<u8>) -> Option<()> {
    text.clear();
    let mut code = 0_u32;
    let mut bits = 0_usize;
    for byte in raw {
        for place in (0..8).rev() {
            code = (code << 1) | u32::from(byte >> place & 1);
            bits += 1;
            if *BITS.end() < bits {
                return None;
            }
            if BITS.contains(&bits)
                && let Some(found) = CODES.byte(code, bits)
            {
                text.push(found);
                (code, bits) = (0, 0);
            }
        }
    }
    (bits < 8 && code == (1 << bits) - 1).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(raw: &[u8]) -> Option<String> {
        let mut text = Vec::new();
        decode(raw, &mut text)?;
        String::from_utf8(text).ok()
    }

    /// The examples of RFC 7541 appendix C.4 and C.6.
    #[test]
    fn huffman_strings_are_decoded() {
        for (raw, text) in [
            (
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..],
                "www.example.com",
            ),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f], "custom-key"),
            (&[0x64, 0x02], "302"),
            (&[], ""),
        ] {
            assert_eq!(decoded(raw).as_deref(), Some(text));
        }
        // Padding of eight bits, of zeros, and the code that ends a text.
        for raw in [&[0xff][..], &[0x64, 0x02, 0xff], &[0x00], &[0xff, 0xff, 0xff, 0xff]] {
            assert_eq!(decoded(raw), None, "{raw:x?}");
        }
    }

    /// The three requests of RFC 7541 appendix C.4, which build upon each other.
    #[test]
    fn header_blocks_share_a_dynamic_table() {
        let mut decoder = Decoder::new();
        let first = [
            0x82, 0x86, 0x84, 0x41, 0x8c, 0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4,
            0xff,
        ];
        let second = [0x82, 0x86, 0x84, 0xbe, 0x58, 0x86, 0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf];
        let third = [
            0x82, 0x87, 0x85, 0xbf, 0x40, 0x88, 0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f, 0x89, 0x25,
            0xa8, 0x49, 0xe9, 0x5b, 0xb8, 0xe8, 0xb4, 0xbf,
        ];
        let request = Some(HeaderBlock { has_pseudo: true, has_fragment: false });
        for (block, bytes) in [(&first[..], 57), (&second, 110), (&third, 164)] {
            assert_eq!((decoder.read(block), decoder.bytes), (request, bytes));
        }
    }

    #[test]
    fn a_fragment_is_found_in_every_representation() {
        // `:path` by its index, `/a#b`: plain, not kept; the same kept, then by its index.
        let mut decoder = Decoder::new();
        let found = |decoder: &mut Decoder, block: &[u8]| decoder.read(block).unwrap().has_fragment;
        assert!(found(&mut decoder, b"\x04\x04/a#b") && found(&mut decoder, b"\x14\x04/a#b"));
        assert!(!found(&mut decoder, b"\x44\x02/a"));
        assert!(
            found(&mut decoder, b"\x44\x04/a#b")
                && found(&mut decoder, b"\xbe")
                && !found(&mut decoder, b"\xbf")
        );
        // The name written out; and another field, which may have what it likes.
        assert!(found(&mut decoder, b"\x00\x05:path\x02/#") && !found(&mut decoder, b"\x00\x01x\x02/#"));
        // Coded: 011000 is the slash, 111111111010 the number sign, six ones are padding.
        assert!(found(&mut decoder, &[0x04, 0x83, 0x63, 0xfe, 0xbf]), "/#");
    }

    #[test]
    fn pseudo_fields_are_recognized() {
        let has_pseudo = |block: &[u8]| Decoder::new().read(block).map(|block| block.has_pseudo);
        assert_eq!(has_pseudo(b"\x00\x01x\x01y"), Some(false));
        assert_eq!(has_pseudo(b"\x90"), Some(false), "accept-encoding");
        for block in [&b"\x82"[..], b"\x88", b"\x00\x04:foo\x01y", b"\x01\x01h", b"\x00\x01x\x01y\x84"] {
            assert_eq!(has_pseudo(block), Some(true), "{block:x?}");
        }
    }

    #[test]
    fn the_dynamic_table_evicts_oldest_entries() {
        let mut decoder = Decoder::new();
        // 32 + 1 + 1 bytes each; a table of 70 bytes holds two.
        assert!(decoder.read(b"\x3f\x27\x40\x01a\x01b\x40\x01c\x01d\x40\x01e\x01f").is_some());
        assert_eq!((decoder.entries.len(), decoder.bytes), (2, 68));
        assert!(decoder.read(b"\xbf").is_some() && decoder.read(b"\x20").is_some());
        assert_eq!((decoder.entries.len(), decoder.bytes), (0, 0));
        for block in
            [&b"\xbe"[..], b"\x80", b"\x3f\xe2\x1f", b"\x44", b"\x44\x05/a", b"\xff\xff\xff\xff\xff\xff\xff"]
        {
            assert_eq!(Decoder::new().read(block), None, "{block:x?}");
        }
    }
}
