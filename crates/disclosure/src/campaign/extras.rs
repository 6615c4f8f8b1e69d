//! What a comparison's document gains from whole reports.

use analysis::compare::Comparison;

use super::group::Group;
use super::{CampaignRun, bars, curves, scatter, side_by_side, test_disclosure};
use crate::sections::production;
use crate::{Block, Section};

/// Returns sections for the document of a comparison, to stand behind its own: bars, percentile curves, price against
/// performance where there are price lists, what is the same in the configurations, test disclosure, and what the benchmark
/// does not account for. `runs` are those of the comparison, in the same order.
pub fn comparison_sections(runs: &[CampaignRun], comparison: &Comparison) -> Vec<Section> {
    let Some(first) = runs.first() else { return Vec::new() };
    let group = Group { runs: runs.to_vec(), comparison: Some(comparison.clone()) };
    let (entries, words) = (group.entries(), group.words());
    let figures =
        [bars::figure(&entries, words), scatter::figure(&entries, words), curves::figure(&entries, words)];
    let pictures: Vec<Block> =
        figures.into_iter().flatten().map(|figure| Block::Figure(Box::new(figure))).collect();
    let beside = Section { id: "beside", title: "Servers beside one another".into(), blocks: pictures };
    let disclosure = Section {
        id: "disclosure",
        title: "Test disclosure".into(),
        blocks: vec![Block::Facts(test_disclosure::facts(&first.report))],
    };
    let sections = [
        Some(beside).filter(|section| !section.blocks.is_empty()),
        side_by_side::section_of_same(runs),
        Some(disclosure),
        production::section(&first.report),
    ];
    sections.into_iter().flatten().collect()
}
