//! Searches (RFC 3501, 6.4.4; RFC 4731).

use std::cell::OnceCell;

use mail::MailMessages;

use super::head::head_fields;
use super::syntax::{Cursor, SequenceSet};
use crate::mail::store::{MailFlags, MailboxEntry, day_of, days_since_1970};

/// The most keys within each other.
const DEPTH_MAX: usize = 16;

/// A search.
#[derive(Debug, PartialEq)]
pub(super) struct SearchRequest {
    /// Whether UIDs are returned.
    pub(super) is_uid: bool,
    /// What an extended search returns; `None` for all numbers in the simple form.
    pub(super) returns: Option<Vec<SearchReturn>>,
    key: SearchKey,
}

/// A result of an extended search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchReturn {
    Least,
    Greatest,
    All,
    Number,
}

/// A condition.
#[derive(Debug, PartialEq)]
enum SearchKey {
    All,
    /// The message has a flag, or has it not.
    Flag(MailFlags, bool),
    Keyword(String, bool),
    Recent(bool),
    /// The message is recent and unread.
    New,
    Numbers(SequenceSet),
    Uids(SequenceSet),
    /// A field of this name contains a text.
    Field(String, Vec<u8>),
    Larger(u32),
    Smaller(u32),
    /// The message came on a day from one to before another, as days since the beginning of 1970.
    Days(i64, i64),
    Not(Box<SearchKey>),
    Or(Box<SearchKey>, Box<SearchKey>),
    And(Vec<SearchKey>),
}

/// A message that may be found.
pub(super) struct Candidate<'a> {
    /// Its number in the mailbox.
    pub(super) number: u32,
    pub(super) entry: &'a MailboxEntry,
    pub(super) is_recent: bool,
    /// Its fields, once they are needed.
    head: OnceCell<Vec<u8>>,
}

/// The mailbox that is searched.
pub(super) struct SearchContext<'a> {
    pub(super) keywords: &'a [Box<str>],
    /// The number and the UID of the last message.
    pub(super) last_number: u32,
    pub(super) last_uid: u32,
    pub(super) messages: Option<&'a MailMessages>,
}

/// Keys without arguments.
const SIMPLE: [(&str, SearchKey); 14] = [
    ("ALL", SearchKey::All),
    ("SEEN", SearchKey::Flag(MailFlags::SEEN, true)),
    ("UNSEEN", SearchKey::Flag(MailFlags::SEEN, false)),
    ("ANSWERED", SearchKey::Flag(MailFlags::ANSWERED, true)),
    ("UNANSWERED", SearchKey::Flag(MailFlags::ANSWERED, false)),
    ("FLAGGED", SearchKey::Flag(MailFlags::FLAGGED, true)),
    ("UNFLAGGED", SearchKey::Flag(MailFlags::FLAGGED, false)),
    ("DELETED", SearchKey::Flag(MailFlags::DELETED, true)),
    ("UNDELETED", SearchKey::Flag(MailFlags::DELETED, false)),
    ("DRAFT", SearchKey::Flag(MailFlags::DRAFT, true)),
    ("UNDRAFT", SearchKey::Flag(MailFlags::DRAFT, false)),
    ("RECENT", SearchKey::Recent(true)),
    ("OLD", SearchKey::Recent(false)),
    ("NEW", SearchKey::New),
];

/// Keys that look into a field of their own name.
const FIELDS: [&str; 5] = ["SUBJECT", "FROM", "TO", "CC", "BCC"];

/// The names of results.
const RETURNS: [(&str, SearchReturn); 4] = [
    ("MIN", SearchReturn::Least),
    ("MAX", SearchReturn::Greatest),
    ("ALL", SearchReturn::All),
    ("COUNT", SearchReturn::Number),
];

/// Reads what follows the name of the command.
pub(super) fn search_request(cursor: &mut Cursor<'_>, is_uid: bool) -> Option<SearchRequest> {
    cursor.blank()?;
    let returns = if cursor.take("RETURN ") { Some(returns(cursor)?) } else { None };
    if cursor.take("CHARSET ") {
        let charset = cursor.text()?;
        let is_known = [&b"US-ASCII"[..], b"UTF-8"].iter().any(|known| charset.eq_ignore_ascii_case(known));
        cursor.blank().filter(|()| is_known)?;
    }
    let mut keys = vec![key(cursor, 0)?];
    while cursor.take(" ") {
        keys.push(key(cursor, 0)?);
    }
    Some(SearchRequest { is_uid, returns, key: SearchKey::And(keys) })
}

