//! Exchanged columns: the exchange after which the identities hold again.

use super::identities::broken_identities;
use super::replies::Band;
use super::{PublishedRow, PublishedTable};

/// Part of the rows that must break an identity before a whole column comes under suspicion.
const SUSPECT_MIN: f64 = 0.5;

/// Part of the rows that may still do so after the columns were exchanged back.
const RESTORED_MAX: f64 = 0.2;

/// Returns two columns that are exchanged in all rows, and the table with them in their places.
pub(super) fn exchange_in_table(table: &PublishedTable) -> Option<(usize, usize, PublishedTable)> {
    let rows = table.rows.len() as f64;
    if (broken_rows(table) as f64) < SUSPECT_MIN * rows {
        return None;
    }
    let restored = pairs().map(|(one, other)| {
        let rows = table.rows.iter().map(|row| row.exchanged(one, other)).collect();
        (one, other, PublishedTable { rows, ..table.clone() })
    });
    let best = restored.min_by_key(|(_, _, table)| broken_rows(table))?;
    (broken_rows(&best.2) as f64 <= RESTORED_MAX * rows).then_some(best)
}

/// Returns two columns that are exchanged in this row: the first exchange that leaves nothing broken.
pub(super) fn exchange_in_row(
    table: &PublishedTable,
    band: Option<&Band>,
    row: &PublishedRow,
) -> Option<(usize, usize)> {
    pairs().find(|(one, other)| broken_identities(table, band, &row.exchanged(*one, *other)).is_empty())
}

/// Returns how many rows break an identity; all, if the reply sizes of the table make no sense.
fn broken_rows(table: &PublishedTable) -> usize {
    let band = Band::of(table);
    if band.is_none_or(|band| band.objection(table.body_bytes_mean).is_some()) {
        return table.rows.len();
    }
    table.rows.iter().filter(|row| !broken_identities(table, band.as_ref(), row).is_empty()).count()
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    let n = PublishedRow::COLUMNS.len();
    (0..n).flat_map(move |one| (one + 1..n).map(move |other| (one, other)))
}
