//! Connections to the server and to services behind it: operations that wait for a service, and limits on the number of
//! connections.

use model::Counter;

use super::read::ratio;
use super::{Indicator, Indicators};
use crate::LoadPointResult;
use crate::resources::{ResourceUsage, SeriesUsage};

/// The relative difference of the greatest and the least reading up to which a number of connections is constant. A house
/// rule.
const CONSTANT_MAX: f64 = 0.05;

/// The growth of a number of connections from the lowest load on from which it follows the load. A house rule.
const GROWTH_MIN: f64 = 1.5;

/// The share of operations whose threads wait for data from a socket from which they wait for a service, although its
/// connections do not grow with the load: a worker may keep one. A house rule.
const AT_SOCKET_MIN: f64 = 0.6;

/// The least ratio of operations in progress to the connections of a pool that limits them. A house rule.
const BEYOND_POOL_MIN: f64 = 1.5;

/// The relative difference up to which the threads that wait for data, or the operations that the lowest load would have in
/// progress at this rate, are as many as the connections of a pool. A house rule.
const AGREES_MAX: f64 = 0.2;

/// The fewest connections of a pool that is recognized by the rate alone: one is also the number of whatever else lets
/// operations pass one by one. A house rule.
const BY_RATE_MIN: f64 = 2.0;

/// The least number of accepted connections per thread of a server that does not need a thread for each. A house rule.
const PER_THREAD_MIN: f64 = 2.0;

/// Connections to a service.
struct ServiceUse<'a> {
    /// The number of the machine or network in which they were counted.
    machine: u32,
    name: &'a str,
    mean: f64,
    is_constant: bool,
}

/// The services that the indicators about services are read from, by their names for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServiceNames {
    /// The service of [`Indicator::HeldByService`].
    held: Option<String>,
    /// The service of [`Indicator::PoolAtLimit`].
    pool: Option<String>,
}

impl ServiceNames {
    /// Returns the service that an indicator is about; `None` if it is about none.
    pub(super) fn of(&self, indicator: Indicator) -> Option<&str> {
        match indicator {
            Indicator::HeldByService => self.held.as_deref(),
            Indicator::PoolAtLimit => self.pool.as_deref(),
            _ => None,
        }
    }
}

/// Adds the indicators about services, which need the connections at the lowest load; returns the services that they are
/// about.
pub(super) fn add_services(
    indicators: &mut Indicators,
    point: &LoadPointResult,
    lowest: &LoadPointResult,
) -> ServiceNames {
    let waits = indicators.get(&Indicator::ThreadsAtSocket).is_some_and(|share| AT_SOCKET_MIN <= *share);
    let held = services(&point.resources).filter_map(|service| {
        let share = ratio(Some(service.mean), Some(point.in_flight_mean))?.min(1.0);
        let follows = follows_load(&service, point, lowest);
        (waits || follows).then_some((share, follows, service))
    });
    // Of two services to which all operations hold connections, the one whose connections follow the load.
    let held = held.max_by(|one, other| {
        let by_share = one.0.total_cmp(&other.0).then(one.1.cmp(&other.1));
        by_share.then(one.2.mean.total_cmp(&other.2.mean))
    });
    let pools = services(&point.resources).filter(|service| is_full_pool(service, point, lowest, indicators));
    let pool = pools.max_by(|one, other| one.mean.total_cmp(&other.mean));
    indicators.extend(held.as_ref().map(|(share, ..)| (Indicator::HeldByService, *share)));
    indicators.extend(pool.as_ref().map(|pool| (Indicator::PoolAtLimit, pool.mean)));
    ServiceNames { held: held.map(|(.., service)| service.title()), pool: pool.map(|pool| pool.title()) }
}

impl ServiceUse<'_> {
    /// Returns the name for people: `port 5432`, or the path of a Unix socket.
    fn title(&self) -> String {
        let is_port = self.name.parse::<u16>().is_ok();
        if is_port { format!("port {}", self.name) } else { self.name.to_owned() }
    }
}