/// Reads the results that are wanted, with the blank behind them; all numbers if none is named.
fn returns(cursor: &mut Cursor<'_>) -> Option<Vec<SearchReturn>> {
    let named = |cursor: &mut Cursor<'_>| {
        let name = cursor.name()?;
        RETURNS.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, wanted)| wanted)
    };
    let wanted = if cursor.take("()") { vec![SearchReturn::All] } else { cursor.list(named)? };
    cursor.blank()?;
    Some(wanted)
}

fn key(cursor: &mut Cursor<'_>, depth: usize) -> Option<SearchKey> {
    if DEPTH_MAX <= depth {
        return None;
    }
    match cursor.peek()? {
        b'(' => return cursor.list(|cursor| key(cursor, depth + 1)).map(SearchKey::And),
        b'0'..=b'9' | b'*' => return cursor.sequence_set().map(SearchKey::Numbers),
        _ => {}
    }
    let name = cursor.name()?.to_ascii_uppercase();
    if let Some((_, key)) = SIMPLE.into_iter().find(|(known, _)| *known == name) {
        return Some(key);
    }
    cursor.blank()?;
    if FIELDS.contains(&name.as_str()) {
        return Some(SearchKey::Field(name, cursor.text()?.into_owned()));
    }
    Some(match name.as_str() {
        "NOT" => SearchKey::Not(Box::new(key(cursor, depth + 1)?)),
        "OR" => {
            let one = key(cursor, depth + 1)?;
            cursor.blank()?;
            SearchKey::Or(Box::new(one), Box::new(key(cursor, depth + 1)?))
        }
        "HEADER" => {
            let field = String::from_utf8(cursor.text()?.into_owned()).ok()?;
            cursor.blank()?;
            SearchKey::Field(field, cursor.text()?.into_owned())
        }
        "UID" => SearchKey::Uids(cursor.sequence_set()?),
        "KEYWORD" => SearchKey::Keyword(cursor.atom()?.to_owned(), true),
        "UNKEYWORD" => SearchKey::Keyword(cursor.atom()?.to_owned(), false),
        "LARGER" => SearchKey::Larger(cursor.number()?),
        "SMALLER" => SearchKey::Smaller(cursor.number()?),
        "SINCE" => SearchKey::Days(day(cursor)?, i64::MAX),
        "BEFORE" => SearchKey::Days(i64::MIN, day(cursor)?),
        "ON" => {
            let day = day(cursor)?;
            SearchKey::Days(day, day + 1)
        }
        _ => return None,
    })
}

fn day(cursor: &mut Cursor<'_>) -> Option<i64> {
    days_since_1970(std::str::from_utf8(&cursor.text()?).ok()?)
}

impl SearchRequest {
    /// Returns whether a message is found.
    pub(super) fn finds(&self, candidate: &Candidate<'_>, context: &SearchContext<'_>) -> bool {
        self.key.holds(candidate, context)
    }
}

impl SearchKey {
    fn holds(&self, candidate: &Candidate<'_>, context: &SearchContext<'_>) -> bool {
        let entry = candidate.entry;
        match self {
            SearchKey::All => true,
            SearchKey::Flag(flag, is_set) => entry.flags.has(*flag) == *is_set,
            SearchKey::Keyword(name, is_set) => has_keyword(entry.flags, name, context.keywords) == *is_set,
            SearchKey::Recent(is_recent) => candidate.is_recent == *is_recent,
            SearchKey::New => candidate.is_recent && !entry.flags.has(MailFlags::SEEN),
            SearchKey::Numbers(set) => is_in(candidate.number, set, context.last_number),
            SearchKey::Uids(set) => is_in(entry.uid, set, context.last_uid),
            SearchKey::Field(name, text) => has_field(candidate.head(context), name, text),
            SearchKey::Larger(bytes) => u64::from(*bytes) < entry.message.bytes(),
            SearchKey::Smaller(bytes) => entry.message.bytes() < u64::from(*bytes),
            SearchKey::Days(from, to) => day_of(entry.date).is_some_and(|day| (*from..*to).contains(&day)),
            SearchKey::Not(key) => !key.holds(candidate, context),
            SearchKey::Or(one, other) => one.holds(candidate, context) || other.holds(candidate, context),
            SearchKey::And(keys) => keys.iter().all(|key| key.holds(candidate, context)),
        }
    }
}

