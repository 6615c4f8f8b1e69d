//! A new file with the rows before the first transaction.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orders::{
    CustomerRow, DistrictRow, HistoryRow, ItemRow, NewOrderRow, OrderLineRow, OrderRow, OrderTable,
    Population, PostalAddress, StockRow, WarehouseRow,
};
use rusqlite::{Connection, Statement, params};

use crate::error::StoreError;
use crate::schema::{METADATA, create_indexes, create_table, insert, rows_fact};
use crate::store::{APPLICATION_ID, FORMAT};

/// Creates a file and loads it with the rows of a population.
///
/// `progress` gets the number of rows loaded so far, of the sum of [`orders::DataScale::rows`] over all tables, at least
/// once per district and table, and can stop the loading. Rows come in the order of their keys, in one transaction without
/// a journal; what tells the file from others is written last, when all rows are on the disk.
///
/// # Errors
/// There is a file of this name, the disk is full, or the caller stops the loading; then the new file is removed.
pub fn create(
    path: &Path,
    population: &Population,
    progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    File::create_new(path).map_err(|why| StoreError::io(path, "creating", why))?;
    let loaded = load(path, population, progress);
    if loaded.is_err() {
        // The first error says more than one of removing what it has left.
        let _ = remove(path);
    }
    loaded
}

/// Removes a file with its write-ahead log; what is not there is no error.
///
/// # Errors
/// The operating system refuses.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    for file in [path.to_owned(), log_of(path), beside(path, "-shm")] {
        match fs::remove_file(file) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io(path, "removing", why));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the name of the write-ahead log of a file.
pub fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn load(
    path: &Path,
    population: &Population,
    progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let failed = StoreError::database("loading");
    let database = Connection::open(path).map_err(&failed)?;
    database
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             PRAGMA cache_size = -65536; BEGIN",
        )
        .map_err(&failed)?;
    for table in OrderTable::ALL {
        database.execute_batch(&create_table(table)).map_err(&failed)?;
    }
    let rows = Loader::new(&database, progress)?.load(population)?;
    for statement in OrderTable::ALL.into_iter().flat_map(create_indexes) {
        database.execute_batch(&statement).map_err(&failed)?;
    }
    database.execute_batch("COMMIT").map_err(&failed)?;
    File::open(path).and_then(|file| file.sync_all()).map_err(|why| StoreError::io(path, "writing", why))?;
    write_metadata(&database, population, rows).map_err(&failed)?;
    database.close().map_err(|(_, why)| failed(why))
}

/// Writes what tells the file from others, durably.
fn write_metadata(database: &Connection, population: &Population, rows: [u64; 9]) -> rusqlite::Result<()> {
    database.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN")?;
    database.execute_batch(METADATA)?;
    let mut insert = database.prepare("INSERT INTO plimsoll_orderentry VALUES (?, ?)")?;
    let scale = population.scale();
    let facts = [
        ("format", i64::from(FORMAT)),
        ("seed", population.seed().cast_signed()),
        ("warehouses", i64::from(scale.warehouses())),
        ("divisor", i64::from(scale.divisor())),
        ("c_load", i64::from(population.c_load())),
        ("loaded_at", population.loaded_at().0),
    ];
    for (name, value) in facts {
        insert.execute(params![name, value])?;
    }
    for (table, n_rows) in OrderTable::ALL.into_iter().zip(rows) {
        insert.execute(params![rows_fact(table), n_rows.cast_signed()])?;
    }
    database.pragma_update(None, "application_id", APPLICATION_ID)?;
    database.execute_batch("COMMIT")
}

/// A row with its values in the order of the table's columns.
trait StoredRow {
    const TABLE: OrderTable;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize>;
}

/// The insertion of rows, with a statement per table.
struct Loader<'c, P> {
    statements: Vec<Statement<'c>>,
    /// Rows loaded, by table.
    rows: [u64; 9],
    progress: P,
}

