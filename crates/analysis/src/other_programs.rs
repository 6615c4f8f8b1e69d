//! The CPU time that other programs used on a machine: by program, and as a share of what server and generator could have
//! used.

use std::collections::BTreeSet;

use model::{Counter, MachineRole, Plan};

use crate::finding::ProgramCpuUse;
use crate::resources::{ResourceUsage, SeriesUsage};
use crate::server_cpus::{busy, server_cpus};

/// Returns the use by each other program on the machine with this number, in CPUs. Together it is no more than the
/// machine's CPUs were busy: what a program that was idle for long is seen to have used may be older than the phase.
pub(crate) fn programs_on(uses: &ResourceUsage, machine: u32) -> Vec<ProgramCpuUse> {
    let mut programs: Vec<ProgramCpuUse> =
        uses.on(Counter::OtherCpu, machine).filter_map(program_use).collect();
    let total: f64 = programs.iter().map(|program| program.cpus).sum();
    let cpus: Vec<f64> = uses.on(Counter::CpuIdle, machine).filter_map(|cpu| busy(uses, cpu)).collect();
    let most: f64 = cpus.iter().sum();
    if !cpus.is_empty() && most < total {
        programs.iter_mut().for_each(|program| program.cpus *= most / total);
    }
    programs
}

/// Returns the use that a series of CPU time by program has; `None` of one with less than two readings.
fn program_use(usage: &SeriesUsage) -> Option<ProgramCpuUse> {
    Some(ProgramCpuUse { name: usage.series.instance.clone(), cpus: usage.value? / 1e6 })
}

/// Returns the share of the CPU time that server and generator could have used on a machine and that other programs, which
/// used `total` CPUs there, had at least; `None` where its CPUs are not monitored.
///
/// (O − E) ÷ N, not less than 0, with O the use by other programs, N the number of CPUs that server and generator may use,
/// and E the busy time of all others, on which those programs may have run. All in CPUs.
pub(crate) fn share_of_cpus(plan: &Plan, uses: &ResourceUsage, machine: u32, total: f64) -> Option<f64> {
    let allowed = allowed_cpus(plan, uses, machine);
    let is_allowed = |cpu: &str| allowed.is_empty() || cpu.parse().is_ok_and(|cpu| allowed.contains(&cpu));
    let (inside, elsewhere): (Vec<_>, Vec<_>) =
        uses.on(Counter::CpuIdle, machine).partition(|cpu| is_allowed(&cpu.series.instance));
    let elsewhere: f64 = elsewhere.into_iter().filter_map(|cpu| busy(uses, cpu)).sum();
    (!inside.is_empty()).then(|| (total - elsewhere).max(0.0) / inside.len() as f64)
}

/// Returns the CPUs of a machine that server and generator may use; empty for all.
fn allowed_cpus(plan: &Plan, uses: &ResourceUsage, machine: u32) -> BTreeSet<u32> {
    let load: BTreeSet<u32> = plan.load_cpus().iter().copied().collect();
    let has_server =
        uses.machines.get(machine as usize).is_none_or(|machine| machine.role != MachineRole::Load);
    if load.is_empty() || !has_server {
        return load;
    }
    match server_cpus(plan, uses) {
        server if server.is_empty() => server,
        server => server.union(&load).copied().collect(),
    }
}
