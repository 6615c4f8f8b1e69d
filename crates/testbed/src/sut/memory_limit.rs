//! Proof that a memory limit binds, obtained in a warm-up before load.

use std::fmt;

use model::FileSet;
use observe::cgroup::MemoryUse;
use units::{Bytes, Clock, Nanos, RealClock};

/// Maximum number of requests for every file. The first pass fills memory, the second needs evicted pages
/// again.
const PASSES_MAX: usize = 3;

/// Maximum duration of a warm-up: a server with little CPU time or disk bandwidth is slow.
const WARM_UP_MAX: Nanos = Nanos::from_secs(20);

/// Bytes requested between two checks of the memory accounting.
const LOOK_BYTES: u64 = 2 << 20;

/// The result of a warm-up under a memory limit.
///
/// A limit binds if the server reached it and needed pages again that had been evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimitProof {
    /// The limit, in bytes.
    pub limit: u64,
    /// Number of files requested, including repetitions.
    pub n_fetched: u64,
    /// Whether the warm-up ended because of its time limit.
    pub is_cut_short: bool,
    /// Memory in use at its end, and the counters during it.
    pub used: MemoryUse,
}

impl MemoryLimitProof {
    /// Returns whether the limit was reached and evicted pages were needed again.
    pub fn binds(&self) -> bool {
        0 < self.used.limit_hits && 0 < self.used.refaults
    }
}

impl fmt::Display for MemoryLimitProof {
    /// Formats the result: `binds: 24.0 MiB in use, …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryLimitProof { n_fetched, used: MemoryUse { bytes, limit_hits, refaults }, .. } = *self;
        let word = if self.binds() { "binds" } else { "does not bind" };
        let short = if self.is_cut_short {
            format!(" (after {WARM_UP_MAX} no more were requested)")
        } else {
            String::new()
        };
        write!(
            f,
            "{word}: {} in use after {n_fetched} files were requested{short}, limit met {limit_hits} times, \
             {refaults} evicted pages needed again",
            Bytes(bytes)
        )
    }
}

/// Requests all files repeatedly until the limit is seen to bind, files or time run out, or `is_over` returns
/// true.
///
/// `fetch` requests some files, `account` returns the memory accounting of the server; earlier counts are
/// subtracted. `None` without memory accounting.
///
/// # Errors
/// The error of `fetch`.
pub(super) fn prove<E>(
    limit: u64,
    files: &FileSet,
    account: impl Fn() -> Option<MemoryUse>,
    mut fetch: impl FnMut(&FileSet) -> Result<(), E>,
    is_over: impl Fn() -> bool,
) -> Result<Option<MemoryLimitProof>, E> {
    let mut parts = (0..PASSES_MAX).flat_map(|_| parts(files));
    let next = || match parts.next() {
        Some(part) => fetch(&part).map(|()| part.files.len() as u64),
        None => Ok(0),
    };
    prove_by(limit, account, next, is_over)
}

/// Has a server read files until the limit is seen to bind, no more are read, time runs out, or `is_over` returns true.
///
/// `next` has it read some, and returns their number, 0 at the end; `account` is that of [`prove`].
///
/// # Errors
/// The error of `next`.
pub(super) fn prove_by<E>(
    limit: u64,
    account: impl Fn() -> Option<MemoryUse>,
    mut next: impl FnMut() -> Result<u64, E>,
    is_over: impl Fn() -> bool,
) -> Result<Option<MemoryLimitProof>, E> {
    let Some(before) = account() else { return Ok(None) };
    let clock = RealClock::start();
    let mut proof = MemoryLimitProof { limit, n_fetched: 0, is_cut_short: false, used: MemoryUse::default() };
    loop {
        let n_fetched = next()?;
        if n_fetched == 0 {
            break;
        }
        proof.n_fetched += n_fetched;
        let Some(now) = account() else { return Ok(None) };
        proof.used = MemoryUse {
            bytes: now.bytes,
            limit_hits: now.limit_hits.saturating_sub(before.limit_hits),
            refaults: now.refaults.saturating_sub(before.refaults),
        };
        proof.is_cut_short = !proof.binds() && WARM_UP_MAX <= clock.now();
        if proof.binds() || proof.is_cut_short || is_over() {
            break;
        }
    }
    if proof.n_fetched == 0 {
        proof.used.bytes = before.bytes;
    }
    Ok(Some(proof))
}

