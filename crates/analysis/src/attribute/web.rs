//! Indicators that only the web has: of its replies, and of the gateway to programs that make pages.

use model::{GatewayKind, Plan};

use crate::LoadPointResult;
use crate::resources::ratio;

/// Too many requests in a given time (RFC 6585, section 4).
const TOO_MANY_REQUESTS: u32 = 429;

/// The statuses by which a web server refuses a request for lack of capacity: too many requests, and service unavailable
/// (RFC 9110, section 15.6.4).
const REFUSALS: [u32; 2] = [TOO_MANY_REQUESTS, 503];

/// The statuses by which a proxy says that it had no answer, or none in time, from its back end (RFC 9110, sections 15.6.3
/// and 15.6.5).
const BACK_END_ERRORS: [u32; 2] = [502, 504];

/// Returns the share of completed operations that the server refused for lack of capacity; `None` of another family, and
/// if nothing completed.
pub(super) fn refused(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    share_with(plan, point, &REFUSALS)
}

/// Returns the part of these refusals that names a rate; `None` without refusals.
pub(super) fn refused_by_rate(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    ratio(share_with(plan, point, &[TOO_MANY_REQUESTS]), refused(plan, point))
}

/// Returns the share of completed operations for which a proxy had no answer from its back end; `None` as above.
pub(super) fn back_end_errors(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    share_with(plan, point, &BACK_END_ERRORS)
}

/// Returns the share of completed operations with a reply of these statuses.
fn share_with(plan: &Plan, point: &LoadPointResult, statuses: &[u32]) -> Option<f64> {
    plan.workload.web()?;
    let found = point.codes.iter().filter(|(_, code, _)| statuses.contains(code));
    let n = found.fold(0_u64, |sum, (_, _, n)| sum.saturating_add(n));
    ratio(Some(n as f64), Some(point.completed() as f64))
}

/// Returns the number of workers that the gateway was asked for; `None` of a server without one.
pub(super) fn workers(plan: &Plan) -> Option<f64> {
    plan.sut.gateway().map(|gateway| f64::from(gateway.workers))
}

/// Returns the number of operations in progress per worker that makes pages; `None` where the number of workers is
/// not fixed.
pub(super) fn in_flight_per_worker(plan: &Plan, point: &LoadPointResult) -> Option<f64> {
    plan.sut.gateway().filter(|gateway| gateway.kind != GatewayKind::Cgi)?;
    ratio(Some(point.in_flight_mean), workers(plan))
}
