//! Failures of operations and of what opens a session: the server's own status, or what is wrong with what it sent.

use model::{NFS_VIOLATIONS, Outcome};
use rustix::io::Errno;

use super::status::NfsStatus;
use super::target::NfsVersion;
use crate::file::failure::{FileFailure, Refusal, SessionFailure};
use crate::net::OperationFailure;

/// The failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NfsFailure {
    pub(super) outcome: Outcome,
    /// The status of the server ([`NfsStatus`]) or the number of a violation; 0 if it has none.
    pub(super) code: u32,
    /// As in [`model::Reply`].
    pub(super) detail: u64,
    /// Whether nothing more can be asked on the connection.
    pub(super) ends_session: bool,
    /// Whether no operation is meant to fail like this, whatever the code says.
    pub(super) is_fault: bool,
}

/// A violation of the protocol by the server, or of what a client may ask of it. The numbers are none of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Violation {
    /// The bytes are no reply to a remote call.
    NotRpc = 0xE5B1_0001,
    /// A record is longer than any reply to what was asked.
    RecordTooLong = 0xE5B1_0002,
    /// A length within a reply leads out of it.
    LyingLength = 0xE5B1_0003,
    /// A reply answers another call, or another operation, or none.
    OtherReply = 0xE5B1_0004,
    /// The server does not accept the credential of calls.
    AuthError = 0xE5B1_0005,
    /// The server has no such program.
    NoProgram = 0xE5B1_0006,
    /// The server has the program in another version only.
    NoVersion = 0xE5B1_0007,
    /// The program has no such procedure.
    NoProcedure = 0xE5B1_0008,
    /// The server says that it cannot read the call.
    GarbageArguments = 0xE5B1_0009,
    /// The server says that something is wrong with it.
    SystemError = 0xE5B1_000A,
    /// A listing goes on without end, or in a circle.
    EndlessListing = 0xE5B1_000B,
    /// A folder has another number of names that match than it must have.
    OtherListing = 0xE5B1_000C,
    /// A read returns fewer bytes than there are, or a write writes none.
    Short = 0xE5B1_000D,
    /// The operation needs a file that is not open, because opening it has failed.
    NotOpen = 0xE5B1_000E,
    /// The range that is to be unlocked is in no file with locks.
    NotLocked = 0xE5B1_000F,
    /// A write that was to be durable is not.
    NotDurable = 0xE5B1_0010,
    /// The server was restarted before written bytes were durable, and has lost them.
    LostWrites = 0xE5B1_0011,
    /// The server granted what nobody asked for.
    Unasked = 0xE5B1_0012,
}

/// The violations, with their outcomes, and whether they end the session. Their names are in [`model::NFS_VIOLATIONS`].
const VIOLATIONS: [(Violation, Outcome, bool); 18] = [
    (Violation::NotRpc, Outcome::MalformedHead, true),
    (Violation::RecordTooLong, Outcome::OversizedHead, true),
    (Violation::LyingLength, Outcome::MalformedBody, true),
    (Violation::OtherReply, Outcome::MalformedHead, true),
    (Violation::AuthError, Outcome::Denied, true),
    (Violation::NoProgram, Outcome::WrongStatus, true),
    (Violation::NoVersion, Outcome::WrongStatus, true),
    (Violation::NoProcedure, Outcome::WrongStatus, false),
    (Violation::GarbageArguments, Outcome::WrongStatus, false),
    (Violation::SystemError, Outcome::WrongStatus, false),
    (Violation::EndlessListing, Outcome::WrongLength, false),
    (Violation::OtherListing, Outcome::WrongLength, false),
    (Violation::Short, Outcome::Truncated, false),
    (Violation::NotOpen, Outcome::ValueMissing, false),
    (Violation::NotLocked, Outcome::Conflict, false),
    (Violation::NotDurable, Outcome::Inconsistent, false),
    (Violation::LostWrites, Outcome::NotCommitted, false),
    (Violation::Unasked, Outcome::MalformedBody, true),
];

impl Violation {
    fn entry(self) -> (Violation, Outcome, bool) {
        let first = Violation::NotRpc as u32;
        VIOLATIONS[(self as u32 - first) as usize]
    }
}

impl NfsFailure {
    /// Makes the failure of a violation.
    pub(super) fn violation(violation: Violation, detail: u64) -> NfsFailure {
        let (_, outcome, ends_session) = violation.entry();
        NfsFailure { outcome, code: violation as u32, detail, ends_session, is_fault: true }
    }

    /// Makes the failure that a server has stated.
    pub(super) fn status(status: NfsStatus) -> NfsFailure {
        let outcome = status.outcome();
        let ends_session = outcome == Outcome::SessionLost;
        let is_fault = status.refusal() == Refusal::Fault;
        NfsFailure { outcome, code: status.0, detail: status.0.into(), ends_session, is_fault }
    }

    /// Makes the failure of a connection that ended after so many bytes of a reply.
    pub(super) fn ended(n_bytes: usize) -> NfsFailure {
        let outcome = if n_bytes == 0 { Outcome::SessionLost } else { Outcome::Truncated };
        NfsFailure { outcome, code: 0, detail: n_bytes as u64, ends_session: true, is_fault: true }
    }

    /// Makes the failure of what was read, by its bytes.
    pub(super) fn of_content(failure: FileFailure) -> NfsFailure {
        let FileFailure { outcome, detail, .. } = failure;
        NfsFailure { outcome, code: 0, detail, ends_session: false, is_fault: true }
    }

    /// Returns whether it is this violation.
    pub(super) fn is(&self, violation: Violation) -> bool {
        self.code == violation as u32
    }

    /// Returns whether it is this status.
    pub(super) fn is_status(&self, status: NfsStatus) -> bool {
        self.code == status.0
    }

