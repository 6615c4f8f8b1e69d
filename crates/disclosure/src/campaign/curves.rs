//! Percentile curves of servers, each at its highest valid rate.

use super::group::Entry;
use crate::Figure;
use crate::charts::Chart;
use crate::report::Terms;
use crate::sections::percentile_curve::{Curve, chart, table};

/// Returns the figure; `None` if fewer than two servers have a valid rate, or there are too few values.
pub(super) fn figure(entries: &[Entry], terms: Terms) -> Option<Figure> {
    let curves: Vec<Curve> = entries.iter().filter_map(|entry| curve(entry, terms)).collect();
    if curves.len() < 2 {
        return None;
    }
    let chart = Chart {
        id: "curves",
        title: "Response time by percentile, each server at its highest valid rate".into(),
        description: "Percentiles of the response time, one curve per server.".into(),
        ..chart(&curves)?
    };
    let caption = "Each server at its own load, given in the legend: a server that handles more load may also respond more \
                   slowly. The x axis is logarithmic in 1 − p. Bars: 95 % confidence intervals, where known.";
    Some(Figure { chart, caption: caption.into(), table: table(&curves), bulky: false })
}

fn curve(entry: &Entry, terms: Terms) -> Option<Curve> {
    let best = entry.best?;
    let name = format!("{}, {}", entry.server, terms.load_text(best.load));
    Some(Curve::of(name, &best.response, false))
}
