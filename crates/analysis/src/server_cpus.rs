//! The CPUs of a server, and how busy they are.

use std::collections::BTreeSet;

use model::{Counter, MachineRole, Plan};

use crate::limits_in_force;
use crate::resources::{ResourceUsage, SeriesUsage, ratio};

/// Returns the CPUs that the plan gives the server, or else that it may use; empty for all.
pub(crate) fn server_cpus(plan: &Plan, uses: &ResourceUsage) -> BTreeSet<u32> {
    match plan.sut.cpus.as_slice() {
        [] => limits_in_force::allowed_cpus(uses).unwrap_or_default(),
        given => given.iter().copied().collect(),
    }
}

/// Returns the busy share of each of the server's CPUs: those that the plan gives it on a shared machine, or that it may
/// use there, else all.
pub(crate) fn busy_cpus(plan: &Plan, uses: &ResourceUsage) -> Vec<f64> {
    let shared = |one: &SeriesUsage| uses.role(one) == Some(MachineRole::Both);
    let given = server_cpus(plan, uses);
    let of_server = |one: &&SeriesUsage| {
        !shared(one) || given.is_empty() || one.series.instance.parse().is_ok_and(|cpu| given.contains(&cpu))
    };
    uses.of_sut(Counter::CpuIdle).filter(of_server).filter_map(|cpu| busy(uses, cpu)).collect()
}

/// Returns the busy share of a CPU, given by one of its series.
pub(crate) fn busy(uses: &ResourceUsage, cpu: &SeriesUsage) -> Option<f64> {
    let sum =
        |modes: &[Counter]| -> f64 { modes.iter().filter_map(|mode| uses.value_beside(cpu, *mode)).sum() };
    let busy = sum(&Counter::CPU_BUSY);
    let idle = sum(&Counter::CPU_IDLE);
    ratio(Some(busy), Some(busy + idle))
}
