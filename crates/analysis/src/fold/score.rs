//! The sums of each second of the steady phase that its score is made of.

use model::{IntervalRecord, KindTotals, Score};

/// The sums of the seconds of a steady phase, in order; empty where the score is the rate of all operations, which
/// [`SecondTotals`](super::SecondTotals) has.
#[derive(Debug)]
pub(crate) struct ScoreSeconds {
    score: Score,
    index_last: Option<u32>,
    /// The seconds so far.
    pub(crate) all: Vec<ScoreSecond>,
}

/// The sums of one second of all agents.
#[derive(Debug, Default)]
pub(crate) struct ScoreSecond {
    /// Its length in s; never zero.
    pub(crate) length: f64,
    /// The operations, weighted operations, or bytes, that count for a rate or a throughput.
    pub(crate) amount: f64,
    /// Successful operations and the sum of their response times in ns, per kind, for a harmonic score.
    pub(crate) kinds: Vec<(u64, u128)>,
}

impl ScoreSeconds {
    pub(super) fn new(score: &Score) -> ScoreSeconds {
        ScoreSeconds { score: score.clone(), index_last: None, all: Vec::new() }
    }

    /// Adds an interval of the steady phase.
    pub(super) fn interval(&mut self, record: &IntervalRecord) {
        if self.score.is_operation_rate() {
            return;
        }
        if self.index_last != Some(record.index) {
            let length = record.end.saturating_sub(record.start).0.max(1) as f64 / 1e9;
            self.all.push(ScoreSecond { length, ..ScoreSecond::default() });
            self.index_last = Some(record.index);
        }
        if let Some(second) = self.all.last_mut() {
            second.add(&self.score, &record.kinds);
        }
    }
}

impl ScoreSecond {
    fn add(&mut self, score: &Score, kinds: &[KindTotals]) {
        match score {
            Score::Rate { kinds: counted, .. } => {
                let counted = kinds.iter().enumerate().filter(|(kind, _)| counts(counted, *kind));
                self.amount += counted.map(|(_, kind)| kind.response.n as f64).sum::<f64>();
            }
            Score::Weighted { weights, .. } => {
                let weighted = weights.iter().zip(kinds);
                self.amount += weighted.map(|(weight, kind)| weight * kind.response.n as f64).sum::<f64>();
            }
            Score::Throughput { measures } => {
                let sums = kinds.iter().flat_map(|kind| measures.iter().map(|one| kind.measure(*one).sum));
                self.amount += sums.map(|sum| sum as f64).sum::<f64>();
            }
            Score::Harmonic { .. } => {
                self.kinds.resize(kinds.len().max(self.kinds.len()), (0, 0));
                for ((n, sum), kind) in self.kinds.iter_mut().zip(kinds) {
                    *n = n.saturating_add(kind.response.n);
                    *sum = sum.saturating_add(kind.response.sum);
                }
            }
        }
    }
}

/// Returns whether a kind is one of those that count, all if none is listed.
pub(crate) fn counts(listed: &[usize], kind: usize) -> bool {
    listed.is_empty() || listed.contains(&kind)
}
