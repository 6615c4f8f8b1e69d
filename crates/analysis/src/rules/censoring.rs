//! Censoring: operations in flight at the end of the steady phase are in no rate and no mean.

use units::{Nanos, Ratio};

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Part of all operations, or of all response time, from which their absence is reported.
const SHARE_MIN: f64 = 0.01;

/// Reports operations in flight at the end if they are many or old.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let n = evidence.figures.in_flight_at_end;
    let age = evidence.figures.in_flight_age;
    let of_operations = share(n as f64, evidence.figures.completed() as f64);
    let of_time = share(age.as_secs_f64(), evidence.fold.steady.response_seconds());
    if of_operations.max(of_time) < SHARE_MIN {
        return Vec::new();
    }
    vec![RuleFinding::remark(Finding::InFlightAtEnd {
        n,
        age_mean: Nanos(age.0 / n.max(1)),
        of_operations: Ratio(of_operations),
        of_time: Ratio(of_time),
    })]
}

fn share(part: f64, counted: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part / (part + counted) }
}
