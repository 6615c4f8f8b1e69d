//! The meaning of a line.

use super::error::ImapError;
use super::fetch::FetchResponse;
use super::number_set::{NumberSet, Numbers};
use super::value::{Cursor, Value, decimal, number};

/// The status in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImapStatus {
    /// Success; untagged, information.
    Ok,
    /// Failure; untagged, a warning.
    No,
    /// The command was not understood; untagged, an error of the protocol.
    Bad,
    /// The server ends the connection; only untagged.
    Bye,
    /// The session is open from the beginning; only in a greeting.
    PreAuth,
}

/// The code in a status response, which says more than the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImapCode<'a> {
    /// The validity of the UIDs of the mailbox.
    UidValidity(u32),
    /// The UID that the next message will have.
    UidNext(u32),
    /// The UIDs of appended messages.
    AppendUid {
        /// The validity of UIDs of the mailbox.
        validity: u32,
        /// The UIDs.
        uids: NumberSet<'a>,
    },
    /// The UIDs of copied messages.
    CopyUid {
        /// The validity of UIDs of the mailbox to which they were copied.
        validity: u32,
        /// The UIDs there.
        uids: NumberSet<'a>,
    },
    /// The capabilities of the server.
    Capability(&'a [u8]),
    /// The highest modification sequence of the mailbox.
    HighestModification(u64),
    /// Another, as it is written: `OVERQUOTA`, `TRYCREATE`.
    Other(&'a [u8]),
}

/// The answer to an extended search (RFC 4731).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExtendedSearch<'a> {
    /// The tag of the command.
    pub tag: Option<&'a [u8]>,
    /// Whether the numbers are UIDs.
    pub is_uid: bool,
    /// The least number.
    pub least: Option<u32>,
    /// The greatest number.
    pub most: Option<u32>,
    /// How many numbers were found.
    pub n: Option<u32>,
    /// All numbers.
    pub all: Option<NumberSet<'a>>,
}

/// The status of a mailbox that need not be selected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MailboxStatus<'a> {
    /// The name, as it was written.
    pub name: &'a [u8],
    /// The number of messages.
    pub messages: Option<u32>,
    /// The number of unread messages.
    pub unseen: Option<u32>,
    /// The UID that the next message will have.
    pub uid_next: Option<u32>,
    /// The validity of UIDs.
    pub uid_validity: Option<u32>,
}

