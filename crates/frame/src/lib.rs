//! The binary frame of the protocols that our own servers speak: a header, a payload with its checksum, and in replies
//! the status and the server's stamps. Without sockets and clocks.
//!
//! - `header`: requests and replies, written and read as far as they have arrived
//! - `checksum`: CRC-32C, and CRC-32
//! - [`app`]: the protocol of the application server
//!
//! `docs/protocols/application-server.md` describes it for whoever writes a server. The operations of the order-entry server
//! are with its payloads, in the crate `orders`.

pub mod app;
mod checksum;
mod header;

pub use checksum::{Checksum, Crc32, Crc32c};
pub use header::{
    FrameError, FrameFormat, REPLY_BYTES, REQUEST_BYTES, ReplyHeader, RequestHeader, STATUS_OK, ServerStamps,
};
