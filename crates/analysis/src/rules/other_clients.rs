//! Other clients of the server, which had a part of what it did.

use model::Counter;
use units::Ratio;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// The share of the requests that the server counted from which on those of others are reported: it counts over other seconds
/// than the steady phase, and the monitor's own. A house rule.
const SHARE_MIN: f64 = 0.1;

/// The mean number of connections of others from which on they are reported: one that was there half of the time.
const CONNECTIONS_MIN: f64 = 0.5;

/// Remarks on connections to the server, and on requests that it counted, that are not of this run.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let connections = connections(evidence);
    let requests = requests(evidence);
    let is_found = connections.is_some() || requests.is_some();
    let finding = is_found.then_some(Finding::OtherClients { connections, requests });
    finding.map(RuleFinding::remark).into_iter().collect()
}

/// Returns the mean number of connections of others.
fn connections(evidence: &Evidence) -> Option<f64> {
    evidence.resources.sum_of_all(Counter::SutOtherConnections).filter(|n| CONNECTIONS_MIN <= *n)
}

/// Returns the share of the requests that the server counted and this run did not make.
///
/// 1 − X ÷ S, with X the completed operations and S the requests, both per second.
fn requests(evidence: &Evidence) -> Option<Ratio> {
    let served = evidence.resources.sut_sum(Counter::ServiceRequests).filter(|served| 0.0 < *served)?;
    let seconds = evidence.figures.length.as_secs_f64();
    let share = 1.0 - evidence.figures.completed() as f64 / seconds / served;
    (0.0 < seconds && SHARE_MIN <= share).then_some(Ratio(share))
}
