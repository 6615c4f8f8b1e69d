//! The tables of restoring.

use super::loading::{LoadTarget, amount};
use super::page::{RoundsOf, section};
use super::restoring::RestoreTimes;
use crate::bench::figures::word;

/// Returns the table of medians.
pub(super) fn table(restored: &RoundsOf<RestoreTimes>) -> String {
    let row = |(target, times): &(LoadTarget, Vec<RestoreTimes>)| {
        let of =
            |value: fn(&RestoreTimes) -> f64| stats::median(&times.iter().map(value).collect::<Vec<_>>());
        let (loading, restoring) = (of(|one| one.loading)?, of(|one| one.restoring)?);
        let ratio = of(RestoreTimes::ratio)?;
        let (name, met) = (LoadTarget::name(*target), word(1.0 < ratio));
        Some(format!("| {name} | {loading:.2} | {restoring:.2} | {ratio:.2} | > 1 | {met} |\n"))
    };
    let Ok((n_rows, bytes)) = amount() else { return String::new() };
    section(
        restored.iter().filter_map(row).collect(),
        &format!(
            "## Restoring\n\n\
            About {n_rows} rows, {} MB as TPC-C counts them, in files on the disk of `/var/tmp`: loaded as above, and restored \
            from their golden copy as before a load point. A server is stopped before its data are restored, and started \
            again; that time is included. The file of SQLite is copied, written to the disk and read once. The ratio is \
            loading ÷ restoring in s, its median over the rounds.\n\n\
            | | loading, s | restoring, s | ratio | bar | |\n|---|---:|---:|---:|---:|---|\n",
            bytes / 1_000_000
        ),
    )
}

/// Returns the table of all rounds.
pub(super) fn rounds(restored: &RoundsOf<RestoreTimes>) -> String {
    let mut rows = String::new();
    for (target, times) in restored {
        for (n, times) in (1..).zip(times) {
            let RestoreTimes { loading, restoring } = times;
            let (name, ratio) = (target.name(), times.ratio());
            rows += &format!("| {n} | {name} | {loading:.2} | {restoring:.2} | {ratio:.2} |\n");
        }
    }
    section(
        rows,
        "## Restoring, round by round\n\n\
        | round | | loading, s | restoring, s | ratio |\n|---:|---|---:|---:|---:|\n",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ratios 2, 0.5 and 0.8 have the median 0.8, which is slower than loading.
    #[test]
    fn restoring_is_compared_with_loading() {
        let times = |loading, restoring| RestoreTimes { loading, restoring };
        let restored = vec![(LoadTarget::Sqlite, vec![times(4.0, 2.0), times(4.0, 8.0), times(4.0, 5.0)])];
        let text = table(&restored) + &rounds(&restored);
        assert!(text.contains("| SQLite | 4.00 | 5.00 | 0.80 | > 1 | **missed** |"), "{text}");
        assert!(text.contains("| 2 | SQLite | 4.00 | 8.00 | 0.50 |"), "{text}");
        assert_eq!(table(&Vec::new()) + &rounds(&Vec::new()), "");
    }
}
