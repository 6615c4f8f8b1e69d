//! Intervals: the chain of hashes, gaps, and plain columns against records.

use std::collections::BTreeMap;

use blake3::Hash;

use super::{VerifyFinding, unreadable};
use crate::rows::{FIGURES, IntervalRow, figures};
use crate::{Run, RunFileError};

/// The end of the chain of hashes.
pub(super) struct Chain {
    pub(super) n_rows: u64,
    pub(super) last: Hash,
}

/// Follows the chain through all intervals. After a break it continues from the stored hash, so that one change is
/// one finding.
pub(super) fn verify(run: &Run, findings: &mut Vec<VerifyFinding>) -> Chain {
    let mut chain = Chain { n_rows: 0, last: run.header_hash };
    let mut next = BTreeMap::new();
    let passed = run.each_interval(|row| {
        chain.n_rows += 1;
        verify_link(&row, &chain.last, findings);
        chain.last = row.hash;
        let load_point = row.key.load_point;
        let agent = row.key.agent;
        let expected = next.insert((load_point, agent), row.index.saturating_add(1)).unwrap_or(0);
        if expected != row.index {
            findings.push(VerifyFinding::MissingInterval { load_point, agent, expected, found: row.index });
        }
        verify_columns(run, &row, findings);
        Ok::<(), RunFileError>(())
    });
    if let Err(why) = passed {
        findings.push(unreadable(why));
    }
    chain
}

fn verify_link(row: &IntervalRow, previous: &Hash, findings: &mut Vec<VerifyFinding>) {
    if row.key.link(previous, row.index, &row.record) != row.hash {
        let load_point = row.key.load_point;
        let agent = row.key.agent;
        let index = row.index;
        findings.push(VerifyFinding::BrokenChain { load_point, agent, index });
    }
}

fn verify_columns(run: &Run, row: &IntervalRow, findings: &mut Vec<VerifyFinding>) {
    let record = match run.interval_of(row) {
        Ok(record) => record,
        Err(why) => return findings.push(unreadable(why)),
    };
    let recorded = figures(&record, &run.plan().catalog.transferred);
    for (index, column) in FIGURES.into_iter().enumerate() {
        let stored = row.figures[index];
        let recorded = recorded[index];
        if stored != recorded {
            let load_point = record.load_point;
            let agent = record.agent;
            let index = record.index;
            findings.push(VerifyFinding::ColumnDiffers {
                load_point,
                agent,
                index,
                column,
                stored,
                recorded,
            });
        }
    }
}
