//! The mail workload: what the users of a mail server do, the messages that they read and send, and whether these arrive.
//!
//! - `address`, `roles`: users with their addresses, and the parts that they have in a test
//! - `identity`, `size`, `date`, `message`: messages as functions of their identities, and their comparison with what was read
//! - `population`: the messages before load
//! - `item`, `operation`: counted items with their weights, and the abstract operations of a mail program
//! - `script`: the loops of users as tables, after those of the NotesBench family, and the rate that follows from them
//! - `user`: a user who goes through a script
//! - `ledger`: the deliveries that are awaited, and what became of each
//!
//! A user is a state machine: it is given the answer to its last operation, and says what is next. Nobody here opens a
//! session, and nobody knows the time.
//!
//! Pure: random numbers come from [`units::Rng`], times are arguments.

mod address;
mod date;
mod identity;
mod item;
mod ledger;
mod message;
mod operation;
mod population;
mod roles;
mod script;
mod size;
mod user;

pub use address::{DIRECTORY_USERS_MAX, DirectoryError, MailAddress, MailDirectory, Recipient, UserName};
pub use date::{CalendarDateTime, MailDate};
pub use identity::{MESSAGE_ID_BYTES, MessageId, MessageIdentity, MessageKind, MessageNumber};
pub use item::CountedItem;
pub use ledger::{
    Acceptance, AwaitedDelivery, COPIES_MAX, Delivery, DeliveryLedger, DeliveryTotals, MessagePlace,
    MessageSight,
};
pub use message::{
    HEAD_BYTES_MAX, LINE_BYTES, LINE_BYTES_RANGE, MailDestination, MailMessages, MailSizes, Message,
    MessageDepth, MessageFault, MessageVerifier, RECIPIENTS_MAX, Recipients, VerifiedMessage,
};
pub use operation::{
    DRAWN_MAX, EntryDraw, EntryRange, InvitationChoice, MailAction, MailAnswer, MailOperation, Mailbox,
    PAGE_ENTRIES,
};
pub use population::{MailPopulation, POPULATED_MAX, PopulatedMessage, PopulationError};
pub use roles::{MailRole, MailRoles};
pub use script::{
    BACK_OFF, LoopEndWait, LoopModel, MailScript, R6_MAIL_MIX, ScriptStep, StartWaits, WaitRange,
};
pub use size::{BODY_BYTES_MIN, MessageSize, R6_SENT, SizeProfile, SizeShare};
pub use user::{MailLoad, MailPacing, MailStart, MailStep, MailUser, MailWait};
