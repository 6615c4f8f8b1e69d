//! The chapter of one benchmark: results, analysis, how it was run, what it does not account for.

use analysis::attribute::sentence;

use super::group::{Entry, Group};
use super::{bars, curves, scatter, test_disclosure};
use crate::comparison::paragraphs;
use crate::sections::{method, narrative, production};
use crate::{Block, Figure, Section, Text, comparison_document, results_table};

pub(super) fn section(group: &Group) -> Section {
    let entries = group.entries();
    let mut blocks = vec![Block::Heading("Results".into())];
    blocks.extend(results(group, &entries));
    blocks.push(Block::Heading("Measurement analysis".into()));
    blocks.extend(entries.iter().flat_map(|entry| analysis(entry, 1 < entries.len())));
    blocks.push(Block::Heading("Methodology".into()));
    blocks.extend(method::load_blocks(&group.runs[0].report));
    blocks.push(Block::Heading("Test disclosure".into()));
    blocks.push(Block::Facts(test_disclosure::facts(&group.runs[0].report)));
    blocks.push(Block::Heading("Benchmark and production".into()));
    blocks.push(Block::List(production::notes(&group.runs[0].report)));
    Section { id: "benchmark", title: group.title().to_owned(), blocks }
}

/// Sentences, pictures and tables: of several servers beside one another, of one its results.
fn results(group: &Group, entries: &[Entry]) -> Vec<Block> {
    let words = group.words();
    let mut blocks = Vec::new();
    if let Some(comparison) = group.comparison.as_ref().filter(|_| 1 < entries.len()) {
        blocks.extend(paragraphs(comparison));
        let figures: [Option<Figure>; 3] =
            [bars::figure(entries, words), scatter::figure(entries, words), curves::figure(entries, words)];
        blocks.extend(figures.into_iter().flatten().map(|figure| Block::Figure(Box::new(figure))));
        let compared = comparison_document(comparison, &[]).sections;
        let taken = ["levels", "scaling", "differences"];
        let sections = compared.into_iter().filter(|section| taken.contains(&section.id));
        blocks.extend(sections.flat_map(|section| section.blocks));
    }
    let alone = entries.len() == 1;
    blocks.extend(entries.iter().map(|entry| {
        let table = Block::Table(results_table(entry.run.report.analysis));
        match alone {
            true => table,
            false => {
                Block::Fold { title: format!("All load points of {}", entry.run.name), blocks: vec![table] }
            }
        }
    }));
    blocks
}

/// Says what held a server back, and range by range what happened; folded where there are several servers.
fn analysis(entry: &Entry, fold: bool) -> Vec<Block> {
    let analysis = entry.run.report.analysis;
    let user = analysis.benchmark.headline.user_name();
    let bound = sentence(&analysis.load_points, user)
        .map(|said| Text::from("Bottleneck of ").strong(entry.server).plain(format!(": {said}.")));
    let told = narrative::section(&entry.run.report).map_or(Vec::new(), |section| section.blocks);
    let mut blocks: Vec<Block> = bound.map(Block::Paragraph).into_iter().collect();
    match (fold, told.is_empty()) {
        (_, true) => {}
        (true, false) => {
            blocks.push(Block::Fold { title: format!("{}, range by range", entry.server), blocks: told })
        }
        (false, false) => blocks.extend(told),
    }
    blocks
}
