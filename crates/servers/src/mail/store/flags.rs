//! Flags of messages: five of the protocol, and keywords that a mailbox gives names to.

/// The flags of the protocol that are stored, in the order of their bits.
pub(crate) const SYSTEM_FLAGS: [(&str, MailFlags); 5] = [
    ("\\Seen", MailFlags::SEEN),
    ("\\Answered", MailFlags::ANSWERED),
    ("\\Flagged", MailFlags::FLAGGED),
    ("\\Deleted", MailFlags::DELETED),
    ("\\Draft", MailFlags::DRAFT),
];

/// The most keywords of a mailbox.
pub(crate) const KEYWORDS_MAX: usize = 27;

/// The most bytes of the name of a keyword.
pub(crate) const KEYWORD_BYTES_MAX: usize = 64;

/// A set of flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MailFlags(u32);

/// The way in which flags are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagChange {
    /// They replace those that are there.
    Replace,
    /// They are added.
    Add,
    /// They are removed.
    Remove,
}

impl MailFlags {
    pub(crate) const SEEN: MailFlags = MailFlags(1);
    pub(crate) const ANSWERED: MailFlags = MailFlags(1 << 1);
    pub(crate) const FLAGGED: MailFlags = MailFlags(1 << 2);
    pub(crate) const DELETED: MailFlags = MailFlags(1 << 3);
    pub(crate) const DRAFT: MailFlags = MailFlags(1 << 4);

    /// Returns the flag of a keyword, by its index in the mailbox, below [`KEYWORDS_MAX`].
    pub(crate) fn keyword(index: usize) -> MailFlags {
        MailFlags(1 << (SYSTEM_FLAGS.len() + index))
    }

    /// Returns whether it has all of others.
    pub(crate) fn has(self, others: MailFlags) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns it with others.
    pub(crate) fn with(self, others: MailFlags) -> MailFlags {
        MailFlags(self.0 | others.0)
    }

    /// Returns it after a change by others.
    pub(crate) fn changed(self, change: FlagChange, others: MailFlags) -> MailFlags {
        match change {
            FlagChange::Replace => others,
            FlagChange::Add => self.with(others),
            FlagChange::Remove => MailFlags(self.0 & !others.0),
        }
    }
}

/// Returns the names of flags with blanks between them, in a mailbox with these keywords.
pub(crate) fn write_flags(flags: MailFlags, keywords: &[Box<str>], is_recent: bool) -> String {
    let system = SYSTEM_FLAGS.iter().filter(|(_, flag)| flags.has(*flag)).map(|(name, _)| *name);
    let named = keywords.iter().enumerate().filter(|(index, _)| flags.has(MailFlags::keyword(*index)));
    let recent = is_recent.then_some("\\Recent");
    let names: Vec<&str> = system.chain(named.map(|(_, name)| &**name)).chain(recent).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_bits_of_their_own() {
        let keywords = (0..KEYWORDS_MAX).map(MailFlags::keyword);
        let all: Vec<MailFlags> = SYSTEM_FLAGS.into_iter().map(|(_, flag)| flag).chain(keywords).collect();
        let sum = all.iter().fold(MailFlags::default(), |sum, flag| {
            assert!(!sum.has(*flag));
            sum.with(*flag)
        });
        assert_eq!((all.len(), sum), (32, MailFlags(u32::MAX)));
    }

    #[test]
    fn flags_are_changed_and_written() {
        let keywords = ["$A".into(), "b".into()];
        let flags = MailFlags::SEEN.with(MailFlags::keyword(1));
        let written = |change, others| write_flags(flags.changed(change, others), &keywords, false);
        assert_eq!(written(FlagChange::Add, MailFlags::DELETED), "\\Seen \\Deleted b");
        assert_eq!(written(FlagChange::Remove, MailFlags::SEEN.with(MailFlags::DRAFT)), "b");
        assert_eq!(written(FlagChange::Replace, MailFlags::keyword(0)), "$A");
        assert_eq!(write_flags(MailFlags::default(), &keywords, true), "\\Recent");
    }
}
