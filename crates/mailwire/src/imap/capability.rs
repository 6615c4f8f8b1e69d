//! The extensions that a server has.

/// An extension, or a property, of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImapCapability {
    /// IMAP4rev1.
    Imap4Rev1,
    /// IMAP4rev2.
    Imap4Rev2,
    /// TLS can begin in the connection.
    StartTls,
    /// LOGIN is refused as things are.
    LoginDisabled,
    /// AUTHENTICATE PLAIN.
    AuthPlain,
    /// AUTHENTICATE LOGIN.
    AuthLogin,
    /// The first answer to AUTHENTICATE may be in the command.
    InitialResponse,
    /// Literals need not be awaited.
    LiteralPlus,
    /// Small literals need not be awaited.
    LiteralMinus,
    /// UIDs of appended and copied messages, and UID EXPUNGE.
    UidPlus,
    /// MOVE.
    Move,
    /// Extended search.
    ExtendedSearch,
    /// Results of a search can be saved.
    SearchResult,
    /// SORT.
    Sort,
    /// THREAD by references.
    ThreadReferences,
    /// IDLE.
    Idle,
    /// NOTIFY.
    Notify,
    /// Modification sequences.
    Condstore,
    /// Quick resynchronization.
    Qresync,
    /// UNSELECT.
    Unselect,
    /// ENABLE.
    Enable,
    /// Access control lists.
    Acl,
    /// NAMESPACE.
    Namespace,
    /// Quotas.
    Quota,
    /// Mailboxes for special use.
    SpecialUse,
    /// Annotations.
    Metadata,
    /// Compression.
    CompressDeflate,
}

impl ImapCapability {
    /// All that are known, with their names, in the order of their declaration.
    pub const NAMES: [(ImapCapability, &'static str); 27] = [
        (ImapCapability::Imap4Rev1, "IMAP4rev1"),
        (ImapCapability::Imap4Rev2, "IMAP4rev2"),
        (ImapCapability::StartTls, "STARTTLS"),
        (ImapCapability::LoginDisabled, "LOGINDISABLED"),
        (ImapCapability::AuthPlain, "AUTH=PLAIN"),
        (ImapCapability::AuthLogin, "AUTH=LOGIN"),
        (ImapCapability::InitialResponse, "SASL-IR"),
        (ImapCapability::LiteralPlus, "LITERAL+"),
        (ImapCapability::LiteralMinus, "LITERAL-"),
        (ImapCapability::UidPlus, "UIDPLUS"),
        (ImapCapability::Move, "MOVE"),
        (ImapCapability::ExtendedSearch, "ESEARCH"),
        (ImapCapability::SearchResult, "SEARCHRES"),
        (ImapCapability::Sort, "SORT"),
        (ImapCapability::ThreadReferences, "THREAD=REFERENCES"),
        (ImapCapability::Idle, "IDLE"),
        (ImapCapability::Notify, "NOTIFY"),
        (ImapCapability::Condstore, "CONDSTORE"),
        (ImapCapability::Qresync, "QRESYNC"),
        (ImapCapability::Unselect, "UNSELECT"),
        (ImapCapability::Enable, "ENABLE"),
        (ImapCapability::Acl, "ACL"),
        (ImapCapability::Namespace, "NAMESPACE"),
        (ImapCapability::Quota, "QUOTA"),
        (ImapCapability::SpecialUse, "SPECIAL-USE"),
        (ImapCapability::Metadata, "METADATA"),
        (ImapCapability::CompressDeflate, "COMPRESS=DEFLATE"),
    ];
}

/// A set of capabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImapCapabilities {
    bits: u32,
}

impl ImapCapabilities {
    /// Reads capabilities with blanks between them; those that nobody knows here are left out.
    pub fn read(text: &[u8]) -> ImapCapabilities {
        let mut bits = 0;
        for word in text.split(|byte| *byte == b' ') {
            let named = |(_, name): &&(ImapCapability, &str)| word.eq_ignore_ascii_case(name.as_bytes());
            if let Some((capability, _)) = ImapCapability::NAMES.iter().find(named) {
                bits |= 1 << (*capability as u32);
            }
        }
        ImapCapabilities { bits }
    }

    /// Returns whether the server has a capability.
    pub fn has(self, capability: ImapCapability) -> bool {
        self.bits & (1 << (capability as u32)) != 0
    }

    /// Returns the names of all.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = ImapCapability::NAMES.into_iter().filter(move |(capability, _)| self.has(*capability));
        known.map(|(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_in_the_order_of_their_bits() {
        for (index, (capability, _)) in ImapCapability::NAMES.into_iter().enumerate() {
            assert_eq!(capability as usize, index);
        }
    }

    #[test]
    fn known_capabilities_are_read_in_any_case() {
        let read = ImapCapabilities::read(b"IMAP4rev1 literal+ X-UNKNOWN AUTH=PLAIN  ESEARCH");
        assert_eq!(read.names().collect::<Vec<_>>(), ["IMAP4rev1", "AUTH=PLAIN", "LITERAL+", "ESEARCH"]);
        assert!(read.has(ImapCapability::LiteralPlus) && !read.has(ImapCapability::Idle));
        assert_eq!(ImapCapabilities::read(b""), ImapCapabilities::default());
    }
}
