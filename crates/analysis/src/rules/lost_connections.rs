//! Kept connections that had ended when a request was sent on them.

use model::CONNECTIONS_LOST;

use super::{Evidence, RuleFinding, Severity};
use crate::finding::Finding;

/// The part of the operations from which on the loss of connections is a remark: each costs a round trip and a connection.
const MANY: f64 = 0.01;

/// Remarks on connections that were lost between requests, and takes notice of few.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let lost = evidence.fold.counts.iter().find(|count| count.name == CONNECTIONS_LOST);
    let Some(n) = lost.map(|count| count.n).filter(|n| 0 < *n) else { return Vec::new() };
    let completed = evidence.figures.completed();
    let severity = if n as f64 <= MANY * completed as f64 { Severity::Notice } else { Severity::Remark };
    vec![RuleFinding::new(severity, Finding::ConnectionsLost { n, completed })]
}
