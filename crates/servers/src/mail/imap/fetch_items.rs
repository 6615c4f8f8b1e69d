//! The items that FETCH asks for (RFC 3501, 6.4.5), and sections of messages.

use std::ops::Range;

use super::head::head_fields;
use super::syntax::Cursor;
use crate::mail::store::MessageReader;

/// An item of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FetchItem {
    Uid,
    Flags,
    Size,
    InternalDate,
    Envelope,
    Body(BodyItem),
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyItem {
    section: BodySection,
    /// The offset and the length of the part of the section that is wanted.
    partial: Option<(u32, u32)>,
    /// Whether the message stays unread.
    is_peek: bool,
    /// The name by which an old form of the item is answered.
    old_name: Option<&'static str>,
}

/// A section of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BodySection {
    Whole,
    Head,
    Text,
    /// Fields with these names, or those without.
    Fields {
        names: Vec<String>,
        are_left_out: bool,
    },
}

/// The bytes of a section.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SectionBytes {
    /// Those of the message in this range.
    OfMessage(Range<u64>),
    Collected(Vec<u8>),
}

/// Items that have a name only.
const SIMPLE: [(&str, FetchItem); 5] = [
    ("UID", FetchItem::Uid),
    ("FLAGS", FetchItem::Flags),
    ("RFC822.SIZE", FetchItem::Size),
    ("INTERNALDATE", FetchItem::InternalDate),
    ("ENVELOPE", FetchItem::Envelope),
];

/// The old forms of sections: name, section, whether the message stays unread.
const OLD_FORMS: [(&str, BodySection, bool); 3] = [
    ("RFC822", BodySection::Whole, false),
    ("RFC822.HEADER", BodySection::Head, true),
    ("RFC822.TEXT", BodySection::Text, false),
];

impl FetchItem {
    /// Returns whether a message is read by it.
    pub(super) fn marks_seen(&self) -> bool {
        matches!(self, FetchItem::Body(body) if !body.is_peek)
    }

    /// Returns whether it needs the message itself.
    pub(super) fn needs_message(&self) -> bool {
        matches!(self, FetchItem::Envelope | FetchItem::Body(_))
    }
}

impl BodyItem {
    /// Returns the name in the answer: `BODY[]<0>`.
    pub(super) fn name(&self) -> String {
        if let Some(name) = self.old_name {
            return name.to_owned();
        }
        let section = match &self.section {
            BodySection::Whole => String::new(),
            BodySection::Head => "HEADER".to_owned(),
            BodySection::Text => "TEXT".to_owned(),
            BodySection::Fields { names, are_left_out } => {
                let not = if *are_left_out { ".NOT" } else { "" };
                format!("HEADER.FIELDS{not} ({})", names.join(" "))
            }
        };
        let origin = self.partial.map_or_else(String::new, |(offset, _)| format!("<{offset}>"));
        format!("BODY[{section}]{origin}")
    }

    /// Returns the bytes of a message.
    pub(super) fn bytes(&self, message: &MessageReader<'_>) -> SectionBytes {
        let section = match &self.section {
            BodySection::Whole => SectionBytes::OfMessage(0..message.bytes()),
            BodySection::Head => SectionBytes::OfMessage(0..message.head().len() as u64),
            BodySection::Text => SectionBytes::OfMessage(message.head().len() as u64..message.bytes()),
            BodySection::Fields { names, are_left_out } => {
                SectionBytes::Collected(collect_fields(&message.head(), names, *are_left_out))
            }
        };
        let Some((offset, length)) = self.partial else { return section };
        match section {
            SectionBytes::OfMessage(Range { start, end }) => {
                let start = start.saturating_add(offset.into()).min(end);
                SectionBytes::OfMessage(start..start.saturating_add(length.into()).min(end))
            }
            SectionBytes::Collected(bytes) => {
                let part = bytes.into_iter().skip(offset as usize).take(length as usize);
                SectionBytes::Collected(part.collect())
            }
        }
    }
}

impl SectionBytes {
    pub(super) fn len(&self) -> u64 {
        match self {
            SectionBytes::OfMessage(range) => range.end - range.start,
            SectionBytes::Collected(bytes) => bytes.len() as u64,
        }
    }
}

/// Reads what FETCH asks for.
pub(super) fn fetch_items(cursor: &mut Cursor<'_>) -> Option<Vec<FetchItem>> {
    if cursor.peek() == Some(b'(') {
        return cursor.list(item);
    }
    let mut macros = cursor.clone();
    let fast = [FetchItem::Flags, FetchItem::InternalDate, FetchItem::Size];
    let items = match macros.name()?.to_ascii_uppercase().as_str() {
        "FAST" => fast.to_vec(),
        "ALL" => [&fast[..], &[FetchItem::Envelope]].concat(),
        _ => return item(cursor).map(|item| vec![item]),
    };
    *cursor = macros;
    Some(items)
}

