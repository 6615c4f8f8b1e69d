//! Messages as they come, of which those of a run need no room.
//!
//! | state | bytes | next |
//! |---|---|---|
//! | first line | a whole line with the Message-ID of a message of the run | comparison |
//! | | another line, or too many bytes | keeping |
//! | comparison | as in the message | comparison |
//! | | others, or the end before its own | keeping: what came so far is made again |
//! | keeping | | keeping |
//! | | more than there is room for | refused |

use std::sync::Arc;

use mail::{MESSAGE_ID_BYTES, MailMessages, Message, MessageIdentity};

use super::message::StoredContent;
use super::room::Room;

/// The name of the first field of messages of a run.
const ID_FIELD: &[u8] = b"Message-ID: ";

/// The bytes of that field with the end of its line.
const FIRST_LINE_BYTES: usize = ID_FIELD.len() + MESSAGE_ID_BYTES + 2;

/// The bytes that are made and compared at a time.
const PIECE: usize = 1024;

/// A receiver of one message. It takes room in memory for the bytes that it keeps, until it is dropped.
#[derive(Debug)]
pub(crate) struct MessageReceiver {
    room: Arc<Room>,
    reserved: u64,
    bytes_max: u64,
    bytes: u64,
    state: ReceiverState,
}

#[derive(Debug)]
enum ReceiverState {
    FirstLine(Vec<u8>),
    Comparison { identity: MessageIdentity, message: Box<Message>, offset: u64 },
    Keeping(Vec<u8>),
    Refused(ReceiptError),
}

/// A reason for which a message was not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiptError {
    /// It is larger than any may be.
    TooLarge,
    /// The server has no memory for it now.
    NoMemory,
}

impl MessageReceiver {
    /// Creates a receiver of a message of at most so many bytes.
    pub(crate) fn new(room: Arc<Room>, bytes_max: u64) -> MessageReceiver {
        let state = ReceiverState::FirstLine(Vec::new());
        MessageReceiver { room, reserved: 0, bytes_max, bytes: 0, state }
    }

    /// Takes the next bytes, of a message that may be one of the run.
    pub(crate) fn feed(&mut self, bytes: &[u8], messages: Option<&MailMessages>) {
        self.bytes += bytes.len() as u64;
        if self.bytes_max < self.bytes {
            self.state = ReceiverState::Refused(ReceiptError::TooLarge);
        }
        match &mut self.state {
            ReceiverState::FirstLine(line) => {
                line.extend_from_slice(bytes);
                if FIRST_LINE_BYTES <= line.len() {
                    let line = std::mem::take(line);
                    self.take_first_line(line, messages);
                }
            }
            ReceiverState::Comparison { message, offset, .. } => {
                if continues(message, *offset, bytes) {
                    *offset += bytes.len() as u64;
                } else {
                    let start = bytes_of(message, *offset);
                    self.keep(start);
                    self.keep_more(bytes);
                }
            }
            ReceiverState::Keeping(_) => self.keep_more(bytes),
            ReceiverState::Refused(_) => {}
        }
    }

    /// Returns the message, which has ended.
    ///
    /// # Errors
    /// It is too large, or there was no room for it.
    pub(crate) fn finish(mut self) -> Result<StoredContent, ReceiptError> {
        match std::mem::replace(&mut self.state, ReceiverState::Keeping(Vec::new())) {
            ReceiverState::FirstLine(line) => Ok(StoredContent::Bytes(line.into())),
            ReceiverState::Comparison { identity, message, offset } if offset == message.bytes() => {
                Ok(StoredContent::Identity(identity, offset))
            }
            ReceiverState::Comparison { message, offset, .. } => {
                if self.reserve(offset) {
                    Ok(StoredContent::Bytes(bytes_of(&message, offset).into()))
                } else {
                    Err(ReceiptError::NoMemory)
                }
            }
            ReceiverState::Keeping(bytes) => Ok(StoredContent::Bytes(bytes.into())),
            ReceiverState::Refused(error) => Err(error),
        }
    }

    fn take_first_line(&mut self, line: Vec<u8>, messages: Option<&MailMessages>) {
        let known = messages.and_then(|messages| {
            let identity = identity(&line, messages.seed)?;
            Some((identity, Box::new(messages.message(identity))))
        });
        match known {
            Some((identity, message)) if continues(&message, 0, &line) => {
                self.state = ReceiverState::Comparison { identity, message, offset: line.len() as u64 };
            }
            _ => self.keep(line),
        }
    }

    /// Keeps the message from now on, of which this is the begin.
    fn keep(&mut self, start: Vec<u8>) {
        self.state = if self.reserve(start.len() as u64) {
            ReceiverState::Keeping(start)
        } else {
            ReceiverState::Refused(ReceiptError::NoMemory)
        };
    }

