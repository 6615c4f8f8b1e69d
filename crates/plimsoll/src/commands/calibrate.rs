//! `calibrate`: measures the capacity of the load generator, so that a server's quota can be set below it.

use std::sync::atomic::AtomicBool;

use fleet::{LoadMachines, Monitoring, ServerChoice};
use model::{Family, Overrides, Secrets, SutPlan, make_plan};
use serde_json::json;
use testbed::{Calibration, CalibrationCase};
use units::{Nanos, wall};

use super::brief_run::BriefRun;
use super::{print, print_json};
use crate::arguments::CalibrateArguments;
use crate::exit::{Exit, Failure};
use crate::family::{CalibratedWorkload, command_line};
use crate::interrupt;
use crate::paths;
use crate::placement::{CpuPlacement, split_cpus};
use crate::server_choice::built_in;
use crate::stderr::{eprint, warn};

/// Length of each measurement if a run needs a calibration and none is stored.
const BRIEF: Nanos = Nanos::from_secs(2);

/// Time under load before each measurement, for opening connections and TLS sessions.
const SETTLE: Nanos = Nanos::from_millis(500);

/// Returns the workloads of all families.
fn all_cases() -> impl Iterator<Item = &'static CalibratedWorkload> {
    Family::ALL.into_iter().flat_map(|family| command_line(family).calibration)
}

/// Measures the cases of all families that have any, and stores them.
pub(super) fn perform(arguments: &CalibrateArguments, as_json: bool) -> Result<Exit, Failure> {
    let sut_cpus = arguments.sut_cpus.as_ref().map(|list| list.0.as_slice());
    let load_cpus = arguments.load_cpus.as_ref().map(|list| list.0.as_slice());
    let calibration = measure(&split_cpus(sut_cpus, load_cpus)?, arguments.duration)?;
    let path = paths::calibration()?;
    calibration.save(&path).map_err(|error| Failure::new(Exit::Testbed, error))?;
    if as_json {
        let cases: Vec<_> = calibration
            .cases
            .iter()
            .map(|case| {
                json!({
                    "name": case.name,
                    "generator_cpu_s_per_op": case.generator_cpu_s_per_op,
                    "sut_cpu_s_per_op": case.sut_cpu_s_per_op,
                    "ceiling_ops_per_s": case.ceiling_ops_per_s,
                })
            })
            .collect();
        print_json(
            &json!({ "format": 1, "date": calibration.date, "cpu_model": calibration.cpu_model, "cases": cases, "file": path }),
        )?;
    } else {
        print(&format!(
            "{:<32} {:>18} {:>18} {:>14}",
            "case", "generator µs/op", "server µs/op", "maximum ops/s"
        ))?;
        for case in &calibration.cases {
            let generator = case.generator_cpu_s_per_op * 1e6;
            let sut = case.sut_cpu_s_per_op * 1e6;
            print(&format!(
                "{:<32} {generator:>18.2} {sut:>18.2} {:>14.0}",
                case.name, case.ceiling_ops_per_s
            ))?;
        }
        print(&path.display().to_string())?;
    }
    Ok(Exit::Valid)
}

/// Returns the stored calibration if it was made on this CPU model; otherwise makes a short one and stores it.
pub(super) fn stored_or_brief(placement: &CpuPlacement) -> Result<Calibration, Failure> {
    if let Some(stored) = stored()? {
        return Ok(stored);
    }
    eprint("Calibrating the load generator once, to set the server's CPU quota.");
    let calibration = measure(placement, BRIEF)?;
    if let Err(error) = calibration.save(&paths::calibration()?) {
        warn(error);
    }
    Ok(calibration)
}

/// Returns the stored calibration if it was made on this CPU model and has all cases.
pub(super) fn stored() -> Result<Option<Calibration>, Failure> {
    let stored = Calibration::load(&paths::calibration()?).map_err(Failure::usage)?;
    let has_all =
        |calibration: &Calibration| all_cases().all(|case| calibration.case(&case.name()).is_some());
    Ok(stored.filter(|calibration| calibration.cpu_model == cpu_model() && has_all(calibration)))
}

fn cpu_model() -> String {
    observe::model_name().unwrap_or_else(|| "unknown".to_owned())
}

fn measure(placement: &CpuPlacement, length: Nanos) -> Result<Calibration, Failure> {
    let stop = interrupt::flag();
    let cases = all_cases()
        .map(|case| measure_case(case, placement, length, &stop))
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(Calibration { date: paths::time_text(wall()), cpu_model: cpu_model(), cases })
}

fn measure_case(
    case: &CalibratedWorkload,
    placement: &CpuPlacement,
    length: Nanos,
    stop: &AtomicBool,
) -> Result<CalibrationCase, Failure> {
    let id = case.benchmark;
    let benchmark = benchmarks::find(id).map_err(Failure::usage)?.load();
    let sut = SutPlan {
        cpus: placement.sut_cpus.clone(),
        quota_reason: "none: the calibration measures the maximum rate".to_owned(),
        ..SutPlan::of("built-in")
    };
    let connection = case.keep.map(|keep| if keep { "keep-alive" } else { "per-request" });
    let family = benchmark.definition.family();
    let chosen = connection.map(|connection| family.choose_setting("connection", connection)).transpose();
    let overrides = Overrides {
        load: Some(vec![case.users]),
        settle: Some(SETTLE),
        steady: Some(length),
        settings: chosen.map_err(Failure::usage)?.into_iter().collect(),
        load_cpus: placement.load_cpus.clone(),
        load_threads: placement.load_threads,
        ..Overrides::new(sut)
    };
    let plan = make_plan(&benchmark.definition, benchmark.workload, &overrides)?;
    let run = BriefRun {
        purpose: "the calibration",
        server: ServerChoice::Start(built_in(id, None, &plan)?, None),
        secrets: Secrets::default(),
        // Monitoring would disturb the measurement of the generator.
        monitoring: Monitoring::Off,
        load: LoadMachines::Here,
        plan,
    };
    // An incomplete calibration is not stored.
    let results = run.perform(stop)?;
    let point = results.analysis.load_points.first();
    let measured = point.and_then(|point| {
        Some(CalibrationCase {
            name: case.name(),
            generator_cpu_s_per_op: point.generator_cpu_per_operation?,
            sut_cpu_s_per_op: point.sut_cpu_per_operation?,
            ceiling_ops_per_s: point.rate,
        })
    });
    measured.ok_or_else(|| {
        Failure::new(Exit::Testbed, format!("the calibration of `{id}` completed no operations"))
    })
}
