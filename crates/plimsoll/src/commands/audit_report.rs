//! `audit REPORT.toml`: checks whether the numbers of a published report are consistent with each other.

use std::path::Path;

use model::Definition;
use published::{Annotation, PublishedFinding, PublishedReport, audit_report};
use serde_json::json;

use super::{print, print_json};
use crate::exit::{Exit, Failure};
use crate::files;

/// Width of the column with the name of a law or kind of annotation.
const NAME_WIDTH: usize = 14;

/// Audits a published report.
pub(super) fn perform(path: &Path, as_json: bool) -> Result<Exit, Failure> {
    let name = path.display().to_string();
    let text = files::read(path)?;
    if Definition::is_meant(&text) {
        let error = format!("`{name}` is the definition of a benchmark, not a published report");
        let hint = format!("`plimsoll show {name}` checks and shows it; `plimsoll run {name}` runs it");
        return Err(Failure::usage(error).hint(hint));
    }
    let report = PublishedReport::parse(&name, &text)?;
    let findings = audit_report(&report);
    if as_json {
        print_json(&value(&name, &report, &findings))?;
    } else {
        print(&listing(&name, &report, &findings))?;
    }
    Ok(if findings.is_empty() { Exit::Valid } else { Exit::Differences })
}

fn value(name: &str, report: &PublishedReport, findings: &[PublishedFinding]) -> serde_json::Value {
    let finding = |finding: &PublishedFinding| {
        let cells =
            finding.cells.iter().map(|(table, row, column)| json!({ "in": table, "row": row, "id": column }));
        json!({
            "law": finding.law,
            "place": finding.place,
            "text": finding.text,
            "cells": cells.collect::<Vec<_>>(),
        })
    };
    let annotation = |one: &Annotation| json!({ "kind": one.kind.name(), "at": one.at, "text": one.text });
    json!({
        "format": 1,
        "subject": name,
        "title": report.title,
        "publisher": report.publisher,
        "published": report.published.text,
        "numbers": n_numbers(report),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "annotations": report.annotations.iter().map(annotation).collect::<Vec<_>>(),
    })
}

fn listing(name: &str, report: &PublishedReport, findings: &[PublishedFinding]) -> String {
    let mut lines =
        vec![format!("{} ({}, {})", report.title, report.publisher, report.published.text), String::new()];
    for finding in findings {
        lines.push(entry(finding.law, &format!("{}: {}", finding.place, finding.text)));
    }
    if !findings.is_empty() {
        lines.push(String::new());
    }
    if !report.annotations.is_empty() {
        lines.push("Other remarks, not derived from a law:".to_owned());
        lines.push(String::new());
        for note in &report.annotations {
            let at = note.at.as_ref().map_or(String::new(), |at| format!("{at}: "));
            lines.push(entry(note.kind.name(), &format!("{at}{}", note.text)));
        }
        lines.push(String::new());
    }
    let n = n_numbers(report);
    lines.push(match findings.len() {
        0 => format!("{name}: all {n} numbers are consistent."),
        1 => format!("{name}: 1 finding in {n} numbers."),
        found => format!("{name}: {found} findings in {n} numbers."),
    });
    lines.join("\n")
}

fn entry(name: &str, text: &str) -> String {
    format!("  {name:NAME_WIDTH$}{text}")
}

/// Returns how many numbers the report contains; a number printed twice counts twice.
fn n_numbers(report: &PublishedReport) -> usize {
    let cells = report
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().flatten().chain(table.given.iter().map(|(_, cell)| cell)));
    let values =
        cells.flat_map(|cell| [&cell.value].into_iter().chain(cell.also.iter().map(|(_, value)| value)));
    values.filter(|value| value.number().is_some()).count()
}
