//! Censoring: operations in flight at the end of the steady phase are in no rate and no mean.

use units::{Nanos, Ratio};

use super::{Evidence, RuleFinding};

/// Part of all operations, or of all response time, from which their absence is reported.
const SHARE_MIN: f64 = 0.01;

/// Reports operations in flight at the end if they are many or old.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let (n, age) = (evidence.figures.in_flight_at_end, evidence.figures.in_flight_age);
    let of_operations = share(n as f64, evidence.figures.completed() as f64);
    let of_time = share(age.as_secs_f64(), evidence.fold.steady.response_seconds());
    if of_operations.max(of_time) < SHARE_MIN {
        return Vec::new();
    }
    let mean = Nanos(age.0 / n.max(1));
    let text = format!(
        "{n} operations were in flight at the end of the steady phase, on average for {mean}: {} of its \
         operations and {} of its response time, in no rate and no mean; long operations are affected more often",
        Ratio(of_operations),
        Ratio(of_time)
    );
    vec![RuleFinding::remark("in-flight", text)]
}

fn share(part: f64, counted: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part / (part + counted) }
}
