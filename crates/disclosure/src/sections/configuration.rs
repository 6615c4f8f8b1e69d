//! Configuration and tuning as found.

use model::FactSection;

use crate::{Block, Report, Section, Text};

pub fn section(report: &Report) -> Option<Section> {
    let sections = &report.testbed.sections;
    let blocks = match sections.is_empty() {
        true => vec![Block::Paragraph("Nothing was recorded about the testbed.".into())],
        false => sections.iter().flat_map(blocks).collect(),
    };
    Some(Section { id: "configuration", title: "Configuration and tuning as found".into(), blocks })
}

/// Facts of one line as a list of names and values, files as they are.
fn blocks(section: &FactSection) -> Vec<Block> {
    let is_file = |value: &str| value.trim_end().contains('\n');
    let short = section.facts.iter().filter(|fact| !is_file(&fact.value));
    let short: Vec<(String, Text)> =
        short.map(|fact| (fact.name.clone(), Text::from(fact.value.trim_end()))).collect();
    let long = section.facts.iter().filter(|fact| is_file(&fact.value));
    let long = long.map(|fact| Block::Code { caption: fact.name.clone(), text: fact.value.clone() });
    let mut blocks = vec![Block::Heading(section.title.clone())];
    if !short.is_empty() {
        blocks.push(Block::Facts(short));
    }
    blocks.extend(long);
    blocks
}
