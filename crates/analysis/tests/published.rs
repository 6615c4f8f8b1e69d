//! The 84 published rows of the Apple report: golden checks G6 to G14, and the two misprints X1 and X2.

use analysis::audit::{PublishedRow, PublishedTable, audit_table, implied_reply_bytes};
use stats::MBIT;

/// Mean body of WebStone 1.1: 1,389 KiB in 208 files, by the weights of its pages.
const BODY_1_1: f64 = 1389.0 * 1024.0 / 208.0;

fn tables() -> Vec<PublishedTable> {
    let text = include_str!("fixtures/apple-network-server-1996.toml");
    let document: toml::Table = text.parse().expect("the fixture is TOML");
    let tables = document["table"].as_array().expect("an array of tables");
    let read = |table: &toml::Value| {
        let number = |key: &str| table[key].as_float().expect("a number");
        let text = |key: &str| table[key].as_str().expect("a text");
        let mean = Some(number("body_bytes_mean"));
        PublishedTable::parse(text("title"), number("length_s"), mean, text("rows")).expect("rows")
    };
    tables.iter().map(read).collect()
}

fn table(title: &str) -> PublishedTable {
    tables().into_iter().find(|table| table.title.ends_with(title)).expect("a table of this title")
}

fn row(title: &str, clients: f64) -> PublishedRow {
    let table = table(title);
    *table.rows.iter().find(|row| row.clients == clients).expect("a row with these clients")
}

fn rows() -> Vec<(f64, PublishedRow)> {
    tables().iter().flat_map(|table| table.rows.iter().map(|row| (table.length, *row))).collect()
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected}");
}

/// What the audit finds in a table, as `check row`.
fn found(table: &PublishedTable) -> Vec<String> {
    let name = |finding: analysis::audit::Finding| match finding.row {
        Some(row) => format!("{} {row}", finding.check),
        None => finding.check.to_owned(),
    };
    audit_table(table).into_iter().map(name).collect()
}

#[test]
fn there_are_84_rows() {
    let sizes: Vec<usize> = tables().iter().map(|table| table.rows.len()).collect();
    assert_eq!(sizes, [8, 8, 8, 20, 20, 20]);
}

#[test]
fn g6_a_megabit_has_2_to_the_20_bits() {
    let row = row("1.1, Network Server 700/200", 16.0);
    near(implied_reply_bytes(&row, MBIT).unwrap(), 7006.0, 0.5);
    let decimal = implied_reply_bytes(&row, 1e6).unwrap();
    near(decimal, 6681.0, 1.0);
    assert!(decimal < BODY_1_1, "less than the bodies alone");
}

#[test]
fn g7_heads_of_32_to_331_bytes_are_implied() {
    let of_1_1 = rows().into_iter().filter(|(length, _)| *length == 300.0);
    let mut heads: Vec<f64> =
        of_1_1.map(|(_, row)| implied_reply_bytes(&row, MBIT).unwrap() - BODY_1_1).collect();
    heads.sort_by(f64::total_cmp);
    assert_eq!(heads.len(), 24);
    near(heads[0], 32.0, 0.5);
    near(heads[23], 331.0, 0.5);
    near(heads.iter().sum::<f64>() / 24.0, 187.0, 0.5);
    near((heads[11] + heads[12]) / 2.0, 180.0, 0.5);
}

#[test]
fn g8_and_g9_rate_times_response_time_is_the_load_factor() {
    for (title, clients, product, printed) in [
        ("1.1, Network Server 700/200", 16.0, 15.881, 15.88),
        ("1.1, Network Server 700/200", 64.0, 62.504, 62.50),
        ("1.1, Network Server 700/200", 128.0, 127.772, 127.77),
        ("2.0.1, Network Server 700/200", 180.0, 178.721, 178.71),
        ("2.0.1, Network Server 700/200", 140.0, 134.422, 134.42),
        ("2.0.1, Network Server 500/132", 200.0, 179.881, 179.88),
    ] {
        let row = row(title, clients);
        near(row.connection_rate * row.response_mean, product, 0.0005);
        assert_eq!(row.load_factor, printed);
    }
}

#[test]
fn g10_littles_law_holds_on_83_rows() {
    let closes = |row: &PublishedRow| {
        let (rate, response) = (row.connection_rate, row.response_mean);
        (rate * response - row.load_factor).abs() <= 0.00005 * rate + 0.005 * response + 0.01
    };
    let broken: Vec<PublishedRow> =
        rows().into_iter().map(|(_, row)| row).filter(|row| !closes(row)).collect();
    assert_eq!(broken, [row("1.1, Network Server 700/150", 16.0)]);
    let audited = tables().iter().flat_map(audit_table).filter(|finding| finding.check == "little").count();
    assert_eq!(audited, 1);
}

#[test]
fn g11_errors_are_whole_numbers() {
    for (length, row) in rows() {
        let count: f64 = row.error_rate * length;
        near(count, count.round(), 0.00005 * length * (1.0 + 1e-9));
    }
    near(row("1.1, Network Server 700/200", 80.0).error_rate * 300.0, 5.01, 1e-9);
    near(row("2.0.1, Network Server 700/200", 140.0).error_rate * 600.0, 37.02, 1e-9);
    near(row("2.0.1, Network Server 500/132", 200.0).error_rate * 600.0, 124.98, 1e-9);
}

#[test]
fn g12_the_load_factor_is_never_above_the_clients() {
    let shares: Vec<f64> = rows().iter().map(|(_, row)| row.load_factor / row.clients).collect();
    assert!(shares.iter().all(|share| *share <= 1.0));
    near(shares.iter().copied().fold(1.0, f64::min), 0.8994, 0.00005);
}

