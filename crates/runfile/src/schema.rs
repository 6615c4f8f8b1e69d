//! The tables and views of a run file.

/// Marks a SQLite file as a run file: `Plim`.
pub(crate) const APPLICATION_ID: u32 = u32::from_be_bytes(*b"Plim");

/// The form of the file, in SQLite's `user_version`; any change of a table raises it.
pub(crate) const FORMAT: u32 = 5;

/// The statements that create an empty run file.
pub(crate) const CREATE: &str = include_str!("schema.sql");

/// The tables that are counted and hashed as a whole when the run ends; the rows of `interval` are chained.
pub(crate) const HASHED_TABLES: [&str; 14] = [
    "header",
    "testbed",
    "limit_in_force",
    "load_point",
    "detail",
    "example",
    "consistency_check",
    "named_count",
    "event",
    "result",
    "ending",
    "machine",
    "series",
    "resource",
];
