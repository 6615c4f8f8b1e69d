//! Configuration and tuning as found: what is known with where it comes from, then what is not disclosed.

use model::{Fact, FactSection, FactState, agent_of_title};

use super::back_ends::with_back_ends;
use crate::{Block, Cell, Column, Report, Row, Section, Table, Text};

pub(super) fn section(report: &Report) -> Option<Section> {
    let mut sections = with_back_ends(report);
    // They have a section of their own.
    sections.retain(|section| agent_of_title(&section.title).is_none());
    let sections = &sections;
    let blocks = if sections.is_empty() {
        vec![Block::Paragraph("No settings of the testbed were recorded.".into())]
    } else {
        blocks(sections)
    };
    Some(Section { id: "configuration", title: "Configuration and tuning as found".into(), blocks })
}

/// From so many facts on a section about the machine is folded.
const FOLDED_MIN: usize = 2;

/// Files with more lines than this are folded.
const LINES_MAX: usize = 12;

fn blocks(sections: &[FactSection]) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(counts(sections).map(Block::Paragraph));
    blocks.extend(sections.iter().flat_map(section_blocks));
    blocks.extend(not_disclosed(sections));
    blocks
}

/// Says how much is known; `None` of older run files, which do not say where facts come from.
fn counts(sections: &[FactSection]) -> Option<Text> {
    let facts: Vec<&Fact> = sections.iter().flat_map(|section| &section.facts).collect();
    if facts.iter().all(|fact| fact.source.is_empty()) {
        return None;
    }
    let of = |state: FactState| facts.iter().filter(|fact| fact.state == state).count();
    let told = of(FactState::Told);
    let missing = of(FactState::NotDisclosed);
    let redacted = of(FactState::Redacted);
    let mut text = format!("{} settings were recorded", facts.len() - told - missing);
    if 0 < redacted {
        text += &format!("; {redacted} were redacted because they identify a person, machine or network");
    }
    if 0 < told {
        text += &format!(". The operator added {told} more");
    }
    if 0 < missing {
        text += &format!(". {missing} are not disclosed; they are listed below with the reason");
    }
    Some((text + ".").into())
}

/// Facts of one line as a table or a list, those that nobody changed folded away, files as they are.
fn section_blocks(section: &FactSection) -> Vec<Block> {
    let known = section.facts.iter().filter(|fact| fact.state != FactState::NotDisclosed);
    let (long, short): (Vec<&Fact>, Vec<&Fact>) = known.partition(|fact| fact.is_text());
    let (usual, short): (Vec<&Fact>, Vec<&Fact>) =
        short.into_iter().partition(|fact| fact.state == FactState::Usual);
    let has_sources = short.iter().chain(&usual).any(|fact| !fact.source.is_empty());
    let mut blocks = Vec::new();
    let mut inventory = None;
    if has_sources && !short.is_empty() {
        let table = table(section.title.clone(), &short);
        let n = table.rows.len();
        let table = Block::Table(table);
        if section.title.starts_with("Server") || n < FOLDED_MIN {
            blocks.push(table)
        } else {
            // Of the machine there is much, and it is seldom read from top to bottom.

            let title = format!("{}: {n} settings", section.title);
            inventory = Some(Block::bulky_fold(title, vec![table]));
        }
    } else if !(long.is_empty() && short.is_empty() && usual.is_empty()) {
        blocks.push(Block::Heading(section.title.clone()));
        if !short.is_empty() {
            let facts = short.iter().map(|fact| (fact.name.clone(), Text::from(fact.value.trim_end())));
            blocks.push(Block::Facts(facts.collect()));
        }
    }
    blocks.extend(inventory);
    if !usual.is_empty() {
        let title = format!("{}: {} more at their defaults", section.title, usual.len());
        let table = Block::Table(table(section.title.clone(), &usual));
        blocks.push(Block::bulky_fold(title, vec![table]));
    }
    blocks.extend(long.into_iter().map(listing));
    blocks
}

/// Returns the text of a file as it stands there, folded if it is long.
fn listing(fact: &Fact) -> Block {
    let code = Block::Code { caption: fact.name.clone(), text: fact.value.clone() };
    match fact.value.lines().count() {
        n if LINES_MAX < n => Block::bulky_fold(format!("{}: {n} lines", fact.name), vec![code]),
        _ => code,
    }
}

/// Lays facts out with their sources. A value from the operator stands beside the one that was found.
fn table(caption: String, facts: &[&Fact]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    let mut last: Option<&Fact> = None;
    for fact in facts {
        let value = fact.value.trim_end();
        let is_told = fact.state == FactState::Told;
        match (rows.last_mut(), last) {
            (Some(row), Some(found)) if is_told && found.name == fact.name => {
                row.cells[1].detail = format!("the operator says: {value}");
            }
            _ => {
                let detail = if is_told { "from the operator" } else { "" };
                let cell = Cell::with(value.to_owned(), detail.to_owned());
                rows.push(Row::plain([
                    Cell::from(fact.name.as_str()),
                    cell,
                    Cell::with(String::new(), fact.source.clone()),
                ]));
            }
        }
        last = Some(fact);
    }
    let columns = vec![Column::words("Field"), Column::words("Found"), Column::words("Source")];
    Table::new(caption, columns, rows)
}

