//! Configurations side by side: differences first, identical facts collapsed.

use analysis::compare::{READINGS, plain_value};
use model::{Fact, FactState};

use super::{CampaignRun, servers};
use crate::{Block, Cell, Column, Row, Section, Table, numbers};

/// Maximum number of values of one server that are listed; more are counted.
const VALUES_MAX: usize = 3;

/// One fact of all servers.
struct FactRow {
    section: String,
    name: String,
    /// Values of each server, in the order of the servers; empty if not known.
    values: Vec<Vec<String>>,
}

/// Returns the section; `None` if no facts were recorded.
pub(super) fn section(runs: &[CampaignRun]) -> Option<Section> {
    let servers = servers(runs);
    let rows = rows(runs, &servers);
    if rows.is_empty() {
        return None;
    }
    let (differing, same): (Vec<FactRow>, Vec<FactRow>) = rows.into_iter().partition(FactRow::differs);
    let mut blocks = Vec::new();
    match (servers.len(), differing.is_empty()) {
        (1, _) => {}
        (_, true) => blocks.push(Block::Paragraph("No recorded setting differs between the servers.".into())),
        (_, false) => blocks.push(Block::Table(table("Configuration differences", &servers, &differing))),
    }
    blocks.extend(folded(&servers, &same));
    Some(Section { id: "configurations", title: "Server configurations side by side".into(), blocks })
}

/// Returns the section of identical facts, for a document that lists the differences elsewhere.
pub(super) fn section_of_same(runs: &[CampaignRun]) -> Option<Section> {
    let servers = servers(runs);
    let same: Vec<FactRow> = rows(runs, &servers).into_iter().filter(|row| !row.differs()).collect();
    let block = folded(&servers, &same)?;
    Some(Section { id: "configurations", title: "Identical configuration".into(), blocks: vec![block] })
}

/// Returns the identical facts, collapsed; `None` if there are none.
fn folded(servers: &[&str], same: &[FactRow]) -> Option<Block> {
    let scope = if servers.len() == 1 { "" } else { " identical for all servers" };
    let title = format!("{} settings{scope}", same.len());
    // The values of all columns are identical, so one column is enough.
    let column = if servers.len() == 1 { servers } else { &["All servers"] };
    let table = table("Identical configuration", column, same);
    (!same.is_empty()).then(|| Block::bulky_fold(title, vec![Block::Table(table)]))
}

/// Returns all facts with values of one line, section by section, in the order of the runs. Texts of files are only in
/// the reports of the runs.
fn rows(runs: &[CampaignRun], servers: &[&str]) -> Vec<FactRow> {
    let mut rows: Vec<FactRow> = Vec::new();
    for run in runs {
        let Some(column) = servers.iter().position(|server| *server == run.server) else { continue };
        for section in &run.report.testbed.sections {
            for fact in section.facts.iter().filter(|fact| is_shown(fact)) {
                let known = rows.iter().position(|row| row.section == section.title && row.name == fact.name);
                let index = known.unwrap_or(rows.len());
                if known.is_none() {
                    let section = section.title.clone();
                    let name = fact.name.clone();
                    rows.push(FactRow { section, name, values: vec![Vec::new(); servers.len()] });
                }
                let values = &mut rows[index].values[column];
                let value = plain_value(run.report.testbed, section, fact);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    }
    let sections: Vec<String> = rows.iter().map(|row| row.section.clone()).collect();
    rows.sort_by_key(|row| sections.iter().position(|section| *section == row.section));
    rows
}

fn is_shown(fact: &Fact) -> bool {
    !fact.is_text() && fact.state != FactState::NotDisclosed && !READINGS.contains(&fact.name.as_str())
}

impl FactRow {
    fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Creates a table with a column for each of `servers`, which are the first ones of the rows' values.
fn table(caption: &str, servers: &[&str], rows: &[FactRow]) -> Table {
    let mut columns = vec![Column::words("Section"), Column::words("Setting")];
    columns.extend(servers.iter().map(|server| Column::words(*server)));
    let mut section = "";
    let mut table_rows = Vec::new();
    for row in rows {
        let title = if row.section == section { "" } else { row.section.as_str() };
        section = &row.section;
        let mut cells: Vec<Cell> = vec![title.into(), row.name.as_str().into()];
        cells.extend(row.values.iter().take(servers.len()).map(|values| Cell::from(value_text(values))));
        table_rows.push(Row::plain(cells));
    }
    Table::new(caption, columns, table_rows)
}

fn value_text(values: &[String]) -> String {
    match values.len() {
        0 => numbers::ABSENT.to_owned(),
        n if VALUES_MAX < n => format!("{n} different values"),
        _ => values.join(" · "),
    }
}
