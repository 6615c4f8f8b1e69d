//! Memory cost of allocations.

/// The allocator's overhead per allocation, in bytes.
const HEADER_BYTES: usize = 8;

/// The allocator's granularity, in bytes.
const STEP_BYTES: usize = 16;

/// The smallest allocation, in bytes.
const ALLOCATION_BYTES_MIN: usize = 32;

/// Returns the memory that an allocation of `bytes` takes including the allocator's overhead; zero for none.
///
/// Source: glibc's `malloc`: a header of 8 bytes, sizes in steps of 16, at least 32. musl's steps differ but lie
/// close.
pub(crate) fn allocation(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    (bytes + HEADER_BYTES).next_multiple_of(STEP_BYTES).max(ALLOCATION_BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_the_allocator_does() {
        for (bytes, taken) in [(0, 0), (1, 32), (24, 32), (25, 48), (40, 48), (41, 64), (1000, 1008)] {
            assert_eq!(allocation(bytes), taken, "{bytes}");
        }
    }
}
