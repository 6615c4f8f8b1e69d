//! Indicators that only replies of the web give.

use model::Plan;

use crate::LoadPointResult;

/// The statuses by which a web server refuses a request for lack of capacity: too many requests (RFC 6585, section 4),
/// and service unavailable (RFC 9110, section 15.6.4).
const REFUSALS: [u32; 2] = [429, 503];

/// Returns the share of completed operations that the server refused for lack of capacity; `None` of another family, and
/// if nothing completed.
pub(super) fn refused(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    plan.workload.web()?;
    let refusals = point.codes.iter().filter(|(_, code, _)| REFUSALS.contains(code));
    let n = refusals.fold(0_u64, |sum, (_, _, n)| sum.saturating_add(n));
    let completed = point.completed();
    (0 < completed).then(|| n as f64 / completed as f64)
}
