//! FETCH responses: what a server says of a message.

use super::error::ImapError;
use super::value::{Cursor, Value, decimal, number};

/// The flags of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageFlags {
    /// `\Seen`
    pub seen: bool,
    /// `\Answered`
    pub answered: bool,
    /// `\Flagged`
    pub flagged: bool,
    /// `\Deleted`
    pub deleted: bool,
    /// `\Draft`
    pub draft: bool,
    /// `\Recent`
    pub recent: bool,
    /// The number of others.
    pub n_keywords: u16,
}

/// The body of a message in a FETCH response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchBody<'a> {
    /// It has passed through, with so many bytes.
    Passed(u64),
    /// It was quoted, and is here as it was written, with backslashes.
    Quoted(&'a [u8]),
    /// There is none.
    Nil,
}

/// A FETCH response. Of items that it has twice, the last is here, but all bodies have passed through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FetchResponse<'a> {
    /// The number of the message in the mailbox, from 1.
    pub number: u32,
    /// The number that it keeps.
    pub uid: Option<u32>,
    /// The flags.
    pub flags: Option<MessageFlags>,
    /// The size, in bytes.
    pub size: Option<u64>,
    /// The modification sequence (RFC 7162).
    pub modification: Option<u64>,
    /// The Message-ID of its envelope, as it was written.
    pub message_id: Option<&'a [u8]>,
    /// The subject of its envelope, as it was written.
    pub subject: Option<&'a [u8]>,
    /// Whether there was an envelope.
    pub has_envelope: bool,
    /// The body, or the part of it that was asked for.
    pub body: Option<FetchBody<'a>>,
}

/// The values of an envelope between its subject and its Message-ID: from, sender, reply-to, to, cc, bcc, in-reply-to.
const SKIPPED: usize = 7;

impl<'a> FetchResponse<'a> {
    /// Reads what follows the word FETCH.
    pub(super) fn parse(message: u32, cursor: &mut Cursor<'a>) -> Result<FetchResponse<'a>, ImapError> {
        let mut fetch = FetchResponse { number: message, ..FetchResponse::default() };
        cursor.expect(b'(', "a list of items")?;
        loop {
            cursor.skip_blanks();
            if cursor.take(b')') {
                break;
            }
            let name = cursor.item_name();
            cursor.expect(b' ', "a blank behind the name of an item")?;
            fetch.take_item(name, cursor)?;
        }
        if cursor.rest().is_empty() { Ok(fetch) } else { Err(ImapError::Malformed("the end of the line")) }
    }

    fn take_item(&mut self, name: &[u8], cursor: &mut Cursor<'a>) -> Result<(), ImapError> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("UID") {
            let uid = number(atom(cursor)?)?;
            if uid == 0 {
                return Err(ImapError::Malformed("a UID above 0"));
            }
            self.uid = Some(uid);
        } else if is("RFC822.SIZE") {
            self.size = Some(decimal(atom(cursor)?)?);
        } else if is("FLAGS") {
            self.flags = Some(flags(cursor)?);
        } else if is("MODSEQ") {
            cursor.expect(b'(', "a list")?;
            self.modification = Some(decimal(atom(cursor)?)?);
            cursor.expect(b')', "the end of a list")?;
        } else if is("ENVELOPE") {
            self.take_envelope(cursor)?;
        } else if is_body(name) {
            self.body = Some(body(cursor)?);
        } else if name.is_empty() {
            return Err(ImapError::Malformed("the name of an item"));
        } else {
            cursor.skip_value()?;
        }
        Ok(())
    }

    fn take_envelope(&mut self, cursor: &mut Cursor<'a>) -> Result<(), ImapError> {
        cursor.expect(b'(', "an envelope")?;
        cursor.skip_value()?;
        cursor.skip_blanks();
        self.subject = cursor.text_or_nil()?;
        for _ in 0..SKIPPED {
            cursor.skip_value()?;
        }
        cursor.skip_blanks();
        self.message_id = cursor.text_or_nil()?;
        self.has_envelope = true;
        cursor.expect(b')', "the end of an envelope")
    }
}

/// Returns whether an item is a body or a part of one.
fn is_body(name: &[u8]) -> bool {
    let begins = |start: &str| {
        name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    };
    begins("BODY[") || begins("BINARY[") || begins("RFC822")
}

fn body<'a>(cursor: &mut Cursor<'a>) -> Result<FetchBody<'a>, ImapError> {
    match cursor.value()? {
        Value::Body(bytes) => Ok(FetchBody::Passed(bytes)),
        Value::Text(text) => Ok(FetchBody::Quoted(text)),
        Value::Atom(atom) if atom.eq_ignore_ascii_case(b"NIL") => Ok(FetchBody::Nil),
        _ => Err(ImapError::Malformed("a body")),
    }
}

fn atom<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], ImapError> {
    match cursor.value()? {
        Value::Atom(atom) => Ok(atom),
        _ => Err(ImapError::Malformed("a number")),
    }
}

fn flags(cursor: &mut Cursor) -> Result<MessageFlags, ImapError> {
    cursor.expect(b'(', "a list of flags")?;
    let mut flags = MessageFlags::default();
    loop {
        cursor.skip_blanks();
        let flag = match cursor.value()? {
            Value::Close => return Ok(flags),
            Value::Atom(flag) => flag,
            _ => return Err(ImapError::Malformed("a flag")),
        };
        let known = [
            ("\\Seen", &mut flags.seen),
            ("\\Answered", &mut flags.answered),
            ("\\Flagged", &mut flags.flagged),
            ("\\Deleted", &mut flags.deleted),
            ("\\Draft", &mut flags.draft),
            ("\\Recent", &mut flags.recent),
        ];
        match known.into_iter().find(|(name, _)| flag.eq_ignore_ascii_case(name.as_bytes())) {
            Some((_, is_set)) => *is_set = true,
            None => flags.n_keywords = flags.n_keywords.saturating_add(1),
        }
    }
}
