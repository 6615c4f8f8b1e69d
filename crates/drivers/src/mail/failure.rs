//! Failures of operations: what servers answer, and what is wrong with what they send.

use std::cell::RefCell;
use std::collections::BTreeMap;

use languages::foreign_bytes;
use mail::MessageFault;
use mailwire::PlaintextBehindUpgrade;
use mailwire::imap::{ExchangeFault, ImapCode, ImapError, ImapStatus, MailboxFault};
use mailwire::smtp::{SmtpError, SmtpReply};
use model::Outcome;

use super::codes::{BAD, ENHANCED_MEANINGS, IMAP_ANSWERS, NO, SMTP_REPLIES, VIOLATIONS, Violation};
use crate::net::OperationFailure;

/// The failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MailFailure {
    pub(super) outcome: Outcome,
    /// The code of the server's answer or of a violation; 0 if it has none.
    pub(super) code: u32,
    /// As in [`model::Reply`].
    pub(super) detail: u64,
    /// Whether nothing more can be asked on the connection.
    pub(super) ends_session: bool,
}

impl MailFailure {
    /// Makes the failure of a violation.
    pub(super) fn violation(violation: Violation, detail: u64) -> MailFailure {
        let (_, _, outcome, ends_session) = violation.entry();
        MailFailure { outcome, code: violation as u32, detail, ends_session }
    }

    /// Makes the failure that an IMAP server has answered.
    pub(super) fn imap(status: ImapStatus, code: Option<ImapCode<'_>>) -> MailFailure {
        let word = match code {
            Some(ImapCode::Other(text)) => text.split(|byte| *byte == b' ').next().unwrap_or_default(),
            _ => &[],
        };
        let mut listed = IMAP_ANSWERS.into_iter().skip(2);
        let listed = listed.find(|(_, known, ..)| word.eq_ignore_ascii_case(known.as_bytes()));
        let plain = IMAP_ANSWERS[usize::from(status == ImapStatus::Bad)];
        let (code, _, _, outcome) = listed.unwrap_or(plain);
        MailFailure { outcome, code, detail: code.into(), ends_session: false }
    }

    /// Makes the failure that an SMTP or LMTP server has replied.
    pub(super) fn smtp(reply: &SmtpReply<'_>) -> MailFailure {
        if reply.code < 400 {
            return MailFailure::violation(Violation::OutOfTurn, reply.code.into());
        }
        let code = u32::from(reply.code);
        let of_code = SMTP_REPLIES.into_iter().find(|(known, ..)| *known == code);
        let of_status = reply.enhanced().and_then(|status| {
            let status = (status.subject, status.detail);
            ENHANCED_MEANINGS.into_iter().find(|(known, _)| *known == status)
        });
        let outcome = match (of_status, of_code) {
            (Some((_, outcome)), _) | (None, Some((.., outcome))) => outcome,
            (None, None) => Outcome::WrongStatus,
        };
        MailFailure { outcome, code, detail: code.into(), ends_session: code == 421 }
    }

    /// Makes the failure of a connection that ended after so many bytes of a reply.
    pub(super) fn ended(n_bytes: u64) -> MailFailure {
        let outcome = if n_bytes == 0 { Outcome::SessionLost } else { Outcome::Truncated };
        MailFailure { outcome, code: 0, detail: n_bytes, ends_session: true }
    }

    /// Makes the failure of a message that is not as it was sent.
    pub(super) fn content(fault: MessageFault) -> MailFailure {
        match fault {
            MessageFault::Altered { offset } => MailFailure::violation(Violation::Altered, offset),
            MessageFault::Short { missing } => MailFailure::violation(Violation::Short, missing),
            MessageFault::Long { extra } => MailFailure::violation(Violation::Long, extra),
        }
    }

    /// Returns the same of something that the session does not go on without.
    pub(super) fn ending(self) -> MailFailure {
        MailFailure { ends_session: true, ..self }
    }

    /// Returns the same of another connection than that of the session.
    pub(super) fn elsewhere(self) -> MailFailure {
        MailFailure { ends_session: false, ..self }
    }

    /// Returns the same of an account that is not let in, unless the server says that it is busy.
    pub(super) fn of_login(self) -> MailFailure {
        let is_answer = self.code != 0 && self.code < Violation::Malformed as u32;
        let outcome = match self.outcome {
            Outcome::Busy => Outcome::Busy,
            _ if is_answer => Outcome::Denied,
            outcome => outcome,
        };
        MailFailure { outcome, ..self }.ending()
    }
}

impl From<OperationFailure> for MailFailure {
    fn from(failure: OperationFailure) -> MailFailure {
        let OperationFailure { outcome, detail } = failure;
        MailFailure { outcome, code: 0, detail, ends_session: true }
    }
}

impl From<ImapError> for MailFailure {
    fn from(error: ImapError) -> MailFailure {
        let (violation, detail) = match error {
            ImapError::LineTooLong(most) => (Violation::LineTooLong, most as u64),
            ImapError::LiteralTooLong { announced, .. } => (Violation::LiteralTooLong, announced),
            _ => (Violation::Malformed, 0),
        };
        MailFailure::violation(violation, detail)
    }
}

