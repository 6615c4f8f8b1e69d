//! The log-linear buckets of HdrHistogram, which divide the axis of values.
//!
//! Below 2,048 every value has a bucket of its own; above, each doubling has 1,024 buckets of
//! equal width, so that a bucket is never wider than 1/1,024 of the values in it (three
//! significant digits). Buckets are numbered from zero without gaps.
//!
//! Source: the layout of HdrHistogram with lowest value 1 and three significant digits; a test
//! holds ours against it.

/// The highest value with a bucket of its own: one hour, in ns.
pub(crate) const HIGHEST: u64 = 3_600_000_000_000;

/// Buckets per doubling, as a power of two.
const OCTAVE_BITS: u32 = 10;

/// Buckets per doubling.
pub(crate) const BUCKETS_PER_OCTAVE: usize = 1 << OCTAVE_BITS;

/// Number of octaves: the values below 1,024, and the doublings from there up to [`HIGHEST`].
pub(crate) const N_OCTAVES: usize = 33;

/// Returns the index of the bucket that holds `value`, which is [`HIGHEST`] at most.
#[inline]
pub(crate) fn index_of(value: u64) -> usize {
    let shift = shift_of(value);
    let index = (u64::from(shift) << OCTAVE_BITS) + (value >> shift);
    usize::try_from(index).expect("buckets have indexes of 16 bits")
}

/// Returns the lowest and the highest value of a bucket, both inclusive; `index` is that of [`HIGHEST`] at most.
pub(crate) fn bounds_of(index: usize) -> (u64, u64) {
    let shift = (index >> OCTAVE_BITS).saturating_sub(1);
    let low = ((index - (shift << OCTAVE_BITS)) as u64) << shift;
    (low, low + (1 << shift) - 1)
}

/// Returns the binary logarithm of the width of the bucket that holds `value`.
fn shift_of(value: u64) -> u32 {
    let smallest = 1 << (OCTAVE_BITS + 1);
    (if value < smallest { smallest - 1 } else { value }).ilog2() - OCTAVE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 2,048 is the first value that shares its bucket (with 2,049); from 4,096 on four share one.
    #[test]
    fn buckets_begin_where_the_layout_says() {
        for (value, index, bounds) in [
            (0, 0, (0, 0)),
            (2_047, 2_047, (2_047, 2_047)),
            (2_048, 2_048, (2_048, 2_049)),
            (2_049, 2_048, (2_048, 2_049)),
            (4_095, 3_071, (4_094, 4_095)),
            (4_096, 3_072, (4_096, 4_099)),
        ] {
            assert_eq!((index_of(value), bounds_of(index)), (index, bounds), "value {value}");
        }
    }

    #[test]
    fn the_layout_is_that_of_hdrhistogram() {
        let hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, 3).unwrap();
        let mut value = 1;
        while value < HIGHEST {
            for near in [value - 1, value, value + 1] {
                let (low, high) = bounds_of(index_of(near));
                assert_eq!(
                    (low, high),
                    (hdr.lowest_equivalent(near), hdr.highest_equivalent(near)),
                    "{near}"
                );
            }
            value += value / 7 + 1;
        }
    }

    #[test]
    fn the_octaves_are_all_that_the_highest_value_needs() {
        assert_eq!(index_of(HIGHEST) / BUCKETS_PER_OCTAVE, N_OCTAVES - 1);
        for (value, octave) in [(1_023, 0), (1_024, 1), (2_047, 1), (2_048, 2), (4_095, 2), (4_096, 3)] {
            assert_eq!(index_of(value) / BUCKETS_PER_OCTAVE, octave, "value {value}");
        }
    }

    #[test]
    fn every_bucket_starts_after_the_one_before() {
        for index in 1..=index_of(HIGHEST) {
            assert_eq!(bounds_of(index).0, bounds_of(index - 1).1 + 1, "bucket {index}");
            assert_eq!(index_of(bounds_of(index).0), index);
        }
    }
}
