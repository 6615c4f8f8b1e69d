//! The headers of requests and replies. All numbers are little-endian.
//!
//! | bytes | request | reply |
//! |---|---|---|
//! | 0..4 | magic number of the protocol | the same |
//! | 4 | version of the protocol | the same |
//! | 5 | operation | that of the request |
//! | 6..8 | flags: 0 | status: 0 for success |
//! | 8..16 | number, chosen by the client | that of the request |
//! | 16..24 | argument | result |
//! | 24..28 | length of the payload | the same |
//! | 28..32 | CRC-32C of the payload | the same |
//! | 32..56 | – | stamps: received, started, ended |

use thiserror::Error;

use crate::Crc32c;

/// Length of a request's header.
pub const REQUEST_BYTES: usize = 32;

/// Length of a reply's header.
pub const REPLY_BYTES: usize = 56;

/// The status of success, which all of the protocols share.
pub const STATUS_OK: u16 = 0;

/// The format of one protocol: its magic number, its version, and the longest payload that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameFormat {
    /// The first four bytes of every frame.
    pub magic: u32,
    /// The fifth.
    pub version: u8,
    /// Length of the longest payload, in bytes.
    pub payload_max: u32,
}

/// The header of a request; by default one without flags, argument and payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestHeader {
    /// The number of the operation, as its protocol defines it.
    pub operation: u8,
    /// Flags, as the protocol defines them.
    pub flags: u16,
    /// The number that the reply repeats.
    pub number: u64,
    /// The argument of the operation.
    pub argument: u64,
    /// Length of the payload that follows, in bytes.
    pub payload_bytes: u32,
    /// The CRC-32C of that payload.
    pub checksum: u32,
}

/// The header of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHeader {
    /// The operation of the request.
    pub operation: u8,
    /// The status, as the protocol defines it; [`STATUS_OK`] for success.
    pub status: u16,
    /// The number of the request.
    pub number: u64,
    /// The result of the operation.
    pub result: u64,
    /// Length of the payload that follows, in bytes.
    pub payload_bytes: u32,
    /// The CRC-32C of that payload.
    pub checksum: u32,
    /// The server's stamps.
    pub stamps: ServerStamps,
}

/// The times at which a server did something with a request, in ns on a clock of its own that never goes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerStamps {
    /// The request was complete, and began to wait.
    pub received: u64,
    /// Its service began.
    pub started: u64,
    /// Its service ended; what remained was to send the reply.
    pub ended: u64,
}

/// A header that is none of its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It does not begin with the magic number.
    #[error("expected the magic number of the protocol, found other bytes")]
    Magic,
    /// It is of another version.
    #[error("expected version {expected} of the protocol, found {found}")]
    Version {
        /// That of the format.
        expected: u8,
        /// That of the header.
        found: u8,
    },
    /// Its payload is longer than allowed.
    #[error("a payload of {found} bytes, of which {most} are allowed")]
    Payload {
        /// The length that it states.
        found: u32,
        /// The greatest that is allowed.
        most: u32,
    },
}

impl ServerStamps {
    /// Returns the time that the request waited and the time of its service, in ns; `None` if a later stamp is before
    /// an earlier one.
    pub fn times(self) -> Option<(u64, u64)> {
        Some((self.started.checked_sub(self.received)?, self.ended.checked_sub(self.started)?))
    }
}

impl RequestHeader {
    /// Returns the header with the length and the checksum of a payload.
    pub fn with_payload(self, payload: &[u8]) -> RequestHeader {
        RequestHeader { payload_bytes: payload.len() as u32, checksum: Crc32c::of(payload), ..self }
    }

