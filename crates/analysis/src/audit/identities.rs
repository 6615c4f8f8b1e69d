//! The identities that every row of a WebStone table must satisfy, whoever printed it.

use stats::MBIT;

use super::exchange::{exchange_in_row, exchange_in_table};
use super::replies::{Band, implied_reply_bytes};
use super::{Finding, PublishedRow, PublishedTable};

/// Least load factor ÷ clients without think time. The published rows with most errors reach 0.90.
const LOAD_FACTOR_SHARE_MIN: f64 = 0.85;

/// Checks a published table by its own identities. Findings for the whole table first, then by row.
///
/// Per row: Little's law (load factor = connection rate · response time), a whole number of errors,
/// a load factor not above the number of clients nor far below, and a reply size like that of the
/// other rows. If two columns are exchanged, in one row or in all, that is what is found. A changed
/// cell is found if it breaks an identity by more than rounding explains.
pub fn audit_table(table: &PublishedTable) -> Vec<Finding> {
    if let Some((one, other, restored)) = exchange_in_table(table) {
        let [one, other] = [one, other].map(|column| PublishedRow::COLUMNS[column]);
        let text = format!("`{one}` and `{other}` are exchanged in every row");
        let mut findings = vec![Finding::new("exchanged columns", None, text)];
        findings.extend(audit_columns(&restored));
        return findings;
    }
    audit_columns(table)
}

/// Checks a table whose columns are in their places.
fn audit_columns(table: &PublishedTable) -> Vec<Finding> {
    let band = Band::of(table);
    let objection = band.and_then(|band| band.objection(table.body_bytes_mean));
    let mut findings: Vec<Finding> =
        objection.map(|text| Finding::new("reply bytes", None, text)).into_iter().collect();
    findings.extend(order(table));
    for (index, row) in table.rows.iter().enumerate() {
        let broken = broken_identities(table, band.as_ref(), row);
        let exchange = exchange_in_row(table, band.as_ref(), row).filter(|_| !broken.is_empty());
        match exchange {
            Some((one, other)) => {
                let [one, other] = [one, other].map(|column| PublishedRow::COLUMNS[column]);
                let text = format!("`{one}` and `{other}` are exchanged");
                findings.push(Finding::new("exchanged columns", Some(index), text));
            }
            None => findings
                .extend(broken.into_iter().map(|(check, text)| Finding::new(check, Some(index), text))),
        }
    }
    findings
}

/// Returns the identities that a row breaks: name of the check and what is wrong.
pub(super) fn broken_identities(
    table: &PublishedTable,
    band: Option<&Band>,
    row: &PublishedRow,
) -> Vec<(&'static str, String)> {
    let checks = [
        ("clients", clients(row)),
        ("little", little(table, row)),
        ("errors", errors(table, row)),
        ("load factor", load_factor(table, row)),
        ("reply bytes", band.and_then(|band| reply_bytes(band, row))),
    ];
    checks.into_iter().filter_map(|(check, text)| Some((check, text?))).collect()
}

fn clients(row: &PublishedRow) -> Option<String> {
    let whole = row.clients.fract() == 0.0 && 1.0 <= row.clients;
    (!whole).then(|| format!("{} is not a number of clients", row.clients))
}

/// Load factor = connection rate · response time, as far as three rounded numbers can show it.
///
/// The load factor is allowed a whole unit of its last digit: the original drops the fraction of
/// the total response time, up to 1 s of T, before it divides.
fn little(table: &PublishedTable, row: &PublishedRow) -> Option<String> {
    let rounding = &table.rounding;
    let (rate, response) = (row.connection_rate, row.response_mean);
    let allowed =
        rounding.response_mean * rate + rounding.connection_rate * response + 2.0 * rounding.load_factor;
    let product = rate * response;
    (allowed < (product - row.load_factor).abs()).then(|| {
        format!(
            "connection rate {rate} · response time {response} s is {product:.3}, the load factor says {}; \
             {:.1} connections/s or {:.4} s would agree with it",
            row.load_factor,
            row.load_factor / response,
            row.load_factor / rate
        )
    })
}

/// Errors per second times length is a whole number of errors, to half of the last printed digit.
fn errors(table: &PublishedTable, row: &PublishedRow) -> Option<String> {
    let count = row.error_rate * table.length;
    // A hair more than half a digit, for what binary fractions make of decimal ones.
    let allowed = table.rounding.error_rate * table.length * (1.0 + 1e-9);
    (allowed < (count - count.round()).abs()).then(|| {
        format!("{} errors/s in {} s are {count:.3} errors, not a whole number", row.error_rate, table.length)
    })
}

/// No more operations in progress than clients, and without think time not many fewer.
fn load_factor(table: &PublishedTable, row: &PublishedRow) -> Option<String> {
    let (found, clients) = (row.load_factor, row.clients);
    if clients + table.rounding.load_factor < found {
        return Some(format!("load factor {found} is above the {clients} clients"));
    }
    (found < LOAD_FACTOR_SHARE_MIN * clients)
        .then(|| format!("load factor {found} is far below the {clients} clients, who do not think"))
}

fn reply_bytes(band: &Band, row: &PublishedRow) -> Option<String> {
    if band.holds(row) {
        return None;
    }
    let size = implied_reply_bytes(row, MBIT);
    let size = size.map_or_else(|| "no size at all".to_owned(), |size| format!("{size:.0} B"));
    let expected = band.middle * 8.0 / MBIT * row.connection_rate;
    let throughput = row.throughput_mbit;
    let copied = row.cells()[..5].iter().position(|cell| *cell == throughput);
    let copied = copied
        .map(|column| format!(", and it equals the row's {}: a copied cell", PublishedRow::COLUMNS[column]));
    Some(format!(
        "throughput {throughput} implies {size} per reply, the other rows have {:.0} B; about {expected:.1} would agree{}",
        band.middle,
        copied.unwrap_or_default()
    ))
}

/// Rows stand in the order of their clients.
fn order(table: &PublishedTable) -> Option<Finding> {
    let row = table.rows.windows(2).position(|pair| pair[1].clients <= pair[0].clients)? + 1;
    let [before, clients] = [row - 1, row].map(|row| table.rows[row].clients);
    let text = format!("{clients} clients follow {before}, rows should rise");
    Some(Finding::new("order", Some(row), text))
}
