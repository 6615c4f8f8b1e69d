//! Details against the intervals that they cover: sums of histograms, counts of failures.

use std::collections::BTreeMap;

use model::{DetailRecord, IntervalRecord, Outcome};
use rusqlite::{Row, params};
use stats::{Histogram, HistogramOverflow, Moments};

use super::{VerifyFinding, unreadable};
use crate::rows::{DetailRow, IntervalRow};
use crate::{Run, RunFileError};

/// The totals of the intervals that one batch of detail covers.
#[derive(Default)]
struct Covered {
    n_intervals: u64,
    ends: Option<(u64, u64)>,
    same_phase: bool,
    response: Histogram,
    kinds: Vec<Moments>,
    /// The measures that have a spread.
    spreads: Vec<Moments>,
    failed: BTreeMap<(u16, Outcome), u64>,
}

/// Compares every detail with its intervals, and checks that each interval has one detail.
pub(super) fn verify(run: &Run, findings: &mut Vec<VerifyFinding>) {
    if let Err(why) = verify_all(run, findings) {
        findings.push(unreadable(why));
    }
}

fn verify_all(run: &Run, findings: &mut Vec<VerifyFinding>) -> Result<(), RunFileError> {
    let failed = |why| run.damaged("detail", why);
    let sql = format!("{} ORDER BY id", DetailRow::SELECT);
    let mut statement = run.database.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut covered = BTreeMap::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let row = DetailRow::of(row).map_err(failed)?;
        let n = u64::from(row.last_interval).saturating_sub(u64::from(row.first_interval)) + 1;
        *covered.entry((row.key.load_point, row.key.agent)).or_insert(0) += n;
        let what = match differences(run, &row) {
            Ok(what) => what,
            Err(why) => {
                findings.push(unreadable(why));
                continue;
            }
        };
        let load_point = row.key.load_point;
        let agent = row.key.agent;
        let first_interval = row.first_interval;
        findings.extend(what.into_iter().map(|what| VerifyFinding::DetailDiffers {
            load_point,
            agent,
            first_interval,
            what,
        }));
    }
    verify_coverage(run, covered, findings)
}

fn verify_coverage(
    run: &Run,
    mut covered: BTreeMap<(u32, u32), u64>,
    findings: &mut Vec<VerifyFinding>,
) -> Result<(), RunFileError> {
    let sql = "SELECT load_point, agent, count(*) FROM interval GROUP BY load_point, agent";
    let read = |row: &Row| <(u32, u32, u32)>::try_from(row);
    let intervals =
        crate::rows::all(&run.database, sql, [], read).map_err(|why| run.damaged("interval", why))?;
    let mut compare = |(load_point, agent), intervals, detailed| {
        if intervals != detailed {
            findings.push(VerifyFinding::DetailCoverage { load_point, agent, intervals, detailed });
        }
    };
    for (load_point, agent, n) in intervals {
        let key = (load_point, agent);
        compare(key, u64::from(n), covered.remove(&key).unwrap_or(0));
    }
    covered.into_iter().for_each(|(key, detailed)| compare(key, 0, detailed));
    Ok(())
}

/// Returns the parts in which a detail differs from its intervals.
fn differences(run: &Run, row: &DetailRow) -> Result<Vec<&'static str>, RunFileError> {
    let DetailRecord { start, end, detail, .. } = run.detail_of(row)?;
    let covered = covered_by(run, row)?;
    let mut response = Histogram::new();
    let overflow = |why: HistogramOverflow| run.damaged("detail", why);
    detail.response.iter().try_for_each(|histogram| response.merge(histogram)).map_err(overflow)?;
    let failed: BTreeMap<_, _> = detail.failed.iter().map(|(key, histogram)| (*key, histogram.n())).collect();
    let checks = [
        (covered.ends == Some((start.0, end.0)) && covered.same_phase, "times or phase"),
        (response == covered.response, "response times"),
        (all_match(&detail.response, &covered.kinds), "response times per kind"),
        (failed == covered.failed, "failures"),
        (all_match(&detail.spreads, &covered.spreads), "spreads of measures"),
    ];
    Ok(checks.into_iter().filter(|(same, _)| !same).map(|(_, what)| what).collect())
}

/// Each histogram must have the count, sum and extremes that the intervals' moments have.
fn all_match(histograms: &[Histogram], moments: &[Moments]) -> bool {
    let extremes = |h: &Histogram| (h.min().unwrap_or_default().0, h.max().unwrap_or_default().0);
    histograms.len() == moments.len()
        && histograms.iter().zip(moments).all(|(histogram, moments)| {
            (histogram.n(), histogram.sum(), extremes(histogram))
                == (moments.n, moments.sum, (moments.min, moments.max))
        })
}

fn covered_by(run: &Run, row: &DetailRow) -> Result<Covered, RunFileError> {
    let sql = format!(
        "{} WHERE load_point = ? AND agent = ? AND interval_index BETWEEN ? AND ? ORDER BY interval_index",
        IntervalRow::SELECT
    );
    let failed = |why| run.damaged("interval", why);
    let mut statement = run.database.prepare(&sql).map_err(failed)?;
    let range = params![row.key.load_point, row.key.agent, row.first_interval, row.last_interval];
    let mut rows = statement.query(range).map_err(failed)?;
    let spread_measures: Vec<usize> = run.plan().catalog.spread_measures().collect();
    let spreads = vec![Moments::default(); spread_measures.len()];
    let mut covered = Covered { same_phase: true, spreads, ..Covered::default() };
    while let Some(interval) = rows.next().map_err(failed)? {
        let interval = run.interval_of(&IntervalRow::of(interval).map_err(failed)?)?;
        covered.same_phase &= interval.phase == row.key.phase;
        covered.add(&interval, &spread_measures).map_err(|why| run.damaged("interval", why))?;
    }
    Ok(covered)
}

impl Covered {
    fn add(&mut self, interval: &IntervalRecord, spread_measures: &[usize]) -> Result<(), HistogramOverflow> {
        self.n_intervals += 1;
        let start = self.ends.map_or(interval.start.0, |(start, _)| start);
        self.ends = Some((start, interval.end.0));
        if self.kinds.len() < interval.kinds.len() {
            self.kinds.resize(interval.kinds.len(), Moments::default());
        }
        for (index, kind) in interval.kinds.iter().enumerate() {
            self.kinds[index].merge(&kind.response);
            for (spread, measure) in self.spreads.iter_mut().zip(spread_measures) {
                spread.merge(&kind.measure(*measure));
            }
            for (outcome, failed) in &kind.failed {
                let n = self.failed.entry((index as u16, *outcome)).or_default();
                *n = n.saturating_add(*failed);
            }
        }
        self.response.merge(&interval.response)
    }
}
