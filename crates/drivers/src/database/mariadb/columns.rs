//! Columns of results. A server describes them with every result, in the same bytes each time: they are parsed once.

use std::cell::RefCell;
use std::sync::Arc;

use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;

use super::layout::is_of_results;
use crate::database::failure::{OTHER_BYTES, SqlFailure};

/// The most results whose columns are kept. All statements of both forms have fewer.
const RESULTS_MAX: usize = 64;

/// Columns with the bytes that describe them.
type DescribedColumns = (Vec<u8>, Arc<[Column]>);

/// The columns of results that the sessions of a load thread have received.
#[derive(Debug, Default)]
pub(crate) struct KnownColumns {
    results: RefCell<Vec<DescribedColumns>>,
    /// A buffer for the next description, so that an idle session has none.
    buffer: RefCell<Vec<u8>>,
}

impl KnownColumns {
    /// Returns the empty buffer.
    pub(crate) fn take_buffer(&self) -> Vec<u8> {
        self.buffer.take()
    }

    /// Returns the columns of a result from their descriptions one after another, and keeps the buffer.
    ///
    /// # Errors
    /// The bytes do not describe so many columns.
    pub(crate) fn columns(
        &self,
        n_columns: u64,
        mut described: Vec<u8>,
    ) -> Result<Arc<[Column]>, SqlFailure> {
        let known = &mut *self.results.borrow_mut();
        let is_same =
            |(bytes, columns): &&DescribedColumns| *bytes == described && columns.len() as u64 == n_columns;
        if let Some((_, columns)) = known.iter().find(is_same) {
            let columns = Arc::clone(columns);
            described.clear();
            self.buffer.replace(described);
            return Ok(columns);
        }
        let columns = parsed(n_columns, &described)?;
        if known.len() < RESULTS_MAX {
            known.push((described, Arc::clone(&columns)));
        }
        Ok(columns)
    }
}

fn parsed(n_columns: u64, described: &[u8]) -> Result<Arc<[Column]>, SqlFailure> {
    let mut rest = ParseBuf(described);
    let mut next = || rest.parse::<Column>(()).map_err(|_| SqlFailure::malformed(OTHER_BYTES));
    let columns: Arc<[Column]> = (0..n_columns).map(|_| next()).collect::<Result<_, _>>()?;
    let are_of_results = |columns: &[Column]| columns.iter().all(|one| is_of_results(one.column_type()));
    if rest.0.is_empty() && are_of_results(&columns) {
        Ok(columns)
    } else {
        Err(SqlFailure::malformed(OTHER_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use mysql_common::constants::ColumnType;
    use mysql_common::proto::MySerialize;

    use super::*;

    fn described(names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names {
            Column::new(ColumnType::MYSQL_TYPE_LONG).with_name(name.as_bytes()).serialize(&mut bytes);
        }
        bytes
    }

    #[test]
    fn columns_are_parsed_once() {
        let known = KnownColumns::default();
        let first = known.columns(2, described(&["a", "b"])).unwrap();
        let other = known.columns(2, described(&["a", "c"])).unwrap();
        let again = known.columns(2, described(&["a", "b"])).unwrap();
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
        assert_eq!((first[1].name_str().as_ref(), other[1].name_str().as_ref()), ("b", "c"));
        assert!(known.take_buffer().is_empty());
    }

    #[test]
    fn other_numbers_of_columns_are_refused() {
        let known = KnownColumns::default();
        known.columns(2, described(&["a", "b"])).unwrap();
        for n_columns in [0, 1, 3] {
            assert!(known.columns(n_columns, described(&["a", "b"])).is_err(), "{n_columns}");
        }
    }

    /// The library that reads values ends the program at such a column.
    #[test]
    fn columns_of_types_that_no_result_has_are_refused() {
        let mut bytes = Vec::new();
        Column::new(ColumnType::MYSQL_TYPE_DATETIME2).with_name(b"a").serialize(&mut bytes);
        assert!(KnownColumns::default().columns(1, bytes).is_err());
    }

    #[test]
    fn no_more_than_the_columns_of_our_statements_are_kept() {
        let known = KnownColumns::default();
        for n in 0..2 * RESULTS_MAX {
            known.columns(1, described(&[&n.to_string()])).unwrap();
        }
        assert_eq!(known.results.borrow().len(), RESULTS_MAX);
    }
}
