//! Indicators that only the web has: of its replies, and of the gateway to programs that make pages.

use model::{GatewayKind, Plan};

use crate::LoadPointResult;
use crate::resources::ratio;

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

/// Returns the number of workers that the gateway was asked for; `None` of a server without one.
pub(super) fn workers(plan: &Plan) -> Option<f64> {
    plan.sut.gateway.map(|gateway| f64::from(gateway.workers))
}

/// Returns the number of operations in progress per worker that makes pages; `None` where the number of workers is
/// not fixed.
pub(super) fn in_flight_per_worker(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    plan.sut.gateway.filter(|gateway| gateway.kind != GatewayKind::Cgi)?;
    ratio(Some(point.in_flight_mean), workers(plan))
}
