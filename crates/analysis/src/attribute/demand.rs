//! The demand of an operation on each resource, and the bounds that follow from it.

use model::{Counter, Load, MachineRole, Plan};
use stats::saturation_users;

use super::load_interfaces::LoadInterfaces;
use crate::resources::{ResourceUsage, ratio};
use crate::server_cpus::busy_cpus;
use crate::{LoadPointResult, limits_in_force};

/// The unit of a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandUnit {
    /// Seconds.
    Seconds,
    /// Requests.
    Requests,
    /// Bytes.
    Bytes,
}

/// The demand of an operation on one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceDemand {
    /// The resource: `CPU`, `disk sda, time`.
    pub resource: String,
    /// Per completed operation, failed ones included.
    pub per_operation: f64,
    /// The unit of the demand.
    pub unit: DemandUnit,
    /// The rate (operations/s) that the resource allows, capacity ÷ demand; `None` where its capacity is not known, where others
    /// use it, and of far more than was measured.
    pub rate_max: Option<f64>,
}

/// The bounds on the rate by the demands, from the law of utilization.
///
/// With demands Dₖ (s per operation and server) and think time Z: X ≤ 1 ÷ D_max, N* = (Z + ΣDₖ) ÷ D_max.
/// Source: Denning and Buzen 1978, The Operational Analysis of Queueing Network Models, asymptotic bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateBounds {
    /// The highest rate, in operations/s.
    pub rate_max: Option<f64>,
    /// The number of users of a closed loop from which the bound applies.
    pub users: Option<f64>,
}

/// The multiple of the rate that was measured beyond which a bound is none: demands change with the load. A house rule.
pub const EXTRAPOLATION_MAX: f64 = 5.0;

/// The least share of the traffic with the disks that is the server's own where a disk bounds its rate. A house rule.
const OWN_TRAFFIC_MIN: f64 = 0.9;

/// A demand, with the busy time of its resource where that is known.
type Found = (ResourceDemand, Option<stats::Demand>);

/// Returns the demands of a load point, that with the lowest maximum rate first, and the bounds. A rate of more than
/// [`EXTRAPOLATION_MAX`] times that of the load point is none.
pub(super) fn demands(plan: &Plan, point: &LoadPointResult) -> (Vec<ResourceDemand>, RateBounds) {
    let operations = point.rate + point.error_rate;
    if operations <= 0.0 {
        return (Vec::new(), RateBounds::default());
    }
    let mut found: Vec<Found> = cpu(plan, point).into_iter().collect();
    found.extend(disks(point, operations));
    found.extend(networks(point, operations));
    let bound = |(demand, _): &Found| demand.rate_max.unwrap_or(f64::INFINITY);
    found.sort_by(|one, other| bound(one).total_cmp(&bound(other)));
    for (demand, _) in &mut found {
        demand.rate_max = demand.rate_max.filter(|most| *most <= EXTRAPOLATION_MAX * operations);
    }
    let rate_max = found.first().and_then(|(demand, _)| demand.rate_max);
    let busy: Vec<stats::Demand> = found.iter().filter_map(|(_, busy)| *busy).collect();
    let users = match point.load {
        // Each user with n operations in flight does what n with one do.
        Load::Users(_) if rate_max.is_some() => saturation_users(point.thinking_mean / point.rate, &busy)
            .map(|users| users / f64::from(plan.catalog.in_flight_per_user())),
        Load::Users(_) | Load::Rate { .. } => None,
    };
    (found.into_iter().map(|(demand, _)| demand).collect(), RateBounds { rate_max, users })
}

/// Returns the demand of CPU time. An allowance of less than a CPU is a slower CPU.
fn cpu(plan: &Plan, point: &LoadPointResult) -> Option<Found> {
    let per_operation = point.sut_cpu_per_operation.filter(|cpu| 0.0 < *cpu)?;
    let capacity = cpu_capacity(plan, &point.resources);
    let demand = ResourceDemand {
        resource: "CPU".to_owned(),
        per_operation,
        unit: DemandUnit::Seconds,
        rate_max: capacity.map(|cpus| cpus / per_operation),
    };
    let busy =
        capacity.map(|cpus| stats::Demand { busy: per_operation / cpus.min(1.0), servers: cpus.max(1.0) });
    Some((demand, busy))
}

