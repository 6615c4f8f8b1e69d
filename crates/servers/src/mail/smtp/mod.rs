//! Submission of messages by SMTP (RFC 5321, 6409, 4954) and their delivery by LMTP (RFC 2033).
//!
//! - `command`: commands, read
//! - `session`: a session of a client
//! - `delivery`: a message on its way into the mailboxes
//! - `data`: the end of a message, and dots before lines

mod command;
mod data;
mod delivery;
mod session;

pub(super) use session::{Transport, serve_smtp};
