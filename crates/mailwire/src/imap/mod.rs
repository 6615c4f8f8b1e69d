//! Replies of IMAP servers, and commands to them.
//!
//! - `reader`: lines with their literals, of which bodies pass through
//! - `response`, `fetch`, `value`: the meaning of a line
//! - `number_set`, `collection`: sets of message numbers as they are written, and the messages of a mailbox
//! - `capability`: the extensions that a server has
//! - `exchange`: the replies to a command
//! - `mailbox`: what a mailbox must not do while it is selected
//! - `command`, `write`: commands, with texts, sets and literals

mod capability;
mod collection;
mod command;
mod error;
mod exchange;
mod fetch;
mod mailbox;
mod number_set;
mod reader;
mod response;
mod value;
mod write;

pub use capability::{ImapCapabilities, ImapCapability};
pub use collection::{RANGES_MAX, UidCollection};
pub use command::{CommandWriter, ImapCommand, LiteralForm};
pub use error::ImapError;
pub use exchange::{ExchangeFault, ExchangeProgress, ImapExchange, ImapTag, UNTAGGED_MAX};
pub use fetch::{FetchBody, FetchResponse, MessageFlags};
pub use mailbox::{MailboxFault, SelectedMailbox};
pub use number_set::{NumberRange, NumberRanges, NumberSet, Numbers};
pub use reader::{ImapEvent, ImapLimits, ImapProgress, ImapReader};
pub use response::{ExtendedSearch, ImapCode, ImapResponse, ImapStatus, MailboxStatus};
pub use write::{quoted, write_set};
