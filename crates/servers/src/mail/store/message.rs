//! Messages as they are stored: those of a run by their identities, others byte by byte.

use std::fmt;

use mail::{MailDate, MailMessages, Message, MessageIdentity};

/// The bytes that a message is charged beside its own: its entry in a mailbox, and what the allocator needs.
const ENTRY_BYTES: u64 = 128;

/// The bytes of fields that are made at a time.
const HEAD_PIECE: usize = 1024;

/// The most bytes of fields that are read as such.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A message that mailboxes share. It does not change.
#[derive(Debug)]
pub(crate) struct StoredMessage {
    trace: Option<Trace>,
    content: StoredContent,
    bytes: u64,
}

/// The bytes of a message as they came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoredContent {
    /// Those of a message of the run, which are made again from its identity, and their number.
    Identity(MessageIdentity, u64),
    /// Any.
    Bytes(Box<[u8]>),
}

/// The fields that the server puts before a message that it delivers (RFC 5321, 4.4).
#[derive(Debug)]
pub(crate) struct Trace {
    /// The address of the sender, which may be empty.
    pub(crate) sender: Box<str>,
    /// The protocol by which the message came.
    pub(crate) protocol: &'static str,
    /// The date at which it came.
    pub(crate) date: MailDate,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trace { sender, protocol, date } = self;
        write!(f, "Return-Path: <{sender}>\r\nReceived: by plimsoll.invalid with {protocol}; {date}\r\n")
    }
}

impl StoredMessage {
    /// Makes a message; those that their users put into mailboxes have no trace.
    pub(crate) fn new(content: StoredContent, trace: Option<Trace>) -> StoredMessage {
        let own = match &content {
            StoredContent::Identity(_, bytes) => *bytes,
            StoredContent::Bytes(bytes) => bytes.len() as u64,
        };
        let before = trace.as_ref().map_or(0, |trace| trace.to_string().len() as u64);
        StoredMessage { trace, content, bytes: before + own }
    }

    /// Returns the number of bytes with the trace.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes for which an account is charged.
    pub(crate) fn charge(&self) -> u64 {
        let kept = match &self.content {
            StoredContent::Identity(..) => 0,
            StoredContent::Bytes(bytes) => bytes.len() as u64,
        };
        let sender = self.trace.as_ref().map_or(0, |trace| trace.sender.len() as u64);
        ENTRY_BYTES + kept + sender
    }

    /// Returns a reader of its bytes, in a store that knows these messages of a run.
    pub(crate) fn reader(&self, messages: Option<&MailMessages>) -> MessageReader<'_> {
        let content = match (&self.content, messages) {
            (StoredContent::Identity(identity, _), Some(messages)) => {
                ContentReader::Message(Box::new(messages.message(*identity)))
            }
            // A store without messages of a run keeps all bytes.
            (StoredContent::Identity(..), None) => ContentReader::Bytes(&[]),
            (StoredContent::Bytes(bytes), _) => ContentReader::Bytes(bytes),
        };
        let trace = self.trace.as_ref().map(Trace::to_string).unwrap_or_default();
        MessageReader { trace, content, bytes: self.bytes }
    }
}

/// A reader of any part of a stored message.
#[derive(Debug)]
pub(crate) struct MessageReader<'a> {
    trace: String,
    content: ContentReader<'a>,
    bytes: u64,
}

#[derive(Debug)]
enum ContentReader<'a> {
    Message(Box<Message>),
    Bytes(&'a [u8]),
}

impl MessageReader<'_> {
    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the bytes from an offset on, as many as there are and fit; returns how many.
    pub(crate) fn fill(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let n_trace = copy_from(self.trace.as_bytes(), offset, buffer);
        let rest = &mut buffer[n_trace..];
        let at = (offset + n_trace as u64).saturating_sub(self.trace.len() as u64);
        let n_content = match &self.content {
            ContentReader::Message(message) => message.fill(at, rest),
            ContentReader::Bytes(bytes) => copy_from(bytes, at, rest),
        };
        n_trace + n_content
    }

    /// Returns the fields with the empty line behind them; all of a message without one.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        loop {
            let start = head.len();
            head.resize(start + HEAD_PIECE, 0);
            let n = self.fill(start as u64, &mut head[start..]);
            head.truncate(start + n);
            if let Some(end) = end_of_head(&head, start) {
                head.truncate(end);
                return head;
            }
            if n < HEAD_PIECE || HEAD_BYTES_MAX <= head.len() {
                return head;
            }
        }
    }
}

/// Copies the bytes from an offset on, as many as there are and fit; returns how many.
fn copy_from(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let n = rest.len().min(buffer.len());
    buffer[..n].copy_from_slice(&rest[..n]);
    n
}

/// Returns the place behind the first empty line, of which nothing ends before `start`.
fn end_of_head(head: &[u8], start: usize) -> Option<usize> {
    if head.starts_with(b"\r\n") {
        return Some(2);
    }
    let from = start.saturating_sub(3);
    let end = head[from..].windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(from + end + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &str, trace: bool) -> StoredMessage {
        let date = MailDate::from_unix_seconds(0);
        let trace = trace.then(|| Trace { sender: "a@b".into(), protocol: "LMTP", date });
        StoredMessage::new(StoredContent::Bytes(text.as_bytes().into()), trace)
    }

    const TRACE: &str = "Return-Path: <a@b>\r\nReceived: by plimsoll.invalid with LMTP; \
                         Thu, 01 Jan 1970 00:00:00 +0000\r\n";

    #[test]
    fn any_part_of_a_message_is_read_behind_its_trace() {
        let message = stored("Subject: x\r\n\r\nbody", true);
        let whole = format!("{TRACE}Subject: x\r\n\r\nbody");
        let reader = message.reader(None);
        assert_eq!((reader.bytes(), message.bytes()), (whole.len() as u64, whole.len() as u64));
        for offset in 0..=whole.len() + 1 {
            for length in [0, 1, 5, 200] {
                let mut buffer = vec![0; length];
                let n = reader.fill(offset as u64, &mut buffer);
                let expected = whole.as_bytes().iter().skip(offset).take(length);
                assert!(buffer[..n].iter().eq(expected), "{length} from {offset}");
            }
        }
    }

    #[test]
    fn fields_end_at_the_first_empty_line_wherever_it_is() {
        for (text, length) in [("a: b\r\n\r\nc\r\n\r\n", 8), ("\r\nc", 2), ("a: b\r\n", 6), ("", 0)] {
            assert_eq!(stored(text, false).reader(None).head(), text.as_bytes()[..length], "{text:?}");
        }
        // The empty line on each side of the border between two pieces.
        for length in HEAD_PIECE - 6..HEAD_PIECE + 4 {
            let text = format!("a: {}\r\n\r\nbody", "x".repeat(length - 3));
            assert_eq!(stored(&text, false).reader(None).head().len(), length + 4);
        }
    }

    #[test]
    fn an_account_is_charged_for_what_is_kept() {
        assert_eq!([true, false].map(|trace| stored("12345", trace).charge()), [128 + 5 + 3, 128 + 5]);
        let identity = mail::MessageIdentity::new(1, mail::MessageKind::Memo, mail::MessageNumber::default());
        let ours = StoredMessage::new(StoredContent::Identity(identity, 10_000), None);
        assert_eq!((ours.charge(), ours.bytes()), (128, 10_000));
    }
}
