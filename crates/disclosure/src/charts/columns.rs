//! Folding many seconds into few columns.

/// Values of several seconds: their mean, least and greatest, and where they lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Middle of the column.
    pub at: f64,
    /// Mean of the values that are there.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

/// Folds groups of (place, value) of one stretch each, so that there are at most `limit` columns over all
/// stretches (or one per stretch, if there are more of those).
///
/// No column has values of two stretches. Returns the columns per stretch; seconds without a value
/// do not count, columns without any are missing.
pub fn fold(stretches: &[Vec<(f64, Option<f64>)>], limit: usize) -> Vec<Vec<Column>> {
    let width = width_for(stretches.iter().map(Vec::len), limit);
    stretches.iter().map(|stretch| stretch.chunks(width).filter_map(column).collect()).collect()
}

/// Returns the smallest number of seconds per column with which all stretches fit.
pub(crate) fn width_for(lengths: impl Iterator<Item = usize> + Clone, limit: usize) -> usize {
    let columns = |width: usize| lengths.clone().map(|length| length.div_ceil(width)).sum::<usize>();
    let longest = lengths.clone().max().unwrap_or(1).max(1);
    (1..=longest).find(|width| columns(*width) <= limit).unwrap_or(longest)
}

fn column(seconds: &[(f64, Option<f64>)]) -> Option<Column> {
    let values = || seconds.iter().filter_map(|(_, value)| *value).filter(|value| value.is_finite());
    let n = values().count();
    (0 < n).then(|| Column {
        at: (seconds[0].0 + seconds[seconds.len() - 1].0) / 2.0,
        mean: values().sum::<f64>() / n as f64,
        min: values().fold(f64::INFINITY, f64::min),
        max: values().fold(f64::NEG_INFINITY, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(n: usize) -> Vec<(f64, Option<f64>)> {
        (0..n).map(|k| (k as f64, Some(k as f64))).collect()
    }

    #[test]
    fn a_column_keeps_extremes_and_mean() {
        let columns = fold(&[stretch(4)], 2);
        let first = Column { at: 0.5, mean: 0.5, min: 0.0, max: 1.0 };
        let second = Column { at: 2.5, mean: 2.5, min: 2.0, max: 3.0 };
        assert_eq!(columns, [[first, second]]);
    }

    #[test]
    fn twelve_thousand_seconds_become_six_hundred_columns_at_most() {
        let stretches: Vec<_> = (0..20).map(|_| stretch(600)).collect();
        let n: usize = fold(&stretches, 600).iter().map(Vec::len).sum();
        assert_eq!(n, 600);
        let uneven = [stretch(7), stretch(601), stretch(0), stretch(1)];
        assert!(fold(&uneven, 100).iter().map(Vec::len).sum::<usize>() <= 100);
    }

    #[test]
    fn seconds_without_a_value_leave_no_trace() {
        let columns = fold(&[vec![(0.0, None), (1.0, Some(3.0)), (2.0, None), (3.0, Some(f64::NAN))]], 2);
        assert_eq!(columns, [[Column { at: 0.5, mean: 3.0, min: 3.0, max: 3.0 }]]);
    }
}