    /// Describes it for people: a clause without a full stop.
    pub(super) fn describe(&self, version: NfsVersion) -> String {
        describe(version, self.outcome, self.code, self.detail)
    }
}

impl SessionFailure for NfsFailure {
    fn lost() -> NfsFailure {
        NfsFailure::ended(0)
    }

    fn ends_session(self) -> bool {
        self.ends_session
    }

    fn into_file_failure(self) -> FileFailure {
        let NfsFailure { outcome, code, detail, .. } = self;
        let refusal = if self.is_fault { Refusal::Fault } else { NfsStatus(code).refusal() };
        FileFailure { outcome, refusal, code, detail }
    }
}

impl From<Errno> for NfsFailure {
    fn from(error: Errno) -> NfsFailure {
        let OperationFailure { outcome, detail } = OperationFailure::from(error);
        NfsFailure { outcome, code: 0, detail, ends_session: true, is_fault: true }
    }
}

/// Returns the name of a code of a failed operation: that of the version for what a server has stated (`NFS4ERR_STALE`), ours
/// for what is wrong with what it sent; `None` of a code that is not listed.
pub fn code_name(version: NfsVersion, code: u32) -> Option<&'static str> {
    let violation = NFS_VIOLATIONS.iter().find(|(number, _)| *number == code);
    violation.map(|(_, name)| *name).or_else(|| NfsStatus(code).name(version))
}

/// Describes a failure, as a reply has it, for people.
pub(super) fn describe(version: NfsVersion, outcome: Outcome, code: u32, detail: u64) -> String {
    let violation = VIOLATIONS.iter().find(|(violation, ..)| *violation as u32 == code);
    match (violation.map(|(violation, ..)| *violation), outcome) {
        (Some(violation), _) => describe_violation(violation, detail),
        (None, Outcome::WrongBytes) => {
            format!("the byte at {detail} of the file is not the one that was written")
        }
        (None, Outcome::Truncated) => format!("the connection ended after {detail} bytes of the reply"),
        (None, Outcome::SessionLost) if code == 0 => "the server closed the connection".to_owned(),
        (None, _) if code != 0 => format!("the server answered {}", NfsStatus(code).text(version)),
        (None, _) => std::io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}

fn describe_violation(violation: Violation, detail: u64) -> String {
    match violation {
        Violation::NotRpc => "the server sent bytes that are no reply to a remote call".to_owned(),
        Violation::RecordTooLong => {
            format!("the server announced a record of {detail} bytes, longer than any reply to the call")
        }
        Violation::LyingLength => format!("a length in the reply, {detail}, leads out of it"),
        Violation::OtherReply => "the server answered another call, or more than was asked".to_owned(),
        Violation::AuthError => {
            format!("the server does not accept the user and the group of calls (AUTH_SYS, reason {detail})")
        }
        Violation::NoProgram => "the server has no such program".to_owned(),
        Violation::NoVersion => "the server does not have this version".to_owned(),
        Violation::NoProcedure => "the server does not have this procedure".to_owned(),
        Violation::GarbageArguments => "the server says that it cannot read the call".to_owned(),
        Violation::SystemError => "the server says that it has an error of its own".to_owned(),
        Violation::EndlessListing => format!("the listing has not ended after {detail} names"),
        Violation::OtherListing => format!("{detail} names match, other than there must be"),
        Violation::Short => format!("only {detail} bytes were read or written"),
        Violation::NotOpen => "the file is not open, because opening it failed".to_owned(),
        Violation::NotLocked => "the file has no lock".to_owned(),
        Violation::NotDurable => {
            "the server has not made the written bytes durable, as it was asked to".to_owned()
        }
        Violation::LostWrites => "the server was restarted, and lost written bytes".to_owned(),
        Violation::Unasked => "the server granted a delegation, which nobody asked for".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a report names every violation, by a number that no status has.
    #[test]
    fn violations_are_in_the_order_of_their_numbers_and_have_names() {
        assert_eq!(VIOLATIONS.len(), NFS_VIOLATIONS.len());
        for (index, ((violation, ..), (number, name))) in VIOLATIONS.iter().zip(NFS_VIOLATIONS).enumerate() {
            let code = *violation as u32;
            assert_eq!((code, number), (0xE5B1_0001 + index as u32, code));
            for version in NfsVersion::ALL {
                assert_eq!(code_name(version, code), Some(name));
                assert_eq!(NfsStatus(code).name(version), None);
            }
            assert_eq!(NfsFailure::violation(*violation, 0).code, code);
        }
        assert_eq!(code_name(NfsVersion::V3, 70), Some("NFS3ERR_STALE"));
        assert_eq!(code_name(NfsVersion::V4_1, 10008), Some("NFS4ERR_DELAY"));
        assert_eq!(code_name(NfsVersion::V3, 10011), None);
    }

    #[test]
    fn failures_are_described() {
        for (failure, text) in [
            (NfsFailure::status(NfsStatus::STALE), "the server answered NFS4ERR_STALE"),
            (NfsFailure::status(NfsStatus(12345)), "the server answered status 12345"),
            (
                NfsFailure::of_content(FileFailure::found(Outcome::WrongBytes, 8200)),
                "the byte at 8200 of the file is not the one that was written",
            ),
            (NfsFailure::ended(0), "the server closed the connection"),
            (NfsFailure::ended(7), "the connection ended after 7 bytes of the reply"),
            (NfsFailure::violation(Violation::Short, 10), "only 10 bytes were read or written"),
            (NfsFailure::from(Errno::CONNREFUSED), "Connection refused (os error 111)"),
        ] {
            assert_eq!(failure.describe(NfsVersion::V4_1), text);
        }
    }
}
