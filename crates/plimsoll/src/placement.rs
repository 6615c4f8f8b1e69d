//! Who gets which CPUs, and how much of them the server may use.

use model::SutPlan;
use testbed::{Calibration, Placement, QuotaBasis, available_cpus, choose_quota};

use crate::arguments::SutArguments;
use crate::exit::Failure;

/// The built-in server's share of a CPU where nothing was calibrated: on every machine tried, the
/// generator then needs less than half of a CPU of the same kind.
const BUILT_IN_QUOTA: f64 = 0.3;

/// Where server and load run.
#[derive(Debug, Clone)]
pub struct Places {
    /// CPUs of the server; empty: all.
    pub sut_cpus: Vec<u32>,
    /// CPUs of the load threads, one each; empty: not pinned.
    pub load_cpus: Vec<u32>,
    /// Number of load threads.
    pub load_threads: u32,
}

/// Divides this machine between a server that is started here and the load: each its own half, unless told
/// otherwise. A single CPU is shared.
pub fn divide(sut: Option<&[u32]>, load: Option<&[u32]>) -> Result<Places, Failure> {
    let available = available_cpus();
    for cpu in sut.into_iter().chain(load).flatten() {
        if !available.contains(cpu) {
            let list = testbed::format_cpu_list(&available);
            return Err(Failure::usage(format!("CPU {cpu} cannot be used here; available: {list}")));
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
    Ok(Places { sut_cpus, load_cpus, load_threads })
}

/// Leaves the whole machine to the load: the server is elsewhere, or none of our business.
pub fn all_for_load(load: Option<&[u32]>) -> Result<Places, Failure> {
    let load_cpus = match load {
        Some(_) => divide(Some(&[]), load)?.load_cpus,
        None => Vec::new(),
    };
    let n = if load_cpus.is_empty() { available_cpus().len() } else { load_cpus.len() };
    Ok(Places { sut_cpus: Vec::new(), load_cpus, load_threads: u32::try_from(n).unwrap_or(1) })
}

/// Makes the part of the plan that says how much of this machine the server `name` gets. `calibration` is asked for
/// only where a quota has to be chosen.
pub fn sut_plan(
    arguments: &SutArguments,
    name: &str,
    places: &Places,
    case: &str,
    calibration: impl FnOnce() -> Result<Option<Calibration>, Failure>,
) -> Result<SutPlan, Failure> {
    let cpus = places.sut_cpus.clone();
    let plan = |quota, reason: &str| SutPlan {
        cpus: cpus.clone(),
        quota,
        quota_reason: reason.to_owned(),
        ..SutPlan::of(name)
    };
    let is_built_in = name == "built-in";
    if arguments.target.is_some() {
        return Ok(plan(None, "the server is not ours to limit"));
    }
    if let Some(asked) = arguments.sut_quota {
        let quota = asked.0.map(|cpus| if is_built_in { cpus.min(1.0) } else { cpus });
        return Ok(plan(quota, "asked for"));
    }
    let calibration = calibration()?;
    let found = calibration.as_ref().and_then(|calibration| Some((calibration, calibration.case(case)?)));
    match found {
        Some((calibration, costs)) => {
            let basis = QuotaBasis {
                placement: placement(places),
                sut_cpu_s_per_op: costs.sut_cpu_s_per_op,
                generator_cpu_s_per_op: costs.generator_cpu_s_per_op,
            };
            let quota = choose_quota(basis);
            // The built-in server has one thread.
            let quota = if is_built_in { quota.min(0.9) } else { quota };
            let reason = format!("from the calibration of {} ({case})", calibration.date);
            Ok(plan(Some(quota), &reason))
        }
        None => Ok(plan(Some(BUILT_IN_QUOTA), "the default where nothing was calibrated")),
    }
}

fn placement(places: &Places) -> Placement {
    if places.load_cpus.is_empty() {
        return Placement::Together { cpus: available_cpus().len() as f64 };
    }
    Placement::Apart { sut_cpus: places.sut_cpus.len() as f64, load_cpus: places.load_cpus.len() as f64 }
}
