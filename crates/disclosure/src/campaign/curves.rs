//! Percentile curves of servers, each at its highest valid rate.

use super::group::Entry;
use crate::Figure;
use crate::charts::Chart;
use crate::report::Words;
use crate::sections::percentile_curve::{Curve, chart, table};

/// Returns the figure; `None` if fewer than two servers have a valid rate, or there are too few values.
pub(super) fn figure(entries: &[Entry], words: Words) -> Option<Figure> {
    let curves: Vec<Curve> = entries.iter().filter_map(|entry| curve(entry, words)).collect();
    if curves.len() < 2 {
        return None;
    }
    let chart = Chart {
        id: "curves",
        title: "Response time against percentile, each server at its highest valid rate".into(),
        description: "The response time below which a share of all operations stays, a curve per server."
            .into(),
        ..chart(&curves)?
    };
    let caption = "Each server at its own load, as named: a server that handles more load may also respond more slowly. Each \
                   further nine has the same length. Bars: 95 % intervals, where known.";
    Some(Figure { chart, caption: caption.into(), table: table(&curves), bulky: false })
}

fn curve<'a>(entry: &Entry<'a>, words: Words) -> Option<Curve<'a>> {
    let best = entry.best?;
    let name = format!("{}, {}", entry.server, words.load_text(best.load));
    Some(Curve { name, times: &best.response, doubtful: false })
}