/// A response of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImapResponse<'a> {
    /// The server awaits the rest of a command.
    Continuation(&'a [u8]),
    /// A command has ended.
    Tagged {
        /// The tag.
        tag: &'a [u8],
        /// The status: [`ImapStatus::Ok`], [`ImapStatus::No`] or [`ImapStatus::Bad`].
        status: ImapStatus,
        /// The code.
        code: Option<ImapCode<'a>>,
        /// The text for people.
        text: &'a [u8],
    },
    /// A status that ends no command.
    Status {
        /// The status.
        status: ImapStatus,
        /// The code.
        code: Option<ImapCode<'a>>,
        /// The text for people.
        text: &'a [u8],
    },
    /// The number of messages in the mailbox.
    Exists(u32),
    /// The number of messages that no session has seen.
    Recent(u32),
    /// The message of this number is gone.
    Expunge(u32),
    /// The messages with these UIDs are gone (RFC 7162).
    Vanished {
        /// Whether they were gone before the mailbox was selected.
        is_earlier: bool,
        /// The UIDs.
        uids: NumberSet<'a>,
    },
    /// A message.
    Fetch(FetchResponse<'a>),
    /// The numbers that a search has found, or sorted.
    Search(Numbers<'a>),
    /// The answer to an extended search.
    ExtendedSearch(ExtendedSearch<'a>),
    /// The capabilities of the server.
    Capability(&'a [u8]),
    /// The status of a mailbox.
    MailboxStatus(MailboxStatus<'a>),
    /// A mailbox, with attributes and name as they were written.
    List(&'a [u8]),
    /// Another response: its name, and what follows.
    Other {
        /// The name.
        name: &'a [u8],
        /// The rest of the line.
        rest: &'a [u8],
    },
}

/// The words of statuses.
const STATUSES: [(&str, ImapStatus); 5] = [
    ("OK", ImapStatus::Ok),
    ("NO", ImapStatus::No),
    ("BAD", ImapStatus::Bad),
    ("BYE", ImapStatus::Bye),
    ("PREAUTH", ImapStatus::PreAuth),
];

/// The most bytes of a tag that any command of ours has.
const TAG_MAX: usize = 32;

/// Returns whether a line is a status or a continuation, which have text for people and no literals.
pub(super) fn is_text_response(line: &[u8]) -> bool {
    if line.starts_with(b"+") {
        return true;
    }
    let mut cursor = Cursor::new(line);
    cursor.word();
    status(cursor.word()).is_some()
}

fn status(word: &[u8]) -> Option<ImapStatus> {
    let known = STATUSES.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
    known.map(|(_, status)| status)
}

/// Reads a line without its end.
pub(super) fn parse(line: &[u8]) -> Result<ImapResponse<'_>, ImapError> {
    if let Some(rest) = line.strip_prefix(b"+") {
        return Ok(ImapResponse::Continuation(rest.strip_prefix(b" ").unwrap_or(rest)));
    }
    let mut cursor = Cursor::new(line);
    let tag = cursor.word();
    if tag == b"*" {
        return untagged(&mut cursor);
    }
    if tag.is_empty() || TAG_MAX < tag.len() {
        return Err(ImapError::Malformed("a tag"));
    }
    let status = match status(cursor.word()) {
        Some(status @ (ImapStatus::Ok | ImapStatus::No | ImapStatus::Bad)) => status,
        _ => return Err(ImapError::Malformed("OK, NO or BAD behind a tag")),
    };
    let (code, text) = code_and_text(cursor.rest())?;
    Ok(ImapResponse::Tagged { tag, status, code, text })
}

fn untagged<'a>(cursor: &mut Cursor<'a>) -> Result<ImapResponse<'a>, ImapError> {
    let name = cursor.word();
    if name.first().is_some_and(u8::is_ascii_digit) {
        return numbered(number(name)?, cursor);
    }
    if let Some(status) = status(name) {
        let (code, text) = code_and_text(cursor.rest())?;
        return Ok(ImapResponse::Status { status, code, text });
    }
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    Ok(if is("SEARCH") || is("SORT") {
        ImapResponse::Search(Numbers::parse(cursor.rest())?)
    } else if is("ESEARCH") {
        ImapResponse::ExtendedSearch(extended_search(cursor)?)
    } else if is("CAPABILITY") {
        ImapResponse::Capability(cursor.rest())
    } else if is("STATUS") {
        ImapResponse::MailboxStatus(mailbox_status(cursor)?)
    } else if is("LIST") || is("LSUB") {
        ImapResponse::List(cursor.rest())
    } else if is("VANISHED") {
        vanished(cursor)?
    } else if name.is_empty() {
        return Err(ImapError::Malformed("the name of a response"));
    } else {
        ImapResponse::Other { name, rest: cursor.rest() }
    })
}

fn numbered<'a>(value: u32, cursor: &mut Cursor<'a>) -> Result<ImapResponse<'a>, ImapError> {
    let name = cursor.word();
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    Ok(if is("FETCH") {
        ImapResponse::Fetch(FetchResponse::parse(value, cursor)?)
    } else if is("EXISTS") {
        ImapResponse::Exists(value)
    } else if is("EXPUNGE") {
        ImapResponse::Expunge(value)
    } else if is("RECENT") {
        ImapResponse::Recent(value)
    } else {
        return Err(ImapError::Malformed("EXISTS, EXPUNGE, FETCH or RECENT behind a number"));
    })
}

fn vanished<'a>(cursor: &mut Cursor<'a>) -> Result<ImapResponse<'a>, ImapError> {
    let earlier = b"(EARLIER) ";
    let rest = cursor.rest();
    let is_earlier = rest.get(..earlier.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(earlier));
    let uids = NumberSet::read(if is_earlier { &rest[earlier.len()..] } else { rest })?;
    Ok(ImapResponse::Vanished { is_earlier, uids })
}

