//! CPUs that a server and the load generator share: who used them, and whether anything was left.

use std::collections::BTreeSet;

use model::{Counter, MachineRole, Plan};

use crate::limits_in_force;
use crate::other_programs::programs_on;
use crate::resources::{ResourceUsage, SeriesUsage, ratio};

/// The use of CPUs that a server without an allowance and the load generator share. All in CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedCpus {
    /// The number of CPUs.
    pub n: f64,
    /// The use by the load threads.
    pub generator: f64,
    /// The use for the server: all that is neither the generator's nor, where the server is watched, that of other
    /// programs. The kernel's work for the network belongs to it, which is in no account of a process.
    pub server: f64,
    /// The unused part.
    pub idle: f64,
}

impl SharedCpus {
    /// Reads the use of the machine that runs both; `generator` is the use by the load threads, `server` by the server,
    /// as far as known. `None` if they share no CPUs, the server has an allowance, or the machine was not monitored.
    pub(crate) fn of(
        plan: &Plan,
        uses: &ResourceUsage,
        generator: f64,
        server: Option<f64>,
    ) -> Option<SharedCpus> {
        let is_shared = uses.of_sut(Counter::CpuIdle).any(|one| uses.role(one) == Some(MachineRole::Both));
        let has_own = !plan.sut.cpus.is_empty() && !plan.load_is_on_sut_cpus()
            || limits_in_force::allowed_cpus(uses).is_some();
        if !is_shared || has_own || plan.sut_allowance().is_some() {
            return None;
        }
        let cpus = busy_cpus(plan, uses);
        let (n, busy) = (cpus.len() as f64, cpus.iter().sum::<f64>());
        let rest = (busy - generator).max(0.0);
        // Of a server that is not watched nobody knows whether it is among the other programs.
        let server = server.map_or(rest, |own| (rest - other_programs(uses)).max(own.min(rest)));
        (!cpus.is_empty()).then(|| SharedCpus { n, generator, server, idle: (n - busy).max(0.0) })
    }

    /// Returns whether the CPUs are full: server and generator use at least this share of them together. The rest is idle,
    /// or used by other programs.
    pub fn are_full(&self, share: f64) -> bool {
        share * self.n <= self.server + self.generator
    }

    /// Returns the share that the server used of what the generator left to it, from 0 to 1; 0 if that is nothing.
    ///
    /// S ÷ (N − G), with S the use by the server, N the number of CPUs, G the use by the generator.
    pub fn server_share(&self) -> f64 {
        let left = self.n - self.generator;
        if 0.0 < left { (self.server / left).min(1.0) } else { 0.0 }
    }
}

/// Returns the use by programs that are neither the server nor the generator, on the machine of both.
fn other_programs(uses: &ResourceUsage) -> f64 {
    let machines = (0..).zip(&uses.machines).filter(|(_, machine)| machine.role == MachineRole::Both);
    let programs = machines.flat_map(|(machine, _)| programs_on(uses, machine));
    programs.map(|program| program.cpus).sum()
}

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
    let (busy, idle) = (sum(&Counter::CPU_BUSY), sum(&Counter::CPU_IDLE));
    ratio(Some(busy), Some(busy + idle))
}
