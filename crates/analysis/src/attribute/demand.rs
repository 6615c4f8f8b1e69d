//! What an operation costs of each resource, and the bounds that follow from it.

use model::{Counter, Load, Plan};

use crate::LoadPointResult;

/// In what a demand is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandUnit {
    /// Seconds.
    Seconds,
    /// Requests.
    Requests,
    /// Bytes.
    Bytes,
}

/// What an operation costs of one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// The resource: `CPU`, `disk sda, time`.
    pub resource: String,
    /// Per completed operation, failed ones included.
    pub per_operation: f64,
    /// In what.
    pub unit: DemandUnit,
    /// The rate (operations/s) that the resource allows, capacity ÷ demand; `None` where its capacity is not known.
    pub rate_max: Option<f64>,
}

/// What the demands allow, by the law of utilization.
///
/// With demands Dₖ (s per operation and server) and think time Z: X ≤ 1 ÷ D_max, N* = (Z + ΣDₖ) ÷ D_max.
/// Source: Denning and Buzen 1978, The Operational Analysis of Queueing Network Models, asymptotic bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// The highest rate, in operations/s.
    pub rate_max: Option<f64>,
    /// The number of users from which the bound rules; of a closed loop.
    pub users: Option<f64>,
}

/// Returns the demands of a load point, the one that allows the least first, and the bounds.
pub(super) fn demands(plan: &Plan, point: &LoadPointResult) -> (Vec<Demand>, Bounds) {
    let operations = point.rate + point.error_rate;
    if operations <= 0.0 {
        return (Vec::new(), Bounds::default());
    }
    let mut demands: Vec<Demand> = cpu(plan, point).into_iter().collect();
    demands.extend(disks(point, operations));
    demands.extend(networks(point, operations));
    let bound = |demand: &Demand| demand.rate_max.unwrap_or(f64::INFINITY);
    demands.sort_by(|one, other| bound(one).total_cmp(&bound(other)));
    let rate_max = demands.first().and_then(|demand| demand.rate_max);
    (demands.clone(), Bounds { rate_max, users: users(point, &demands) })
}

/// Returns N* of a closed loop: demands as the time that each resource is busy for one operation, 1 ÷ its highest rate.
fn users(point: &LoadPointResult, demands: &[Demand]) -> Option<f64> {
    let Load::Users(_) = point.load else { return None };
    let think = point.thinking_mean / point.rate;
    let times: Vec<f64> = demands.iter().filter_map(|demand| Some(1.0 / demand.rate_max?)).collect();
    let longest = times.iter().copied().max_by(f64::total_cmp)?;
    let users = (think + times.iter().sum::<f64>()) / longest;
    users.is_finite().then_some(users)
}

fn cpu(plan: &Plan, point: &LoadPointResult) -> Option<Demand> {
    let per_operation = point.sut_cpu_per_operation.filter(|cpu| 0.0 < *cpu)?;
    let rate_max = plan.sut.allowance().map(|cpus| cpus / per_operation);
    Some(Demand { resource: "CPU".to_owned(), per_operation, unit: DemandUnit::Seconds, rate_max })
}

fn disks(point: &LoadPointResult, operations: f64) -> Vec<Demand> {
    let uses = &point.resources;
    let mut demands = Vec::new();
    for disk in uses.sut_instances(Counter::DiskBusy) {
        let of = |counter| uses.sut_value(counter, disk).unwrap_or(0.0);
        let busy = of(Counter::DiskBusy) / 1e6 / operations;
        if busy <= 0.0 {
            continue;
        }
        let mut add = |what: &str, per_operation, unit, rate_max| {
            let resource = format!("disk {disk}, {what}");
            demands.push(Demand { resource, per_operation, unit, rate_max });
        };
        add("time", busy, DemandUnit::Seconds, Some(1.0 / busy));
        let requests = of(Counter::DiskReads) + of(Counter::DiskWrites);
        add("requests", requests / operations, DemandUnit::Requests, None);
        let bytes = of(Counter::DiskReadBytes) + of(Counter::DiskWriteBytes);
        add("bytes", bytes / operations, DemandUnit::Bytes, None);
    }
    demands
}

fn networks(point: &LoadPointResult, operations: f64) -> Vec<Demand> {
    let uses = &point.resources;
    let of_interface = |name: &str| {
        let sent = uses.sut_value(Counter::NetSentBytes, name)?;
        let bytes = sent.max(uses.sut_value(Counter::NetReceivedBytes, name)?) / operations;
        let speed = uses.sut_value(Counter::NetSpeed, name).filter(|speed| 0.0 < *speed);
        (0.0 < bytes).then(|| Demand {
            resource: format!("network {name}"),
            per_operation: bytes,
            unit: DemandUnit::Bytes,
            rate_max: speed.map(|speed| speed / 8.0 / bytes),
        })
    };
    uses.sut_instances(Counter::NetSentBytes).filter_map(of_interface).collect()
}
