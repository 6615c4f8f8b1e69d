//! The tables and views of a run file.

/// Marks a SQLite file as a run file: `Plim`.
pub(crate) const APPLICATION_ID: u32 = u32::from_be_bytes(*b"Plim");

/// The form of the file, in SQLite's `user_version`; any change of a table raises it.
pub(crate) const FORMAT: u32 = 4;

/// The statements that create an empty run file.
pub(crate) const CREATE: &str = include_str!("schema.sql");

/// The tables that are counted and hashed as a whole when the run ends; the rows of `interval` are chained.
const HASHED_TABLES: [&str; 11] = [
    "header",
    "testbed",
    "load_point",
    "detail",
    "example",
    "event",
    "result",
    "ending",
    "machine",
    "series",
    "resource",
];

/// The first form with tables for what machines told.
pub(crate) const FORMAT_WITH_RESOURCES: u32 = 3;

/// The first form that says of facts where they come from and how they are known.
pub(crate) const FORMAT_WITH_SOURCES: u32 = 4;

/// Returns the tables of a form that are counted and hashed as a whole.
pub(crate) fn hashed_tables(format: u32) -> &'static [&'static str] {
    if format < FORMAT_WITH_RESOURCES { &HASHED_TABLES[..8] } else { &HASHED_TABLES }
}
