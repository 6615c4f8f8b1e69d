//! The codes of failures, each with its name in reports and its outcome.
//!
//! | codes | what they say |
//! |---|---|
//! | 400 to 599 | the reply of an SMTP or LMTP server (RFC 5321) |
//! | 1000 on | the answer of an IMAP server, by the code in its brackets (RFC 5530) |
//! | 2000 on | a violation of the protocol, or a message that is not as it was sent |

use model::Outcome;

/// A violation of the protocol by the server, or a message that is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Violation {
    /// The bytes are no reply.
    Malformed = 2000,
    /// A line is longer than the limit.
    LineTooLong,
    /// A literal is announced that is longer than the limit.
    LiteralTooLong,
    /// The replies to a command, or the lines of a reply, have no end.
    EndlessReply,
    /// A reply has the tag of no command.
    OtherTag,
    /// A reply cannot come at this point.
    OutOfTurn,
    /// The server ends the session in place of an answer.
    Bye,
    /// A mailbox has fewer messages than before, and nobody said which are gone.
    Shrunk,
    /// A message is named that is not there.
    NoSuchMessage,
    /// UIDs are not in the order of the messages.
    UidOrder,
    /// A mailbox was made again while it was in use.
    ValidityChanged,
    /// The UID of the next message is one that was given before.
    NextUidBack,
    /// Unencrypted bytes follow the reply to STARTTLS.
    PlaintextBehindUpgrade,
    /// The server does not offer TLS.
    NoTls,
    /// The server offers no way to log on that we have.
    NoMechanism,
    /// A reply lacks what was asked for.
    Missing,
    /// The operation needs an entry of a view that the user has not read.
    NoEntry,
    /// The message is not there any more.
    Gone,
    /// The message is none of the run's.
    Foreign,
    /// A byte of the message is another.
    Altered,
    /// The message ends early.
    Short,
    /// The message goes on behind its end.
    Long,
}

/// The violations, with their names in reports, their outcomes, and whether they end the session.
pub(super) const VIOLATIONS: [(Violation, &str, Outcome, bool); 22] = [
    (Violation::Malformed, "MAIL_MALFORMED", Outcome::MalformedHead, true),
    (Violation::LineTooLong, "MAIL_LINE_TOO_LONG", Outcome::OversizedHead, true),
    (Violation::LiteralTooLong, "MAIL_LITERAL_TOO_LONG", Outcome::OversizedHead, true),
    (Violation::EndlessReply, "MAIL_ENDLESS_REPLY", Outcome::OversizedHead, true),
    (Violation::OtherTag, "MAIL_OTHER_TAG", Outcome::MalformedHead, true),
    (Violation::OutOfTurn, "MAIL_OUT_OF_TURN", Outcome::MalformedHead, true),
    (Violation::Bye, "MAIL_BYE", Outcome::SessionLost, true),
    (Violation::Shrunk, "MAIL_SHRUNK", Outcome::Inconsistent, true),
    (Violation::NoSuchMessage, "MAIL_NO_SUCH_MESSAGE", Outcome::Inconsistent, true),
    (Violation::UidOrder, "MAIL_UID_ORDER", Outcome::Inconsistent, true),
    (Violation::ValidityChanged, "MAIL_VALIDITY_CHANGED", Outcome::Inconsistent, true),
    (Violation::NextUidBack, "MAIL_NEXT_UID_BACK", Outcome::Inconsistent, true),
    (Violation::PlaintextBehindUpgrade, "MAIL_PLAINTEXT_BEHIND_UPGRADE", Outcome::TlsFailed, true),
    (Violation::NoTls, "MAIL_NO_TLS", Outcome::TlsFailed, true),
    (Violation::NoMechanism, "MAIL_NO_MECHANISM", Outcome::Denied, true),
    (Violation::Missing, "MAIL_MISSING", Outcome::ValueMissing, false),
    (Violation::NoEntry, "MAIL_NO_ENTRY", Outcome::ValueMissing, false),
    (Violation::Gone, "MAIL_GONE", Outcome::Gone, false),
    (Violation::Foreign, "MAIL_FOREIGN", Outcome::WrongBytes, false),
    (Violation::Altered, "MAIL_ALTERED", Outcome::WrongBytes, false),
    (Violation::Short, "MAIL_SHORT", Outcome::Truncated, false),
    (Violation::Long, "MAIL_LONG", Outcome::WrongLength, false),
];

/// The code of the answer NO with a code that is not listed, or without one.
pub(super) const NO: u32 = 1000;
/// The code of the answer BAD.
pub(super) const BAD: u32 = 1001;
/// The code of the answer that a mailbox is not there and can be made.
pub(super) const TRY_CREATE: u32 = 1003;
/// The code of the answer that a message has been expunged.
pub(super) const EXPUNGE_ISSUED: u32 = 1005;