/// Returns the CPU time per second that the server can use, in CPUs: its allowance, or else the CPUs on which it may run.
/// `None` if that is not known, or its transactions wait for each other: more CPUs do not make one writer faster.
fn cpu_capacity(plan: &Plan, uses: &ResourceUsage) -> Option<f64> {
    if plan.has_one_writer() {
        return None;
    }
    let allowance = plan.sut_allowance().or_else(|| limits_in_force::allowance(uses));
    // Of several groups of processes, each with a limit of its own, nobody knows which is reached first.
    let is_limited = uses.of_sut(Counter::SutQuota).next().is_some();
    let cpus = busy_cpus(plan, uses).len();
    allowance.or_else(|| (!is_limited && 0 < cpus).then_some(cpus as f64))
}

fn disks(point: &LoadPointResult, operations: f64) -> Vec<Found> {
    let uses = &point.resources;
    let is_own = disks_are_its_own(uses);
    let mut demands = Vec::new();
    for disk in uses.sut_instances(Counter::DiskBusy) {
        let of = |counter| uses.sut_value(counter, disk).unwrap_or(0.0);
        let busy = of(Counter::DiskBusy) / 1e6 / operations;
        if busy <= 0.0 {
            continue;
        }
        let mut add = |what: &str, per_operation, unit, time: Option<f64>| {
            let resource = format!("disk {disk}, {what}");
            let rate_max = time.map(|time| 1.0 / time);
            demands.push((ResourceDemand { resource, per_operation, unit, rate_max }, time.map(alone)));
        };
        add("time", busy, DemandUnit::Seconds, is_own.then_some(busy));
        let requests = of(Counter::DiskReads) + of(Counter::DiskWrites);
        add("requests", requests / operations, DemandUnit::Requests, None);
        let bytes = of(Counter::DiskReadBytes) + of(Counter::DiskWriteBytes);
        add("bytes", bytes / operations, DemandUnit::Bytes, None);
    }
    demands
}

/// Returns whether the server makes nearly all of the traffic with the disks: a disk that others use bounds nothing. Where its
/// own is not known, a machine of the server alone is its own.
fn disks_are_its_own(uses: &ResourceUsage) -> bool {
    let sum = |counters: [Counter; 2]| Some(uses.sut_sum(counters[0])? + uses.sut_sum(counters[1])?);
    let all = sum([Counter::DiskReadBytes, Counter::DiskWriteBytes]);
    match ratio(sum([Counter::SutReadBytes, Counter::SutWriteBytes]), all) {
        Some(share) => OWN_TRAFFIC_MIN <= share,
        None => uses.of_sut(Counter::DiskBusy).all(|disk| uses.role(disk) == Some(MachineRole::Sut)),
    }
}

fn networks(point: &LoadPointResult, operations: f64) -> Vec<Found> {
    let uses = &point.resources;
    let load_interfaces = LoadInterfaces::of(point);
    let of_interface = |name: &str| {
        let value = |counter| load_interfaces.value(uses, counter, name);
        let bytes = value(Counter::NetSentBytes)?.max(value(Counter::NetReceivedBytes)?) / operations;
        let speed = value(Counter::NetSpeed).filter(|speed| 0.0 < *speed);
        let time = speed.map(|speed| 8.0 * bytes / speed);
        let demand = ResourceDemand {
            resource: format!("network {name}"),
            per_operation: bytes,
            unit: DemandUnit::Bytes,
            rate_max: time.map(|time| 1.0 / time),
        };
        (0.0 < bytes).then(|| (demand, time.map(alone)))
    };
    let sent = load_interfaces.series(uses, Counter::NetSentBytes).map(|one| one.series.instance.as_str());
    sent.filter(|name| load_interfaces.holds(name)).filter_map(of_interface).collect()
}

/// Makes the demand on a single resource.
fn alone(busy: f64) -> stats::Demand {
    stats::Demand { busy, servers: 1.0 }
}