impl From<SmtpError> for MailFailure {
    fn from(error: SmtpError) -> MailFailure {
        let violation = match error {
            SmtpError::LineTooLong => Violation::LineTooLong,
            SmtpError::TooManyLines | SmtpError::TextTooLong => Violation::EndlessReply,
            _ => Violation::Malformed,
        };
        MailFailure::violation(violation, 0)
    }
}

impl From<ExchangeFault> for MailFailure {
    fn from(fault: ExchangeFault) -> MailFailure {
        let (violation, detail) = match fault {
            ExchangeFault::Bye => (Violation::Bye, 0),
            ExchangeFault::AnotherTag => (Violation::OtherTag, 0),
            ExchangeFault::Continuation | ExchangeFault::PreAuth => (Violation::OutOfTurn, 0),
            ExchangeFault::TooManyResponses(most) => (Violation::EndlessReply, most.into()),
        };
        MailFailure::violation(violation, detail)
    }
}

impl From<MailboxFault> for MailFailure {
    fn from(fault: MailboxFault) -> MailFailure {
        let (violation, detail) = match fault {
            MailboxFault::Shrunk { now, .. } => (Violation::Shrunk, now),
            MailboxFault::NoSuchMessage { number, .. } => (Violation::NoSuchMessage, number),
            MailboxFault::UidOrder { uid, .. } => (Violation::UidOrder, uid),
            MailboxFault::ValidityChanged { now, .. } => (Violation::ValidityChanged, now),
            MailboxFault::NextUidBack { now, .. } => (Violation::NextUidBack, now),
        };
        MailFailure::violation(violation, detail.into())
    }
}

impl From<PlaintextBehindUpgrade> for MailFailure {
    fn from(fault: PlaintextBehindUpgrade) -> MailFailure {
        MailFailure::violation(Violation::PlaintextBehindUpgrade, fault.0 as u64)
    }
}

/// The server's own texts of its answers by their codes, for descriptions of failed operations: the first of each code.
/// Their number is bounded by that of codes, and their lengths by that of foreign texts.
#[derive(Debug, Default)]
pub(super) struct AnswerTexts(RefCell<BTreeMap<u32, String>>);

impl AnswerTexts {
    /// Keeps the text of an answer.
    pub(super) fn note(&self, code: u32, text: &[u8]) {
        self.0.borrow_mut().entry(code).or_insert_with(|| foreign_bytes(text));
    }

    /// Describes a failure, as a reply has it, for people: a clause without a full stop.
    pub(super) fn describe(&self, outcome: Outcome, code: u32, detail: u64) -> String {
        let said = describe(outcome, code, detail);
        match self.0.borrow().get(&code).filter(|text| !text.is_empty()) {
            Some(text) => format!("{said}: {text}"),
            None => said,
        }
    }
}

