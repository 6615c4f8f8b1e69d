//! Configurations beside one another: what differs first, the rest folded.

use analysis::compare::{READINGS, plain_value};
use model::{Fact, FactState};

use super::{CampaignRun, servers};
use crate::{Block, Cell, Column, Row, Section, Table, numbers};

/// More values than this of one server, from as many runs, are counted instead of listed.
const VALUES_MAX: usize = 3;

/// One fact of all servers.
struct Line {
    section: String,
    name: String,
    /// In the order of the servers; empty where it is not known.
    values: Vec<Vec<String>>,
}

/// Returns the section; `None` if nothing was recorded about any machine.
pub(super) fn section(runs: &[CampaignRun]) -> Option<Section> {
    let servers = servers(runs);
    let lines = lines(runs, &servers);
    if lines.is_empty() {
        return None;
    }
    let (differing, alike): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(Line::differs);
    let mut blocks = Vec::new();
    match (servers.len(), differing.is_empty()) {
        (1, _) => {}
        (_, true) => {
            blocks.push(Block::Paragraph("Nothing that is known differs between the servers.".into()))
        }
        (_, false) => blocks.push(Block::Table(table("What differs", &servers, &differing))),
    }
    blocks.extend(folded(&servers, &alike));
    Some(Section { id: "configurations", title: "Server configurations side by side".into(), blocks })
}

/// Returns the section of a document that has said elsewhere what differs.
pub(super) fn section_of_same(runs: &[CampaignRun]) -> Option<Section> {
    let servers = servers(runs);
    let alike: Vec<Line> = lines(runs, &servers).into_iter().filter(|line| !line.differs()).collect();
    let block = folded(&servers, &alike)?;
    Some(Section {
        id: "configurations",
        title: "What is the same in the configuration".into(),
        blocks: vec![block],
    })
}

/// Returns what is the same, folded; `None` if nothing is.
fn folded(servers: &[&str], alike: &[Line]) -> Option<Block> {
    let same = if servers.len() == 1 { "" } else { " that are the same for all of them" };
    let title = format!("{} facts{same}", alike.len());
    // Values are the same in all columns, so one of them says it.
    let column = if servers.len() == 1 { servers } else { &["all of them"] };
    let table = table("What is the same", column, alike);
    (!alike.is_empty()).then(|| Block::Fold { title, blocks: vec![Block::Table(table)] })
}

/// Returns all facts of one line, section by section, in the order in which runs have them. Texts of files are left to
/// the reports of runs.
fn lines(runs: &[CampaignRun], servers: &[&str]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for run in runs {
        let Some(place) = servers.iter().position(|server| *server == run.server) else { continue };
        for section in &run.report.testbed.sections {
            for fact in section.facts.iter().filter(|fact| is_shown(fact)) {
                let known =
                    lines.iter().position(|line| line.section == section.title && line.name == fact.name);
                let index = known.unwrap_or(lines.len());
                if known.is_none() {
                    let (section, name) = (section.title.clone(), fact.name.clone());
                    lines.push(Line { section, name, values: vec![Vec::new(); servers.len()] });
                }
                let values = &mut lines[index].values[place];
                let value = plain_value(run.report.testbed, section, fact);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    }
    let sections: Vec<String> = lines.iter().map(|line| line.section.clone()).collect();
    lines.sort_by_key(|line| sections.iter().position(|section| *section == line.section));
    lines
}

fn is_shown(fact: &Fact) -> bool {
    !fact.is_text() && fact.state != FactState::NotDisclosed && !READINGS.contains(&fact.name.as_str())
}

impl Line {
    fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Makes a table with a column for each of `servers`, which are the first of those that lines have values of.
fn table(caption: &str, servers: &[&str], lines: &[Line]) -> Table {
    let mut columns = vec![Column::words("Where"), Column::words("What")];
    columns.extend(servers.iter().map(|server| Column::words(*server)));
    let mut section = "";
    let mut rows = Vec::new();
    for line in lines {
        let title = if line.section == section { "" } else { line.section.as_str() };
        section = &line.section;
        let mut cells: Vec<Cell> = vec![title.into(), line.name.as_str().into()];
        cells.extend(line.values.iter().take(servers.len()).map(|values| Cell::from(value_text(values))));
        rows.push(Row::plain(cells));
    }
    Table::new(caption, columns, rows)
}

fn value_text(values: &[String]) -> String {
    match values.len() {
        0 => numbers::ABSENT.to_owned(),
        n if VALUES_MAX < n => format!("{n} values in as many runs"),
        _ => values.join(" · "),
    }
}
