//! Warnings: what a reader must know although it breaks no rule.

use analysis::Reason;

use super::reason_entry;
use crate::{Block, Hints, Report, Section, Text};

pub(super) fn section(report: &Report) -> Option<Section> {
    let analysis = report.analysis;
    let of_points = analysis.load_points.iter().flat_map(|point| &point.verdict.remarks);
    let mut remarks: Vec<&Reason> = Vec::new();
    for remark in analysis.verdict.remarks.iter().chain(of_points) {
        // A run's verdict may repeat what its load points say.
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    let mut hints = Hints::new(analysis);
    let texts: Vec<Text> =
        remarks.into_iter().map(|remark| reason_entry(report, &mut hints, remark)).collect();
    let title = format!("Warnings and remarks ({})", texts.len());
    let block =
        if texts.is_empty() { Block::Paragraph("There are no remarks.".into()) } else { Block::List(texts) };
    let mut blocks = vec![block];
    blocks.extend(reasons(report));
    Some(Section { id: "remarks", title, blocks })
}

/// Returns the reasons of all load points that are not valid; the banner has only those of the run as a whole.
fn reasons(report: &Report) -> Option<Block> {
    let of_points = report.analysis.load_points.iter().flat_map(|point| &point.verdict.reasons);
    let mut hints = Hints::new(report.analysis);
    let texts: Vec<Text> = of_points.map(|reason| reason_entry(report, &mut hints, reason)).collect();
    let title = format!("Reasons why load points are not valid ({})", texts.len());
    (!texts.is_empty()).then(|| Block::fold(title, vec![Block::List(texts)]))
}