fn describe(outcome: Outcome, code: u32, detail: u64) -> String {
    let violation = VIOLATIONS.iter().find(|(violation, ..)| *violation as u32 == code);
    if let Some((violation, ..)) = violation {
        return describe_violation(*violation, detail);
    }
    if let Some((_, word, ..)) = IMAP_ANSWERS.iter().find(|(known, ..)| *known == code) {
        return match code {
            NO => "the server answered NO".to_owned(),
            BAD => "the server answered BAD".to_owned(),
            _ => format!("the server answered NO [{word}]"),
        };
    }
    match outcome {
        _ if code != 0 => format!("the server replied {code}"),
        Outcome::Truncated => format!("the connection ended after {detail} bytes of a reply"),
        Outcome::SessionLost => "the server closed the connection".to_owned(),
        Outcome::TlsFailed => "the TLS handshake failed".to_owned(),
        _ => std::io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}

fn describe_violation(violation: Violation, detail: u64) -> String {
    match violation {
        Violation::Malformed => "the server sent bytes that are no reply".to_owned(),
        Violation::LineTooLong => "a line of the reply is too long".to_owned(),
        Violation::LiteralTooLong => format!("the server announced a literal of {detail} bytes"),
        Violation::EndlessReply => "the reply has no end".to_owned(),
        Violation::OtherTag => "the reply has the tag of no command".to_owned(),
        Violation::OutOfTurn if detail != 0 => format!("the server replied {detail}, which cannot come here"),
        Violation::OutOfTurn => "the server sent a reply that cannot come here".to_owned(),
        Violation::Bye => "the server ended the session".to_owned(),
        Violation::Shrunk => {
            format!("the mailbox has shrunk to {detail} messages without a word of those that are gone")
        }
        Violation::NoSuchMessage => format!("the server named message {detail}, which is not there"),
        Violation::UidOrder => format!("the UID {detail} is out of the order of the others"),
        Violation::ValidityChanged => format!("the mailbox was made again: its UIDVALIDITY is {detail} now"),
        Violation::NextUidBack => format!("the next UID went back to {detail}"),
        Violation::PlaintextBehindUpgrade => {
            format!("{detail} unencrypted bytes follow the reply to STARTTLS, where the handshake must begin")
        }
        Violation::NoTls => "the server does not offer STARTTLS".to_owned(),
        Violation::NoMechanism => {
            "the server offers no way to log on that Plimsoll has: PLAIN, or LOGIN over IMAP; many offer them with TLS only"
                .to_owned()
        }
        Violation::Missing => "the reply lacks what was asked for".to_owned(),
        Violation::NoEntry => format!("entry {detail} is not on the page that was read"),
        Violation::Gone => format!("the message with the UID {detail} is not there any more"),
        Violation::Foreign => format!("the message with the UID {detail} is none of the run's"),
        Violation::Altered => format!("the byte at {detail} of the message is not the one that was sent"),
        Violation::Short => format!("{detail} bytes at the end of the message are missing"),
        Violation::Long => format!("{detail} bytes follow the end of the message"),
    }
}

#[cfg(test)]
mod tests {
    use mailwire::smtp::SmtpReader;

    use super::*;
    use crate::mail::codes::code_name;

    #[test]
    fn answers_of_imap_servers_are_told_apart_by_their_brackets() {
        let of = |status, text| {
            let failure = MailFailure::imap(status, text);
            (failure.outcome, code_name(failure.code).unwrap())
        };
        let other = |text: &'static str| Some(ImapCode::Other(text.as_bytes()));
        assert_eq!(of(ImapStatus::No, None), (Outcome::WrongStatus, "IMAP_NO"));
        assert_eq!(of(ImapStatus::Bad, None), (Outcome::WrongStatus, "IMAP_BAD"));
        assert_eq!(of(ImapStatus::No, other("overquota")), (Outcome::Full, "IMAP_OVERQUOTA"));
        assert_eq!(of(ImapStatus::No, other("TRYCREATE x")), (Outcome::Gone, "IMAP_TRYCREATE"));
        assert_eq!(of(ImapStatus::No, other("X-OWN")), (Outcome::WrongStatus, "IMAP_NO"));
        assert_eq!(of(ImapStatus::No, other("")), (Outcome::WrongStatus, "IMAP_NO"));
    }

    #[test]
    fn replies_of_smtp_servers_are_told_apart_by_code_and_enhanced_status() {
        for (line, outcome, name) in [
            ("421 4.3.2 closing", Outcome::Busy, Some("SMTP_421")),
            ("450 4.2.0 try later", Outcome::Busy, Some("SMTP_450")),
            ("452 4.2.2 over quota", Outcome::Full, Some("SMTP_452")),
            ("550 no", Outcome::Denied, Some("SMTP_550")),
            ("550 5.1.1 unknown", Outcome::Gone, Some("SMTP_550")),
            ("554 5.2.2 full", Outcome::Full, Some("SMTP_554")),
            ("599 no", Outcome::WrongStatus, None),
            ("250 ok", Outcome::MalformedHead, Some("MAIL_OUT_OF_TURN")),
        ] {
            let mut reader = SmtpReader::new();
            let bytes = format!("{line}\r\n");
            let reply = reader.read(bytes.as_bytes()).unwrap().reply.unwrap();
            let failure = MailFailure::smtp(&reply);
            assert_eq!((failure.outcome, code_name(failure.code)), (outcome, name), "{line}");
        }
    }

    #[test]
    fn failures_are_described_with_the_servers_own_text() {
        let texts = AnswerTexts::default();
        texts.note(550, b"5.1.1 <mail7>: \x1b[31munknown");
        texts.note(550, b"another");
        for (failure, text) in [
            ((Outcome::Gone, 550, 550), "the server replied 550: 5.1.1 <mail7>: "),
            ((Outcome::Full, 452, 452), "the server replied 452"),
            ((Outcome::Full, 1002, 1002), "the server answered NO [OVERQUOTA]"),
            ((Outcome::SessionLost, 0, 0), "the server closed the connection"),
            ((Outcome::Truncated, 0, 7), "the connection ended after 7 bytes of a reply"),
            ((Outcome::Refused, 0, 111), "Connection refused (os error 111)"),
        ] {
            let (outcome, code, detail) = failure;
            let described = texts.describe(outcome, code, detail);
            assert!(described.starts_with(text) && !described.contains('\x1b'), "{described}");
        }
    }

    #[test]
    fn an_account_that_is_not_let_in_is_denied_unless_the_server_is_busy() {
        let of = |failure: MailFailure| (failure.of_login().outcome, failure.of_login().ends_session);
        assert_eq!(of(MailFailure::imap(ImapStatus::No, None)), (Outcome::Denied, true));
        let busy = MailFailure::imap(ImapStatus::No, Some(ImapCode::Other(b"UNAVAILABLE")));
        assert_eq!(of(busy), (Outcome::Busy, true));
        assert_eq!(of(MailFailure::ended(0)), (Outcome::SessionLost, true));
        assert_eq!(of(MailFailure::violation(Violation::OtherTag, 0)), (Outcome::MalformedHead, true));
    }
}
