//! Notices: what users are told outside their operations, such as that their mail was delivered.

use serde::{Deserialize, Serialize};
use stats::Moments;
use units::Nanos;

/// The greatest number of kinds of notices.
pub(crate) const NOTICES_MAX: usize = 16;

/// A measure of user scope: the time until a notice of one kind comes, which belongs to no operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoticeKind {
    /// The name in reports; no other kind of notice has it.
    pub name: String,
}

/// A notice for a user: that it is awaited, and later that it has come. Whoever sees it for the user may say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserNotice {
    /// Index of the measure of user scope ([`crate::Catalog::notices`]).
    pub measure: u16,
    /// The moment from which it is awaited, on the clock of the run; the same when it has come.
    pub begun: Nanos,
    /// The time that it took, in ns; `None` while it is awaited.
    pub value: Option<u64>,
}

/// The notices of one kind in an interval.
///
/// Invariant (conservation): awaited_at_start + begun = ended + lost + awaited_at_end, so that at a load point
/// begun = ended + lost + pending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoticeTotals {
    /// Awaited when the interval began.
    pub awaited_at_start: u64,
    /// Are awaited since then.
    pub begun: u64,
    /// Of these, those whose wait began in the steady phase.
    pub begun_in_steady: u64,
    /// Came.
    pub ended: u64,
    /// The times of those that came whose wait began in the steady phase, in ns.
    pub times: Moments,
    /// Had not come within the time limit of operations.
    pub lost: u64,
    /// Awaited when the interval ended.
    pub awaited_at_end: u64,
}

impl NoticeTotals {
    /// Returns both sides of the invariant.
    pub fn sides(&self) -> [u128; 2] {
        let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum();
        let gone = [self.ended, self.lost, self.awaited_at_end];
        [sum(&[self.awaited_at_start, self.begun]), sum(&gone)]
    }
}
