//! Failures of operations and of what opens a session: the server's own code, or what is wrong with what it sent.

use model::Outcome;
use rustix::io::Errno;

use super::status::{self, NtStatus};
use crate::file::failure::{FileFailure, Refusal, SessionFailure};
use crate::net::OperationFailure;

/// The failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SmbFailure {
    pub(super) outcome: Outcome,
    /// The code of the server ([`NtStatus`]) or of a violation; 0 if it has none.
    pub(super) code: u32,
    /// As in [`model::Reply`].
    pub(super) detail: u64,
    /// Whether nothing more can be asked on the connection.
    pub(super) ends_session: bool,
    /// Whether no operation is meant to fail like this, whatever the code says.
    pub(super) is_fault: bool,
}

/// A violation of the protocol by the server, or of what a session may ask of it. Numbers have the bit of codes that are
/// not Microsoft's, so that none is that of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Violation {
    /// The bytes are no message of SMB 2 or 3.
    NotSmb = 0xE5B0_0001,
    /// A frame is longer than any reply to what was asked.
    FrameTooLong = 0xE5B0_0002,
    /// A length or an offset within a message leads out of it.
    LyingLength = 0xE5B0_0003,
    /// A message answers another request, or none.
    OtherMessage = 0xE5B0_0004,
    /// A reply is not signed, in a session with signatures.
    Unsigned = 0xE5B0_0005,
    /// A signature is not that of the message.
    WrongSignature = 0xE5B0_0006,
    /// A reply is not encrypted, in a session with encryption.
    NotEncrypted = 0xE5B0_0007,
    /// A reply cannot be decrypted.
    WrongEncryption = 0xE5B0_0008,
    /// The server has not granted the credits that the next request needs.
    NoCredits = 0xE5B0_0009,
    /// The server says again and again that a request is pending.
    EndlessPending = 0xE5B0_000A,
    /// A listing goes on without end.
    EndlessListing = 0xE5B0_000B,
    /// A folder has another number of names that match than it must have.
    OtherListing = 0xE5B0_000C,
    /// A read returns fewer bytes than there are, or a write writes fewer than were sent.
    Short = 0xE5B0_000D,
    /// The operation needs a file that is not open, because opening it has failed.
    NotOpen = 0xE5B0_000E,
}

/// The violations, with their names in reports, their outcomes, and whether they end the session.
const VIOLATIONS: [(Violation, &str, Outcome, bool); 14] = [
    (Violation::NotSmb, "SMB_NOT_A_MESSAGE", Outcome::MalformedHead, true),
    (Violation::FrameTooLong, "SMB_FRAME_TOO_LONG", Outcome::OversizedHead, true),
    (Violation::LyingLength, "SMB_LYING_LENGTH", Outcome::MalformedBody, true),
    (Violation::OtherMessage, "SMB_OTHER_MESSAGE", Outcome::MalformedHead, true),
    (Violation::Unsigned, "SMB_UNSIGNED_REPLY", Outcome::MalformedHead, true),
    (Violation::WrongSignature, "SMB_WRONG_SIGNATURE", Outcome::Inconsistent, true),
    (Violation::NotEncrypted, "SMB_NOT_ENCRYPTED", Outcome::MalformedHead, true),
    (Violation::WrongEncryption, "SMB_WRONG_ENCRYPTION", Outcome::Inconsistent, true),
    (Violation::NoCredits, "SMB_NO_CREDITS", Outcome::Busy, true),
    (Violation::EndlessPending, "SMB_ENDLESS_PENDING", Outcome::Busy, true),
    (Violation::EndlessListing, "SMB_ENDLESS_LISTING", Outcome::WrongLength, true),
    (Violation::OtherListing, "SMB_OTHER_LISTING", Outcome::WrongLength, false),
    (Violation::Short, "SMB_SHORT", Outcome::Truncated, false),
    (Violation::NotOpen, "SMB_NOT_OPEN", Outcome::ValueMissing, false),
];