fn extended_search<'a>(cursor: &mut Cursor<'a>) -> Result<ExtendedSearch<'a>, ImapError> {
    let mut search = ExtendedSearch::default();
    if cursor.take(b'(') {
        if !cursor.word().eq_ignore_ascii_case(b"TAG") {
            return Err(ImapError::Malformed("the tag of a search"));
        }
        search.tag = match cursor.value()? {
            Value::Text(tag) | Value::Atom(tag) => Some(tag),
            _ => return Err(ImapError::Malformed("the tag of a search")),
        };
        cursor.expect(b')', "the end of the tag of a search")?;
        cursor.skip_blanks();
    }
    while !cursor.rest().is_empty() {
        let name = cursor.word();
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("UID") {
            search.is_uid = true;
        } else if is("MIN") {
            search.least = Some(number(cursor.word())?);
        } else if is("MAX") {
            search.most = Some(number(cursor.word())?);
        } else if is("COUNT") {
            search.n = Some(number(cursor.word())?);
        } else if is("ALL") {
            search.all = Some(NumberSet::read(cursor.word())?);
        } else {
            cursor.skip_value()?;
            cursor.skip_blanks();
        }
    }
    Ok(search)
}

fn mailbox_status<'a>(cursor: &mut Cursor<'a>) -> Result<MailboxStatus<'a>, ImapError> {
    let name = match cursor.value()? {
        Value::Text(name) | Value::Atom(name) => name,
        _ => return Err(ImapError::Malformed("the name of a mailbox")),
    };
    let mut status = MailboxStatus { name, ..MailboxStatus::default() };
    cursor.skip_blanks();
    cursor.expect(b'(', "a list of figures")?;
    loop {
        cursor.skip_blanks();
        let name = match cursor.value()? {
            Value::Close => return Ok(status),
            Value::Atom(name) => name,
            _ => return Err(ImapError::Malformed("the name of a figure")),
        };
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let slot = if is("MESSAGES") {
            &mut status.messages
        } else if is("UNSEEN") {
            &mut status.unseen
        } else if is("UIDNEXT") {
            &mut status.uid_next
        } else if is("UIDVALIDITY") {
            &mut status.uid_validity
        } else {
            cursor.skip_value()?;
            continue;
        };
        cursor.skip_blanks();
        *slot = match cursor.value()? {
            Value::Atom(value) => Some(number(value)?),
            _ => return Err(ImapError::Malformed("a number")),
        };
    }
}

/// Reads what follows a status: a code in brackets, if there is one, and text.
fn code_and_text(rest: &[u8]) -> Result<(Option<ImapCode<'_>>, &[u8]), ImapError> {
    let Some(inner) = rest.strip_prefix(b"[") else { return Ok((None, rest)) };
    let end = inner.iter().position(|byte| *byte == b']').ok_or(ImapError::Malformed("the end of a code"))?;
    let text = &inner[end + 1..];
    Ok((Some(code(&inner[..end])?), text.strip_prefix(b" ").unwrap_or(text)))
}

fn code(text: &[u8]) -> Result<ImapCode<'_>, ImapError> {
    let mut cursor = Cursor::new(text);
    let name = cursor.word();
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    Ok(if is("UIDVALIDITY") {
        ImapCode::UidValidity(number(cursor.rest())?)
    } else if is("UIDNEXT") {
        ImapCode::UidNext(number(cursor.rest())?)
    } else if is("HIGHESTMODSEQ") {
        ImapCode::HighestModification(decimal(cursor.rest())?)
    } else if is("APPENDUID") {
        let validity = number(cursor.word())?;
        ImapCode::AppendUid { validity, uids: NumberSet::read(cursor.word())? }
    } else if is("COPYUID") {
        let validity = number(cursor.word())?;
        NumberSet::read(cursor.word())?;
        ImapCode::CopyUid { validity, uids: NumberSet::read(cursor.word())? }
    } else if is("CAPABILITY") {
        ImapCode::Capability(cursor.rest())
    } else {
        ImapCode::Other(text)
    })
}
