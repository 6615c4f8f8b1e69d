//! Audits: numbers that somebody stated, held against what they must follow from.
//!
//! [`audit_results`] compares a result table with the one recomputed from a run file. [`audit_report`] has no records
//! to go by: it asks whether all numbers of a published report can be true at once.

mod published;
mod results;

pub(crate) use published::{Entry, Row};
pub use published::{PublishedFinding, audit_report};
pub use results::{COLUMNS, Column, StatedRow, audit_results};

/// A finding of an audit: a figure or statement that does not follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which check failed: `changed cell`, `exchanged columns`, `little`, `errors`, `load factor`…
    pub check: &'static str,
    /// The row that it concerns, from 0; `None` for the whole table.
    pub row: Option<usize>,
    /// A clause without a full stop: what was found and what was expected.
    pub text: String,
}

impl Finding {
    fn new(check: &'static str, row: Option<usize>, text: String) -> Finding {
        Finding { check, row, text }
    }
}
