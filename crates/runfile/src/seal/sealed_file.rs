//! The statements of a seal about a run file.

use std::fs::File;
use std::io;

use blake3::{Hash, Hasher};
use rusqlite::OptionalExtension;

use crate::{Run, RunFileError};

/// The statements of a seal about a run file: its identity, and hashes by which it is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedFile {
    /// Our name for the benchmark that was run.
    pub benchmark: String,
    /// Its version.
    pub benchmark_version: u32,
    /// Size of the file in bytes.
    pub file_bytes: u64,
    /// Hash of all its bytes.
    pub file_blake3: Hash,
    /// Hash of the plan as it is stored.
    pub plan_blake3: Hash,
    /// Hash of the last interval record, which covers all of them; that of the header if there is none.
    pub records_blake3: Hash,
}

impl SealedFile {
    /// Reads a run file from its first byte to its last.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(super) fn of(run: &Run) -> Result<SealedFile, RunFileError> {
        let (file_bytes, file_blake3) =
            hash_file(run).map_err(|why| RunFileError::io(&run.path, "reading", why))?;
        let last = "SELECT blake3 FROM interval ORDER BY id DESC LIMIT 1";
        let last = run.database.query_row(last, [], |row| Ok(Hash::from_bytes(row.get(0)?))).optional();
        let records = last.map_err(|why| run.damaged("interval", why))?;
        let benchmark = &run.plan().benchmark;
        Ok(SealedFile {
            benchmark: benchmark.id.clone(),
            benchmark_version: benchmark.version,
            file_bytes,
            file_blake3,
            plan_blake3: blake3::hash(run.header_row.plan_json.as_bytes()),
            records_blake3: records.unwrap_or(run.header_hash),
        })
    }

    /// Returns every statement with its name, in the order in which they are signed.
    pub(super) fn statements(&self) -> [(&'static str, String); 6] {
        [
            ("benchmark", self.benchmark.clone()),
            ("benchmark_version", self.benchmark_version.to_string()),
            ("file_bytes", self.file_bytes.to_string()),
            ("file_blake3", self.file_blake3.to_string()),
            ("plan_blake3", self.plan_blake3.to_string()),
            ("records_blake3", self.records_blake3.to_string()),
        ]
    }
}

/// Returns size and hash of a run's file.
fn hash_file(run: &Run) -> io::Result<(u64, Hash)> {
    let mut hasher = Hasher::new();
    hasher.update_reader(File::open(&run.path)?)?;
    Ok((hasher.count(), hasher.finalize()))
}
