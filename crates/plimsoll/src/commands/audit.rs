//! `audit`: recompute and list the inconsistencies. This file audits runs, `audit_report` published reports.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::audit::{CatalogDifference, StatedRow, TableDifference, audit_catalog, audit_results};
use model::Plan;
use runfile::Run;
use serde_json::json;
use units::Ratio;

use super::{audit_report, audit_seal, print, print_json};
use crate::arguments::AuditArguments;
use crate::exit::{Exit, Failure};
use crate::results::Results;

/// Tolerance of stored results, relative: they are exact but for the order of additions.
const STORED_TOLERANCE: Ratio = Ratio(1e-9);

/// Audits a run file or a published report.
pub(super) fn perform(arguments: &AuditArguments, as_json: bool) -> Result<Exit, Failure> {
    let path = &arguments.subject;
    if path.extension().is_some_and(|extension| extension == "toml") {
        if arguments.signed_by.is_some() {
            return Err(Failure::usage("`--signed-by` applies to runs only: a published report has no seal"));
        }
        return audit_report::perform(path, as_json);
    }
    let subject = path.display().to_string();
    let mut findings = run(path)?;
    let seal = audit_seal::audit(path, arguments.signed_by.as_deref())?;
    findings.extend_from_slice(&seal.findings);
    if as_json {
        let seal = seal.json();
        print_json(&json!({ "format": 1, "subject": subject, "findings": findings, "seal": seal }))?;
    } else {
        findings.iter().try_for_each(|finding| print(finding))?;
        seal.text().iter().try_for_each(|text| print(&format!("{subject}: {text}")))?;
        match findings.len() {
            0 => print(&format!("{subject}: no differences found."))?,
            1 => print(&format!("{subject}: 1 difference found."))?,
            n => print(&format!("{subject}: {n} differences found."))?,
        }
    }
    Ok(if findings.is_empty() { Exit::Valid } else { Exit::Differences })
}

/// Lists the inconsistencies of a run. A damaged file is a finding, not a failure of the audit.
fn run(path: &Path) -> Result<Vec<String>, Failure> {
    let run = match Run::open(path) {
        Ok(run) => run,
        Err(error) if error.is_damage() => return Ok(vec![format!("damage: {error}")]),
        Err(error) => return Err(error.into()),
    };
    let mut findings: Vec<String> = run.verify().iter().map(ToString::to_string).collect();
    let line =
        |one: &CatalogDifference| format!("{}: {}", one.check(), disclosure::catalog_difference_text(one));
    findings.extend(catalog_differences(run.plan()).iter().map(line));
    let results = match Results::of(&run, |_| {}) {
        Ok(results) => results,
        Err(error) if error.is_damage() => {
            findings.push(format!("damage: {error}; results cannot be recomputed"));
            return Ok(findings);
        }
        Err(error) => return Err(error.into()),
    };
    let stated = stated_rows(&results.stated);
    if results.analysis.ending == model::RunEnding::Complete || !stated.is_empty() {
        let differences = audit_results(&stated, &results.analysis, STORED_TOLERANCE);
        let line =
            |one: &TableDifference| format!("{}: {}", one.check(), disclosure::table_difference_text(one));
        findings.extend(differences.iter().map(line));
    }
    let reasons = results.analysis.load_points.iter().flat_map(|point| &point.verdict.reasons);
    for reason in reasons.filter(|reason| reason.finding.is_contradiction()) {
        findings.push(format!("{}: {}", reason.rule(), disclosure::finding_text(&reason.finding)));
    }
    Ok(findings)
}

/// Compares the score and the words of a plan with those of its benchmark. Only the built-in benchmarks are known, in their
/// current versions: of other runs there is nothing to compare with.
fn catalog_differences(plan: &Plan) -> Vec<CatalogDifference> {
    let Ok(builtin) = benchmarks::find(&plan.benchmark.id) else { return Vec::new() };
    let definition = builtin.load().definition;
    if definition.version != plan.benchmark.version {
        return Vec::new();
    }
    audit_catalog(&plan.catalog, &definition.catalog(&plan.workload))
}

fn stated_rows(cells: &[(u32, String, f64)]) -> Vec<StatedRow> {
    let mut rows: BTreeMap<u32, BTreeMap<String, f64>> = BTreeMap::new();
    for (load_point, name, value) in cells {
        rows.entry(*load_point).or_default().insert(name.clone(), *value);
    }
    rows.into_iter().map(|(load_point, cells)| StatedRow { load_point, cells }).collect()
}
