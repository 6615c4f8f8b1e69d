//! The data of a server: those that a client expects in `HELLO`, and those that the replies to `HELLO` and `LOAD` describe.
//!
//! | bytes of the payload of `HELLO` | |
//! |---|---|
//! | 0..4 | warehouses |
//! | 4..8 | divisor |
//!
//! A client to which all data are right sends no payload.
//!
//! | bytes of the reply | |
//! |---|---|
//! | 0..4, 4..8 | warehouses, divisor |
//! | 8..12 | C-Load, the constant of NURand in the customers' last names |
//! | 12..16 | version of the tables and of the rows that are made from a seed |
//! | 16..24 | seed of the rows |
//! | 24..32 | time of loading, in ms since 1970 |
//! | 32..36 | threads that perform transactions that only read |
//! | 36 | 1: nothing has been written since the data were made or restored; else 0 |
//! | 37..45 | size of the database's files, in bytes |
//! | 45..117 | rows of the nine tables before the first transaction, 8 bytes each |
//! | then | the database with its version and its durability, a text |

use units::WallTime;

use super::bytes::{Reader, WireError, Writer};
use crate::{DataScale, Population, ShortText};

/// The argument of `LOAD` that asks for the first state of the data, by the fastest way: from the golden copy.
pub const LOAD_RESTORE: u64 = 0;

/// The argument of `LOAD` that asks for data made anew from their seed, and a new golden copy.
pub const LOAD_ANEW: u64 = 1;

/// The size of the data that a client expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedData {
    /// Number of warehouses.
    pub warehouses: u32,
    /// Divisor of the cardinalities.
    pub divisor: u32,
}

impl ExpectedData {
    /// Returns the size as it is expected by users of these data.
    pub fn of(scale: &DataScale) -> ExpectedData {
        ExpectedData { warehouses: scale.warehouses(), divisor: scale.divisor() }
    }

    /// Appends the size to a payload.
    pub fn write(&self, payload: &mut Vec<u8>) {
        let mut writer = Writer::new(payload);
        writer.u32(self.warehouses);
        writer.u32(self.divisor);
    }

    /// Reads the payload of `HELLO`; `None` if it is empty, because all data are right.
    ///
    /// # Errors
    /// It has another length.
    pub fn read(payload: &[u8]) -> Result<Option<ExpectedData>, WireError> {
        if payload.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(payload);
        let expected = ExpectedData { warehouses: reader.u32()?, divisor: reader.u32()? };
        reader.end(Some(expected))
    }
}

/// The data of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataDescription {
    /// Number of warehouses.
    pub warehouses: u32,
    /// Divisor of the cardinalities.
    pub divisor: u32,
    /// The constant of NURand in the customers' last names.
    pub c_load: u32,
    /// The version of the tables and of the rows that are made from a seed.
    pub format: u32,
    /// Seed of the rows.
    pub seed: u64,
    /// Time of loading.
    pub loaded_at: WallTime,
    /// Number of threads that perform transactions that only read.
    pub readers: u32,
    /// Whether nothing has been written since the data were made or restored.
    pub is_untouched: bool,
    /// Size of the database's files, in bytes.
    pub file_bytes: u64,
    /// Rows before the first transaction, by table ([`crate::OrderTable::ALL`]).
    pub rows: [u64; 9],
    /// The database, with its version and its durability: `SQLite 3.50.2, WAL, synchronous normal`.
    pub database: ShortText<100>,
}

impl DataDescription {
    /// Returns the population that has been loaded; `None` if this build makes no such data, or other rows from the seed.
    pub fn population(&self) -> Option<Population> {
        let scale = DataScale::new(self.warehouses, self.divisor).ok()?;
        let population = Population::new(self.seed, scale, self.loaded_at);
        (population.c_load() == self.c_load).then_some(population)
    }

    /// Appends the description to a payload.
    pub fn write(&self, payload: &mut Vec<u8>) {
        let mut writer = Writer::new(payload);
        writer.u32(self.warehouses);
        writer.u32(self.divisor);
        writer.u32(self.c_load);
        writer.u32(self.format);
        writer.u64(self.seed);
        writer.time(self.loaded_at);
        writer.u32(self.readers);
        writer.flag(self.is_untouched);
        writer.u64(self.file_bytes);
        self.rows.into_iter().for_each(|n_rows| writer.u64(n_rows));
        writer.text(&self.database);
    }

    /// Reads the payload of a reply.
    ///
    /// # Errors
    /// It is not a description.
    pub fn read(payload: &[u8]) -> Result<DataDescription, WireError> {
        let mut reader = Reader::new(payload);
        let mut data = DataDescription {
            warehouses: reader.u32()?,
            divisor: reader.u32()?,
            c_load: reader.u32()?,
            format: reader.u32()?,
            seed: reader.u64()?,
            loaded_at: reader.time()?,
            readers: reader.u32()?,
            is_untouched: reader.flag()?,
            file_bytes: reader.u64()?,
            rows: [0; 9],
            database: ShortText::default(),
        };
        for n_rows in &mut data.rows {
            *n_rows = reader.u64()?;
        }
        data.database = reader.text()?;
        reader.end(data)
    }
}
