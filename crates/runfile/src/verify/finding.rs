//! Findings of a check of a run file.

use thiserror::Error;

/// One thing that is wrong with a run file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VerifyFinding {
    /// The header is not the one that was written.
    #[error("the header was changed")]
    HeaderChanged,
    /// The catalog does not follow from the workload.
    #[error("the plan's catalog of kinds and measures is not the one of its workload")]
    CatalogDiffers,
    /// The record, its key or a record before it was changed.
    #[error(
        "interval {index} of load point {load_point}, agent {agent}: its hash does not follow from the one before"
    )]
    BrokenChain {
        /// Index of the load point.
        load_point: u32,
        /// Index of the load agent.
        agent: u32,
        /// Index of the interval within the load point.
        index: u32,
    },
    /// Intervals are missing although later ones are present.
    #[error("load point {load_point}, agent {agent}: interval {expected} is missing, {found} follows")]
    MissingInterval {
        /// Index of the load point.
        load_point: u32,
        /// Index of the load agent.
        agent: u32,
        /// The first missing interval.
        expected: u32,
        /// The interval found instead.
        found: u32,
    },
    /// A plain column differs from the record beside it.
    #[error(
        "interval {index} of load point {load_point}, agent {agent}: column `{column}` holds {stored}, its record {recorded}"
    )]
    ColumnDiffers {
        /// Index of the load point.
        load_point: u32,
        /// Index of the load agent.
        agent: u32,
        /// Index of the interval within the load point.
        index: u32,
        /// The column.
        column: &'static str,
        /// The value stored in the column.
        stored: i64,
        /// The value that follows from the record.
        recorded: i64,
    },
    /// A detail record and the intervals that it covers disagree.
    #[error(
        "detail of load point {load_point}, agent {agent}, from interval {first_interval}: {what} differ from the intervals'"
    )]
    DetailDiffers {
        /// Index of the load point.
        load_point: u32,
        /// Index of the load agent.
        agent: u32,
        /// The first interval that the detail covers.
        first_interval: u32,
        /// The parts that are not the same.
        what: &'static str,
    },
    /// Intervals have no detail, or more than one.
    #[error("load point {load_point}, agent {agent}: {intervals} intervals, detail for {detailed}")]
    DetailCoverage {
        /// Index of the load point.
        load_point: u32,
        /// Index of the load agent.
        agent: u32,
        /// Number of intervals.
        intervals: u64,
        /// Number of intervals that the details claim to cover.
        detailed: u64,
    },
    /// A table has more or fewer rows than when the run ended.
    #[error("table `{table}` has {found} rows, had {listed} when the run ended")]
    RowCount {
        /// The table.
        table: &'static str,
        /// The number written down when the run ended.
        listed: i64,
        /// The number found.
        found: u64,
    },
    /// A table was changed.
    #[error("table `{table}` was changed after the run ended")]
    TableChanged {
        /// The table.
        table: &'static str,
    },
    /// The inventory made at the end of the run has no row for a table.
    #[error("table `{table}` is not in the inventory")]
    NotListed {
        /// The table.
        table: &'static str,
    },
    /// A part that cannot be read; what comes after it in the same table was not checked.
    #[error("{place} cannot be read: {why}")]
    Unreadable {
        /// The place.
        place: String,
        /// The damage.
        why: String,
    },
}