impl<'c, P: FnMut(u64) -> ControlFlow<()>> Loader<'c, P> {
    fn new(database: &'c Connection, progress: P) -> Result<Loader<'c, P>, StoreError> {
        let statements: rusqlite::Result<Vec<_>> =
            OrderTable::ALL.into_iter().map(|table| database.prepare(&insert(table))).collect();
        let statements = statements.map_err(StoreError::database("loading"))?;
        Ok(Loader { statements, rows: [0; 9], progress })
    }

    /// Loads all rows, and returns their numbers by table.
    fn load(mut self, population: &Population) -> Result<[u64; 9], StoreError> {
        self.add(population.items())?;
        for warehouse in 1..=population.scale().warehouses() {
            self.add([population.warehouse(warehouse)])?;
            self.add(population.stock(warehouse))?;
            for district in population.district_keys(warehouse) {
                self.add([population.district(district)])?;
                self.add(population.customers(district))?;
                self.add(population.history(district))?;
                self.add(population.orders(district))?;
                self.add(population.order_lines(district))?;
                self.add(population.new_orders(district))?;
            }
        }
        Ok(self.rows)
    }

    fn add<R: StoredRow>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), StoreError> {
        let index = R::TABLE as usize;
        for row in rows {
            row.insert(&mut self.statements[index]).map_err(StoreError::database("loading"))?;
            self.rows[index] += 1;
        }
        match (self.progress)(self.rows.iter().sum()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(StoreError::Stopped),
        }
    }
}

/// Returns the values of an address.
fn address_of(address: &PostalAddress) -> [&str; 5] {
    let PostalAddress { street_1, street_2, city, state, zip } = address;
    [street_1.as_str(), street_2.as_str(), city.as_str(), state.as_str(), zip.as_str()]
}

impl StoredRow for WarehouseRow {
    const TABLE: OrderTable = OrderTable::Warehouse;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let [street_1, street_2, city, state, zip] = address_of(&self.address);
        let name = self.name.as_str();
        let tax = self.tax.0;
        let ytd = self.ytd.0;
        statement.execute(params![self.id, name, street_1, street_2, city, state, zip, tax, ytd])
    }
}

impl StoredRow for DistrictRow {
    const TABLE: OrderTable = OrderTable::District;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let [street_1, street_2, city, state, zip] = address_of(&self.address);
        statement.execute(params![
            self.key.warehouse,
            self.key.district,
            self.name.as_str(),
            street_1,
            street_2,
            city,
            state,
            zip,
            self.tax.0,
            self.ytd.0,
            self.next_order,
        ])
    }
}

impl StoredRow for CustomerRow {
    const TABLE: OrderTable = OrderTable::Customer;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let [street_1, street_2, city, state, zip] = address_of(&self.address);
        statement.execute(params![
            self.district.warehouse,
            self.district.district,
            self.id,
            self.first.as_str(),
            self.middle.as_str(),
            self.last.as_str(),
            street_1,
            street_2,
            city,
            state,
            zip,
            self.phone.as_str(),
            self.since.0,
            self.credit.code(),
            self.credit_limit.0,
            self.discount.0,
            self.balance.0,
            self.ytd_payment.0,
            self.n_payments,
            self.n_deliveries,
            self.data.as_str(),
        ])
    }
}

impl StoredRow for HistoryRow {
    const TABLE: OrderTable = OrderTable::History;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let of = self.customer_district;
        let to = self.district;
        statement.execute(params![
            of.warehouse,
            of.district,
            self.customer,
            to.warehouse,
            to.district,
            self.date.0,
            self.amount.0,
            self.data.as_str(),
        ])
    }
}

impl StoredRow for NewOrderRow {
    const TABLE: OrderTable = OrderTable::NewOrder;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        statement.execute(params![self.district.warehouse, self.district.district, self.order])
    }
}

impl StoredRow for OrderRow {
    const TABLE: OrderTable = OrderTable::Orders;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        statement.execute(params![
            self.district.warehouse,
            self.district.district,
            self.id,
            self.customer,
            self.entered.0,
            self.carrier,
            self.n_lines,
            self.is_local,
        ])
    }
}

impl StoredRow for OrderLineRow {
    const TABLE: OrderTable = OrderTable::OrderLine;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        statement.execute(params![
            self.district.warehouse,
            self.district.district,
            self.order,
            self.number,
            self.item,
            self.supply_warehouse,
            self.delivered.map(|time| time.0),
            self.quantity,
            self.amount.0,
            self.district_info.as_str(),
        ])
    }
}

impl StoredRow for ItemRow {
    const TABLE: OrderTable = OrderTable::Item;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let name = self.name.as_str();
        let data = self.data.as_str();
        statement.execute(params![self.id, self.image, name, self.price.0, data])
    }
}

impl StoredRow for StockRow {
    const TABLE: OrderTable = OrderTable::Stock;

    fn insert(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let [d1, d2, d3, d4, d5, d6, d7, d8, d9, d10] =
            self.district_info.each_ref().map(|text| text.as_str());
        let data = self.data.as_str();
        statement.execute(params![
            self.warehouse,
            self.item,
            self.quantity,
            d1,
            d2,
            d3,
            d4,
            d5,
            d6,
            d7,
            d8,
            d9,
            d10,
            0,
            0,
            0,
            data,
        ])
    }
}
