//! The framing of packets: parts of at most 16 MiB − 1, each with its length and its number in the exchange.

use bytes::{Buf, BytesMut};
use mysql_common::proto::codec::packet_to_chunks;

use crate::database::failure::{OTHER_BYTES, SqlFailure};

/// The bytes before the content of a part: its length and its number.
const HEAD_BYTES: usize = 4;

/// The length of a part behind which another one of the same packet follows.
pub(super) const PART_BYTES_MAX: usize = 0xFF_FFFF;

/// The framing of a connection's packets in both directions.
#[derive(Debug, Default)]
pub(super) struct PacketFraming {
    /// The number of the next part.
    number: u8,
    /// The part that is under way, where one is.
    part: Option<Part>,
}

/// A part of a packet.
#[derive(Debug, Clone, Copy)]
struct Part {
    n_left: usize,
    is_last: bool,
}

impl PacketFraming {
    /// Begins a new exchange.
    pub(super) fn reset(&mut self) {
        self.number = 0;
    }

    /// Writes a packet.
    pub(super) fn write(&mut self, mut packet: impl Buf, to: &mut BytesMut) {
        self.number = packet_to_chunks(self.number, &mut packet, to);
    }

    /// Returns whether a part of a packet has arrived, and not all of it.
    pub(super) fn is_within(&self) -> bool {
        self.part.is_some()
    }

    /// Has `take` given what has arrived of the next packet; returns whether it is complete.
    ///
    /// # Errors
    /// A part has another number than the one that follows, or `take` refuses it.
    pub(super) fn take(
        &mut self,
        received: &mut BytesMut,
        mut take: impl FnMut(&[u8]) -> Result<(), SqlFailure>,
    ) -> Result<bool, SqlFailure> {
        loop {
            let part = match self.part {
                Some(part) => part,
                None if received.len() < HEAD_BYTES => return Ok(false),
                None => self.begin(received)?,
            };
            let n_taken = part.n_left.min(received.len());
            take(&received[..n_taken])?;
            received.advance(n_taken);
            match part.n_left - n_taken {
                0 if part.is_last => {
                    self.part = None;
                    return Ok(true);
                }
                // Another part follows, of which nothing may have arrived yet.
                0 => self.part = Some(Part { n_left: 0, ..part }),
                n_left => {
                    self.part = Some(Part { n_left, ..part });
                    return Ok(false);
                }
            }
            if received.len() < HEAD_BYTES {
                return Ok(false);
            }
            self.part = None;
        }
    }

    fn begin(&mut self, received: &mut BytesMut) -> Result<Part, SqlFailure> {
        let length = received.get_uint_le(3) as usize;
        if received.get_u8() != self.number {
            return Err(SqlFailure::malformed(OTHER_BYTES));
        }
        self.number = self.number.wrapping_add(1);
        let part = Part { n_left: length, is_last: length < PART_BYTES_MAX };
        self.part = Some(part);
        Ok(part)
    }
}