impl Violation {
    fn entry(self) -> (Violation, &'static str, Outcome, bool) {
        let first = Violation::NotSmb as u32;
        VIOLATIONS[(self as u32 - first) as usize]
    }
}

impl SmbFailure {
    /// Makes the failure of a violation.
    pub(super) fn violation(violation: Violation, detail: u64) -> SmbFailure {
        let (_, _, outcome, ends_session) = violation.entry();
        SmbFailure { outcome, code: violation as u32, detail, ends_session, is_fault: true }
    }

    /// Makes the failure that a server has stated.
    pub(super) fn status(status: NtStatus) -> SmbFailure {
        let outcome = status.outcome();
        let ends_session = outcome == Outcome::SessionLost;
        let is_fault = status.refusal() == Refusal::Fault;
        SmbFailure { outcome, code: status.0, detail: status.0.into(), ends_session, is_fault }
    }

    /// Makes the failure of a connection that ended after so many bytes of a reply.
    pub(super) fn ended(n_bytes: usize) -> SmbFailure {
        let outcome = if n_bytes == 0 { Outcome::SessionLost } else { Outcome::Truncated };
        SmbFailure { outcome, code: 0, detail: n_bytes as u64, ends_session: true, is_fault: true }
    }

    /// Makes the failure of what was read, by its bytes.
    pub(super) fn of_content(failure: FileFailure) -> SmbFailure {
        let FileFailure { outcome, detail, .. } = failure;
        match outcome {
            Outcome::Truncated => SmbFailure::violation(Violation::Short, detail),
            _ => SmbFailure { outcome, code: 0, detail, ends_session: false, is_fault: true },
        }
    }

    /// Returns the same of a piece that so many bytes precede.
    pub(super) fn behind(self, n_bytes: u64) -> SmbFailure {
        let detail = if self.is(Violation::Short) { self.detail + n_bytes } else { self.detail };
        SmbFailure { detail, ..self }
    }

    /// Returns whether it is this violation.
    pub(super) fn is(&self, violation: Violation) -> bool {
        self.code == violation as u32
    }

    /// Describes it for people: a clause without a full stop.
    pub(super) fn describe(&self) -> String {
        describe(self.outcome, self.code, self.detail)
    }
}

impl SessionFailure for SmbFailure {
    fn lost() -> SmbFailure {
        SmbFailure::ended(0)
    }

    fn ends_session(self) -> bool {
        self.ends_session
    }

    fn into_file_failure(self) -> FileFailure {
        let SmbFailure { outcome, code, detail, .. } = self;
        let refusal = if self.is_fault { Refusal::Fault } else { NtStatus(code).refusal() };
        FileFailure { outcome, refusal, code, detail }
    }
}

impl From<Errno> for SmbFailure {
    fn from(error: Errno) -> SmbFailure {
        let OperationFailure { outcome, detail } = OperationFailure::from(error);
        SmbFailure { outcome, code: 0, detail, ends_session: true, is_fault: true }
    }
}

/// Returns the name of a code of a failed operation: that of Microsoft for what a server has stated
/// (`STATUS_SHARING_VIOLATION`), ours for what is wrong with what it sent; `None` of a code that is not listed.
pub fn code_name(code: u32) -> Option<&'static str> {
    let violation = VIOLATIONS.iter().find(|(violation, ..)| *violation as u32 == code);
    violation.map(|(_, name, ..)| *name).or_else(|| NtStatus(code).name())
}

