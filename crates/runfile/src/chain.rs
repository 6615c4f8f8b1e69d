//! Hashes: each interval carries the hash of the one before, the first that of the header.
//!
//! A hash shows that a record was changed, and where. It does not protect against an attacker, who
//! can compute all hashes again: that is the purpose of seals.

use blake3::{Hash, Hasher};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// A hasher of fields, each behind its length, so that no two lists of fields give the same bytes.
pub(crate) struct Digest(Hasher);

impl Digest {
    pub(crate) fn new(purpose: &str) -> Digest {
        let mut digest = Digest(Hasher::new());
        digest.field(purpose.as_bytes());
        digest
    }

    pub(crate) fn field(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.field(&number.to_le_bytes());
    }

    pub(crate) fn finish(self) -> Hash {
        self.0.finalize()
    }
}

/// Counts and hashes the rows of a table in order, every column with its type.
pub(crate) fn table_hash(database: &Connection, table: &str) -> rusqlite::Result<(u64, Hash)> {
    let mut digest = Digest::new("plimsoll table");
    digest.field(table.as_bytes());
    let mut statement = database.prepare(&format!("SELECT * FROM {table} ORDER BY 1"))?;
    let n_columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut n_rows = 0;
    while let Some(row) = rows.next()? {
        n_rows += 1;
        for column in 0..n_columns {
            hash_value(row.get_ref(column)?, &mut digest);
        }
    }
    Ok((n_rows, digest.finish()))
}

fn hash_value(value: ValueRef, digest: &mut Digest) {
    match value {
        ValueRef::Null => digest.field(b"null"),
        ValueRef::Integer(number) => {
            digest.field(b"integer");
            digest.field(&number.to_le_bytes());
        }
        ValueRef::Real(number) => {
            digest.field(b"real");
            digest.field(&number.to_le_bytes());
        }
        ValueRef::Text(text) => {
            digest.field(b"text");
            digest.field(text);
        }
        ValueRef::Blob(bytes) => {
            digest.field(b"blob");
            digest.field(bytes);
        }
    }
}
