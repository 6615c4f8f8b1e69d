//! The size of a reply that throughput and connection rate imply, and the band in which it lies.

use stats::{MBIT, median};

use super::{PublishedRow, PublishedTable};

/// Head of a reply, in bytes, as servers of the published reports sent it.
///
/// Source: the 24 WebStone 1.1 rows of the Apple report imply 187 B on average.
const HEAD_BYTES: f64 = 187.0;

/// Least half width of the band, relative to its middle: sampling of large files moves a run's mean by 2 %.
const BAND_MIN: f64 = 0.05;

/// Half width of the band in standard deviations, which are told from the median deviation.
const BAND_DEVIATIONS: f64 = 5.0;

/// Standard deviations per median absolute deviation, for a normal distribution: 1 ÷ Φ⁻¹(¾).
const DEVIATIONS_PER_MAD: f64 = 1.4826;

/// Half width of the band from which the rows have nothing in common, relative to its middle.
const BAND_MAX: f64 = 0.25;

/// Part of the workload's mean by which the middle of the rows may differ from it.
const FROM_WORKLOAD_MAX: f64 = 0.10;

/// Returns the bytes per reply that a row implies, its megabit being `bits_per_mbit` bits.
///
/// Throughput · bits ÷ 8 ÷ connection rate.
/// `None` without connections. Heads are included, so it cannot be less than the mean body.
///
/// Source: WebStone's throughput is the sum of heads and bodies of successful requests.
pub fn implied_reply_bytes(row: &PublishedRow, bits_per_mbit: f64) -> Option<f64> {
    (0.0 < row.connection_rate).then(|| row.throughput_mbit * bits_per_mbit / 8.0 / row.connection_rate)
}

/// Where the implied reply sizes of a table lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Band {
    /// Their median.
    pub(super) middle: f64,
    /// How far one may be from it.
    pub(super) half: f64,
}

impl Band {
    /// Finds the band of a table; `None` if no row implies a size.
    pub(super) fn of(table: &PublishedTable) -> Option<Band> {
        let sizes: Vec<f64> = table.rows.iter().filter_map(|row| implied_reply_bytes(row, MBIT)).collect();
        let middle = median(&sizes)?;
        let spread = median(&sizes.iter().map(|size| (size - middle).abs()).collect::<Vec<_>>())?;
        let half = (BAND_DEVIATIONS * DEVIATIONS_PER_MAD * spread).max(BAND_MIN * middle);
        Some(Band { middle, half })
    }

    /// Returns whether a row's implied size lies in the band; a row without one does not.
    pub(super) fn holds(&self, row: &PublishedRow) -> bool {
        implied_reply_bytes(row, MBIT).is_some_and(|size| (size - self.middle).abs() <= self.half)
    }

    /// Returns what is wrong with the table's unit or columns as a whole.
    pub(super) fn objection(&self, body_bytes_mean: Option<f64>) -> Option<String> {
        let (middle, half) = (self.middle, self.half);
        if BAND_MAX * middle < half {
            return Some(format!(
                "throughput ÷ connection rate differs too much between rows, by {half:.0} B around {middle:.0} B"
            ));
        }
        let expected = body_bytes_mean? + HEAD_BYTES;
        let decimal = middle * 1e6 / MBIT;
        let distance = |size: f64| (size - expected).abs();
        if FROM_WORKLOAD_MAX * expected < distance(middle).min(distance(decimal)) {
            return Some(format!(
                "replies of {middle:.0} B are implied, the workload's have {expected:.0} B"
            ));
        }
        (distance(decimal) < distance(middle)).then(|| {
            format!(
                "replies of {middle:.0} B are implied, the workload's have {expected:.0} B; \
                 a megabit of 10⁶ bits gives {decimal:.0} B, so the unit is not 2²⁰ bits"
            )
        })
    }
}
