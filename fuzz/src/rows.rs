//! The part of a row that the codec needs.

use model::Phase;
use units::Nanos;

/// The key columns of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordKey {
    pub(crate) load_point: u32,
    pub(crate) agent: u32,
    pub(crate) phase: Phase,
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
}
