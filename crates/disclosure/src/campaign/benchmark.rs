//! Chapter of one benchmark: results, analysis, methodology, test disclosure and limits of the benchmark.

use super::group::{BenchmarkGroup, Entry};
use super::{bars, curves, scatter, test_disclosure};
use crate::bottleneck::bottleneck_text;
use crate::comparison::paragraphs;
use crate::sections::{method, narrative, production};
use crate::{Block, Figure, Section, Text, comparison_document, results_table};

pub(super) fn section(group: &BenchmarkGroup) -> Section {
    let entries = group.entries();
    let mut blocks = vec![Block::Heading("Results".into())];
    blocks.extend(results(group, &entries));
    blocks.push(Block::Heading("Measurement analysis".into()));
    blocks.extend(entries.iter().flat_map(|entry| analysis(entry, 1 < entries.len())));
    blocks.push(Block::Heading("Methodology".into()));
    blocks.extend(method::load_blocks(&group.runs[0].report));
    blocks.push(Block::Heading("Test disclosure".into()));
    blocks.push(Block::Facts(test_disclosure::facts(&group.runs[0].report)));
    blocks.push(Block::Heading(production::title(&group.runs[0].report).into()));
    blocks.push(Block::List(production::notes(&group.runs[0].report)));
    Section { id: "benchmark", title: group.title().to_owned(), blocks }
}

/// Returns the results: the comparison of several servers, and the load points of each.
fn results(group: &BenchmarkGroup, entries: &[Entry]) -> Vec<Block> {
    let terms = group.terms();
    let mut blocks = Vec::new();
    if let Some(comparison) = group.comparison.as_ref().filter(|_| 1 < entries.len()) {
        blocks.extend(paragraphs(comparison));
        let figures: [Option<Figure>; 3] =
            [bars::figure(entries, terms), scatter::figure(entries, terms), curves::figure(entries, terms)];
        blocks.extend(figures.into_iter().flatten().map(|figure| Block::Figure(Box::new(figure))));
        let compared = comparison_document(comparison, &[], &[]).sections;
        let included = ["levels", "scaling", "differences"];
        let sections = compared.into_iter().filter(|section| included.contains(&section.id));
        blocks.extend(sections.flat_map(|section| section.blocks));
    }
    let alone = entries.len() == 1;
    blocks.extend(entries.iter().map(|entry| {
        let table = Block::Table(results_table(entry.run.report.analysis));
        if alone { table } else { Block::fold(format!("All load points of {}", entry.run.name), vec![table]) }
    }));
    blocks
}

/// Returns a server's bottleneck and the analysis by load range; collapsed if there are several servers.
fn analysis(entry: &Entry, fold: bool) -> Vec<Block> {
    let analysis = entry.run.report.analysis;
    let bound = bottleneck_text(&analysis.load_points, &analysis.words.user)
        .map(|text| Text::from("Bottleneck of ").strong(entry.server).plain(format!(": {text}.")));
    let narrative = narrative::section(&entry.run.report).map_or(Vec::new(), |section| section.blocks);
    let mut blocks: Vec<Block> = bound.map(Block::Paragraph).into_iter().collect();
    match (fold, narrative.is_empty()) {
        (_, true) => {}
        (true, false) => blocks.push(Block::fold(format!("{} by load range", entry.server), narrative)),
        (false, false) => blocks.extend(narrative),
    }
    blocks
}
