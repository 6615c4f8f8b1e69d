//! The mail server: mailboxes in memory, by IMAP; submission of messages by SMTP, and their delivery by LMTP, at once.
//!
//! ```text
//! connections → one thread that accepts → threads that serve, each its own connections → the store, which they share
//! ```
//!
//! Messages of a run are stored by their identities, from which their bytes are made again; what is not exactly as it would
//! be made is kept byte by byte, within the limit of an account. Nothing is on a disk: the mailboxes end with the server.
//!
//! - `options`: the settings of a server
//! - `server`, `worker`: starting, accepting and stopping; the threads
//! - `connection`: lines and bytes of a client
//! - `imap`, `smtp`, `sasl`: the protocols
//! - `store`: accounts, mailboxes, messages
//! - `fault`: misbehavior on demand

mod connection;
mod fault;
mod imap;
mod options;
mod sasl;
mod server;
mod smtp;
mod store;
mod worker;

pub use fault::{FAULTS, MailFault, MailFaultPlan};
pub use options::{MAIL_THREADS_MAX, MailServerError, MailServerOptions};
pub use server::{MailAddresses, MailServer};