/// G13 and G14: 1.4 · 1.1 = 1.54 of the report's megabits are 1.615 million bits, above a T1's 1.544.
#[test]
fn g13_and_g14_t1_lines_by_the_reports_rule() {
    near(stats::t1_lines(row("2.0.1, Network Server 700/200", 200.0).throughput_mbit), 46.9, 0.05);
    near(stats::t1_lines(row("1.1, Network Server 700/150", 96.0).throughput_mbit), 8.4, 0.05);
    near(1.4 * 1.1 * MBIT / 1e6, 1.615, 0.0005);
}

/// The audit finds the two misprints of the report, and nothing else in 84 rows.
#[test]
fn x1_and_x2_are_all_that_the_audit_finds() {
    let all: Vec<(String, String)> = tables()
        .iter()
        .flat_map(|table| found(table).into_iter().map(|finding| (table.title.clone(), finding)))
        .collect();
    let expected = [
        ("WebStone 1.1, Network Server 700/150", "little 0"),
        ("WebStone 2.0.1, Network Server 500/132", "reply bytes 4"),
    ];
    assert_eq!(all, expected.map(|(title, finding)| (title.to_owned(), finding.to_owned())));
}

/// X1: 215.60 · 0.0742 = 15.998, printed 15.82; 213.2 connections/s would agree, and bring the reply's size in line.
#[test]
fn x1_names_the_connection_rate_that_would_agree() {
    let table = table("1.1, Network Server 700/150");
    let text = &audit_table(&table)[0].text;
    assert!(
        text.contains("is 15.998, the load factor says 15.82") && text.contains("213.2 connections/s"),
        "{text}"
    );
    let misprint = table.rows[0];
    near(implied_reply_bytes(&misprint, MBIT).unwrap(), 6870.0, 0.5);
    let likely = PublishedRow { connection_rate: 213.2, ..misprint };
    near(implied_reply_bytes(&likely, MBIT).unwrap(), 6947.0, 0.5);
}

/// X2: the throughput 48.27 is the row's load factor, copied; it implies 21,684 B where the others have 19,156 to 20,338.
#[test]
fn x2_is_a_copied_cell() {
    let table = table("2.0.1, Network Server 500/132");
    let text = &audit_table(&table)[0].text;
    assert!(
        text.contains("implies 21684 B") && text.contains("equals the row's load factor: a copied cell"),
        "{text}"
    );
    let sizes = table.rows.iter().map(|row| implied_reply_bytes(row, MBIT).unwrap());
    let mut others: Vec<f64> =
        sizes.enumerate().filter(|(index, _)| *index != 4).map(|(_, size)| size).collect();
    others.sort_by(f64::total_cmp);
    near(others[0], 19_156.0, 0.5);
    near(others[18], 20_338.0, 0.5);
}

/// Every pair of columns, exchanged in all rows of every table, is found by name, but for pairs that are equal.
#[test]
fn exchanged_columns_are_found_in_every_table() {
    for (table, (one, other)) in tables().iter().flat_map(|table| pairs().map(move |pair| (table, pair))) {
        let rows = table.rows.iter().map(|row| exchanged(row, one, other)).collect();
        let wrong = PublishedTable { rows, ..table.clone() };
        let findings = audit_table(&wrong);
        let named = [one, other].map(|column| PublishedRow::COLUMNS[column]);
        let text = format!("`{}` and `{}` are exchanged in every row", named[0], named[1]);
        assert!(findings.iter().any(|finding| finding.text == text), "{}: {text}: {findings:?}", table.title);
    }
}

#[test]
fn columns_exchanged_in_one_row_are_found() {
    for (one, other) in pairs() {
        let mut wrong = table("1.1, Network Server 700/200");
        wrong.rows[4] = exchanged(&wrong.rows[4], one, other);
        let findings = found(&wrong);
        assert!(findings.contains(&"exchanged columns 4".to_owned()), "{one} {other}: {findings:?}");
    }
}

#[test]
fn a_changed_cell_breaks_an_identity() {
    for (column, factor, check) in [
        (0, 1.5, "load factor 4"),
        (1, 1.01, "little 4"),
        (2, 1.5, "errors 4"),
        (3, 0.99, "little 4"),
        (4, 1.01, "little 4"),
        (5, 1.08, "reply bytes 4"),
    ] {
        let mut wrong = table("1.1, Network Server 700/200");
        let mut cells = wrong.rows[4].cells();
        cells[column] *= factor;
        wrong.rows[4] = PublishedRow::from_cells(cells);
        let findings = found(&wrong);
        assert!(findings.contains(&check.to_owned()), "column {column}: {findings:?}");
    }
}

/// Throughput printed in millions of bits, as if nobody had divided by 2²⁰.
#[test]
fn a_table_in_another_unit_is_found() {
    for mut wrong in tables() {
        wrong.rows.iter_mut().for_each(|row| row.throughput_mbit *= MBIT / 1e6);
        let findings = audit_table(&wrong);
        assert!(
            findings.iter().any(|finding| finding.text.contains("the unit is not 2²⁰ bits")),
            "{findings:?}"
        );
    }
}

fn exchanged(row: &PublishedRow, one: usize, other: usize) -> PublishedRow {
    let mut cells = row.cells();
    cells.swap(one, other);
    PublishedRow::from_cells(cells)
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..6).flat_map(|one| (one + 1..6).map(move |other| (one, other)))
}
