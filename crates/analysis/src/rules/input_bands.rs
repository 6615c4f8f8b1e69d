//! Bands of inputs: figures of what users entered are where the benchmark wants them, as far as chance lets it be told.

use model::{InputBand, InputCount};

use super::{Evidence, RuleFinding};
use crate::finding::{Finding, UnjudgedBand};
use crate::fold::KindSums;

/// Reports figures outside of their bands, and those of samples in which chance could lead out of them.
///
/// A figure is Σ part ÷ Σ whole over the successful operations of the steady phase. With deviation σ in a sample of one
/// and a band of the width 2h, it is judged from n = (3σ ÷ h)² on, so that three of its standard errors σ ÷ √n fit into
/// h.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let kinds = &evidence.fold.steady.kinds;
    let mut found = Vec::new();
    let mut unjudged = Vec::new();
    for band in &evidence.plan.catalog.bands {
        let n = count(&band.whole, kinds);
        let needed = band.sample_min();
        if n < u128::from(needed) {
            unjudged.push(UnjudgedBand {
                name: band.name.clone(),
                n: u64::try_from(n).unwrap_or(u64::MAX),
                needed,
            });
        } else {
            found.extend(judge(band, count(&band.part, kinds) as f64 / n as f64));
        }
    }
    if !unjudged.is_empty() {
        found.push(RuleFinding::remark(Finding::InputBandsNotJudged { bands: unjudged }));
    }
    found
}

fn judge(band: &InputBand, figure: f64) -> Option<RuleFinding> {
    let InputBand { name, least, most, decides, .. } = band;
    if (*least..=*most).contains(&figure) {
        return None;
    }
    let finding = Finding::InputBand { name: name.clone(), found: figure, least: *least, most: *most };
    Some(if *decides { RuleFinding::invalid(finding) } else { RuleFinding::remark(finding) })
}

fn count(count: &InputCount, kinds: &[KindSums]) -> u128 {
    match count {
        InputCount::Kinds(indexes) => {
            indexes.iter().filter_map(|index| kinds.get(*index)).map(|sums| u128::from(sums.response.n)).sum()
        }
        InputCount::Measure(measure) => {
            let sums = kinds.iter().filter_map(|sums| sums.measures.get(*measure));
            sums.fold(0, |sum, moments| sum.saturating_add(moments.sum))
        }
    }
}
