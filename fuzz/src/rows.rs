//! What the codec needs to know of a row.

use model::Phase;
use units::Nanos;

/// Where a record belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) load_point: u32,
    pub(crate) agent: u32,
    pub(crate) phase: Phase,
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
}
