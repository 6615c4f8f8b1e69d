//! Audits: stated numbers, compared with the values that follow from their sources.
//!
//! [`audit_results`] compares a result table with the one recomputed from a run file. Published reports, which have no
//! records, are audited by the crate `published`.

mod results;

pub use results::{COLUMNS, ResultColumn, StatedRow, audit_results};

/// A finding of an audit: a figure or statement that does not follow.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditFinding {
    /// The check that failed: `changed cell`, `exchanged columns`, `little`, `errors`, `load factor`…
    pub check: &'static str,
    /// The row that it concerns, from 0; `None` for the whole table.
    pub row: Option<usize>,
    /// A clause without a full stop: what was found and what was expected.
    pub text: String,
}

impl AuditFinding {
    fn new(check: &'static str, row: Option<usize>, text: String) -> AuditFinding {
        AuditFinding { check, row, text }
    }
}
