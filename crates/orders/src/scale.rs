//! The size of the data: warehouses, and the divisor of everything in them.

use thiserror::Error;

use crate::random::{A_LAST_NAME, NuRand, scaled_a};
use crate::schema::OrderTable;

/// Districts of a warehouse, whatever the divisor.
pub const DISTRICTS: u32 = 10;

/// The divisors: those that divide all cardinalities without remainder.
pub const DIVISORS: [u32; 9] = [1, 2, 4, 5, 10, 20, 25, 50, 100];

/// The most warehouses, for which undivided data have 6.9 TB.
pub const WAREHOUSES_MAX: u32 = 100_000;

/// Cardinalities of a district or of the list of items, at divisor 1.
const CUSTOMERS: u32 = 3000;
const NEW_ORDERS: u32 = 900;
const ITEMS: u32 = 100_000;
const LAST_NAMES: u32 = 1000;

/// The fewest and the most lines of an order.
pub const LINES_MIN: u32 = 5;
/// See [`LINES_MIN`].
pub const LINES_MAX: u32 = 15;

/// The mean number of lines per order: all numbers are as frequent.
const LINES_MEAN: u64 = 10;

/// The size of the data.
///
/// The divisor k shrinks customers, orders and new orders of a district, items and stock, and with them the ranges of
/// NURand; warehouses and their ten districts stay. Our definition: 800 warehouses with divisor 100 have as many bytes as
/// the 800 warehouses of the ProLiant report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataScale {
    warehouses: u32,
    divisor: u32,
}

/// A size that data cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DataScaleError {
    /// Too few or too many warehouses.
    #[error("expected 1 to {WAREHOUSES_MAX} warehouses, found {0}")]
    Warehouses(u32),
    /// A divisor that leaves a remainder.
    #[error("expected a divisor of {DIVISORS:?}, found {0}")]
    Divisor(u32),
}

impl DataScale {
    /// Makes a size.
    ///
    /// # Errors
    /// The number of warehouses is not from 1 to [`WAREHOUSES_MAX`], or the divisor is not one of [`DIVISORS`].
    pub fn new(warehouses: u32, divisor: u32) -> Result<DataScale, DataScaleError> {
        if !(1..=WAREHOUSES_MAX).contains(&warehouses) {
            return Err(DataScaleError::Warehouses(warehouses));
        }
        if !DIVISORS.contains(&divisor) {
            return Err(DataScaleError::Divisor(divisor));
        }
        Ok(DataScale { warehouses, divisor })
    }

    /// Returns the number of warehouses.
    pub fn warehouses(&self) -> u32 {
        self.warehouses
    }

    /// Returns the divisor.
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    /// Returns the number of customers of a district, which is also that of its orders before the first transaction.
    pub fn customers_per_district(&self) -> u32 {
        CUSTOMERS / self.divisor
    }

    /// Returns the number of orders of a district that are delivered before the first transaction.
    pub fn delivered_per_district(&self) -> u32 {
        (CUSTOMERS - NEW_ORDERS) / self.divisor
    }

    /// Returns the number of items, and of stocks of a warehouse.
    pub fn items(&self) -> u32 {
        ITEMS / self.divisor
    }

    /// Returns the number of different last names, all of which each district has.
    pub fn n_last_names(&self) -> u32 {
        LAST_NAMES.min(self.customers_per_district())
    }

    /// Returns the number of rows of a table before the first transaction; of order lines the expected number, from which
    /// the real one deviates by its square root.
    pub fn rows(&self, table: OrderTable) -> u64 {
        let warehouses = u64::from(self.warehouses);
        let districts = u64::from(self.warehouses * DISTRICTS);
        let customers = districts * u64::from(self.customers_per_district());
        match table {
            OrderTable::Warehouse => warehouses,
            OrderTable::District => districts,
            OrderTable::Customer | OrderTable::History | OrderTable::Orders => customers,
            OrderTable::NewOrder => districts * u64::from(NEW_ORDERS / self.divisor),
            OrderTable::OrderLine => customers * LINES_MEAN,
            OrderTable::Item => u64::from(self.items()),
            OrderTable::Stock => warehouses * u64::from(self.items()),
        }
    }

    /// Returns the size of all rows without indexes and overhead, in bytes.
    ///
    /// Formula: Σ rows · typical bytes of a row, as TPC-C revision 5.11, clause 1.2.1 states them.
    pub fn raw_bytes(&self) -> u64 {
        OrderTable::ALL.into_iter().map(|table| self.rows(table) * table.schema().row_bytes).sum()
    }