/// Lists what is not disclosed, by section and reason, folded away.
fn not_disclosed(sections: &[FactSection]) -> Option<Block> {
    let groups: Vec<_> = sections
        .iter()
        .flat_map(|section| section.missing().into_iter().map(|(why, names)| (&section.title, why, names)))
        .collect();
    let n: usize = groups.iter().map(|(_, _, names)| names.len()).sum();
    let rows = groups.iter().map(|(title, why, names)| Row::plain([title.as_str(), &names.join(", "), why]));
    let columns = vec![Column::words("Section"), Column::words("Fields"), Column::words("Why")];
    let table = Table::new("Not disclosed", columns, rows.collect());
    let title = format!("Not disclosed: {n} fields");
    (0 < n).then(|| Block::bulky_fold(title, vec![Block::Table(table)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, value: &str, state: FactState) -> Fact {
        Fact { state, ..Fact::found(name, value).from("/sys/x") }
    }

    fn machine() -> FactSection {
        let facts = vec![
            fact("vendor", "QEMU", FactState::Found),
            fact("vendor", "Dell Inc.", FactState::Told),
            fact("serial number", "[serial number]", FactState::Redacted),
            fact("rack", "B7", FactState::Told),
            fact("asset tag", "permission denied", FactState::NotDisclosed),
            fact("board", "permission denied", FactState::NotDisclosed),
            fact("chassis", "no such file", FactState::NotDisclosed),
            fact("net.core.somaxconn", "4096", FactState::Usual),
            fact("nginx.conf", "a;\nb;\n", FactState::Found),
        ];
        FactSection { title: "Machine".into(), facts }
    }

    fn cells(block: &Block) -> Vec<Vec<String>> {
        let Block::Table(table) = block else { panic!("{block:?}") };
        table.rows.iter().map(|row| row.cells.iter().map(Cell::one_line).collect()).collect()
    }

    #[test]
    fn what_is_known_stands_with_its_source_and_what_the_operator_says() {
        let blocks = blocks(&[machine()]);
        let expected = [
            ["vendor", "QEMU (the operator says: Dell Inc.)", "/sys/x"],
            ["serial number", "[serial number]", "/sys/x"],
            ["rack", "B7 (from the operator)", "/sys/x"],
        ];
        let Block::Fold { title, blocks: folded, bulky: true } = &blocks[1] else {
            panic!("{:?}", blocks[1])
        };
        assert_eq!(
            (title.as_str(), cells(&folded[0])),
            ("Machine: 3 settings", expected.map(|row| row.map(str::to_owned).to_vec()).to_vec())
        );
        let Block::Fold { title, blocks: folded, bulky: true } = &blocks[2] else {
            panic!("{:?}", blocks[2])
        };
        assert!(title.starts_with("Machine: 1 more"), "{title}");
        assert_eq!(cells(&folded[0]), [["net.core.somaxconn", "4096", "/sys/x"]]);
        assert_eq!(blocks[3], Block::Code { caption: "nginx.conf".into(), text: "a;\nb;\n".into() });
    }

    #[test]
    fn what_is_not_disclosed_is_listed_last_by_reason() {
        let blocks = blocks(&[machine()]);
        let Block::Fold { title, blocks: folded, bulky: true } = &blocks[4] else {
            panic!("{:?}", blocks[4])
        };
        assert_eq!(title, "Not disclosed: 3 fields");
        let expected =
            [["Machine", "asset tag, board", "permission denied"], ["Machine", "chassis", "no such file"]];
        assert_eq!(cells(&folded[0]), expected);
        assert_eq!(blocks.len(), 5);
        let counts = "4 settings were recorded; 1 were redacted because they identify a person, machine or \
                      network. The operator added 2 more. 3 are not disclosed; they are listed below with the reason.";
        assert_eq!(blocks[0], Block::Paragraph(counts.into()));
    }

    #[test]
    fn facts_of_older_runs_are_a_list_without_sources() {
        let old = FactSection::new("Network", [("path", "loopback".to_owned())]);
        let expected =
            [Block::Heading("Network".into()), Block::Facts(vec![("path".into(), Text::from("loopback"))])];
        assert_eq!(blocks(&[old]), expected);
        let nothing = FactSection {
            title: "Price".into(),
            facts: vec![fact("price list", "only an operator can say it", FactState::NotDisclosed)],
        };
        assert_eq!(blocks(&[nothing]).len(), 2, "how much, and the list of what is missing");
    }
}
