//! Messages and notices on the wire. Each begins with a number in network byte order, its head:
//!
//! | head | from | what follows |
//! |---|---|---|
//! | length | both | the content of a message, of this length |
//! | [`NOTICE`] + length | client | the delay of the notice that it asks for in ns (8 bytes), and the content of a message |
//! | [`NOTICE`] + number | server | nothing: it is the notice of a message that has come back, numbered from 0 among those of the connection that asked for one |
//! | [`REFUSAL`] + code | server | nothing: a message is refused |

use model::echo::EchoMessage;

/// Length of a head.
pub(super) const HEAD_BYTES: usize = 4;

/// The bit of a head by which a message asks for a notice, and by which a notice comes.
const NOTICE: u32 = 1 << 30;

/// The bit of the head of a refusal.
const REFUSAL: u32 = 1 << 31;

/// The head of what a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// Of a message, with the length of its content.
    Message(u32),
    /// A notice of the message with this number.
    Notice(u32),
    /// A refusal, with its code.
    Refusal(u32),
}

impl Head {
    fn of(number: u32) -> Head {
        if number & REFUSAL != 0 {
            return Head::Refusal(number & !REFUSAL);
        }
        if number & NOTICE != 0 { Head::Notice(number & !NOTICE) } else { Head::Message(number) }
    }
}

/// A head as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct PartialHead {
    bytes: [u8; HEAD_BYTES],
    n: usize,
}

impl PartialHead {
    /// Takes the bytes of a head from the beginning of those that are given. Returns the head once it is whole.
    pub(super) fn take(&mut self, received: &mut &[u8]) -> Option<Head> {
        let n = (HEAD_BYTES - self.n).min(received.len());
        let (part, rest) = received.split_at(n);
        self.bytes[self.n..][..n].copy_from_slice(part);
        *received = rest;
        self.n += n;
        if self.n < HEAD_BYTES {
            return None;
        }
        self.n = 0;
        Some(Head::of(u32::from_be_bytes(self.bytes)))
    }
}

/// Writes what stands before the content of a message.
pub(super) fn write_head(message: &EchoMessage, buffer: &mut Vec<u8>) {
    let Some(notice) = message.notice else { return buffer.extend(message.bytes.to_be_bytes()) };
    buffer.extend((NOTICE | message.bytes).to_be_bytes());
    buffer.extend(notice.after.0.to_be_bytes());
}
