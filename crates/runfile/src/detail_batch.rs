//! Batches of the detail of several intervals.

use model::DetailRecord;
use stats::Histogram;
use units::Nanos;

/// The longest batch of detail.
pub(crate) const BATCH_LENGTH_MAX: Nanos = Nanos::from_secs(10);

/// A batch of the detail of consecutive intervals of one load point, agent and phase, with the rows that hold it so
/// far.
pub(crate) struct DetailBatch {
    pub(crate) detail: DetailRecord,
    pub(crate) first_interval: u32,
    pub(crate) last_interval: u32,
    /// Ids of the rows, one per interval, in order; not empty.
    pub(crate) rows: Vec<i64>,
}

impl DetailBatch {
    /// Returns whether the interval's detail continues the batch and leaves it short enough.
    pub(crate) fn accepts(&self, detail: &DetailRecord, interval: u32) -> bool {
        let own = &self.detail;
        (own.load_point, own.agent, own.phase) == (detail.load_point, detail.agent, detail.phase)
            && self.last_interval.checked_add(1) == Some(interval)
            && detail.end.saturating_sub(own.start) <= BATCH_LENGTH_MAX
    }

    /// Adds the next interval's detail, which is in a row of its own.
    pub(crate) fn add(&mut self, detail: &DetailRecord, interval: u32, row: i64) {
        append(&mut self.detail, detail);
        self.last_interval = interval;
        self.rows.push(row);
    }
}

/// Adds the histograms of `other`, which follows `own` in time.
fn append(own: &mut DetailRecord, other: &DetailRecord) {
    own.end = other.end;
    merge(&mut own.connect, &other.connect);
    if own.response.len() < other.response.len() {
        own.response.resize(other.response.len(), Histogram::new());
    }
    for (own, other) in own.response.iter_mut().zip(&other.response) {
        merge(own, other);
    }
    for (key, histogram) in &other.failed {
        merge(own.failed.entry(*key).or_default(), histogram);
    }
}

/// Adds a histogram of operations that this process performed.
fn merge(own: &mut Histogram, other: &Histogram) {
    own.merge(other).expect("the operations of a batch of seconds can be counted");
}