fn item(cursor: &mut Cursor<'_>) -> Option<FetchItem> {
    let name = cursor.name()?;
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if let Some((_, item)) = SIMPLE.into_iter().find(|(known, _)| is(known)) {
        return Some(item);
    }
    if let Some((known, section, is_peek)) = OLD_FORMS.into_iter().find(|(known, ..)| is(known)) {
        return Some(FetchItem::Body(BodyItem { section, partial: None, is_peek, old_name: Some(known) }));
    }
    let is_peek = is("BODY.PEEK");
    if !is_peek && !is("BODY") {
        return None;
    }
    cursor.expect("[")?;
    let section = section(cursor)?;
    cursor.expect("]")?;
    let partial = if cursor.take("<") { Some(partial(cursor)?) } else { None };
    Some(FetchItem::Body(BodyItem { section, partial, is_peek, old_name: None }))
}

fn section(cursor: &mut Cursor<'_>) -> Option<BodySection> {
    if cursor.peek() == Some(b']') {
        return Some(BodySection::Whole);
    }
    let are_left_out = match cursor.name()?.to_ascii_uppercase().as_str() {
        "HEADER" => return Some(BodySection::Head),
        "TEXT" => return Some(BodySection::Text),
        "HEADER.FIELDS" => false,
        "HEADER.FIELDS.NOT" => true,
        _ => return None,
    };
    cursor.blank()?;
    let names = cursor.list(|cursor| cursor.name().map(str::to_ascii_uppercase))?;
    Some(BodySection::Fields { names, are_left_out })
}

fn partial(cursor: &mut Cursor<'_>) -> Option<(u32, u32)> {
    let offset = cursor.number()?;
    cursor.expect(".")?;
    let length = cursor.number().filter(|length| 0 < *length)?;
    cursor.expect(">")?;
    Some((offset, length))
}

fn collect_fields(head: &[u8], names: &[String], are_left_out: bool) -> Vec<u8> {
    let is_wanted =
        |name: &[u8]| names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted.as_bytes())) != are_left_out;
    let mut bytes = Vec::new();
    head_fields(head).filter(|field| is_wanted(field.name)).for_each(|field| bytes.extend(field.bytes));
    bytes.extend_from_slice(b"\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::store::{StoredContent, StoredMessage};

    fn read(text: &str) -> Option<Vec<FetchItem>> {
        let mut cursor = Cursor::new(text.as_bytes());
        fetch_items(&mut cursor).filter(|_| cursor.is_at_end())
    }

    #[test]
    fn items_are_read_alone_in_lists_and_as_macros() {
        assert_eq!(read("uid"), Some(vec![FetchItem::Uid]));
        assert_eq!(read("(FLAGS RFC822.SIZE)"), Some(vec![FetchItem::Flags, FetchItem::Size]));
        assert_eq!(read("ALL").unwrap().len(), 4);
        assert_eq!(read("fast").unwrap().len(), 3);
        for text in [
            "",
            "()",
            "FULL",
            "BODY",
            "BODYSTRUCTURE",
            "BODY[1]",
            "BODY[]<0.0>",
            "BODY[]<0>",
            "BODY[HEADER.FIELDS ()]",
            "BODY[",
            "UID FLAGS",
            "(UID FLAGS",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    /// By hand: the head has 12 + 7 + 4 + 2 = 25 bytes, the text 6.
    #[test]
    fn sections_and_their_parts_have_their_bytes_and_names() {
        let text = b"Subject: s\r\nTo: a\r\nX:\r\n\r\nhello\n";
        let stored = StoredMessage::new(StoredContent::Bytes(text.as_slice().into()), None);
        let reader = stored.reader(None);
        for (item, name, expected) in [
            ("BODY[]", "BODY[]", &text[..]),
            ("BODY.PEEK[HEADER]", "BODY[HEADER]", &text[..25]),
            ("BODY[TEXT]", "BODY[TEXT]", b"hello\n"),
            ("RFC822.HEADER", "RFC822.HEADER", &text[..25]),
            ("BODY[TEXT]<1.3>", "BODY[TEXT]<1>", b"ell"),
            ("BODY[TEXT]<4.9>", "BODY[TEXT]<4>", b"o\n"),
            ("BODY[]<99.9>", "BODY[]<99>", b""),
            ("BODY.PEEK[HEADER.FIELDS (to x)]", "BODY[HEADER.FIELDS (TO X)]", b"To: a\r\nX:\r\n\r\n"),
            ("BODY.PEEK[HEADER.FIELDS.NOT (TO X)]<2.4>", "BODY[HEADER.FIELDS.NOT (TO X)]<2>", b"bjec"),
        ] {
            let items = read(item).unwrap();
            let [FetchItem::Body(body)] = &items[..] else { panic!("{item}") };
            let bytes = body.bytes(&reader);
            let found = match &bytes {
                SectionBytes::OfMessage(range) => text[range.start as usize..range.end as usize].to_vec(),
                SectionBytes::Collected(bytes) => bytes.clone(),
            };
            assert_eq!(
                (body.name().as_str(), &found[..], bytes.len()),
                (name, expected, expected.len() as u64)
            );
        }
    }

    #[test]
    fn reading_marks_and_peeking_does_not() {
        let marks = |text| read(text).unwrap().iter().any(FetchItem::marks_seen);
        assert_eq!(
            ["BODY[]", "BODY.PEEK[]", "RFC822", "RFC822.HEADER", "ENVELOPE"].map(marks),
            [true, false, true, false, false]
        );
    }
}