/// The answers of IMAP servers other than OK, with their names in reports. Those from the third on have a word in brackets.
///
/// Source: RFC 5530, and RFC 3501 section 7.1.
pub(super) const IMAP_ANSWERS: [(u32, &str, &str, Outcome); 17] = [
    (NO, "", "IMAP_NO", Outcome::WrongStatus),
    (BAD, "", "IMAP_BAD", Outcome::WrongStatus),
    (1002, "OVERQUOTA", "IMAP_OVERQUOTA", Outcome::Full),
    (TRY_CREATE, "TRYCREATE", "IMAP_TRYCREATE", Outcome::Gone),
    (1004, "NONEXISTENT", "IMAP_NONEXISTENT", Outcome::Gone),
    (EXPUNGE_ISSUED, "EXPUNGEISSUED", "IMAP_EXPUNGEISSUED", Outcome::Gone),
    (1006, "ALREADYEXISTS", "IMAP_ALREADYEXISTS", Outcome::Conflict),
    (1007, "INUSE", "IMAP_INUSE", Outcome::Conflict),
    (1008, "NOPERM", "IMAP_NOPERM", Outcome::Denied),
    (1009, "AUTHENTICATIONFAILED", "IMAP_AUTHENTICATIONFAILED", Outcome::Denied),
    (1010, "AUTHORIZATIONFAILED", "IMAP_AUTHORIZATIONFAILED", Outcome::Denied),
    (1011, "EXPIRED", "IMAP_EXPIRED", Outcome::Denied),
    (1012, "PRIVACYREQUIRED", "IMAP_PRIVACYREQUIRED", Outcome::Denied),
    (1013, "CONTACTADMIN", "IMAP_CONTACTADMIN", Outcome::Denied),
    (1014, "UNAVAILABLE", "IMAP_UNAVAILABLE", Outcome::Busy),
    (1015, "CORRUPTION", "IMAP_CORRUPTION", Outcome::WrongStatus),
    (1016, "SERVERBUG", "IMAP_SERVERBUG", Outcome::WrongStatus),
];

/// The replies of SMTP and LMTP servers other than success, with their names in reports.
///
/// Source: RFC 5321 section 4.2.3, RFC 4954 section 6, RFC 3207 and RFC 7504.
pub(super) const SMTP_REPLIES: [(u32, &str, Outcome); 23] = [
    (421, "SMTP_421", Outcome::Busy),
    (432, "SMTP_432", Outcome::Denied),
    (450, "SMTP_450", Outcome::Busy),
    (451, "SMTP_451", Outcome::WrongStatus),
    (452, "SMTP_452", Outcome::Full),
    (454, "SMTP_454", Outcome::Busy),
    (455, "SMTP_455", Outcome::WrongStatus),
    (500, "SMTP_500", Outcome::WrongStatus),
    (501, "SMTP_501", Outcome::WrongStatus),
    (502, "SMTP_502", Outcome::WrongStatus),
    (503, "SMTP_503", Outcome::WrongStatus),
    (504, "SMTP_504", Outcome::WrongStatus),
    (521, "SMTP_521", Outcome::Denied),
    (530, "SMTP_530", Outcome::Denied),
    (534, "SMTP_534", Outcome::Denied),
    (535, "SMTP_535", Outcome::Denied),
    (538, "SMTP_538", Outcome::Denied),
    (550, "SMTP_550", Outcome::Denied),
    (551, "SMTP_551", Outcome::Gone),
    (552, "SMTP_552", Outcome::Full),
    (553, "SMTP_553", Outcome::WrongStatus),
    (554, "SMTP_554", Outcome::Denied),
    (556, "SMTP_556", Outcome::Denied),
];

/// The meanings of subject and detail of an enhanced status that say more than the code.
///
/// Source: RFC 3463.
pub(super) const ENHANCED_MEANINGS: [((u16, u16), Outcome); 7] = [
    // There is no such mailbox, it is full, or takes no message as long as this.
    ((1, 1), Outcome::Gone),
    ((2, 2), Outcome::Full),
    ((2, 3), Outcome::Denied),
    // The system is full, takes no messages now, or none as long as this.
    ((3, 1), Outcome::Full),
    ((3, 2), Outcome::Busy),
    ((3, 4), Outcome::Denied),
    // Congestion.
    ((4, 5), Outcome::Busy),
];

impl Violation {
    /// Returns its row.
    pub(super) fn entry(self) -> (Violation, &'static str, Outcome, bool) {
        VIOLATIONS[(self as u32 - Violation::Malformed as u32) as usize]
    }
}

/// Returns the name of a code of a failed operation: that of what a server has answered (`SMTP_550`, `IMAP_OVERQUOTA`), or
/// ours for what is wrong with what it sent (`MAIL_OTHER_TAG`); `None` of a code that is not listed.
pub fn code_name(code: u32) -> Option<&'static str> {
    let violations = VIOLATIONS.iter().map(|(violation, name, ..)| (*violation as u32, *name));
    let answers = IMAP_ANSWERS.iter().map(|(known, _, name, _)| (*known, *name));
    let replies = SMTP_REPLIES.iter().map(|(known, name, _)| (*known, *name));
    violations.chain(answers).chain(replies).find(|(known, _)| *known == code).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_have_names_of_their_own_and_are_those_of_their_places() {
        for (index, (violation, name, ..)) in VIOLATIONS.iter().enumerate() {
            assert_eq!(*violation as usize, 2000 + index);
            assert_eq!(code_name(*violation as u32), Some(*name));
        }
        for (index, (code, ..)) in IMAP_ANSWERS.iter().enumerate() {
            assert_eq!(*code as usize, 1000 + index);
        }
        assert!(SMTP_REPLIES.is_sorted_by_key(|(code, ..)| *code));
        let codes = (0..3000).filter_map(code_name);
        let names: BTreeSet<&str> = codes.clone().collect();
        assert_eq!(names.len(), codes.count());
        assert_eq!(code_name(250), None);
    }
}
