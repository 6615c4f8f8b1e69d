//! Verification that a run file is unchanged and that its parts agree.

mod detail;
mod finding;
mod interval;

pub use finding::VerifyFinding;

use blake3::Hash;
use rusqlite::OptionalExtension;

use crate::chain::table_hash;
use crate::rows::HeaderRow;
use crate::schema::HASHED_TABLES;
use crate::{Run, RunFileError};

impl Run {
    /// Checks everything in the file that does not need the meaning of the numbers: hashes and their chain, missing
    /// rows, columns against records, details against intervals. Decodes all records, each of them once or twice;
    /// holds a few at a time.
    ///
    /// Returns the findings, in the order header, intervals, details, tables; empty if all is well. Rows that
    /// cannot be read are findings too. Tables are covered only in a finished file.
    pub fn verify(&self) -> Vec<VerifyFinding> {
        let mut findings = Vec::new();
        self.verify_header(&mut findings);
        let chain = interval::verify(self, &mut findings);
        detail::verify(self, &mut findings);
        if let Err(why) = self.verify_tables(&chain, &mut findings) {
            findings.push(unreadable(self.damaged("inventory", why)));
        }
        findings
    }

    fn verify_header(&self, findings: &mut Vec<VerifyFinding>) {
        let as_planned = HeaderRow::of(self.header());
        let row = &self.header_row;
        let columns = |row: &HeaderRow| (row.benchmark.clone(), row.benchmark_version, row.n_modifications);
        if row.hash() != self.header_hash || columns(row) != columns(&as_planned) {
            findings.push(VerifyFinding::HeaderChanged);
        }
        if !self.plan().catalog.counts_as(&self.plan().workload.catalog()) {
            findings.push(VerifyFinding::CatalogDiffers);
        }
    }

    /// Compares the tables with the inventory that was written when the run ended.
    fn verify_tables(
        &self,
        chain: &interval::Chain,
        findings: &mut Vec<VerifyFinding>,
    ) -> rusqlite::Result<()> {
        let n_listed: i64 =
            self.database.query_row("SELECT count(*) FROM inventory", [], |row| row.get(0))?;
        let has_ending = self.ended().is_some();
        if n_listed == 0 && !has_ending {
            return Ok(());
        }
        self.compare("interval", chain.n_rows, chain.last, findings)?;
        for table in HASHED_TABLES {
            let (n_rows, hash) = table_hash(&self.database, table)?;
            self.compare(table, n_rows, hash, findings)?;
        }
        Ok(())
    }

    fn compare(
        &self,
        table: &'static str,
        rows_found: u64,
        hash: Hash,
        findings: &mut Vec<VerifyFinding>,
    ) -> rusqlite::Result<()> {
        let sql = "SELECT n_rows, blake3 FROM inventory WHERE table_name = ?";
        let read = |row: &rusqlite::Row| Ok((row.get::<_, i64>(0)?, Hash::from_bytes(row.get(1)?)));
        let listed = self.database.query_row(sql, [table], read).optional()?;
        let finding = match listed {
            None => VerifyFinding::NotListed { table },
            Some((n_rows, _)) if u64::try_from(n_rows) != Ok(rows_found) => {
                VerifyFinding::RowCount { table, listed: n_rows, found: rows_found }
            }
            Some((_, listed)) if listed != hash => VerifyFinding::TableChanged { table },
            Some(_) => return Ok(()),
        };
        findings.push(finding);
        Ok(())
    }
}

/// Turns a row that cannot be read into a finding.
fn unreadable(why: RunFileError) -> VerifyFinding {
    match why {
        RunFileError::Damaged { place, why, .. } => VerifyFinding::Unreadable { place, why },
        other => VerifyFinding::Unreadable { place: "file".to_owned(), why: other.to_string() },
    }
}
