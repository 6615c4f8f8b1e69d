//! Other programs on a measured machine, named with their CPU use.

use model::{Counter, MachineRole};

use super::{Evidence, RuleFinding};
use crate::ResourceUsage;
use crate::finding::{Finding, OtherCpuUse, ProgramCpuUse};

/// The total use, in CPUs, from which other programs are reported. A house rule: a tenth of a CPU shows in the
/// intervals.
const CPUS_MIN: f64 = 0.1;

/// Reports programs that are neither the server nor the load generator.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    // Watched processes are not counted among the others.
    let is_seen = evidence.resources.sut_sum(Counter::SutProcesses).is_some();
    let may_be_server = evidence.plan.sut.name == "external" && !is_seen;
    let finding = |used| RuleFinding::remark(Finding::OtherPrograms { used, may_be_server });
    used(evidence.resources).map(finding).into_iter().collect()
}

/// Returns the use of load machines by other programs, the busiest first; `None` if it is too little to matter.
pub(super) fn used(uses: &ResourceUsage) -> Option<OtherCpuUse> {
    let series = uses.series.iter().filter(|one| one.series.counter == Counter::OtherCpu);
    let watched = series.filter(|one| uses.role(one).is_some_and(|role| role != MachineRole::Sut));
    let mut programs: Vec<ProgramCpuUse> = watched.filter_map(ProgramCpuUse::of).collect();
    programs.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    let total = programs.iter().map(|program| program.cpus).sum::<f64>();
    (CPUS_MIN <= total).then_some(OtherCpuUse { total, programs })
}
