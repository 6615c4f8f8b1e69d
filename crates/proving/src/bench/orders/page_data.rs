//! Loading and restoring: what is compared, and the tables.

use anyhow::Result;

use super::data::{DataTarget, KEPT, Refillable, TARGETS, amount, refill};
use super::{loading, restoring};
use crate::bench::figures::{Bar, Column, median_of_both, section};
use crate::bench::options::BenchOptions;
use crate::bench::rounds::MeasuredRounds;

/// A comparison of the rows that we generate and load with kept ones, on all targets.
pub(super) struct DataComparison {
    /// The name for `--case`.
    pub name: &'static str,
    /// The title of the section.
    section: &'static str,
    /// The work that was done, which stands after the amount of rows.
    text: &'static str,
    /// The heads of both times.
    heads: &'static str,
    /// The quotient of both times.
    ratio: fn(generated: f64, kept: f64) -> f64,
    bar: Bar,
    /// The titles of the targets, in their order.
    titles: [&'static str; 3],
    prepare: fn(DataTarget) -> Result<Box<dyn Refillable>>,
}

const SECONDS: Column<f64> = Column::new("s", 2, |seconds| *seconds);

impl DataComparison {
    /// Rows from files.
    pub(super) const LOADING: DataComparison = DataComparison {
        name: "loading",
        section: "Loading",
        text: ". Plimsoll's time includes the generating of the rows; the \
            files had been exported by the product before. Both begin without tables and end when keys, indexes and \
            statistics are there, by the same statements and the same number of connections: two on the servers, which \
            take a table each at a time and have both CPUs together with the load. The ratio is that of the rates, \
            from files ÷ Plimsoll in s, its median over the rounds. The tables that SQLite's shell fills are not strict, \
            because it writes an empty text for null.",
        heads: "Plimsoll, s | from files, s",
        ratio: |generated, kept| kept / generated,
        bar: Bar::AtLeast(0.7),
        titles: ["PostgreSQL, `COPY FROM` a file", "MariaDB, `LOAD DATA INFILE`", "SQLite, `.import`"],
        prepare: loading::prepare,
    };

    /// Rows from the golden copy.
    pub(super) const RESTORING: DataComparison = DataComparison {
        name: "restoring",
        section: "Restoring",
        text: ", in files on the disk of `/var/tmp`: loaded as above, and restored \
            from their golden copy as before a load point. A server is stopped before its data are restored, and started \
            again; that time is included. The file of SQLite is copied, written to the disk and read once. The ratio is \
            loading ÷ restoring in s, its median over the rounds.",
        heads: "loading, s | restoring, s",
        ratio: |generated, kept| generated / kept,
        bar: Bar::Above(1.0),
        titles: ["PostgreSQL", "MariaDB", "SQLite"],
        prepare: restoring::prepare,
    };
}

impl DataComparison {
    /// Brings rows into all targets; nothing where the case is not wanted.
    ///
    /// # Errors
    /// A target cannot be prepared, or a way fails.
    pub(super) fn measured(&self, options: &BenchOptions) -> Result<MeasuredRounds<f64>> {
        let mut measured = MeasuredRounds(Vec::new());
        if !options.wants(self.name) {
            return Ok(measured);
        }
        for (target, title) in TARGETS.into_iter().zip(self.titles) {
            println!("{}: {title}", self.name);
            measured.0.extend(refill(title, (self.prepare)(target)?, options.rounds)?.0);
        }
        Ok(measured)
    }

    /// Returns the table of medians; empty if nothing was measured.
    pub(super) fn table(&self, measured: &MeasuredRounds<f64>) -> Result<String> {
        let row = |title: &str| {
            let (generated, kept) = times(measured, title);
            let ratio = median_of_both(generated, kept, |generated, kept| (self.ratio)(*generated, *kept))?;
            let [ours, theirs] = [SECONDS.median(generated)?, SECONDS.median(kept)?];
            let bar = self.bar;
            Some(format!("| {title} | {ours} | {theirs} | {ratio:.2} | {bar} | {} |\n", bar.judge(ratio)))
        };
        let DataComparison { section: title, text, heads, titles, .. } = self;
        let (n_rows, bytes) = amount()?;
        let head = format!(
            "## {title}\n\nAbout {n_rows} rows, {} MB as TPC-C counts them{text}\n\n\
            | | {heads} | ratio | bar | |\n|---|---:|---:|---:|---:|---|\n",
            bytes / 1_000_000
        );
        Ok(section(titles.iter().copied().filter_map(row).collect(), &head))
    }

    /// Returns the table of all rounds; empty if nothing was measured.
    pub(super) fn rounds(&self, measured: &MeasuredRounds<f64>) -> String {
        let rows = |title| {
            let (generated, kept) = times(measured, title);
            let both = generated.iter().flatten().zip(kept.iter().flatten());
            let row = move |(n, (generated, kept)): (usize, (&f64, &f64))| {
                let [ours, theirs] = [generated, kept].map(|seconds| SECONDS.cell(seconds));
                format!("| {n} | {title} | {ours} | {theirs} | {:.2} |\n", (self.ratio)(*generated, *kept))
            };
            (1..).zip(both).map(row)
        };
        let DataComparison { section: title, heads, titles, .. } = self;
        let head = format!(
            "## {title}, round by round\n\n| round | | {heads} | ratio |\n|---:|---|---:|---:|---:|\n"
        );
        section(titles.iter().copied().flat_map(rows).collect(), &head)
    }
}

/// Returns the times of both ways on a target, by round.
fn times<'a>(measured: &'a MeasuredRounds<f64>, title: &str) -> (&'a [Option<f64>], &'a [Option<f64>]) {
    (measured.ours(title), measured.of(title, KEPT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rounds::OURS;

    /// Returns the tables of SQLite with the times of both ways.
    fn tables(comparison: &DataComparison, generated: [f64; 3], kept: [f64; 3]) -> String {
        let case = comparison.titles[2];
        let measured = MeasuredRounds::by_hand(&[(case, OURS, &generated), (case, KEPT, &kept)]);
        comparison.table(&measured).unwrap() + &comparison.rounds(&measured)
    }

    /// By hand: ratios 0.75, 0.5 and 1.0 have the median 0.75.
    #[test]
    fn loading_is_compared_by_rates() {
        let text = tables(&DataComparison::LOADING, [4.0; 3], [3.0, 2.0, 4.0]);
        assert!(text.contains("| SQLite, `.import` | 4.00 | 3.00 | 0.75 | ≥ 0.7 | met |"), "{text}");
        assert!(text.contains("| 2 | SQLite, `.import` | 4.00 | 2.00 | 0.50 |"), "{text}");
    }

    /// By hand: ratios 2, 0.5 and 0.8 have the median 0.8, which is slower than loading.
    #[test]
    fn restoring_is_compared_with_loading() {
        let text = tables(&DataComparison::RESTORING, [4.0; 3], [2.0, 8.0, 5.0]);
        assert!(text.contains("| SQLite | 4.00 | 5.00 | 0.80 | > 1 | **missed** |"), "{text}");
        assert!(text.contains("| 2 | SQLite | 4.00 | 8.00 | 0.50 |"), "{text}");
        let nothing = MeasuredRounds(Vec::new());
        assert_eq!(DataComparison::LOADING.table(&nothing).unwrap(), "");
        assert_eq!(DataComparison::RESTORING.rounds(&nothing), "");
    }
}
