//! Statuses of a server, with their outcomes. Those that versions 3 and 4 have in common have one number.
//!
//! Source: RFC 1813 section 2.6, RFC 8881 section 15.1; their names are in [`model::NFS3_STATUSES`] and
//! [`model::NFS4_STATUSES`].

use model::{NFS3_STATUSES, NFS4_STATUSES, Outcome};

use super::target::NfsVersion;
use crate::file::failure::Refusal;

/// The status of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NfsStatus(pub(super) u32);

impl NfsStatus {
    pub(super) const OK: NfsStatus = NfsStatus(0);
    pub(super) const PERM: NfsStatus = NfsStatus(1);
    pub(super) const NOENT: NfsStatus = NfsStatus(2);
    pub(super) const ACCESS: NfsStatus = NfsStatus(13);
    pub(super) const EXIST: NfsStatus = NfsStatus(17);
    pub(super) const ISDIR: NfsStatus = NfsStatus(21);
    pub(super) const INVAL: NfsStatus = NfsStatus(22);
    pub(super) const NAMETOOLONG: NfsStatus = NfsStatus(63);
    pub(super) const STALE: NfsStatus = NfsStatus(70);
    pub(super) const BADHANDLE: NfsStatus = NfsStatus(10001);
    pub(super) const FHEXPIRED: NfsStatus = NfsStatus(10014);
    pub(super) const SHARE_DENIED: NfsStatus = NfsStatus(10015);
    pub(super) const MINOR_VERS_MISMATCH: NfsStatus = NfsStatus(10021);
    pub(super) const BADCHAR: NfsStatus = NfsStatus(10040);
    pub(super) const BADNAME: NfsStatus = NfsStatus(10041);

    /// Returns whether it says that a name is not there.
    pub(super) fn is_missing(self) -> bool {
        self == NfsStatus::NOENT
    }

    /// Returns whether it says that the server does not know a handle any more.
    pub(super) fn is_stale(self) -> bool {
        [NfsStatus::STALE, NfsStatus::BADHANDLE, NfsStatus::FHEXPIRED].contains(&self)
    }

    /// Returns its weight where an operation is meant to fail.
    pub(super) fn refusal(self) -> Refusal {
        const NAMES: [NfsStatus; 4] =
            [NfsStatus::INVAL, NfsStatus::NAMETOOLONG, NfsStatus::BADCHAR, NfsStatus::BADNAME];
        match self.outcome() {
            _ if self.is_missing() => Refusal::Missing,
            Outcome::Denied | Outcome::Conflict => Refusal::Other,
            _ if NAMES.contains(&self) => Refusal::Other,
            _ => Refusal::Fault,
        }
    }

    /// Returns the outcome of an operation that ends with it.
    pub(super) fn outcome(self) -> Outcome {
        match self.0 {
            0 => Outcome::Ok,
            // PERM, ACCESS, ROFS, WRONGSEC.
            1 | 13 | 30 | 10016 => Outcome::Denied,
            // EXIST, NOTDIR, ISDIR, NOTEMPTY, LOCKED, SHARE_DENIED, DENIED, OPENMODE, FILE_OPEN, DEADLOCK, LOCKS_HELD.
            17 | 20 | 21 | 66 | 10010 | 10012 | 10015 | 10037 | 10038 | 10045 | 10046 => Outcome::Conflict,
            // NOENT, NXIO, NODEV, STALE, BADHANDLE, FHEXPIRED, MOVED, STALE_STATEID, OLD_STATEID, BAD_STATEID, ADMIN_REVOKED.
            2 | 6 | 19 | 70 | 10001 | 10014 | 10019 | 10023..=10025 | 10047 => Outcome::Gone,
            // FBIG, NOSPC, DQUOT.
            27 | 28 | 69 => Outcome::Full,
            // DELAY or JUKEBOX, GRACE, RESOURCE, RECALLCONFLICT.
            10008 | 10013 | 10018 | 10061 => Outcome::Busy,
            // EXPIRED, STALE_CLIENTID, BADSESSION, BADSLOT, CONN_NOT_BOUND_TO_SESSION, SEQ_MISORDERED, SEQ_FALSE_RETRY,
            // DEADSESSION.
            10011 | 10022 | 10052 | 10053 | 10055 | 10063 | 10076 | 10078 => Outcome::SessionLost,
            _ => Outcome::WrongStatus,
        }
    }

