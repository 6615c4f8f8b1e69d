//! Operations of mail users, as a run counts and measures them. The operations themselves are in [`mail`].

use mail::MailOperation;

use crate::HasKind;

/// The measures of a mail operation besides its response time, by their indexes in the catalog.
pub mod mail_measure {
    /// The bytes of commands and messages that were sent: with TLS, those within it.
    pub const SENT_BYTES: usize = 0;
    /// The bytes of replies and messages that were received, likewise.
    pub const RECEIVED_BYTES: usize = 1;
    /// The commands that it took.
    pub const EXCHANGES: usize = 2;
}

/// The kind is the item's place in [`mail::CountedItem::ALL`].
impl HasKind for MailOperation {
    fn kind(&self) -> u16 {
        self.item.index() as u16
    }
}
