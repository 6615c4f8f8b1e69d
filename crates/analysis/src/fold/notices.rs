//! The notices of a load point, from all of its phases: those of the steady phase may come later.

use std::collections::BTreeMap;

use model::{IntervalRecord, KindHistograms};
use stats::{Histogram, HistogramOverflow};

/// The sums of the notices of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct NoticeSums {
    pub(crate) begun: u64,
    /// Of these, those whose wait began in the steady phase.
    pub(crate) begun_in_steady: u64,
    /// Came.
    pub(crate) ended: u64,
    pub(crate) lost: u64,
    /// Awaited at the end of the last interval of each agent.
    awaited: BTreeMap<u32, u64>,
    /// The times of those whose wait began in the steady phase, in ns; from the details.
    pub(crate) histogram: Histogram,
}

impl NoticeSums {
    /// Returns those that neither came nor were lost when the load point ended.
    pub(crate) fn pending(&self) -> u64 {
        self.awaited.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

/// The sums of the notices of all kinds, in the order of the catalog.
#[derive(Debug, Default)]
pub(crate) struct Notices(pub(crate) Vec<NoticeSums>);

impl Notices {
    pub(crate) fn new(n_kinds: usize) -> Notices {
        Notices(vec![NoticeSums::default(); n_kinds])
    }

    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        for (sums, totals) in self.0.iter_mut().zip(&record.notices) {
            sums.begun = sums.begun.saturating_add(totals.begun);
            sums.begun_in_steady = sums.begun_in_steady.saturating_add(totals.begun_in_steady);
            sums.ended = sums.ended.saturating_add(totals.ended);
            sums.lost = sums.lost.saturating_add(totals.lost);
            sums.awaited.insert(record.agent, totals.awaited_at_end);
        }
    }

    pub(crate) fn detail(&mut self, detail: &KindHistograms) -> Result<(), HistogramOverflow> {
        let mut pairs = self.0.iter_mut().zip(&detail.notices);
        pairs.try_for_each(|(sums, times)| sums.histogram.merge(times))
    }
}