    /// Writes the header.
    pub fn to_bytes(&self, format: FrameFormat) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&format.magic.to_le_bytes());
        bytes[4..6].copy_from_slice(&[format.version, self.operation]);
        bytes[6..8].copy_from_slice(&self.flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.argument.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[28..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of the bytes that have arrived; `None` if more must.
    ///
    /// # Errors
    /// It is not a header of the format, as far as the bytes show.
    pub fn read(bytes: &[u8], format: FrameFormat) -> Result<Option<RequestHeader>, FrameError> {
        format.check(bytes)?;
        let Some(bytes) = bytes.first_chunk::<REQUEST_BYTES>() else { return Ok(None) };
        Ok(Some(RequestHeader {
            operation: bytes[5],
            flags: u16::from_le_bytes(part(bytes, 6)),
            number: u64::from_le_bytes(part(bytes, 8)),
            argument: u64::from_le_bytes(part(bytes, 16)),
            payload_bytes: u32::from_le_bytes(part(bytes, 24)),
            checksum: u32::from_le_bytes(part(bytes, 28)),
        }))
    }

    /// Returns the reply without a payload, and with the times that a server without a queue would state: 0.
    pub fn reply(&self, status: u16, result: u64) -> ReplyHeader {
        let &RequestHeader { operation, number, .. } = self;
        let stamps = ServerStamps::default();
        ReplyHeader { operation, status, number, result, payload_bytes: 0, checksum: 0, stamps }
    }
}

impl ReplyHeader {
    /// Returns the header with the length and the checksum of a payload.
    pub fn with_payload(self, payload: &[u8]) -> ReplyHeader {
        ReplyHeader { payload_bytes: payload.len() as u32, checksum: Crc32c::of(payload), ..self }
    }

    /// Writes the header.
    pub fn to_bytes(&self, format: FrameFormat) -> [u8; REPLY_BYTES] {
        let &ReplyHeader { operation, status, number, result, payload_bytes, checksum, stamps } = self;
        let start =
            RequestHeader { operation, flags: status, number, argument: result, payload_bytes, checksum };
        let mut bytes = [0; REPLY_BYTES];
        bytes[..REQUEST_BYTES].copy_from_slice(&start.to_bytes(format));
        bytes[32..40].copy_from_slice(&stamps.received.to_le_bytes());
        bytes[40..48].copy_from_slice(&stamps.started.to_le_bytes());
        bytes[48..].copy_from_slice(&stamps.ended.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of the bytes that have arrived; `None` if more must.
    ///
    /// # Errors
    /// It is not a header of the format, as far as the bytes show.
    pub fn read(bytes: &[u8], format: FrameFormat) -> Result<Option<ReplyHeader>, FrameError> {
        let Some(start) = RequestHeader::read(bytes, format)? else { return Ok(None) };
        let Some(bytes) = bytes.first_chunk::<REPLY_BYTES>() else { return Ok(None) };
        let stamps = ServerStamps {
            received: u64::from_le_bytes(part(bytes, 32)),
            started: u64::from_le_bytes(part(bytes, 40)),
            ended: u64::from_le_bytes(part(bytes, 48)),
        };
        Ok(Some(ReplyHeader {
            operation: start.operation,
            status: start.flags,
            number: start.number,
            result: start.argument,
            payload_bytes: start.payload_bytes,
            checksum: start.checksum,
            stamps,
        }))
    }
}

impl FrameFormat {
    /// Checks the bytes of a header that have arrived.
    fn check(self, bytes: &[u8]) -> Result<(), FrameError> {
        let magic = self.magic.to_le_bytes();
        if bytes.iter().zip(magic).any(|(found, expected)| *found != expected) {
            return Err(FrameError::Magic);
        }
        match bytes.get(4) {
            Some(found) if *found != self.version => {
                return Err(FrameError::Version { expected: self.version, found: *found });
            }
            _ => {}
        }
        let Some(length) = bytes.get(24..28) else { return Ok(()) };
        let found = u32::from_le_bytes(part(length, 0));
        if self.payload_max < found {
            return Err(FrameError::Payload { found, most: self.payload_max });
        }
        Ok(())
    }
}

/// Returns the bytes of a number from position `at`; the caller has checked that they are there.
pub(crate) fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}
