//! Audits of stated result tables.

use analysis::Analysis;
use analysis::audit::{DifferenceKind, StatedRow, TableDifference, audit_results};
use model::{Load, LoadPoint, RunEnding};
use units::Ratio;

use crate::record::{RecordedRun, ms, plan, records, users};

/// Two load points with different numbers.
fn analysis() -> Analysis {
    let mut plan = plan(Load::Users(4), 1, 6);
    plan.load_points.push(LoadPoint { index: 1, load: Load::Users(8) });
    let mut all = records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(70), ms(0)));
    all.extend(records(&plan, 1, 0, &users(&plan, 8, |_, _| ms(110), ms(0))));
    RecordedRun { plan, records: all, ending: RunEnding::Complete }.analyze()
}

fn stated(analysis: &Analysis) -> Vec<StatedRow> {
    analysis.load_points.iter().map(StatedRow::of).collect()
}

fn audit(stated: &[StatedRow], analysis: &Analysis) -> Vec<TableDifference> {
    audit_results(stated, analysis, Ratio(1e-9))
}

fn checks(findings: &[TableDifference]) -> Vec<(&str, Option<usize>)> {
    findings.iter().map(|finding| (finding.check(), finding.row)).collect()
}

fn exchange(row: &mut StatedRow, one: &str, other: &str) {
    let a = row.cells[one];
    let b = row.cells[other];
    row.cells.insert(one.to_owned(), b);
    row.cells.insert(other.to_owned(), a);
}

#[test]
fn a_correct_table_has_no_findings() {
    let analysis = analysis();
    assert!(audit(&stated(&analysis), &analysis).is_empty());
}

/// Every cell of every row, changed by a thousandth.
#[test]
fn every_changed_cell_is_found() {
    let analysis = analysis();
    let right = stated(&analysis);
    for (index, row) in right.iter().enumerate() {
        for (name, value) in row.cells.iter().filter(|(_, value)| **value != 0.0) {
            let mut wrong = right.clone();
            wrong[index].cells.insert(name.clone(), value * 1.001);
            let findings = audit(&wrong, &analysis);
            assert_eq!(checks(&findings), [("changed cell", Some(index))], "{name}");
            let column = name.clone();
            let stated = value * 1.001;
            let recomputed = *value;
            assert_eq!(findings[0].kind, DifferenceKind::ChangedCell { column, stated, recomputed });
        }
    }
}

#[test]
fn swapped_columns_are_named_once() {
    let analysis = analysis();
    let mut wrong = stated(&analysis);
    wrong.iter_mut().for_each(|row| exchange(row, "rate_per_s", "load_factor"));
    let findings = audit(&wrong, &analysis);
    assert_eq!(checks(&findings), [("exchanged columns", None)]);
    let [one, other] = ["load_factor", "rate_per_s"].map(str::to_owned);
    assert_eq!(findings[0].kind, DifferenceKind::ExchangedColumns { one, other });
}

#[test]
fn cells_swapped_in_one_row_are_named() {
    let analysis = analysis();
    let mut wrong = stated(&analysis);
    exchange(&mut wrong[1], "response_mean_s", "throughput_mbit");
    assert_eq!(checks(&audit(&wrong, &analysis)), [("exchanged columns", Some(1))]);
}

#[test]
fn rows_and_cells_that_are_missing_or_invented_are_found() {
    let analysis = analysis();
    let mut wrong = stated(&analysis);
    wrong.pop();
    assert_eq!(checks(&audit(&wrong, &analysis)), [("missing row", None)]);
    wrong.push(StatedRow { load_point: 7, cells: wrong[0].cells.clone() });
    assert_eq!(checks(&audit(&wrong, &analysis)), [("extra row", Some(1)), ("missing row", None)]);
    let mut wrong = stated(&analysis);
    wrong[0].cells.remove("rate_per_s");
    wrong[1].cells.insert("offered_per_s".to_owned(), 5.0);
    assert_eq!(checks(&audit(&wrong, &analysis)), [("missing cell", Some(0)), ("extra cell", Some(1))]);
}
