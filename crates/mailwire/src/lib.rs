//! The replies of mail servers: those of IMAP (RFC 3501 and 9051), SMTP (RFC 5321) and LMTP (RFC 2033), without sockets or
//! clocks.
//!
//! Readers are given bytes as they come, in pieces of any size, and return a reply at a time. Bodies of messages pass
//! through: nobody keeps them. Everything else that a server can make long has a limit: lines, literals, lists within
//! lists, replies of one command, lines of one reply.
//!
//! - [`imap`]: lines and literals, what they say, and whether a mailbox stays consistent
//! - [`smtp`]: replies of one or several lines, and the extensions that a server offers
//! - `upgrade`: the change to TLS in the middle of a connection
//!
//! ```text
//! use mailwire::imap::{ImapEvent, ImapReader, ImapResponse};
//!
//! let mut reader = ImapReader::new();
//! let input = b"* 3 FETCH (UID 17 BODY[] {5}\r\nhello)\r\n";
//! let mut at = 0;
//! let mut body = Vec::new();
//! let mut uid = None;
//! while at < input.len() {
//!     let progress = reader.read(&input[at..]).unwrap();
//!     at += progress.consumed;
//!     match progress.event {
//!         Some(ImapEvent::Body(piece)) => body.extend_from_slice(piece),
//!         Some(ImapEvent::Response(ImapResponse::Fetch(fetch))) => uid = fetch.uid,
//!         _ => {}
//!     }
//! }
//! assert_eq!((&body[..], uid), (&b"hello"[..], Some(17)));
//! ```

pub mod imap;
pub mod smtp;
mod upgrade;

pub use upgrade::{PlaintextBehindUpgrade, check_upgrade};