/// Describes a failure, as a reply has it, for people.
pub(super) fn describe(outcome: Outcome, code: u32, detail: u64) -> String {
    let violation = VIOLATIONS.iter().find(|(violation, ..)| *violation as u32 == code);
    match (violation.map(|(violation, ..)| *violation), outcome) {
        (Some(violation), _) => describe_violation(violation, detail),
        (None, Outcome::WrongBytes) => {
            format!("the byte at {detail} of the file is not the one that was written")
        }
        (None, Outcome::Truncated) => format!("the connection ended after {detail} bytes of the reply"),
        (None, Outcome::SessionLost) if code == 0 => "the server closed the session".to_owned(),
        (None, _) if code != 0 => format!("the server answered {}", status::text(NtStatus(code))),
        (None, _) => std::io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}

fn describe_violation(violation: Violation, detail: u64) -> String {
    match violation {
        Violation::NotSmb => "the server sent bytes that are no message of SMB 2 or 3".to_owned(),
        Violation::FrameTooLong => {
            format!("the server announced a frame of {detail} bytes, longer than any reply to the request")
        }
        Violation::LyingLength => format!("a length in the reply, {detail}, leads out of it"),
        Violation::OtherMessage => format!("the server answered message {detail}, which awaits no reply"),
        Violation::Unsigned => "the reply is not signed, and the session is".to_owned(),
        Violation::WrongSignature => "the signature of the reply is wrong".to_owned(),
        Violation::NotEncrypted => "the reply is not encrypted, and the session is".to_owned(),
        Violation::WrongEncryption => "the reply cannot be decrypted".to_owned(),
        Violation::NoCredits => {
            format!("the server left the session {detail} credits, fewer than the request needs")
        }
        Violation::EndlessPending => format!("the server said {detail} times that the request is pending"),
        Violation::EndlessListing => format!("the listing has not ended after {detail} names"),
        Violation::OtherListing => format!("{detail} names match, other than there must be"),
        Violation::Short => format!("only {detail} bytes were read or written"),
        Violation::NotOpen => "the file is not open, because opening it failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit 29 of a status says that it is not one of Microsoft's.
    #[test]
    fn violations_are_in_the_order_of_their_numbers_which_no_status_has() {
        for (index, (violation, name, ..)) in VIOLATIONS.iter().enumerate() {
            let code = *violation as u32;
            assert_eq!(code, 0xE5B0_0001 + index as u32);
            assert!(code & 1 << 29 != 0);
            assert_eq!(code_name(code), Some(*name));
            assert_eq!(SmbFailure::violation(*violation, 0).code, code);
        }
        assert_eq!(code_name(0xC000_0043), Some("STATUS_SHARING_VIOLATION"));
        assert_eq!(code_name(0xC0FF_FFFF), None);
    }

    /// Goal: a report names every code that a failure can have.
    #[test]
    fn catalogs_name_every_code() {
        let named: Vec<u32> = model::SMB_CODES.iter().map(|(code, _)| *code).collect();
        assert!(named.is_sorted());
        for (code, name) in model::SMB_CODES {
            assert_eq!(code_name(code), Some(name));
        }
        let of_violations = VIOLATIONS.iter().map(|(violation, ..)| *violation as u32);
        let all = status::numbers().filter(|number| *number != NtStatus::SUCCESS.0).chain(of_violations);
        assert_eq!(all.collect::<Vec<u32>>(), named);
    }

    #[test]
    fn failures_are_described() {
        for (failure, text) in [
            (SmbFailure::status(NtStatus(0xC000_0043)), "the server answered STATUS_SHARING_VIOLATION"),
            (SmbFailure::status(NtStatus(0xC0FF_FFFF)), "the server answered status 0xC0FFFFFF"),
            (
                SmbFailure::of_content(FileFailure::found(Outcome::WrongBytes, 8200)),
                "the byte at 8200 of the file is not the one that was written",
            ),
            (SmbFailure::ended(0), "the server closed the session"),
            (SmbFailure::ended(7), "the connection ended after 7 bytes of the reply"),
            (SmbFailure::violation(Violation::Short, 10), "only 10 bytes were read or written"),
            (SmbFailure::from(Errno::CONNREFUSED), "Connection refused (os error 111)"),
        ] {
            assert_eq!(failure.describe(), text);
        }
    }
}
