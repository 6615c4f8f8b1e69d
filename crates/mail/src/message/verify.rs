//! The comparison of a message that was read with the one that was sent, without keeping either.

use super::{ID_FIELD, MailMessages, Message};
use crate::identity::{MESSAGE_ID_BYTES, MessageIdentity};

/// The most bytes of fields before the Message-ID, which servers have added.
pub const HEAD_BYTES_MAX: u64 = 65_536;

/// The bytes of the line with the Message-ID, without its end.
const ID_LINE: usize = ID_FIELD.len() + MESSAGE_ID_BYTES;

/// The bytes that are made and compared at a time.
const PIECE: usize = 1024;

/// The depth to which a message that was read is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageDepth {
    /// Not at all: bytes are counted.
    Off,
    /// Its identity is read.
    Identity,
    /// It is compared to the last byte.
    Full,
}

/// A difference between a message that was read and the one that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageFault {
    /// A byte is another.
    Altered {
        /// Its offset in the message as it was sent.
        offset: u64,
    },
    /// The message ends early.
    Short {
        /// The number of bytes that are missing.
        missing: u64,
    },
    /// There are bytes behind the end.
    Long {
        /// Their number.
        extra: u64,
    },
}

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedMessage {
    /// The identity; `None` if the message is none of the run's, or was not verified.
    pub identity: Option<MessageIdentity>,
    /// The difference from the message as it was sent; `None` if there is none, or if it was not compared.
    pub fault: Option<MessageFault>,
    /// The bytes that were read.
    pub bytes: u64,
}

/// A verifier of one message, which is given its bytes in pieces of any size.
///
/// | state | event | next |
/// |---|---|---|
/// | fields | a line with the Message-ID of a message of the run | comparison, or skipping if only the identity is wanted |
/// | | another one's Message-ID, the end of the fields, or too many of them | skipping, without identity |
/// | comparison | an altered byte | skipping, with the fault |
/// | | the end of the message as it was sent | skipping: what comes is extra |
/// | skipping | | |
#[derive(Debug, Clone)]
pub struct MessageVerifier {
    depth: MessageDepth,
    state: VerifierState,
    identity: Option<MessageIdentity>,
    fault: Option<MessageFault>,
    bytes: u64,
}

#[derive(Debug, Clone)]
enum VerifierState {
    /// Within the fields: the beginning of the line, and the number of its bytes.
    Fields { line: [u8; ID_LINE], length: usize },
    /// At an offset in the message as it was sent.
    Comparison { message: Box<Message>, offset: u64 },
    /// The rest is only counted.
    Skipping,
}

impl MessageVerifier {
    /// Makes a verifier.
    pub fn new(depth: MessageDepth) -> MessageVerifier {
        let state = match depth {
            MessageDepth::Off => VerifierState::Skipping,
            MessageDepth::Identity | MessageDepth::Full => VerifierState::FIELDS,
        };
        MessageVerifier { depth, state, identity: None, fault: None, bytes: 0 }
    }

    /// Takes the next bytes of a message of the run.
    pub fn feed(&mut self, bytes: &[u8], messages: &MailMessages) {
        let mut rest = bytes;
        while let VerifierState::Fields { .. } = self.state {
            if rest.is_empty() {
                return;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (piece, behind) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            self.bytes += piece.len() as u64;
            self.take_field(piece, messages);
            rest = behind;
        }
        self.bytes += rest.len() as u64;
        if let VerifierState::Comparison { message, offset } = &mut self.state {
            let fault = compare(message, *offset, rest);
            *offset += rest.len() as u64;
            if let Some(MessageFault::Altered { .. }) = fault {
                self.fault = fault;
                self.state = VerifierState::Skipping;
            }
        }
    }

    /// Returns the result, when the message has ended.
    pub fn finish(self) -> VerifiedMessage {
        let MessageVerifier { state, identity, fault, bytes, .. } = self;
        let fault = match state {
            VerifierState::Comparison { message, offset } if offset < message.bytes() => {
                Some(MessageFault::Short { missing: message.bytes() - offset })
            }
            VerifierState::Comparison { message, offset } if message.bytes() < offset => {
                Some(MessageFault::Long { extra: offset - message.bytes() })
            }
            _ => fault,
        };
        VerifiedMessage { identity, fault, bytes }
    }

    /// Takes the next bytes of a line of the fields, at most to its end.
    fn take_field(&mut self, piece: &[u8], messages: &MailMessages) {
        let VerifierState::Fields { line, length } = &mut self.state else { return };
        let text = piece.strip_suffix(b"\n").unwrap_or(piece);
        let room = line.get_mut(*length..).unwrap_or_default();
        let n_kept = text.len().min(room.len());
        room[..n_kept].copy_from_slice(&text[..n_kept]);
        *length += text.len();
        if text.len() == piece.len() {
            if HEAD_BYTES_MAX <= self.bytes {
                self.state = VerifierState::Skipping;
            }
            return;
        }
        let kept = &line[..ID_LINE.min(*length)];
        let is_blank = kept.is_empty() || kept == b"\r";
        // The line has the carriage return behind what is kept of it.
        let id = kept.strip_prefix(ID_FIELD.as_bytes()).filter(|_| *length == ID_LINE + 1);
        let is_other = id.is_none() && kept.len() > ID_FIELD.len() && starts_as_id(kept);
        let identity = id.and_then(|id| MessageIdentity::from_message_id(id, messages.seed));
        if let Some(identity) = identity {
            self.identity = Some(identity);
            self.state = match self.depth {
                MessageDepth::Full => {
                    let message = Box::new(messages.message(identity));
                    VerifierState::Comparison { message, offset: ID_LINE as u64 + 2 }
                }
                MessageDepth::Off | MessageDepth::Identity => VerifierState::Skipping,
            };
        } else if id.is_some() || is_other || is_blank || HEAD_BYTES_MAX <= self.bytes {
            self.state = VerifierState::Skipping;
        } else {
            *length = 0;
        }
    }
}

impl VerifierState {
    const FIELDS: VerifierState = VerifierState::Fields { line: [0; ID_LINE], length: 0 };
}

/// Returns whether a line is a Message-ID, whatever the case of its letters.
fn starts_as_id(line: &[u8]) -> bool {
    line.get(..ID_FIELD.len()).is_some_and(|start| start.eq_ignore_ascii_case(ID_FIELD.as_bytes()))
}

/// Compares bytes with those of a message from an offset on, as far as it has any.
fn compare(message: &Message, offset: u64, bytes: &[u8]) -> Option<MessageFault> {
    let mut made = [0; PIECE];
    let mut at = offset;
    for piece in bytes.chunks(PIECE) {
        let n = message.fill(at, &mut made[..piece.len()]);
        if made[..n] != piece[..n] {
            let index = made[..n].iter().zip(piece).position(|(sent, read)| sent != read).unwrap_or(n);
            return Some(MessageFault::Altered { offset: at + index as u64 });
        }
        if n < piece.len() {
            return None;
        }
        at += n as u64;
    }
    None
}