/// Returns how often the connections to services were counted at a load point, where that was less often than the threads
/// that want the server's CPUs: counting takes the longer the more connections the machine has. `None` where it was as
/// often, and of a server that was seen with no service at any load point.
pub(super) fn rare_counts(point: &LoadPointResult, points: &[LoadPointResult]) -> Option<f64> {
    let of_services = Counter::SutServices;
    let n_read = point.resources.of_sut(Counter::Runnable).map(|one| one.readings).max()?;
    let counted_on = |machine| point.resources.on(of_services, machine).next().map_or(0, |one| one.readings);
    // In each network they are counted by themselves.
    let counts = points.iter().flat_map(|other| other.resources.of_all(of_services));
    let with_service = counts.filter(|one| 0 < one.max);
    let n_counts = with_service.map(|one| counted_on(one.series.machine)).min()?;
    (n_counts < n_read).then_some(n_counts as f64)
}

/// Returns the constant number of accepted connections of a server that does not accept those that wait, although it does not
/// need a thread for each; `None` if there is none, or its threads are not known.
pub(super) fn accepted_at_limit(uses: &ResourceUsage) -> Option<f64> {
    let threads = uses.sut_sum(Counter::SutThreads)?;
    let at_limit = uses.of_all(Counter::SutAccepted).filter(|accepted| {
        let waiting = uses.value_beside(accepted, Counter::AcceptQueue).unwrap_or(0.0);
        1.0 <= waiting
            && is_constant(accepted)
            && accepted.value.is_some_and(|n| PER_THREAD_MIN * threads <= n)
    });
    at_limit.filter_map(|one| one.value).max_by(f64::total_cmp)
}

fn services(uses: &ResourceUsage) -> impl Iterator<Item = ServiceUse<'_>> {
    uses.of_all(Counter::SutServiceConnections).filter_map(|one| {
        let mean = one.value.filter(|mean| 0.0 < *mean)?;
        let machine = one.series.machine;
        let name = one.series.instance.as_str();
        Some(ServiceUse { machine, name, mean, is_constant: is_constant(one) })
    })
}

fn is_constant(one: &SeriesUsage) -> bool {
    let min = one.min as f64;
    let max = one.max as f64;
    1 < one.readings && 0.0 < max && max - min <= CONSTANT_MAX * max
}

/// Returns the connections to the same service at the lowest load; 0 if there were none.
fn at_lowest(service: &ServiceUse, lowest: &LoadPointResult) -> f64 {
    let is_same = |one: &ServiceUse| (one.machine, one.name) == (service.machine, service.name);
    services(&lowest.resources).find(is_same).map_or(0.0, |one| one.mean)
}

/// Returns whether the connections to a service have grown since the lowest load, or this is the lowest.
fn follows_load(service: &ServiceUse, point: &LoadPointResult, lowest: &LoadPointResult) -> bool {
    point.index != lowest.index && GROWTH_MIN * at_lowest(service, lowest) <= service.mean
}

/// Returns whether a pool of connections to a service is used up: their number is constant and below that of the operations in
/// progress, and has grown with the load, or all of them are in use and always have been. Few threads that wait for data each
/// hold such a number too, so that there must be more threads, or they wait for something else.
fn is_full_pool(
    service: &ServiceUse,
    point: &LoadPointResult,
    lowest: &LoadPointResult,
    indicators: &Indicators,
) -> bool {
    let in_flight = point.in_flight_mean;
    let at_socket = indicators.get(&Indicator::ThreadsAtSocket).map(|share| share * in_flight);
    let has_threads =
        point.resources.sut_sum(Counter::SutThreads).is_some_and(|threads| in_flight <= threads);
    let is_pool = has_threads || at_socket.is_some_and(|threads| threads < service.mean / 2.0);
    is_pool
        && service.is_constant
        && BEYOND_POOL_MIN * service.mean <= in_flight
        && (follows_load(service, point, lowest) || is_always_full(service, point, lowest, at_socket))
}

/// Returns whether the connections of a pool that was as large at the lowest load are all in use: as many threads wait for
/// data, or the rate is what so many operations at once reach, each as fast as at the lowest load (Little's law).
fn is_always_full(
    service: &ServiceUse,
    point: &LoadPointResult,
    lowest: &LoadPointResult,
    at_socket: Option<f64>,
) -> bool {
    let agrees = |n: f64| (n - service.mean).abs() <= AGREES_MAX * service.mean;
    let by_rate = lowest.response.mean.map(|response| point.rate * response);
    let is_same = agrees(at_lowest(service, lowest)) && point.index != lowest.index;
    is_same && (at_socket.is_some_and(agrees) || BY_RATE_MIN <= service.mean && by_rate.is_some_and(agrees))
}
