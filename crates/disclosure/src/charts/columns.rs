//! Aggregation of many seconds into few columns.

/// Aggregated values of several seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldedColumn {
    /// Middle of the column on the x axis.
    pub at: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

/// Aggregates the (position, value) pairs of each span into columns, at most `limit` over all spans (or one per span, if
/// there are more spans).
///
/// No column has values of two spans. Returns the columns of each span. Seconds without a value are ignored, columns
/// without values are omitted.
pub fn fold(spans: &[Vec<(f64, Option<f64>)>], limit: usize) -> Vec<Vec<FoldedColumn>> {
    let width = width_for(spans.iter().map(Vec::len), limit);
    spans.iter().map(|span| span.chunks(width).filter_map(column).collect()).collect()
}

/// Returns the smallest number of seconds per column for which there are at most `limit` columns.
pub(crate) fn width_for(lengths: impl Iterator<Item = usize> + Clone, limit: usize) -> usize {
    let columns = |width: usize| lengths.clone().map(|length| length.div_ceil(width)).sum::<usize>();
    let longest = lengths.clone().max().unwrap_or(1).max(1);
    (1..=longest).find(|width| columns(*width) <= limit).unwrap_or(longest)
}

fn column(seconds: &[(f64, Option<f64>)]) -> Option<FoldedColumn> {
    let values = || seconds.iter().filter_map(|(_, value)| *value).filter(|value| value.is_finite());
    let n = values().count();
    (0 < n).then(|| FoldedColumn {
        at: (seconds[0].0 + seconds[seconds.len() - 1].0) / 2.0,
        mean: values().sum::<f64>() / n as f64,
        min: values().fold(f64::INFINITY, f64::min),
        max: values().fold(f64::NEG_INFINITY, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(n: usize) -> Vec<(f64, Option<f64>)> {
        (0..n).map(|k| (k as f64, Some(k as f64))).collect()
    }

    #[test]
    fn a_column_keeps_extremes_and_mean() {
        let columns = fold(&[span(4)], 2);
        let first = FoldedColumn { at: 0.5, mean: 0.5, min: 0.0, max: 1.0 };
        let second = FoldedColumn { at: 2.5, mean: 2.5, min: 2.0, max: 3.0 };
        assert_eq!(columns, [[first, second]]);
    }

    #[test]
    fn twelve_thousand_seconds_become_six_hundred_columns_at_most() {
        let spans: Vec<_> = (0..20).map(|_| span(600)).collect();
        let n: usize = fold(&spans, 600).iter().map(Vec::len).sum();
        assert_eq!(n, 600);
        let uneven = [span(7), span(601), span(0), span(1)];
        assert!(fold(&uneven, 100).iter().map(Vec::len).sum::<usize>() <= 100);
    }

    #[test]
    fn seconds_without_a_value_are_ignored() {
        let columns = fold(&[vec![(0.0, None), (1.0, Some(3.0)), (2.0, None), (3.0, Some(f64::NAN))]], 2);
        assert_eq!(columns, [[FoldedColumn { at: 0.5, mean: 3.0, min: 3.0, max: 3.0 }]]);
    }
}
