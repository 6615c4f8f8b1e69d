//! The use of CPUs that a server and the load generator share, read from what was monitored.

use model::{Counter, MachineRole, Plan};

use crate::limits_in_force;
use crate::other_programs::programs_on;
use crate::resources::ResourceUsage;
use crate::server_cpus::busy_cpus;
use crate::shared_cpus::SharedCpus;

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
        let n = cpus.len() as f64;
        let busy = cpus.iter().sum::<f64>();
        let rest = (busy - generator).max(0.0);
        // Of a server that is not watched nobody knows whether it is among the other programs.
        let server = server.map_or(rest, |own| (rest - other_programs(uses)).max(own.min(rest)));
        (!cpus.is_empty()).then(|| SharedCpus { n, generator, server, idle: (n - busy).max(0.0) })
    }
}

/// Returns the use by programs that are neither the server nor the generator, on the machine of both.
fn other_programs(uses: &ResourceUsage) -> f64 {
    let machines = (0..).zip(&uses.machines).filter(|(_, machine)| machine.role == MachineRole::Both);
    let programs = machines.flat_map(|(machine, _)| programs_on(uses, machine));
    programs.map(|program| program.cpus).sum()
}
