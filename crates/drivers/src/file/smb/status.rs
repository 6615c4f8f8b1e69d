//! Statuses of a server, with their names and outcomes.
//!
//! Source: MS-ERREF section 2.3.1.

use model::Outcome;

use crate::file::failure::Refusal;

/// The status of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NtStatus(pub(super) u32);

/// A status with a name: its number, its name, and the outcome of an operation that ends with it.
type NamedStatus = (u32, &'static str, Outcome);

/// The statuses that file servers answer with.
const STATUSES: [NamedStatus; 66] = [
    (0x0000_0000, "STATUS_SUCCESS", Outcome::Ok),
    (0x0000_0103, "STATUS_PENDING", Outcome::WrongStatus),
    (0x8000_0005, "STATUS_BUFFER_OVERFLOW", Outcome::WrongStatus),
    (0x8000_0006, "STATUS_NO_MORE_FILES", Outcome::Gone),
    (0x8000_002D, "STATUS_STOPPED_ON_SYMLINK", Outcome::WrongStatus),
    (0xC000_0001, "STATUS_UNSUCCESSFUL", Outcome::WrongStatus),
    (0xC000_0002, "STATUS_NOT_IMPLEMENTED", Outcome::WrongStatus),
    (0xC000_0003, "STATUS_INVALID_INFO_CLASS", Outcome::WrongStatus),
    (0xC000_0004, "STATUS_INFO_LENGTH_MISMATCH", Outcome::WrongStatus),
    (0xC000_0008, "STATUS_INVALID_HANDLE", Outcome::Gone),
    (0xC000_000D, "STATUS_INVALID_PARAMETER", Outcome::WrongStatus),
    (0xC000_000E, "STATUS_NO_SUCH_DEVICE", Outcome::Gone),
    (0xC000_000F, "STATUS_NO_SUCH_FILE", Outcome::Gone),
    (0xC000_0010, "STATUS_INVALID_DEVICE_REQUEST", Outcome::WrongStatus),
    (0xC000_0011, "STATUS_END_OF_FILE", Outcome::Truncated),
    (0xC000_0016, "STATUS_MORE_PROCESSING_REQUIRED", Outcome::WrongStatus),
    (0xC000_0017, "STATUS_NO_MEMORY", Outcome::Busy),
    (0xC000_0022, "STATUS_ACCESS_DENIED", Outcome::Denied),
    (0xC000_0023, "STATUS_BUFFER_TOO_SMALL", Outcome::WrongStatus),
    (0xC000_0033, "STATUS_OBJECT_NAME_INVALID", Outcome::WrongStatus),
    (0xC000_0034, "STATUS_OBJECT_NAME_NOT_FOUND", Outcome::Gone),
    (0xC000_0035, "STATUS_OBJECT_NAME_COLLISION", Outcome::Conflict),
    (0xC000_0039, "STATUS_OBJECT_PATH_INVALID", Outcome::WrongStatus),
    (0xC000_003A, "STATUS_OBJECT_PATH_NOT_FOUND", Outcome::Gone),
    (0xC000_003B, "STATUS_OBJECT_PATH_SYNTAX_BAD", Outcome::WrongStatus),
    (0xC000_0043, "STATUS_SHARING_VIOLATION", Outcome::Conflict),
    (0xC000_0044, "STATUS_QUOTA_EXCEEDED", Outcome::Full),
    (0xC000_0054, "STATUS_FILE_LOCK_CONFLICT", Outcome::Conflict),
    (0xC000_0055, "STATUS_LOCK_NOT_GRANTED", Outcome::Conflict),
    (0xC000_0056, "STATUS_DELETE_PENDING", Outcome::Conflict),
    (0xC000_0061, "STATUS_PRIVILEGE_NOT_HELD", Outcome::Denied),
    (0xC000_006D, "STATUS_LOGON_FAILURE", Outcome::Denied),
    (0xC000_006E, "STATUS_ACCOUNT_RESTRICTION", Outcome::Denied),
    (0xC000_006F, "STATUS_INVALID_LOGON_HOURS", Outcome::Denied),
    (0xC000_0070, "STATUS_INVALID_WORKSTATION", Outcome::Denied),
    (0xC000_0071, "STATUS_PASSWORD_EXPIRED", Outcome::Denied),
    (0xC000_0072, "STATUS_ACCOUNT_DISABLED", Outcome::Denied),
    (0xC000_007E, "STATUS_RANGE_NOT_LOCKED", Outcome::Conflict),
    (0xC000_007F, "STATUS_DISK_FULL", Outcome::Full),
    (0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES", Outcome::Busy),
    (0xC000_00A2, "STATUS_MEDIA_WRITE_PROTECTED", Outcome::ReadOnly),
    (0xC000_00B5, "STATUS_IO_TIMEOUT", Outcome::TimedOut),
    (0xC000_00BA, "STATUS_FILE_IS_A_DIRECTORY", Outcome::Conflict),
    (0xC000_00BB, "STATUS_NOT_SUPPORTED", Outcome::WrongStatus),
    (0xC000_00BE, "STATUS_BAD_NETWORK_PATH", Outcome::Gone),
    (0xC000_00C9, "STATUS_NETWORK_NAME_DELETED", Outcome::SessionLost),
    (0xC000_00CA, "STATUS_NETWORK_ACCESS_DENIED", Outcome::Denied),
    (0xC000_00CC, "STATUS_BAD_NETWORK_NAME", Outcome::Gone),
    (0xC000_00CE, "STATUS_TOO_MANY_SESSIONS", Outcome::Busy),
    (0xC000_00D0, "STATUS_REQUEST_NOT_ACCEPTED", Outcome::Busy),
    (0xC000_00E5, "STATUS_INTERNAL_ERROR", Outcome::WrongStatus),
    (0xC000_0101, "STATUS_DIRECTORY_NOT_EMPTY", Outcome::Conflict),
    (0xC000_0103, "STATUS_NOT_A_DIRECTORY", Outcome::Conflict),
    (0xC000_011F, "STATUS_TOO_MANY_OPENED_FILES", Outcome::Busy),
    (0xC000_0120, "STATUS_CANCELLED", Outcome::WrongStatus),
    (0xC000_0121, "STATUS_CANNOT_DELETE", Outcome::Denied),
    (0xC000_0123, "STATUS_FILE_DELETED", Outcome::Gone),
    (0xC000_0128, "STATUS_FILE_CLOSED", Outcome::Gone),
    (0xC000_0193, "STATUS_ACCOUNT_EXPIRED", Outcome::Denied),
    (0xC000_0203, "STATUS_USER_SESSION_DELETED", Outcome::SessionLost),
    (0xC000_0205, "STATUS_INSUFF_SERVER_RESOURCES", Outcome::Busy),
    (0xC000_0224, "STATUS_PASSWORD_MUST_CHANGE", Outcome::Denied),
    (0xC000_0234, "STATUS_ACCOUNT_LOCKED_OUT", Outcome::Denied),
    (0xC000_023A, "STATUS_CONNECTION_INVALID", Outcome::SessionLost),
    (0xC000_035C, "STATUS_NETWORK_SESSION_EXPIRED", Outcome::SessionLost),
    (0xC000_0427, "STATUS_FILE_SYSTEM_LIMITATION", Outcome::Full),
];

impl NtStatus {
    pub(super) const SUCCESS: NtStatus = NtStatus(0);
    pub(super) const PENDING: NtStatus = NtStatus(0x0000_0103);
    pub(super) const BUFFER_OVERFLOW: NtStatus = NtStatus(0x8000_0005);
    pub(super) const NO_MORE_FILES: NtStatus = NtStatus(0x8000_0006);
    pub(super) const INVALID_PARAMETER: NtStatus = NtStatus(0xC000_000D);
    pub(super) const NO_SUCH_FILE: NtStatus = NtStatus(0xC000_000F);
    pub(super) const MORE_PROCESSING_REQUIRED: NtStatus = NtStatus(0xC000_0016);
    pub(super) const ACCESS_DENIED: NtStatus = NtStatus(0xC000_0022);
    pub(super) const OBJECT_NAME_NOT_FOUND: NtStatus = NtStatus(0xC000_0034);
    pub(super) const OBJECT_NAME_COLLISION: NtStatus = NtStatus(0xC000_0035);
    pub(super) const OBJECT_PATH_NOT_FOUND: NtStatus = NtStatus(0xC000_003A);
    pub(super) const NOT_SUPPORTED: NtStatus = NtStatus(0xC000_00BB);
    pub(super) const BAD_NETWORK_NAME: NtStatus = NtStatus(0xC000_00CC);

    /// Returns whether the reply has the body of a success: warnings that data are cut off have it, too.
    pub(super) fn is_success(self) -> bool {
        self.0 >> 30 == 0 || self == NtStatus::BUFFER_OVERFLOW
    }

    /// Returns whether it says that a name, or a folder before it, is not there.
    pub(super) fn is_missing(self) -> bool {
        matches!(
            self,
            NtStatus::NO_MORE_FILES
                | NtStatus::NO_SUCH_FILE
                | NtStatus::OBJECT_NAME_NOT_FOUND
                | NtStatus::OBJECT_PATH_NOT_FOUND
        )
    }

    /// Returns its weight where an operation is meant to fail.
    pub(super) fn refusal(self) -> Refusal {
        // A handle that the server has given and does not know any more.
        const STALE: [NtStatus; 2] = [NtStatus(0xC000_0008), NtStatus(0xC000_0128)];
        if self.is_missing() {
            return Refusal::Missing;
        }
        match self.entry() {
            Some((_, _, Outcome::Denied | Outcome::Conflict | Outcome::Gone)) if !STALE.contains(&self) => {
                Refusal::Other
            }
            Some((0xC000_000D | 0xC000_0033 | 0xC000_0039 | 0xC000_003B, ..)) => Refusal::Other,
            Some(_) | None => Refusal::Fault,
        }
    }

    /// Returns its name; `None` if it is not listed.
    pub(super) fn name(self) -> Option<&'static str> {
        self.entry().map(|(_, name, _)| name)
    }

    /// Returns the outcome of an operation that ends with it.
    pub(super) fn outcome(self) -> Outcome {
        self.entry().map_or(Outcome::WrongStatus, |(_, _, outcome)| outcome)
    }

    fn entry(self) -> Option<NamedStatus> {
        let index = STATUSES.binary_search_by_key(&self.0, |(number, ..)| *number).ok()?;
        Some(STATUSES[index])
    }
}

/// Returns a text for people: the name, or the number of one that is not listed.
pub(super) fn text(status: NtStatus) -> String {
    status.name().map_or_else(|| format!("status 0x{:08X}", status.0), str::to_owned)
}

/// Returns the numbers of all statuses with a name, in their order.
#[cfg(test)]
pub(super) fn numbers() -> impl Iterator<Item = u32> {
    STATUSES.into_iter().map(|(number, ..)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the crate `smb2`, which knows fewer, were written by others.
    #[test]
    fn statuses_are_in_order_and_have_the_names_that_others_give_them() {
        assert!(STATUSES.is_sorted_by(|one, next| one.0 < next.0));
        let mut n_known = 0;
        for (number, name, _) in STATUSES {
            let known = smb2::types::status::NtStatus(number).to_string();
            if known.starts_with("STATUS_") {
                assert_eq!(known, name);
                n_known += 1;
            }
        }
        assert!(40 < n_known, "{n_known}");
    }

    #[test]
    fn what_a_server_states_has_an_outcome_by_its_meaning() {
        for (number, outcome) in [
            (0xC000_0022, Outcome::Denied),
            (0xC000_0043, Outcome::Conflict),
            (0xC000_0128, Outcome::Gone),
            (0xC000_007F, Outcome::Full),
            (0xC000_035C, Outcome::SessionLost),
            (0xC000_0205, Outcome::Busy),
            (0xC000_0011, Outcome::Truncated),
            (0xC000_FFFF, Outcome::WrongStatus),
        ] {
            assert_eq!(NtStatus(number).outcome(), outcome, "{number:x}");
        }
        assert!(NtStatus::SUCCESS.is_success() && NtStatus::BUFFER_OVERFLOW.is_success());
        assert!(!NtStatus::NO_MORE_FILES.is_success() && NtStatus::NO_MORE_FILES.is_missing());
    }
}