impl<'a> Candidate<'a> {
    pub(super) fn new(number: u32, entry: &'a MailboxEntry, is_recent: bool) -> Candidate<'a> {
        Candidate { number, entry, is_recent, head: OnceCell::new() }
    }

    fn head(&self, context: &SearchContext<'_>) -> &[u8] {
        self.head.get_or_init(|| self.entry.message.reader(context.messages).head())
    }
}

fn has_keyword(flags: MailFlags, name: &str, keywords: &[Box<str>]) -> bool {
    let index = keywords.iter().position(|keyword| keyword.eq_ignore_ascii_case(name));
    index.is_some_and(|index| flags.has(MailFlags::keyword(index)))
}

fn is_in(number: u32, set: &SequenceSet, last: u32) -> bool {
    set.ranges(last).any(|(first, last)| (first..=last).contains(&number))
}

/// Returns whether a field of this name contains a text, whatever its case.
fn has_field(head: &[u8], name: &str, text: &[u8]) -> bool {
    let contains = |value: &[u8]| {
        text.is_empty() || value.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
    };
    head_fields(head).any(|field| field.is(name) && contains(&field.text()))
}

/// Writes ascending numbers as ranges: `1:5,7`.
pub(super) fn write_ranges(numbers: &[u32]) -> String {
    let mut text = String::new();
    for range in numbers.chunk_by(|one, next| *one + 1 == *next) {
        let comma = if text.is_empty() { "" } else { "," };
        match range {
            [one] => text.push_str(&format!("{comma}{one}")),
            [first, .., last] => text.push_str(&format!("{comma}{first}:{last}")),
            [] => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mail::MailDate;

    use super::*;
    use crate::mail::store::{StoredContent, StoredMessage};

    /// Three messages: the second is read, has a keyword, and is recent; each longer than the one before; on three days.
    fn entries() -> Vec<MailboxEntry> {
        let entry = |index: u32| {
            let text = format!("Subject: number {index}\r\nTo: u\r\n\r\n{}", "x".repeat(10 * index as usize));
            let content = StoredContent::Bytes(text.into_bytes().into());
            let flags = MailFlags::SEEN.with(MailFlags::keyword(0));
            MailboxEntry {
                uid: 10 * index,
                flags: if index == 2 { flags } else { MailFlags::default() },
                modification: 0,
                date: MailDate::from_unix_seconds(86_400 * u64::from(index)),
                message: Arc::new(StoredMessage::new(content, None)),
            }
        };
        (1..=3).map(entry).collect()
    }

    fn find(text: &str) -> Option<Vec<u32>> {
        let line = format!(" {text}");
        let mut cursor = Cursor::new(line.as_bytes());
        let request = search_request(&mut cursor, false).filter(|_| cursor.is_at_end())?;
        let keywords = ["$Label1".into()];
        let context = SearchContext { keywords: &keywords, last_number: 3, last_uid: 30, messages: None };
        let entries = entries();
        let candidates =
            (1..).zip(&entries).map(|(number, entry)| Candidate::new(number, entry, number == 2));
        let found = candidates.filter(|candidate| request.finds(candidate, &context));
        Some(found.map(|candidate| candidate.number).collect())
    }

    /// The messages have 19 + 7 + 2 = 28 bytes and 10, 20 or 30 more.
    #[test]
    fn messages_are_found_by_each_key() {
        for (text, found) in [
            ("ALL", vec![1, 2, 3]),
            ("unseen", vec![1, 3]),
            ("SEEN RECENT", vec![2]),
            ("NEW", vec![]),
            ("OLD", vec![1, 3]),
            ("KEYWORD $label1", vec![2]),
            ("UNKEYWORD $Label1", vec![1, 3]),
            ("KEYWORD other", vec![]),
            ("2:*", vec![2, 3]),
            ("UID 10,25:*", vec![1, 3]),
            ("SUBJECT \"NUMBER 3\"", vec![3]),
            ("HEADER To \"\"", vec![1, 2, 3]),
            ("HEADER Message-ID x", vec![]),
            ("LARGER 38", vec![2, 3]),
            ("SMALLER 48", vec![1]),
            ("SINCE 3-Jan-1970", vec![2, 3]),
            ("BEFORE 3-Jan-1970", vec![1]),
            ("ON 4-Jan-1970", vec![3]),
            ("NOT 2", vec![1, 3]),
            ("OR 1 (SEEN 2:3)", vec![1, 2]),
            ("RETURN (MIN COUNT) CHARSET utf-8 NOT NOT 1", vec![1]),
            ("RETURN () 1", vec![1]),
        ] {
            assert_eq!(find(text), Some(found), "{text}");
        }
    }

    #[test]
    fn what_is_no_search_is_refused() {
        let deep = format!("{}1", "NOT ".repeat(17));
        for text in [
            "",
            "FOO",
            "BODY x",
            "OR 1",
            "NOT",
            "SINCE yesterday",
            "CHARSET latin1 ALL",
            "RETURN (SAVE) ALL",
            "RETURN (ALL)ALL",
            "(ALL",
            "()",
            deep.as_str(),
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(write_ranges(&[1, 2, 3, 5, 7, 8]), "1:3,5,7:8");
        assert_eq!(write_ranges(&[u32::MAX]), u32::MAX.to_string());
        assert_eq!(write_ranges(&[]), "");
    }
}
