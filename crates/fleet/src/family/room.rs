//! The connections that a database has for the sessions of a load.

use std::sync::atomic::AtomicBool;

use drivers::database::DatabaseConnections;
use model::{Load, Plan, Secrets};
use units::RealClock;

use super::{ExternalServer, ResolvedTarget};
use crate::verify::VerifyError;

/// Returns the most operations in flight of a plan's open loop for which a database that was there already has connections;
/// `None` of another loop or server, and of one that does not say: what is wrong with it is found before the load.
pub fn room_in_flight(
    plan: &Plan,
    server: &ExternalServer,
    secrets: &Secrets,
    stop: &AtomicBool,
) -> Option<u32> {
    let is_database = matches!(server, ExternalServer::Database(_) | ExternalServer::Sql(_));
    if !is_database || plan.loads().all(Load::is_closed) {
        return None;
    }
    let clock = RealClock::start();
    let target = ResolvedTarget::resolve(server, secrets.clone(), clock, stop).ok()?;
    u32::try_from(target.n_free(plan, clock, stop)?).ok().filter(|n_free| 0 < *n_free)
}

/// Checks that a database has a connection for each user or operation in flight of a plan, and `n_background` more.
///
/// # Errors
/// It has not.
pub(super) fn check_room(
    plan: &Plan,
    target: &str,
    connections: DatabaseConnections,
    n_background: u64,
) -> Result<(), VerifyError> {
    let n_sessions = plan.loads().map(Load::in_flight_max).max().map_or(0, u64::from);
    if n_sessions + n_background <= connections.free {
        return Ok(());
    }
    let background = match n_background {
        0 => String::new(),
        n => format!(" and {n} sessions for deferred deliveries"),
    };
    let (what, option) = match (plan.loads().all(Load::is_closed), plan.search) {
        (false, _) => ("operations in flight", "--in-flight-max"),
        (true, None) => ("users", "--load"),
        (true, Some(_)) => ("users", "--max-load"),
    };
    let n_most = connections.free.saturating_sub(n_background);
    Err(VerifyError::TooFewConnections {
        target: target.to_owned(),
        limit: connections.limit,
        most: connections.most,
        free: connections.free,
        kept: connections.kept,
        wanted: format!("the {n_sessions} {what} of the plan{background}"),
        remedy: (0 < n_most).then(|| format!("`{option} {n_most}`")),
    })
}
