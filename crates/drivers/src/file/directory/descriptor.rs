//! Calls on open files for which `rustix` has no safe function: locks of ranges that belong to an open file, and the error
//! of a close.
//!
//! A lock of the whole file (`flock`) would not do: on a mounted share such a lock keeps other clients from reading the
//! file. A lock that belongs to the process (`F_SETLK`) would keep no client out, because all of them are in one process.

use files::FileRange;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, Result};

/// A change of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockChange {
    /// The range is locked for this open file alone, as soon as no other has it locked.
    Lock,
    /// The range is unlocked.
    Unlock,
}

/// Locks or unlocks a range of an open file: `F_OFD_SETLKW`, since Linux 3.15. Waits for others without a limit.
pub(super) fn lock(file: impl AsFd, range: FileRange, change: LockChange) -> Result<()> {
    let number = |bytes: u64| libc::off_t::try_from(bytes).map_err(|_| Errno::INVAL);
    let kind = match change {
        LockChange::Lock => libc::F_WRLCK,
        LockChange::Unlock => libc::F_UNLCK,
    };
    let lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: number(range.offset)?,
        l_len: number(range.length)?,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLKW(&lock)).map_err(errno)?;
    Ok(())
}

/// Closes a file. On a mounted share, this is where the error of an earlier write may arrive.
pub(super) fn close(file: OwnedFd) -> Result<()> {
    nix::unistd::close(file).map_err(errno)
}

fn errno(error: nix::errno::Errno) -> Errno {
    Errno::from_raw_os_error(error as i32)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    fn range(offset: u64, length: u64) -> FileRange {
        FileRange { offset, length }
    }

    /// Goal: another open file of the same process waits for the same range, and for no other.
    #[test]
    fn a_range_belongs_to_one_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let one = File::create(&path).unwrap();
        let other = File::options().write(true).open(&path).unwrap();
        let is_unlocked = AtomicBool::new(false);
        lock(&one, range(2_147_483_538, 1), LockChange::Lock).unwrap();
        lock(&one, range(2_147_483_538, 1), LockChange::Lock).unwrap();
        lock(&other, range(0, 100), LockChange::Lock).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                lock(&other, range(2_147_483_538, 1), LockChange::Lock).unwrap();
                is_unlocked.load(Ordering::SeqCst)
            });
            is_unlocked.store(true, Ordering::SeqCst);
            lock(&one, range(2_147_483_538, 1), LockChange::Unlock).unwrap();
            assert!(waiting.join().unwrap());
        });
        let too_far = lock(&one, range(u64::MAX, 1), LockChange::Lock);
        assert_eq!(too_far, Err(Errno::INVAL));
    }
}