    /// Returns its name in a version; `None` if it is not listed.
    pub(super) fn name(self, version: NfsVersion) -> Option<&'static str> {
        let names = match version {
            NfsVersion::V3 => &NFS3_STATUSES[..],
            NfsVersion::V4_1 => &NFS4_STATUSES,
        };
        let index = names.binary_search_by_key(&self.0, |(number, _)| *number).ok()?;
        Some(names[index].1)
    }

    /// Returns a text for people: the name, or the number of one that is not listed.
    pub(super) fn text(self, version: NfsVersion) -> String {
        self.name(version).map_or_else(|| format!("status {}", self.0), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_in_order_and_what_both_versions_have_means_the_same() {
        for names in [&NFS3_STATUSES[..], &NFS4_STATUSES] {
            assert!(names.is_sorted_by(|one, next| one.0 < next.0));
        }
        for (number, name) in NFS3_STATUSES {
            let meaning = name.trim_start_matches("NFS3ERR_");
            let other =
                NfsStatus(number).name(NfsVersion::V4_1).map(|name| name.trim_start_matches("NFS4ERR_"));
            match (meaning, other) {
                // Only version 3 has them, or its name was another.
                ("NODEV" | "REMOTE" | "NOT_SYNC", None) | ("ACCES", Some("ACCESS")) => {}
                ("JUKEBOX", Some("DELAY")) => {}
                _ => assert_eq!(Some(meaning), other),
            }
        }
    }

    #[test]
    fn what_a_server_states_has_an_outcome_by_its_meaning() {
        let by_name = |name: &str| {
            let found = NFS4_STATUSES.iter().find(|(_, known)| known.trim_start_matches("NFS4ERR_") == name);
            NfsStatus(found.unwrap_or_else(|| panic!("{name}")).0)
        };
        for (names, outcome) in [
            (&["PERM", "ACCESS", "ROFS", "WRONGSEC"][..], Outcome::Denied),
            (&["EXIST", "NOTDIR", "ISDIR", "NOTEMPTY", "DENIED", "LOCKED"], Outcome::Conflict),
            (&["SHARE_DENIED", "LOCKS_HELD", "OPENMODE", "DEADLOCK", "FILE_OPEN"], Outcome::Conflict),
            (&["NOENT", "STALE", "BADHANDLE", "FHEXPIRED", "MOVED", "ADMIN_REVOKED"], Outcome::Gone),
            (&["STALE_STATEID", "OLD_STATEID", "BAD_STATEID"], Outcome::Gone),
            (&["FBIG", "NOSPC", "DQUOT"], Outcome::Full),
            (&["DELAY", "GRACE", "RESOURCE", "RECALLCONFLICT"], Outcome::Busy),
            (&["EXPIRED", "STALE_CLIENTID", "BADSESSION", "BADSLOT", "DEADSESSION"], Outcome::SessionLost),
            (&["CONN_NOT_BOUND_TO_SESSION", "SEQ_MISORDERED", "SEQ_FALSE_RETRY"], Outcome::SessionLost),
            (&["IO", "SERVERFAULT", "INVAL", "REP_TOO_BIG_TO_CACHE"], Outcome::WrongStatus),
        ] {
            for name in names {
                assert_eq!(by_name(name).outcome(), outcome, "{name}");
            }
        }
        assert_eq!(NfsStatus(424_242).outcome(), Outcome::WrongStatus);
        assert_eq!(by_name("STALE").refusal(), Refusal::Fault);
        assert_eq!(
            (by_name("NOENT").refusal(), by_name("EXIST").refusal()),
            (Refusal::Missing, Refusal::Other)
        );
    }
}
