//! Messages of the server in the bytes that arrive: a letter or digit, the length of the rest, and the content, with
//! numbers in network order.
//!
//! Source: the documentation of PostgreSQL 15, "Message Formats".

use postgres_types::Oid;

use crate::database::connection::MESSAGE_BYTES_MAX;
use crate::database::failure::{OTHER_BYTES, SqlFailure};
use crate::database::transaction::{ReplyKind, TransactionState};

/// The bytes before the content: the kind, and the length with that of the length itself.
const HEAD_BYTES: usize = 5;

/// The longest row that is counted only, and not kept. PostgreSQL makes no message of 1 GiB or more.
pub(super) const COUNTED_LENGTH_MAX: usize = 1 << 30;

/// The longest message that is read in a session and kept.
pub(super) const LENGTH_MAX: usize = MESSAGE_BYTES_MAX;

/// The longest one that is read before, when the server has not proved yet that it is one.
pub(super) const LOGIN_LENGTH_MAX: usize = 1 << 16;

/// The failure of a server that sends something else.
pub(super) const MALFORMED: SqlFailure = SqlFailure::malformed(OTHER_BYTES);

/// A message of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerMessage<'a> {
    /// Its letter or digit.
    pub(super) kind: u8,
    pub(super) content: &'a [u8],
}

impl ServerMessage<'_> {
    /// Returns the length of the whole message, in bytes.
    pub(super) fn length(&self) -> usize {
        HEAD_BYTES + self.content.len()
    }
}

/// Returns the message at the beginning of the bytes; `None` if it is not complete.
///
/// # Errors
/// It is longer than `length_max`, or shorter than any.
pub(super) fn first_message(
    bytes: &[u8],
    length_max: usize,
) -> Result<Option<ServerMessage<'_>>, SqlFailure> {
    let Some((kind, length, rest)) = first_head(bytes) else { return Ok(None) };
    if !(4..=length_max).contains(&length) {
        return Err(MALFORMED);
    }
    Ok(rest.get(..length - 4).map(|content| ServerMessage { kind, content }))
}

/// Returns the kind and the stated length of the message at the beginning of the bytes, and what has arrived behind them;
/// `None` if they have not arrived.
pub(super) fn first_head(bytes: &[u8]) -> Option<(u8, usize, &[u8])> {
    let (&[kind, a, b, c, d], rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
    Some((kind, u32::from_be_bytes([a, b, c, d]) as usize, rest))
}

/// Returns the state of the transaction by the message that says that the server is ready.
///
/// # Errors
/// It says something else.
pub(super) fn transaction_state(content: &[u8]) -> Result<TransactionState, SqlFailure> {
    match content {
        b"I" => Ok(TransactionState::None),
        b"T" => Ok(TransactionState::Open),
        b"E" => Ok(TransactionState::Failed),
        _ => Err(MALFORMED),
    }
}

/// Returns the kind of a reply by the tag of its command.
pub(super) fn kind_of_tag(content: &[u8]) -> ReplyKind {
    match content {
        b"COMMIT\0" => ReplyKind::Commit,
        b"ROLLBACK\0" => ReplyKind::Rollback,
        _ => ReplyKind::Other,
    }
}

/// The content of a message, from left to right.
#[derive(Debug)]
pub(super) struct Content<'a>(pub(super) &'a [u8]);

impl<'a> Content<'a> {
    /// Returns so many bytes.
    pub(super) fn bytes(&mut self, n: usize) -> Result<&'a [u8], SqlFailure> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(MALFORMED)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SqlFailure> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(MALFORMED)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Returns a letter or digit.
    pub(super) fn byte(&mut self) -> Result<u8, SqlFailure> {
        self.array().map(|[byte]| byte)
    }

    /// Returns a number of columns, parameters or values.
    pub(super) fn count(&mut self) -> Result<usize, SqlFailure> {
        self.array().map(|bytes| u16::from_be_bytes(bytes).into())
    }

    /// Returns a number of 32 bits.
    pub(super) fn int4(&mut self) -> Result<i32, SqlFailure> {
        self.array().map(i32::from_be_bytes)
    }

    /// Returns the identifier of a type.
    fn oid(&mut self) -> Result<Oid, SqlFailure> {
        self.array().map(u32::from_be_bytes)
    }

    /// Returns a text, which a zero ends; what is not UTF-8 is replaced.
    pub(super) fn text(&mut self) -> Result<String, SqlFailure> {
        let length = self.0.iter().position(|byte| *byte == 0).ok_or(MALFORMED)?;
        let text = String::from_utf8_lossy(self.bytes(length)?).into_owned();
        self.bytes(1)?;
        Ok(text)
    }

    /// Checks that nothing is left.
    pub(super) fn end(&self) -> Result<(), SqlFailure> {
        if self.0.is_empty() { Ok(()) } else { Err(MALFORMED) }
    }
}

