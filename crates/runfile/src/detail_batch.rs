//! Batches of the detail of several intervals.

use model::KindHistograms;
use units::Nanos;

use crate::codec::encode_detail;
use crate::rows::{DetailRow, RecordKey};

/// The longest batch of detail.
pub(crate) const BATCH_LENGTH_MAX: Nanos = Nanos::from_secs(10);

/// A batch of the detail of consecutive intervals of one load point, agent and phase, with the rows that hold it so
/// far.
pub(crate) struct DetailBatch {
    key: RecordKey,
    detail: KindHistograms,
    first_interval: u32,
    last_interval: u32,
    /// Ids of the rows, one per interval, in order; not empty.
    pub(crate) rows: Vec<i64>,
}

impl DetailBatch {
    /// Begins with the detail of an interval, which is in a row of its own.
    pub(crate) fn new(key: RecordKey, detail: KindHistograms, interval: u32, row: i64) -> DetailBatch {
        DetailBatch { key, detail, first_interval: interval, last_interval: interval, rows: vec![row] }
    }

    /// Returns whether the interval continues the batch and leaves it short enough.
    fn accepts(&self, key: &RecordKey, interval: u32) -> bool {
        let own = &self.key;
        (own.load_point, own.agent, own.phase) == (key.load_point, key.agent, key.phase)
            && self.last_interval.checked_add(1) == Some(interval)
            && key.end.saturating_sub(own.start) <= BATCH_LENGTH_MAX
    }

    /// Adds an interval's detail, which is in a row of its own. Returns `false` if it belongs to another batch: it does not
    /// continue this one, which would be too long with it, or hold more values than can be counted.
    pub(crate) fn add(&mut self, key: &RecordKey, detail: &KindHistograms, interval: u32, row: i64) -> bool {
        if !self.accepts(key, interval) || self.detail.merge(detail).is_err() {
            return false;
        }
        self.key.end = key.end;
        self.last_interval = interval;
        self.rows.push(row);
        true
    }

    /// Makes the row of the whole batch.
    pub(crate) fn row(&self) -> DetailRow {
        let DetailBatch { key, first_interval, last_interval, .. } = *self;
        DetailRow { key, first_interval, last_interval, record: encode_detail(&self.detail) }
    }
}
