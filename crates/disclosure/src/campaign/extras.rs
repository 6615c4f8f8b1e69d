//! Sections that a comparison takes from complete reports.

use analysis::compare::Comparison;

use super::group::BenchmarkGroup;
use super::{CampaignRun, bars, curves, scatter, side_by_side, test_disclosure};
use crate::sections::production;
use crate::{Block, Section};

/// Returns additional sections for the document of a comparison: bars, percentile curves, price against performance if
/// there are price lists, identical configuration, test disclosure, and limits of the benchmark. `runs` are those of the
/// comparison, in the same order.
pub fn comparison_sections(runs: &[CampaignRun], comparison: &Comparison) -> Vec<Section> {
    let Some(first) = runs.first() else { return Vec::new() };
    let group = BenchmarkGroup { runs: runs.to_vec(), comparison: Some(comparison.clone()) };
    let entries = group.entries();
    let terms = group.terms();
    let figures =
        [bars::figure(&entries, terms), scatter::figure(&entries, terms), curves::figure(&entries, terms)];
    let pictures: Vec<Block> =
        figures.into_iter().flatten().map(|figure| Block::Figure(Box::new(figure))).collect();
    let charts = Section { id: "beside", title: "Server comparison".into(), blocks: pictures };
    let disclosure = Section {
        id: "disclosure",
        title: "Test disclosure".into(),
        blocks: vec![Block::Facts(test_disclosure::facts(&first.report))],
    };
    let sections = [
        Some(charts).filter(|section| !section.blocks.is_empty()),
        side_by_side::section_of_same(runs),
        Some(disclosure),
        production::section(&first.report),
    ];
    sections.into_iter().flatten().collect()
}
