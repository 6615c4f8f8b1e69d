//! The same rows in two ways: generated and loaded by us, and from where they are kept.

use anyhow::{Result, ensure};
use drivers::orders::LOADING_ORDER;
use model::DatabaseProduct;
use orders::{DataScale, OrderTable, Population};
use units::wall;

use crate::bench::figures::seconds_of;
use crate::bench::rounds::{Contender, MeasuredRounds, OURS, in_rounds};

/// The size of the data: 138 MB of rows.
const WAREHOUSES: u32 = 20;
const DIVISOR: u32 = 10;

/// A server or file that rows are brought into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataTarget {
    /// A database server.
    Server(DatabaseProduct),
    /// A file of SQLite.
    Sqlite,
}

/// All of them.
pub(super) const TARGETS: [DataTarget; 3] = [
    DataTarget::Server(DatabaseProduct::PostgreSql),
    DataTarget::Server(DatabaseProduct::MariaDb),
    DataTarget::Sqlite,
];

/// A way to bring in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSource {
    /// They are generated and loaded.
    Generated,
    /// They come from where they are kept: files, or the golden copy.
    Kept,
}

/// Data that are brought in by both ways.
pub(super) trait Refillable {
    /// Makes room for the rows of a source.
    fn clear(&mut self, source: RowSource) -> Result<()>;

    /// Brings in the rows, until they can be used.
    fn fill(&mut self, source: RowSource) -> Result<()>;

    /// Returns the number of rows that the source has brought.
    fn n_rows(&self, source: RowSource) -> Result<u64>;
}

/// The contender that takes rows from where they are kept.
pub(super) const KEPT: &str = "kept rows";

/// Brings in rows by both ways in turns.
///
/// # Errors
/// A way fails, or one does not bring as many rows as the other.
pub(super) fn refill(
    case: &'static str,
    mut data: Box<dyn Refillable>,
    n_rounds: usize,
) -> Result<MeasuredRounds<f64>> {
    let contenders = [OURS, KEPT].map(Contender::peer).to_vec();
    let mut n_rows = None;
    let text = |_, seconds: &f64| format!("{seconds:.2} s");
    in_rounds(n_rounds, &[(case, contenders)], text, |_, contender| {
        let source = if contender.name == OURS { RowSource::Generated } else { RowSource::Kept };
        data.clear(source)?;
        let seconds = seconds_of(|| data.fill(source))?;
        let found = data.n_rows(source)?;
        let expected = *n_rows.get_or_insert(found);
        ensure!(found == expected, "{found} rows are there, and {expected} were there by the other way");
        Ok(Some(seconds))
    })
}

/// Returns the rows of the data before the first transaction, for the page: their number, and their bytes as TPC-C
/// counts them.
pub(super) fn amount() -> Result<(u64, u64)> {
    let scale = scale()?;
    Ok((OrderTable::ALL.into_iter().map(|table| scale.rows(table)).sum(), scale.raw_bytes()))
}

pub(super) fn scale() -> Result<DataScale> {
    Ok(DataScale::new(WAREHOUSES, DIVISOR)?)
}

pub(super) fn population() -> Result<Population> {
    Ok(Population::new(1, scale()?, wall()))
}

/// Returns a query for the number of rows of all tables.
pub(super) fn count_all() -> String {
    let counts = LOADING_ORDER.map(|table| format!("(SELECT COUNT(*) FROM {})", table.schema().name));
    format!("SELECT {}", counts.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data with as many rows as they are told, by source.
    struct Counted(u64, u64);

    impl Refillable for Counted {
        fn clear(&mut self, _: RowSource) -> Result<()> {
            Ok(())
        }

        fn fill(&mut self, _: RowSource) -> Result<()> {
            Ok(())
        }

        fn n_rows(&self, source: RowSource) -> Result<u64> {
            Ok(if source == RowSource::Generated { self.0 } else { self.1 })
        }
    }

    #[test]
    fn both_ways_have_to_bring_the_same_rows() {
        let measured = refill("SQLite", Box::new(Counted(7, 7)), 3).unwrap();
        assert_eq!([OURS, KEPT].map(|way| measured.of("SQLite", way).len()), [3, 3]);
        let error = refill("SQLite", Box::new(Counted(7, 6)), 3).unwrap_err();
        let expected = "SQLite: kept rows: 6 rows are there, and 7 were there by the other way";
        assert_eq!(format!("{error:#}"), expected);
    }

    #[test]
    fn all_tables_are_loaded_and_counted() {
        assert!(OrderTable::ALL.into_iter().all(|table| LOADING_ORDER.contains(&table)));
        let count = count_all();
        assert!(count.starts_with("SELECT (SELECT COUNT(*) FROM stock) + (SELECT"), "{count}");
        let (n_rows, bytes) = amount().unwrap();
        assert!((500_000..2_000_000).contains(&n_rows) && (100e6 as u64..500e6 as u64).contains(&bytes));
    }
}
