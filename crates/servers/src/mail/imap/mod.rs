//! IMAP4rev1 (RFC 3501) with LITERAL+, SASL-IR, UIDPLUS, MOVE, IDLE, UNSELECT and ESEARCH.
//!
//! - `syntax`, `command`, `fetch_items`, `search`: commands, read
//! - `session`: a session of a client
//! - `mailbox_commands`, `message_commands`: what commands do
//! - `append`: a message that comes with its command
//! - `fetch`: replies to FETCH
//! - `view`: message numbers, and what is new in a mailbox
//! - `head`, `envelope`: the fields of messages
//! - `mailbox_list`: names that match a pattern

mod append;
mod command;
mod envelope;
mod fetch;
mod fetch_items;
mod head;
mod mailbox_commands;
mod mailbox_list;
mod message_commands;
mod search;
mod session;
mod syntax;
mod view;

pub(super) use session::serve_imap;
