//! What a piece of memory really takes.

/// What the allocator keeps beside each piece, in bytes.
const HEADER_BYTES: usize = 8;

/// The steps in which the allocator hands memory out, in bytes.
const STEP_BYTES: usize = 16;

/// The least that it hands out, in bytes.
const LEAST_BYTES: usize = 32;

/// Returns what an allocation of `bytes` takes with all that the allocator adds; nothing for none.
///
/// Source: glibc's `malloc`: a header of 8 bytes, sizes in steps of 16, at least 32. musl's steps differ but lie close.
pub(super) fn allocation(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    (bytes + HEADER_BYTES).next_multiple_of(STEP_BYTES).max(LEAST_BYTES)
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
