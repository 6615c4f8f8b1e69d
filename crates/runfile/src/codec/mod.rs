//! The stored form of records: variable-length integers in a fixed order, the same bytes for the
//! same record. Fields with columns of their own (key, phase, times) are not repeated here.

mod detail;
mod interval;
mod number;
mod resource;
#[cfg(test)]
mod tests;
pub mod wire;

pub(crate) use detail::{decode_detail, encode_detail};
pub(crate) use interval::{decode_interval, encode_interval};
pub(crate) use resource::{LastReadings, decode_resource, encode_resource};

use stats::HistogramError;
use thiserror::Error;

/// A reason why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CodecError {
    /// The bytes end before the record does.
    #[error("record ends early")]
    Truncated,
    /// The bytes go on after the end of the record.
    #[error("record is followed by {0} more bytes")]
    Trailing(usize),
    /// The first number names a version that this build does not know.
    #[error("record has version {found}, expected {expected}")]
    Version {
        /// The version stored.
        found: u64,
        /// The version that this build reads.
        expected: u64,
    },
    /// A number does not fit its range.
    #[error("record holds a number that is too large")]
    TooLarge,
    /// An outcome that does not exist, or one that is out of order.
    #[error("record holds outcome {0}, which is unknown or out of order")]
    Outcome(u64),
    /// A histogram cannot be read.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
}