/// Divides a set into parts of some megabytes, in order.
fn parts(files: &FileSet) -> impl Iterator<Item = FileSet> + '_ {
    let mut rest = files.files.as_slice();
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let n = rest.iter().take_while(|file| {
            let is_in = bytes < LOOK_BYTES;
            bytes += file.bytes;
            is_in
        });
        let (part, behind) = rest.split_at(n.count());
        rest = behind;
        (!part.is_empty()).then(|| FileSet { content_seed: files.content_seed, files: part.to_vec() })
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use model::SetFile;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Files of 1 MiB.
    fn files(n: u32) -> FileSet {
        let file = |object| SetFile { object, path: format!("/{object}"), bytes: MIB };
        FileSet { content_seed: 1, files: (0..n).map(file).collect() }
    }

    /// Simulates a server whose memory holds this many files, the latest; `is_charged` is false if another
    /// group is charged for them.
    fn warm_up(n_files: u32, n_held: usize, is_charged: bool) -> MemoryLimitProof {
        let held = RefCell::new(Vec::<u32>::new());
        let used = RefCell::new(MemoryUse { bytes: 0, limit_hits: 70, refaults: 7 });
        let fetch = |part: &FileSet| {
            let mut held = held.borrow_mut();
            let mut used = used.borrow_mut();
            for file in part.files.iter().filter(|_| is_charged) {
                if held.contains(&file.object) {
                    continue;
                }
                // 256 pages of 4 KiB; files requested before were evicted since.
                let is_again = used.bytes / MIB == n_held as u64 && !held.contains(&file.object);
                held.push(file.object);
                if n_held < held.len() {
                    held.remove(0);
                    used.limit_hits += 1;
                }
                if is_again && file.object == 0 {
                    used.refaults += 256;
                }
                used.bytes = held.len() as u64 * MIB;
            }
            Ok::<(), ()>(())
        };
        prove(n_held as u64 * MIB, &files(n_files), || Some(*used.borrow()), fetch, || false)
            .unwrap()
            .unwrap()
    }

    #[test]
    fn a_limit_below_the_files_binds_as_soon_as_a_file_is_needed_again() {
        let proof = warm_up(10, 4, true);
        assert!(proof.binds(), "{proof:?}");
        // All ten, then the first two: two files are requested between two checks.
        assert_eq!((proof.n_fetched, proof.used.refaults), (12, 256));
        assert_eq!(
            proof.to_string(),
            "binds: 4.0 MiB in use after 12 files were requested, limit met 8 times, 256 evicted pages needed again"
        );
    }

    #[test]
    fn a_limit_above_the_files_does_not_bind() {
        let proof = warm_up(10, 11, true);
        assert!(!proof.binds());
        assert_eq!(
            (proof.n_fetched, proof.used),
            (30, MemoryUse { bytes: 10 * MIB, limit_hits: 0, refaults: 0 })
        );
        assert!(proof.to_string().starts_with("does not bind: 10.0 MiB in use after 30 files"), "{proof}");
    }

    /// Goal: pages that were already in memory cost the server nothing, and the proof shows it.
    #[test]
    fn a_limit_below_files_charged_to_others_does_not_bind() {
        let proof = warm_up(10, 4, false);
        assert!(!proof.binds() && proof.used.bytes == 0, "{proof:?}");
    }

    #[test]
    fn without_files_or_accounting_there_is_no_proof() {
        let nothing = |_: &FileSet| Ok::<(), ()>(());
        assert_eq!(prove(9, &files(3), || None, nothing, || false), Ok(None));
        let account = || Some(MemoryUse { bytes: 5, limit_hits: 3, refaults: 3 });
        let proof = prove(9, &files(0), account, nothing, || false).unwrap().unwrap();
        assert!(!proof.binds() && proof.used.bytes == 5, "{proof:?}");
        let interrupted = prove(9, &files(9), account, nothing, || true).unwrap().unwrap();
        assert_eq!(interrupted.n_fetched, 2);
        assert_eq!(prove(9, &files(3), account, |_| Err("closed"), || false), Err("closed"));
    }
}
