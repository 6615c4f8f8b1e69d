//! Audits: stated numbers, compared with the values that follow from their sources.
//!
//! [`audit_results`] compares a result table with the one recomputed from a run file, [`audit_catalog`] score and words of a
//! plan with those that its benchmark's definition gives. Published reports, which have no records, are audited by the
//! crate `published`.

mod catalog;
mod results;

pub use catalog::{CatalogDifference, audit_catalog};
pub use results::{StatedRow, audit_results};

/// A difference between a stated result table and the one that the records give. The crate `disclosure` words it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDifference {
    /// The row that it concerns, from 0; `None` for the whole table.
    pub row: Option<usize>,
    /// The kind, with the values.
    pub kind: DifferenceKind,
}

/// The kinds of differences between a stated result table and the recomputed one.
#[derive(Debug, Clone, PartialEq)]
pub enum DifferenceKind {
    /// A row of a load point that was not recorded.
    ExtraRow {
        /// The load point, by index.
        load_point: u32,
    },
    /// A load point without a row.
    MissingRow {
        /// The load point, by index.
        load_point: u32,
    },
    /// Two columns of which each has the other's values.
    ExchangedColumns {
        /// Name of the one.
        one: String,
        /// Name of the other.
        other: String,
    },
    /// A cell with another value.
    ChangedCell {
        /// Name of its column.
        column: String,
        /// The stated value.
        stated: f64,
        /// The recomputed one.
        recomputed: f64,
    },
    /// A cell that is not stated.
    MissingCell {
        /// Name of its column.
        column: String,
        /// The recomputed value.
        recomputed: f64,
    },
    /// A cell for which the records give no value.
    ExtraCell {
        /// Name of its column.
        column: String,
        /// The stated value.
        stated: f64,
    },
}

impl TableDifference {
    /// Returns the name of the check that failed: `changed cell`, `exchanged columns`…
    pub fn check(&self) -> &'static str {
        match self.kind {
            DifferenceKind::ExtraRow { .. } => "extra row",
            DifferenceKind::MissingRow { .. } => "missing row",
            DifferenceKind::ExchangedColumns { .. } => "exchanged columns",
            DifferenceKind::ChangedCell { .. } => "changed cell",
            DifferenceKind::MissingCell { .. } => "missing cell",
            DifferenceKind::ExtraCell { .. } => "extra cell",
        }
    }
}