    /// Returns the expected size of the data in PostgreSQL or MariaDB, with keys, indexes and overhead, in bytes.
    ///
    /// Formula: 5/3 · [`DataScale::raw_bytes`]. Measured for 800 warehouses with divisor 100: 1.62 in PostgreSQL 15, 1.47
    /// in MariaDB 10.11.
    pub fn loaded_bytes(&self) -> u64 {
        self.raw_bytes().saturating_mul(5) / 3
    }

    /// Returns the free disk that making the data needs, in bytes: for rows, indexes, a golden copy, and the rows of a
    /// run.
    ///
    /// Formula: 5/2 · [`DataScale::raw_bytes`].
    pub fn disk_bytes(&self) -> u64 {
        self.raw_bytes().saturating_mul(5) / 2
    }

    /// Returns the distribution of customers of a district, by number from 1.
    pub fn customers(&self, c: u32) -> NuRand {
        let last = self.customers_per_district();
        NuRand { a: scaled_a(1023, CUSTOMERS, last), c, first: 1, last }
    }

    /// Returns the distribution of the items of order lines, by number from 1.
    pub fn items_ordered(&self, c: u32) -> NuRand {
        NuRand { a: scaled_a(8191, ITEMS, self.items()), c, first: 1, last: self.items() }
    }

    /// Returns the distribution of last names, by number from 0.
    pub fn last_names(&self, c: u32) -> NuRand {
        let n_names = self.n_last_names();
        NuRand { a: scaled_a(A_LAST_NAME, LAST_NAMES, n_names), c, first: 0, last: n_names - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden check 9.3: rows by table, in the order of the tables, and bytes.
    #[test]
    fn cardinalities_are_those_of_the_specification() {
        let expected = [
            (1, [1, 10, 30_000, 30_000, 9_000, 30_000, 300_000, 100_000, 100_000], 76_823_039),
            (10, [10, 100, 300_000, 300_000, 90_000, 300_000, 3_000_000, 100_000, 1_000_000], 694_430_390),
            (
                100,
                [100, 1000, 3_000_000, 3_000_000, 900_000, 3_000_000, 30_000_000, 100_000, 10_000_000],
                6_870_503_900,
            ),
            (
                800,
                [800, 8000, 24_000_000, 24_000_000, 7_200_000, 24_000_000, 240_000_000, 100_000, 80_000_000],
                54_906_631_200,
            ),
        ];
        for (warehouses, rows, bytes) in expected {
            let scale = DataScale::new(warehouses, 1).unwrap();
            assert_eq!(OrderTable::ALL.map(|table| scale.rows(table)), rows, "{warehouses} warehouses");
            assert_eq!(scale.raw_bytes(), bytes, "{warehouses} warehouses");
        }
    }

    /// Golden check 9.3: 800 warehouses with divisor 100 have 524 MiB and A of 7, 63 and 7.
    #[test]
    fn divided_data_have_divided_ranges() {
        let scale = DataScale::new(800, 100).unwrap();
        assert_eq!([scale.raw_bytes(), scale.loaded_bytes()].map(|bytes| bytes >> 20), [524, 874]);
        assert_eq!(scale.customers(3), NuRand { a: 7, c: 3, first: 1, last: 30 });
        assert_eq!(scale.items_ordered(60), NuRand { a: 63, c: 60, first: 1, last: 1000 });
        assert_eq!(scale.last_names(0), NuRand { a: 7, c: 0, first: 0, last: 29 });
        assert_eq!((scale.customers_per_district(), scale.delivered_per_district()), (30, 21));
    }

    #[test]
    fn undivided_data_have_the_ranges_of_the_specification() {
        let scale = DataScale::new(1, 1).unwrap();
        assert_eq!(scale.customers(0), NuRand { a: 1023, c: 0, first: 1, last: 3000 });
        assert_eq!(scale.items_ordered(0), NuRand { a: 8191, c: 0, first: 1, last: 100_000 });
        assert_eq!(scale.last_names(0), NuRand { a: 255, c: 0, first: 0, last: 999 });
    }

    #[test]
    fn divisors_leave_no_remainder() {
        for divisor in DIVISORS {
            assert!([CUSTOMERS, NEW_ORDERS, ITEMS].iter().all(|count| count.is_multiple_of(divisor)));
        }
    }

    #[test]
    fn sizes_that_data_cannot_have_are_refused() {
        let refused = |warehouses, divisor| DataScale::new(warehouses, divisor).unwrap_err().to_string();
        assert_eq!(refused(0, 1), "expected 1 to 100000 warehouses, found 0");
        assert_eq!(refused(100_001, 1), "expected 1 to 100000 warehouses, found 100001");
        assert_eq!(refused(1, 3), "expected a divisor of [1, 2, 4, 5, 10, 20, 25, 50, 100], found 3");
        assert_eq!(DataScale::new(1, 0), Err(DataScaleError::Divisor(0)));
    }
}