    fn keep_more(&mut self, bytes: &[u8]) {
        if !self.reserve(bytes.len() as u64) {
            self.state = ReceiverState::Refused(ReceiptError::NoMemory);
        }
        if let ReceiverState::Keeping(kept) = &mut self.state {
            kept.extend_from_slice(bytes);
        }
    }

    fn reserve(&mut self, bytes: u64) -> bool {
        let is_reserved = self.room.reserve(bytes);
        self.reserved += if is_reserved { bytes } else { 0 };
        is_reserved
    }
}

impl Drop for MessageReceiver {
    fn drop(&mut self) {
        self.room.release(self.reserved);
    }
}

/// Returns the identity of the message of a run that begins with this line.
fn identity(line: &[u8], seed: u64) -> Option<MessageIdentity> {
    let id = line.strip_prefix(ID_FIELD)?.get(..MESSAGE_ID_BYTES)?;
    MessageIdentity::from_message_id(id, seed)
}

/// Returns whether a message has these bytes from an offset on.
fn continues(message: &Message, offset: u64, bytes: &[u8]) -> bool {
    let mut made = [0; PIECE];
    let mut at = offset;
    bytes.chunks(PIECE).all(|piece| {
        let n = message.fill(at, &mut made[..piece.len()]);
        at += n as u64;
        made[..n] == *piece
    })
}

/// Returns so many bytes of a message from its begin on.
fn bytes_of(message: &Message, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let n = message.fill(0, &mut bytes);
    bytes.truncate(n);
    bytes
}

#[cfg(test)]
mod tests {
    use mail::{MailDate, MailDirectory, MessageKind, MessageNumber};

    use super::*;

    const ROOM: u64 = 5_000;

    fn messages() -> MailMessages {
        let directory = MailDirectory::numbered("user", 10, "bench.test").unwrap();
        MailMessages::new(7, directory, MailDate::from_unix_seconds(1_796_005_800))
    }

    fn memo() -> (MessageIdentity, Vec<u8>) {
        let identity = MessageIdentity::new(1, MessageKind::Memo, MessageNumber { user: 3, number: 4 });
        let message = messages().message(identity);
        (identity, bytes_of(&message, message.bytes()))
    }

    /// Receives bytes in pieces of a size; everything that was reserved is given back.
    fn receive(bytes: &[u8], piece: usize, room: u64) -> Result<StoredContent, ReceiptError> {
        let messages = messages();
        let shared = Arc::new(Room::new(room));
        let mut receiver = MessageReceiver::new(Arc::clone(&shared), 4_000);
        bytes.chunks(piece).for_each(|piece| receiver.feed(piece, Some(&messages)));
        let content = receiver.finish();
        assert!(shared.reserve(room), "all of the room is free again");
        content
    }

    #[test]
    fn a_message_of_the_run_is_an_identity() {
        let (identity, bytes) = memo();
        for piece in [1, 7, 100, 10_000] {
            let expected = StoredContent::Identity(identity, bytes.len() as u64);
            assert_eq!(receive(&bytes, piece, 1), Ok(expected), "no room is needed");
        }
    }

    /// Whatever is different, and wherever: what is kept is what came.
    #[test]
    fn what_is_not_quite_a_message_of_the_run_is_kept_byte_by_byte() {
        let (_, bytes) = memo();
        let mut others: Vec<Vec<u8>> = Vec::new();
        for at in [0, 5, 12, 40, 97, 98, 99, 500, bytes.len() - 1] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            others.push(other);
            others.push(bytes[..at].to_vec());
        }
        others.push([&bytes[..], b"x"].concat());
        others.push([b"X: y\r\n", &bytes[..]].concat());
        for other in others {
            for piece in [1, 33, 10_000] {
                assert_eq!(receive(&other, piece, ROOM), Ok(StoredContent::Bytes(other.clone().into())));
            }
        }
    }

    #[test]
    fn a_receiver_without_messages_of_a_run_keeps_all() {
        let (_, bytes) = memo();
        let mut receiver = MessageReceiver::new(Arc::new(Room::new(ROOM)), 4_000);
        receiver.feed(&bytes, None);
        assert_eq!(receiver.finish(), Ok(StoredContent::Bytes(bytes.into())));
    }

    #[test]
    fn large_messages_and_those_without_room_are_refused() {
        let (_, bytes) = memo();
        let foreign = vec![b'x'; 3_999];
        assert_eq!(receive(&foreign, 100, 4_000), Ok(StoredContent::Bytes(foreign.clone().into())));
        assert_eq!(receive(&foreign, 100, 3_998), Err(ReceiptError::NoMemory));
        assert_eq!(receive(&[b'x'; 4_001], 100, ROOM), Err(ReceiptError::TooLarge));
        assert_eq!(receive(&bytes[..bytes.len() - 1], 100, 200), Err(ReceiptError::NoMemory));
    }
}
