//! Open loops whose users have state: operations that had to wait for their user.

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Part of the operations that may wait for their user: with more of them, fewer users are offered the load than the rate
/// means, and the wait for one's own last operation is part of the response times.
const WAITS_MAX: f64 = 0.01;

/// Remarks on an open loop in which more than a hundredth of the operations waited for their user. In a closed loop a user
/// owes what fell due while it was busy.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let totals = &evidence.fold.steady;
    let n = totals.user_wait.n;
    let started = totals.started;
    if evidence.load().is_closed() || n as f64 <= WAITS_MAX * started as f64 {
        return Vec::new();
    }
    vec![RuleFinding::remark(Finding::BusyUsers { n, started, users: evidence.load().in_flight_max() })]
}
