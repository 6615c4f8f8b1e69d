//! Proof that a server's data are in memory: warmed again, they are not read from disk.

use std::fmt;

use units::Bytes;

/// Maximum number of passes over the data.
const PASSES_MAX: usize = 4;

/// The most that a pass may read from disk although the data are in memory, in bytes: logs, catalogs, programs.
const READ_MAX: u64 = 256 * 1024;

/// The same, as a part of the data: one in so many bytes.
const READ_PART: u64 = 1000;

/// The result of warming the data of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataWarmUp {
    /// Size of the data, in bytes.
    pub data_bytes: u64,
    /// Bytes that each pass over the data read from disk, in order; empty if this user may not know.
    pub read_bytes: Vec<u64>,
}

impl DataWarmUp {
    /// Returns whether the last pass repeated another one and read almost nothing from disk.
    pub fn is_warm(&self) -> bool {
        match self.read_bytes.as_slice() {
            [_, .., last] => *last <= READ_MAX.max(self.data_bytes / READ_PART),
            _ => false,
        }
    }
}

impl fmt::Display for DataWarmUp {
    /// Formats the result: `are in memory: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = Bytes(self.data_bytes);
        let passes = &self.read_bytes;
        if passes.is_empty() {
            return write!(
                f,
                "({size}) were warmed; whether they are in memory is not known: the kernel does not say what was read from disk"
            );
        }
        let word = if self.is_warm() { "are in memory" } else { "are not in memory" };
        let read: Vec<String> = passes.iter().map(|bytes| Bytes(*bytes).to_string()).collect();
        write!(f, "({size}) {word}: read from disk by each pass over them {}", read.join(", "))
    }
}

/// Warms data until a repeated pass reads almost nothing from disk, passes run out, or `is_over` returns true.
///
/// `read` returns the bytes that the server has read from disk so far, of which earlier ones are subtracted; `pass` warms the
/// data, and returns the bytes that its own programs read from disk.
///
/// # Errors
/// The error of `pass`.
pub(super) fn warm_until_proven<E>(
    data_bytes: u64,
    read: impl Fn() -> Option<u64>,
    mut pass: impl FnMut() -> Result<Option<u64>, E>,
    is_over: impl Fn() -> bool,
) -> Result<DataWarmUp, E> {
    let mut proof = DataWarmUp { data_bytes, read_bytes: Vec::new() };
    for _ in 0..PASSES_MAX {
        let before = read();
        let by_steps = pass()?;
        // A count that decreases has lost an ended process, and proves nothing.
        let by_server = read().zip(before).and_then(|(now, before)| now.checked_sub(before));
        let Some(bytes) = by_server.zip(by_steps).map(|(server, steps)| server.saturating_add(steps)) else {
            proof.read_bytes.clear();
            break;
        };
        proof.read_bytes.push(bytes);
        if proof.is_warm() || is_over() {
            break;
        }
    }
    Ok(proof)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Warms 100 MiB of data, of which each pass reads so much from disk: all but a page by the server.
    fn warm(reads: &[Option<u64>]) -> DataWarmUp {
        let total = RefCell::new(Some(7));
        let rest = RefCell::new(reads.iter());
        let pass = || {
            let more = rest.borrow_mut().next().expect("no more passes");
            let by_step = more.map(|more| more.min(4096));
            let sum = total.borrow().zip(*more).map(|(total, more)| total + more - more.min(4096));
            *total.borrow_mut() = sum;
            Ok::<_, ()>(by_step)
        };
        warm_until_proven(100 * MIB, || *total.borrow(), pass, || false).unwrap()
    }

    #[test]
    fn data_are_warm_when_a_repeated_pass_reads_almost_nothing() {
        let proof = warm(&[Some(90 * MIB), Some(READ_MAX)]);
        assert!(proof.is_warm());
        assert_eq!(
            proof.to_string(),
            "(100.0 MiB) are in memory: read from disk by each pass over them 90.0 MiB, 256.0 KiB"
        );
        // Data that were in memory before are warm too, once a pass was repeated.
        assert_eq!(warm(&[Some(0), Some(0)]).read_bytes, [0, 0]);
        assert!(warm(&[Some(90 * MIB), Some(30 * MIB), Some(0)]).is_warm());
    }

    /// Goal: data that do not fit into memory are read from disk for ever.
    #[test]
    fn data_that_are_read_again_and_again_are_not_warm() {
        let proof = warm(&[Some(90 * MIB); PASSES_MAX]);
        assert!(!proof.is_warm());
        assert!(proof.to_string().starts_with("(100.0 MiB) are not in memory: "), "{proof}");
        assert!(proof.to_string().ends_with(" 90.0 MiB, 90.0 MiB, 90.0 MiB, 90.0 MiB"), "{proof}");
        // One page more than allowed.
        assert!(!warm(&[Some(0), Some(READ_MAX + 4096), Some(READ_MAX + 4096), Some(MIB)]).is_warm());
    }

    #[test]
    fn what_the_kernel_does_not_say_proves_nothing() {
        let proof = warm(&[Some(0), None]);
        assert!(!proof.is_warm() && proof.read_bytes.is_empty());
        assert!(proof.to_string().contains("is not known"), "{proof}");
        let total = RefCell::new(10);
        let pass = || {
            *total.borrow_mut() -= 1;
            Ok::<_, ()>(Some(0))
        };
        let shrinking = warm_until_proven(1, || Some(*total.borrow()), pass, || false).unwrap();
        assert!(!shrinking.is_warm());
    }
}
