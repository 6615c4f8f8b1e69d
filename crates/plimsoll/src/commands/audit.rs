//! `audit`: recompute, and list what does not follow.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::audit::{PublishedTable, StatedRow, TableError, audit_results, audit_table};
use runfile::Run;
use serde::Deserialize;
use serde_json::json;
use units::Ratio;

use super::{print, print_json};
use crate::arguments::AuditArguments;
use crate::exit::{Exit, Failure};
use crate::results::Results;

/// Stored results are exact; what is left is the order of additions.
const STORED_TOLERANCE: Ratio = Ratio(1e-9);

/// Audits a run file or a published table.
pub fn perform(arguments: &AuditArguments, as_json: bool) -> Result<Exit, Failure> {
    let is_table = arguments.subject.extension().is_some_and(|extension| extension == "toml");
    let subject = arguments.subject.display().to_string();
    let findings = match is_table {
        true => published(&arguments.subject)?,
        false => run(&arguments.subject)?,
    };
    if as_json {
        print_json(&json!({ "format": 1, "subject": subject, "findings": findings }))?;
    } else {
        findings.iter().try_for_each(|finding| print(finding))?;
        let n = findings.len();
        match n {
            0 => print(&format!("{subject}: everything follows."))?,
            _ => print(&format!(
                "{subject}: {n} {} found.",
                if n == 1 { "difference" } else { "differences" }
            ))?,
        }
    }
    Ok(if findings.is_empty() { Exit::Valid } else { Exit::Differences })
}

fn run(path: &Path) -> Result<Vec<String>, Failure> {
    let mut findings: Vec<String> = Run::open(path)?.verify().iter().map(ToString::to_string).collect();
    let results = Results::read(path)?;
    let stated = stated_rows(&results.stated);
    if results.analysis.ending == model::Ending::Complete || !stated.is_empty() {
        let differences = audit_results(&stated, &results.analysis, STORED_TOLERANCE);
        findings
            .extend(differences.into_iter().map(|finding| format!("{}: {}", finding.check, finding.text)));
    }
    let broken = ["conservation", "time-axis", "schedule"];
    let reasons = results.analysis.load_points.iter().flat_map(|point| &point.verdict.reasons);
    for reason in reasons.filter(|reason| broken.contains(&reason.rule)) {
        findings.push(format!("{}: {}", reason.rule, reason.text));
    }
    Ok(findings)
}

fn stated_rows(cells: &[(u32, String, f64)]) -> Vec<StatedRow> {
    let mut rows: BTreeMap<u32, BTreeMap<String, f64>> = BTreeMap::new();
    for (load_point, name, value) in cells {
        rows.entry(*load_point).or_default().insert(name.clone(), *value);
    }
    rows.into_iter().map(|(load_point, cells)| StatedRow { load_point, cells }).collect()
}

/// A published report as a file: one table, or several as `[[table]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportFile {
    table: Vec<TableText>,
}

/// A published table of WebStone results.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableText {
    /// Benchmark and server.
    title: String,
    /// Length of a load point in seconds.
    length_s: f64,
    /// Expected body bytes per request; not known if absent.
    body_bytes_mean: Option<f64>,
    /// A row of six numbers per line: clients, connections/s, errors/s, latency (s), load factor, Mbit/s.
    rows: String,
}

fn published(path: &Path) -> Result<Vec<String>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{name}`: {error}")))?;
    let tables = tables(&text).map_err(|error| {
        Failure::usage(format!("`{name}`: {}", error.to_string().trim_end()))
            .hint("a table has `title`, `length_s`, and `rows` with six numbers a line; several begin with `[[table]]` each")
    })?;
    if tables.is_empty() {
        return Err(Failure::usage(format!("`{name}`: expected at least one table, found none")));
    }
    let mut findings = Vec::new();
    for table in &tables {
        findings.extend(
            table_findings(table)
                .map_err(|error| Failure::usage(format!("`{name}`, table `{}`: {error}", table.title)))?,
        );
    }
    Ok(findings)
}

fn tables(text: &str) -> Result<Vec<TableText>, toml::de::Error> {
    match text.parse::<toml::Table>()?.contains_key("table") {
        true => Ok(toml::from_str::<ReportFile>(text)?.table),
        false => Ok(vec![toml::from_str(text)?]),
    }
}

fn table_findings(text: &TableText) -> Result<Vec<String>, TableError> {
    let table = PublishedTable::parse(&text.title, text.length_s, text.body_bytes_mean, &text.rows)?;
    let findings = audit_table(&table).into_iter().map(|finding| {
        let row = finding.row.map_or(String::new(), |row| format!("row {}: ", row + 1));
        format!("{}: {row}{}: {}", table.title, finding.check, finding.text)
    });
    Ok(findings.collect())
}
