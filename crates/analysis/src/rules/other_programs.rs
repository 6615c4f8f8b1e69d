//! Other programs on a measured machine, named with their CPU use.

use model::{Counter, MachineRole};

use super::{Evidence, RuleFinding};
use crate::ResourceUsage;

/// The total use, in CPUs, from which other programs are reported. A house rule: a tenth of a CPU shows in the
/// intervals.
const CPUS_MIN: f64 = 0.1;

/// The most programs that are named; a program that used less than this of a CPU is not.
const N_NAMED: usize = 3;
const SHARE_MIN: f64 = 0.02;

/// Reports programs that are neither the server nor the load generator.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let used = others(evidence.resources);
    let sum: f64 = used.iter().map(|(_, cpus)| cpus).sum();
    if sum < CPUS_MIN {
        return Vec::new();
    }
    let server = match evidence.plan.sut.name.as_str() {
        "external" => "; the server may be one of them",
        _ => "",
    };
    let text = format!("other programs used {sum:.2} CPUs: {}{server}", listed(&used));
    vec![RuleFinding::remark("other-programs", text)]
}

/// Returns a clause about the other users of the machine, to stand behind what they may have disturbed; empty if
/// there were none.
pub(super) fn clause(uses: &ResourceUsage) -> String {
    let used = others(uses);
    let sum: f64 = used.iter().map(|(_, cpus)| cpus).sum();
    if sum < CPUS_MIN {
        String::new()
    } else {
        format!("; other programs used {sum:.2} CPUs ({})", listed(&used))
    }
}

/// Returns the programs on load machines with the CPUs that each used, the busiest first.
fn others(uses: &ResourceUsage) -> Vec<(&str, f64)> {
    let series = uses.series.iter().filter(|one| one.series.counter == Counter::OtherCpu);
    let watched = series.filter(|one| uses.role(one).is_some_and(|role| role != MachineRole::Sut));
    let mut used: Vec<(&str, f64)> =
        watched.filter_map(|one| Some((one.series.instance.as_str(), one.value? / 1e6))).collect();
    used.sort_by(|one, other| other.1.total_cmp(&one.1));
    used
}

/// Writes `stress 98 %, cc1 40 %`: of one CPU each.
fn listed(used: &[(&str, f64)]) -> String {
    let named = used.iter().take(N_NAMED).filter(|(_, cpus)| SHARE_MIN <= *cpus);
    let texts: Vec<String> =
        named.map(|(name, cpus)| format!("{name} {:.0} % of one", 100.0 * cpus)).collect();
    match texts.is_empty() {
        true => "none of them above 2 % of a CPU".to_owned(),
        false => texts.join(", "),
    }
}