/// Returns the types of the parameters of a statement.
pub(super) fn parameter_types(content: &[u8]) -> Result<Vec<Oid>, SqlFailure> {
    let mut content = Content(content);
    let types = (0..content.count()?).map(|_| content.oid()).collect::<Result<_, _>>()?;
    content.end()?;
    Ok(types)
}

/// The description of a column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Oid,
}

/// Returns the columns of a result.
pub(super) fn columns(content: &[u8]) -> Result<Vec<Column>, SqlFailure> {
    let mut content = Content(content);
    let n_columns = content.count()?;
    let column = |content: &mut Content<'_>| -> Result<Column, SqlFailure> {
        let name = content.text()?;
        // The number of its table and its own in that, before the type; length, modifier and format behind it.
        content.bytes(6)?;
        let kind = content.oid()?;
        content.bytes(8)?;
        Ok(Column { name, kind })
    };
    let columns = (0..n_columns).map(|_| column(&mut content)).collect::<Result<_, _>>()?;
    content.end()?;
    Ok(columns)
}

/// Returns the number at the end of a statement's tag, `INSERT 0 5`; 0 of one that has none.
pub(super) fn n_rows_of_tag(content: &[u8]) -> u64 {
    let tag = content.strip_suffix(&[0]).unwrap_or(content);
    let last = tag.rsplit(|byte| *byte == b' ').next();
    last.and_then(|last| std::str::from_utf8(last).ok()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_when_they_are_complete() {
        let bytes = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
        for end in 0..14 {
            assert_eq!(first_message(&bytes[..end], LENGTH_MAX), Ok(None), "{end}");
        }
        let message = first_message(bytes, LENGTH_MAX).unwrap().unwrap();
        assert_eq!((message.kind, message.content, message.length()), (b'C', &b"SELECT 1\0"[..], 14));
        let message = first_message(&bytes[14..], LENGTH_MAX).unwrap().unwrap();
        assert_eq!((message.kind, message.content), (b'Z', &b"I"[..]));
    }

    #[test]
    fn lengths_that_no_message_has_are_refused() {
        for bytes in [b"Z\0\0\0\x03", b"Z\x40\0\0\x01", b"Z\xff\xff\xff\xff"] {
            assert_eq!(first_message(bytes, LENGTH_MAX), Err(MALFORMED), "{bytes:?}");
        }
        assert_eq!(first_message(b"Z\x04\0\0\0", LENGTH_MAX), Ok(None), "the rest may come");
        assert_eq!(first_message(b"Z\x04\0\0\x01", LENGTH_MAX), Err(MALFORMED), "more than 64 MiB");
        assert_eq!(first_message(b"R\0\x01\0\x01", LOGIN_LENGTH_MAX), Err(MALFORMED));
    }

    #[test]
    fn tags_end_with_a_number_of_rows_or_without() {
        for (tag, expected) in
            [("INSERT 0 5\0", 5), ("UPDATE 12\0", 12), ("COMMIT\0", 0), ("", 0), ("COPY x\0", 0)]
        {
            assert_eq!(n_rows_of_tag(tag.as_bytes()), expected, "{tag}");
        }
    }

    #[test]
    fn the_state_of_the_transaction_is_one_letter() {
        for (content, expected) in [
            (&b"I"[..], Ok(TransactionState::None)),
            (b"T", Ok(TransactionState::Open)),
            (b"E", Ok(TransactionState::Failed)),
            (b"", Err(MALFORMED)),
            (b"X", Err(MALFORMED)),
            (b"II", Err(MALFORMED)),
        ] {
            assert_eq!(transaction_state(content), expected, "{content:?}");
        }
        let kinds = [&b"COMMIT\0"[..], b"ROLLBACK\0", b"COMMIT", b"UPDATE 1\0"].map(kind_of_tag);
        assert_eq!(kinds, [ReplyKind::Commit, ReplyKind::Rollback, ReplyKind::Other, ReplyKind::Other]);
    }

    /// Two columns as the documentation describes them: an `int4` and a `text`.
    const COLUMNS: &[u8] = b"\0\x02id\0\0\0\0\x09\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0\
        name\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";

    #[test]
    fn descriptions_have_names_and_types() {
        let found = columns(COLUMNS).unwrap();
        assert_eq!(found[0], Column { name: "id".to_owned(), kind: 23 });
        assert_eq!(found[1], Column { name: "name".to_owned(), kind: 25 });
        assert_eq!(parameter_types(b"\0\x02\0\0\0\x17\0\0\0\x19"), Ok(vec![23, 25]));
    }

    #[test]
    fn descriptions_of_other_lengths_are_refused() {
        for end in 0..COLUMNS.len() {
            assert_eq!(columns(&COLUMNS[..end]), Err(MALFORMED), "{end}");
        }
        assert_eq!(columns(&[COLUMNS, b"x"].concat()), Err(MALFORMED));
        for content in [&b"\0"[..], b"\0\x01\0\0\0", b"\0\x01\0\0\0\x17x"] {
            assert_eq!(parameter_types(content), Err(MALFORMED), "{content:?}");
        }
    }
}
