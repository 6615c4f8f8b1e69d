//! Warnings: what a reader must know although it breaks no rule.

use super::reason_entry;
use crate::{Block, Report, Section, Text};

pub(super) fn section(report: &Report) -> Option<Section> {
    let analysis = report.analysis;
    let of_points = analysis.load_points.iter().flat_map(|point| &point.verdict.remarks);
    let mut texts: Vec<Text> = Vec::new();
    for remark in analysis.verdict.remarks.iter().chain(of_points) {
        let text = reason_entry(report, remark);
        // A run's verdict may repeat what its load points say.
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let title = format!("Warnings and remarks ({})", texts.len());
    let block = match texts.is_empty() {
        true => Block::Paragraph("There are no remarks.".into()),
        false => Block::List(texts),
    };
    let mut blocks = vec![block];
    blocks.extend(reasons(report));
    Some(Section { id: "remarks", title, blocks })
}

/// Returns the reasons of all load points that are not valid; the banner has only those of the run as a whole.
fn reasons(report: &Report) -> Option<Block> {
    let of_points = report.analysis.load_points.iter().flat_map(|point| &point.verdict.reasons);
    let texts: Vec<Text> = of_points.map(|reason| reason_entry(report, reason)).collect();
    let title = format!("Reasons why load points are not valid ({})", texts.len());
    (!texts.is_empty()).then(|| Block::fold(title, vec![Block::List(texts)]))
}
