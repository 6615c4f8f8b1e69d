//! Division of CPUs between server and load generator, and the server's CPU quota.

use model::{CpuQuota, Family, Plan};
use observe::{available_cpus, by_core};
use testbed::{Calibration, Placement, QuotaBasis, choose_quota};

use crate::arguments::SutArguments;
use crate::exit::Failure;

/// CPU quota of the built-in server without a calibration, in CPUs: on every machine tried, the generator then
/// needs less than half of a CPU of the same kind.
const BUILT_IN_QUOTA: f64 = 0.3;

/// Name of the built-in server in plans.
pub(crate) const BUILT_IN: &str = "built-in";

/// The CPUs of the server and of the load generator.
#[derive(Debug, Clone)]
pub(crate) struct CpuPlacement {
    /// CPUs of the server; empty if it may use all.
    pub sut_cpus: Vec<u32>,
    /// CPUs of the load threads, one each; empty if they are not pinned.
    pub load_cpus: Vec<u32>,
    /// Number of load threads.
    pub load_threads: u32,
}

impl CpuPlacement {
    /// Returns the placement in a plan.
    pub(crate) fn of(plan: &Plan) -> CpuPlacement {
        CpuPlacement {
            sut_cpus: plan.sut.cpus.clone(),
            load_cpus: plan.load_cpus(),
            load_threads: plan.load_threads(),
        }
    }
}

/// Splits this machine's CPUs between a server that is started here and the load generator: half each by default. A
/// single CPU is shared.
///
/// # Errors
/// If a CPU is not available.
pub(crate) fn split_cpus(sut: Option<&[u32]>, load: Option<&[u32]>) -> Result<CpuPlacement, Failure> {
    let available = available_cpus();
    for cpu in sut.into_iter().chain(load).flatten() {
        if !available.contains(cpu) {
            let list = observe::format_cpu_list(&available);
            return Err(Failure::usage(format!("CPU {cpu} is not available; available CPUs: {list}")));
        }
    }
    let without = |taken: &[u32]| available.iter().copied().filter(|cpu| !taken.contains(cpu)).collect();
    let (sut_cpus, load_cpus): (Vec<u32>, Vec<u32>) = match (sut, load) {
        (Some(sut), Some(load)) => (sut.to_vec(), load.to_vec()),
        (Some(sut), None) => (sut.to_vec(), without(sut)),
        (None, Some(load)) => (without(load), load.to_vec()),
        (None, None) if available.len() < 2 => (Vec::new(), Vec::new()),
        (None, None) => {
            let (sut, load) = available.split_at(available.len() / 2);
            (sut.to_vec(), load.to_vec())
        }
    };
    let load_threads = u32::try_from(load_cpus.len().max(1)).unwrap_or(u32::MAX);
    Ok(CpuPlacement { sut_cpus, load_cpus, load_threads })
}

/// Gives the server `size` CPUs, whole cores before sibling threads. The load generator has the same CPUs for all group
/// sizes: those in `load`, or else those that the largest group leaves free. If that takes all CPUs, they are those that the
/// second largest leaves free, and the largest group shares them.
///
/// # Errors
/// If a group is empty or too large.
pub(crate) fn cpu_group(
    groups: &[usize],
    size: usize,
    load: Option<&[u32]>,
) -> Result<CpuPlacement, Failure> {
    let available = by_core(&available_cpus());
    let largest = groups.iter().copied().max().unwrap_or(size);
    let second = groups.iter().copied().filter(|size| *size != largest).max();
    let is_free = |cpu: &u32| load.is_none_or(|load| !load.contains(cpu));
    let free: Vec<u32> = available.iter().copied().filter(is_free).collect();
    let is_shared = load.is_none() && largest == free.len();
    let most = if load.is_none() && second.is_none() { free.len().saturating_sub(1) } else { free.len() };
    if groups.contains(&0) || most < largest {
        let message = format!("expected CPU groups of 1 to {most} CPUs on this machine, found {largest}");
        return Err(Failure::usage(message)
            .hint("choose smaller groups, or fewer CPUs for the load with `--load-cpus`"));
    }
    let n_exclusive = second.filter(|_| is_shared).unwrap_or(largest);
    let mut sut_cpus = free[..size].to_vec();
    let rest = &free[n_exclusive..];
    let mut load_cpus = load.unwrap_or(rest).to_vec();
    sut_cpus.sort_unstable();
    load_cpus.sort_unstable();
    let load_threads = u32::try_from(load_cpus.len()).unwrap_or(u32::MAX);
    Ok(CpuPlacement { sut_cpus, load_cpus, load_threads })
}

/// Gives the whole machine to the load generator, for a server that Plimsoll does not start.
///
/// # Errors
/// If a CPU is not available.
pub(crate) fn all_for_load(load: Option<&[u32]>) -> Result<CpuPlacement, Failure> {
    let load_cpus = match load {
        Some(_) => split_cpus(Some(&[]), load)?.load_cpus,
        None => Vec::new(),
    };
    let n = if load_cpus.is_empty() { available_cpus().len() } else { load_cpus.len() };
    Ok(CpuPlacement { sut_cpus: Vec::new(), load_cpus, load_threads: u32::try_from(n).unwrap_or(1) })
}

