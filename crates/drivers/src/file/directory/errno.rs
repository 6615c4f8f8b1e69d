//! The errors of the kernel by their meaning.

use model::Outcome;
use rustix::io::Errno;

use crate::file::failure::{FileFailure, Refusal};

/// The errors that have a meaning of their own, each with its name.
const MEANINGS: [(Errno, &str, Outcome, Refusal); 33] = [
    (Errno::NOENT, "ENOENT", Outcome::Gone, Refusal::Missing),
    (Errno::NOTDIR, "ENOTDIR", Outcome::Gone, Refusal::Missing),
    (Errno::STALE, "ESTALE", Outcome::Gone, Refusal::Fault),
    (Errno::EXIST, "EEXIST", Outcome::Conflict, Refusal::Other),
    (Errno::NOTEMPTY, "ENOTEMPTY", Outcome::Conflict, Refusal::Other),
    (Errno::BUSY, "EBUSY", Outcome::Conflict, Refusal::Other),
    (Errno::TXTBSY, "ETXTBSY", Outcome::Conflict, Refusal::Other),
    (Errno::AGAIN, "EAGAIN", Outcome::Conflict, Refusal::Other),
    (Errno::DEADLK, "EDEADLK", Outcome::Conflict, Refusal::Other),
    (Errno::ACCESS, "EACCES", Outcome::Denied, Refusal::Other),
    (Errno::PERM, "EPERM", Outcome::Denied, Refusal::Other),
    (Errno::ROFS, "EROFS", Outcome::ReadOnly, Refusal::Fault),
    (Errno::ISDIR, "EISDIR", Outcome::WrongStatus, Refusal::Other),
    (Errno::INVAL, "EINVAL", Outcome::WrongStatus, Refusal::Other),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", Outcome::WrongStatus, Refusal::Other),
    (Errno::BADF, "EBADF", Outcome::WrongStatus, Refusal::Other),
    (Errno::OPNOTSUPP, "EOPNOTSUPP", Outcome::WrongStatus, Refusal::Other),
    (Errno::IO, "EIO", Outcome::WrongStatus, Refusal::Fault),
    (Errno::OVERFLOW, "EOVERFLOW", Outcome::WrongStatus, Refusal::Fault),
    (Errno::NOLCK, "ENOLCK", Outcome::WrongStatus, Refusal::Fault),
    // A symbolic link or a file system that is mounted, where only files of ours are.
    (Errno::LOOP, "ELOOP", Outcome::Forbidden, Refusal::Fault),
    (Errno::XDEV, "EXDEV", Outcome::Forbidden, Refusal::Fault),
    (Errno::NOSPC, "ENOSPC", Outcome::Full, Refusal::Fault),
    (Errno::DQUOT, "EDQUOT", Outcome::Full, Refusal::Fault),
    (Errno::FBIG, "EFBIG", Outcome::Full, Refusal::Fault),
    (Errno::MFILE, "EMFILE", Outcome::NoDescriptor, Refusal::Fault),
    (Errno::NFILE, "ENFILE", Outcome::NoDescriptor, Refusal::Fault),
    (Errno::NOMEM, "ENOMEM", Outcome::NoDescriptor, Refusal::Fault),
    (Errno::TIMEDOUT, "ETIMEDOUT", Outcome::TimedOut, Refusal::Fault),
    (Errno::HOSTDOWN, "EHOSTDOWN", Outcome::Unreachable, Refusal::Fault),
    (Errno::HOSTUNREACH, "EHOSTUNREACH", Outcome::Unreachable, Refusal::Fault),
    (Errno::NOTCONN, "ENOTCONN", Outcome::Unreachable, Refusal::Fault),
    (Errno::CONNRESET, "ECONNRESET", Outcome::Reset, Refusal::Fault),
];

/// Returns the failure that an error of the kernel is.
pub(super) fn failure(error: Errno) -> FileFailure {
    let meaning = MEANINGS.iter().find(|(known, ..)| *known == error);
    let (outcome, refusal) = meaning
        .map_or((Outcome::WrongStatus, Refusal::Fault), |(_, _, outcome, refusal)| (*outcome, *refusal));
    FileFailure::coded(outcome, refusal, error.raw_os_error().unsigned_abs())
}

/// Returns the name of an error of the kernel, as in errno(3), by its number; `None` if it has no meaning of its own here.
pub fn errno_name(code: u32) -> Option<&'static str> {
    let number = |error: &Errno| error.raw_os_error().unsigned_abs();
    MEANINGS.iter().find(|(known, ..)| number(known) == code).map(|(_, name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_outcomes_and_names() {
        let of = |error| (failure(error).outcome, failure(error).refusal);
        assert_eq!(of(Errno::NOENT), (Outcome::Gone, Refusal::Missing));
        assert_eq!(of(Errno::NOSPC), (Outcome::Full, Refusal::Fault));
        assert_eq!(of(Errno::LOOP), (Outcome::Forbidden, Refusal::Fault));
        assert_eq!(of(Errno::NODEV), (Outcome::WrongStatus, Refusal::Fault));
        assert_eq!((errno_name(28), errno_name(17), errno_name(0)), (Some("ENOSPC"), Some("EEXIST"), None));
        let names: std::collections::BTreeSet<_> = MEANINGS.iter().map(|(_, name, ..)| name).collect();
        assert_eq!(names.len(), MEANINGS.len());
    }
}
