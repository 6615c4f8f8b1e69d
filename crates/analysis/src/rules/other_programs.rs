//! Other programs on a measured machine, named with their CPU use. Beyond a share of the CPUs they make a load point invalid.

use model::{Counter, MachineRole};
use units::Ratio;

use super::{Evidence, RuleFinding};
use crate::ResourceUsage;
use crate::finding::{Finding, OtherCpuUse, ProgramCpuUse, UnseenPart};
use crate::other_programs::{programs_on, share_of_cpus};

/// The total use, in CPUs, from which other programs are reported. A house rule: a tenth of a CPU shows in the
/// intervals.
const CPUS_MIN: f64 = 0.1;

/// The share of the CPU time that server and generator could have used, from which on other programs make a load point
/// invalid. A house rule: a machine with a tenth less is another machine.
const SHARE_MAX: f64 = 0.1;

/// Judges programs that are neither the server nor the load generator: a remark, invalid where they had a large share. Where
/// a part of the system under test is not seen, nobody can tell it from them, and it is a remark.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let Some(used) = used(evidence.resources) else { return Vec::new() };
    let share = share(evidence);
    let unseen = unseen_part(evidence);
    let is_crowded = unseen.is_none() && share.is_some_and(|share| SHARE_MAX <= share);
    let finding = Finding::OtherPrograms { used, share: share.map(Ratio), limit: Ratio(SHARE_MAX), unseen };
    vec![if is_crowded { RuleFinding::invalid(finding) } else { RuleFinding::remark(finding) }]
}

/// Returns the use of load machines by other programs, the busiest first; `None` if it is too little to matter.
pub(super) fn used(uses: &ResourceUsage) -> Option<OtherCpuUse> {
    let mut programs: Vec<ProgramCpuUse> =
        load_machines(uses).flat_map(|machine| programs_on(uses, machine)).collect();
    programs.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    let total = programs.iter().map(|program| program.cpus).sum::<f64>();
    (CPUS_MIN <= total).then_some(OtherCpuUse { total, programs })
}

/// Returns the numbers of the machines that make load.
fn load_machines(uses: &ResourceUsage) -> impl Iterator<Item = u32> {
    let machines = (0..).zip(&uses.machines).filter(|(_, machine)| machine.role != MachineRole::Sut);
    machines.map(|(number, _)| number)
}

/// Returns the share of the CPUs that other programs had, on the machine where it is greatest.
fn share(evidence: &Evidence) -> Option<f64> {
    let uses = evidence.resources;
    let share = |machine| {
        let total = programs_on(uses, machine).iter().map(|program| program.cpus).sum();
        share_of_cpus(evidence.plan, uses, machine, total)
    };
    load_machines(uses).filter_map(share).max_by(f64::total_cmp)
}

/// Returns the part of the system under test that may be among the other programs, because the run did not start it and its
/// processes are not watched: the server, or a service behind it. Each group of watched processes but one is behind another.
fn unseen_part(evidence: &Evidence) -> Option<UnseenPart> {
    let groups = evidence.resources.of_all(Counter::SutProcesses).count() as u64;
    let services = evidence.resources.of_all(Counter::SutServices).map(|one| one.max).sum::<u64>();
    match groups {
        0 => (evidence.plan.sut.name == "external").then_some(UnseenPart::Server),
        groups => (groups <= services).then_some(UnseenPart::Service),
    }
}