/// Returns the most load threads beside a running server on this machine, half of the CPUs; one of two.
pub(crate) fn load_threads_max() -> u32 {
    u32::try_from(available_cpus().len() / 2).unwrap_or(u32::MAX).max(1)
}

/// Gives the load generator this many CPUs beside a running server on this machine, the last ones; the server keeps all.
///
/// # Errors
/// If a CPU is not available.
pub(crate) fn beside_server(load: Option<&[u32]>, threads: u32) -> Result<CpuPlacement, Failure> {
    if load.is_some() {
        return all_for_load(load);
    }
    let CpuPlacement { load_cpus, .. } = split_cpus(None, None)?;
    let n = usize::try_from(threads).unwrap_or(usize::MAX).min(load_cpus.len());
    Ok(CpuPlacement {
        sut_cpus: Vec::new(),
        load_cpus: load_cpus[load_cpus.len() - n..].to_vec(),
        load_threads: threads,
    })
}

/// Returns the CPU quota of a plan's server if the arguments determine it; `None` if it follows from a calibration.
pub(crate) fn fixed_quota(arguments: &SutArguments, plan: &Plan) -> Option<CpuQuota> {
    let quota = |cpus, reason: &str| Some(CpuQuota { cpus, reason: reason.to_owned() });
    if !arguments.target.is_empty() {
        return quota(None, "Plimsoll does not control this server");
    }
    if let Some(asked) = arguments.sut_quota {
        let cpus = asked.0.map(|cpus| if plan.sut.name == BUILT_IN { cpus.min(1.0) } else { cpus });
        return quota(cpus, "set by the user");
    }
    if arguments.sut_groups.is_empty() {
        return None;
    }
    quota(
        None,
        if plan.load_is_on_sut_cpus() {
            "a CPU group; the load generator uses CPUs of it, too"
        } else {
            "a CPU group has its CPUs to itself"
        },
    )
}

/// Returns the CPU quota of a plan's server that follows from a case of a calibration; `None` if it has no such case.
pub(crate) fn calibrated_quota(plan: &Plan, calibration: &Calibration, case: &str) -> Option<CpuQuota> {
    let costs = calibration.case(case)?;
    let cpus = choose_quota(QuotaBasis {
        placement: quota_placement(plan),
        sut_cpu_s_per_op: costs.sut_cpu_s_per_op,
        generator_cpu_s_per_op: costs.generator_cpu_s_per_op,
    });
    // The built-in server is single-threaded.
    let cpus = if plan.sut.name == BUILT_IN { cpus.min(0.9) } else { cpus };
    Some(CpuQuota {
        cpus: Some(cpus),
        reason: format!("from the calibration of {} ({case})", calibration.date),
    })
}

/// Returns the CPU quota of servers of a family for which the load generator is not calibrated: none, as there is nothing
/// that it could follow from.
pub(crate) fn uncalibrated_quota(family: Family) -> CpuQuota {
    CpuQuota { cpus: None, reason: format!("the load generator is not calibrated for {family} servers") }
}

/// Returns the CPU quota without a calibration.
pub(crate) fn default_quota() -> CpuQuota {
    CpuQuota { cpus: Some(BUILT_IN_QUOTA), reason: "the default without a calibration".to_owned() }
}

fn quota_placement(plan: &Plan) -> Placement {
    if plan.load_cpus().is_empty() {
        return Placement::Together { cpus: available_cpus().len() as f64 };
    }
    Placement::Apart { sut_cpus: plan.sut.cpus.len() as f64, load_cpus: plan.load_cpus().len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_keeps_its_cpus_for_all_group_sizes() {
        let available = available_cpus();
        let most = available.len() - 1;
        if most == 0 {
            return assert!(cpu_group(&[1], 1, None).is_err(), "the load needs one CPU");
        }
        let small = cpu_group(&[1, most], 1, None).unwrap();
        let large = cpu_group(&[1, most], most, None).unwrap();
        assert_eq!((small.sut_cpus.len(), large.sut_cpus.len()), (1, most));
        assert_eq!(small.load_cpus, large.load_cpus);
        assert!(large.sut_cpus.iter().all(|cpu| !large.load_cpus.contains(cpu)));
        assert!(cpu_group(&[most + 1], most + 1, None).is_err(), "no CPU is left");
        assert!(cpu_group(&[1, most + 2], 1, None).is_err(), "there are not so many");
        assert!(cpu_group(&[0, 1], 1, None).is_err());
    }

    #[test]
    fn a_group_of_all_cpus_shares_those_that_the_second_largest_leaves() {
        let all = available_cpus().len();
        if all < 2 {
            return assert!(cpu_group(&[1], 1, None).is_err(), "the load needs one CPU");
        }
        let small = cpu_group(&[1, all], 1, None).unwrap();
        let large = cpu_group(&[1, all], all, None).unwrap();
        assert_eq!((small.sut_cpus.len(), large.sut_cpus.len()), (1, all));
        assert_eq!((small.load_cpus.len(), &small.load_cpus), (all - 1, &large.load_cpus));
        assert!(small.load_cpus.iter().all(|cpu| !small.sut_cpus.contains(cpu)));
        let load = [*large.load_cpus.last().unwrap()];
        assert!(cpu_group(&[1, all], 1, Some(&load)).is_err(), "CPUs that the user chose are the load's own");
    }
}
