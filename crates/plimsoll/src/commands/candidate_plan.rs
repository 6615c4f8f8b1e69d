//! The plan of a run against one server: what the arguments override, its CPUs, and its quota.

use fleet::UrlEncryption;
use model::{
    ChosenSetting, CpuQuota, Definition, HttpVersion, Overrides, Plan, SutPlan, Tls, WebProtocol, make_plan,
};

use super::calibrate::{self, case_of, stored_or_brief};
use crate::arguments::RunArguments;
use crate::benchmark::Chosen;
use crate::candidates::{Candidate, ChosenServer};
use crate::exit::Failure;
use crate::placement::{
    CpuPlacement, all_for_load, beside_server, calibrated_quota, cpu_group, default_quota, fixed_quota,
    split_cpus, uncalibrated_quota,
};
use crate::trust;

/// Makes the plan of a server, as yet without a CPU quota, which may follow from a calibration.
/// `threads` is the number of load threads beside a running server on this machine.
pub(super) fn candidate_plan(
    arguments: &RunArguments,
    chosen: &Chosen,
    candidate: &Candidate,
    threads: u32,
) -> Result<Plan, Failure> {
    let overrides = candidate_overrides(arguments, chosen, candidate, threads)?;
    planned(chosen, candidate, &overrides)
}

/// Returns what a run of a server overrides.
pub(super) fn candidate_overrides(
    arguments: &RunArguments,
    chosen: &Chosen,
    candidate: &Candidate,
    threads: u32,
) -> Result<Overrides, Failure> {
    let sut = &arguments.sut;
    let load_cpus = sut.load_cpus.as_ref().map(|list| list.0.as_slice());
    let placement = match (&candidate.server, candidate.group) {
        (_, Some(size)) => cpu_group(&sut.sut_groups, size, load_cpus)?,
        (ChosenServer::External(_), None) if candidate.is_running_here() => {
            beside_server(load_cpus, threads)?
        }
        (ChosenServer::External(_) | ChosenServer::Embedded, None) => all_for_load(load_cpus)?,
        _ => split_cpus(sut.sut_cpus.as_ref().map(|list| list.0.as_slice()), load_cpus)?,
    };
    let definition = &chosen.benchmark.definition;
    let sut_plan = SutPlan {
        label: sut.label.clone(),
        cpus: placement.sut_cpus.clone(),
        memory: sut.sut_memory,
        disk: sut.sut_disk,
        profile: sut.profile.clone(),
        gateway: candidate.gateway,
        certificates: trust::check(sut),
        ..SutPlan::of(candidate.name())
    };
    let tls = tls_of_target(definition, candidate).or_else(|| tls_of_database(definition, candidate));
    let settings = candidate.settings.iter().cloned().chain(tls).collect();
    let limits = arguments.plan.limits()?;
    let refine = chosen.is_refined;
    Ok(Overrides { settings, limits, refine, ..overrides(arguments, sut_plan, placement) })
}

/// Makes the plan of a server with these overrides.
pub(super) fn planned(
    chosen: &Chosen,
    candidate: &Candidate,
    overrides: &Overrides,
) -> Result<Plan, Failure> {
    let definition = &chosen.benchmark.definition;
    let mut plan = make_plan(definition, chosen.workload(&candidate.settings)?, overrides)?;
    // The accelerator's memory depends on the load.
    plan.sut.accelerator =
        candidate.accelerator.as_ref().map(|accelerator| accelerator.plan(&plan.file_set()));
    if let Some(web) = plan.workload.web() {
        check_transport(candidate, &web.protocol)?;
    }
    Ok(plan)
}

/// Returns the CPU quota of a plan's server. Measures a calibration if the quota follows from one and none is stored,
/// except in a dry run.
pub(super) fn cpu_quota(
    arguments: &RunArguments,
    candidate: &Candidate,
    plan: &Plan,
) -> Result<CpuQuota, Failure> {
    if let Some(quota) = fixed_quota(&arguments.sut, plan) {
        return Ok(quota);
    }
    if matches!(candidate.server, ChosenServer::Embedded) {
        let reason = "the database is in the process of the load generator".to_owned();
        return Ok(CpuQuota { cpus: None, reason });
    }
    let family = plan.workload.family();
    if !calibrate::is_calibrated(family) {
        return Ok(uncalibrated_quota(family));
    }
    // The built-in server has a safe default quota; for a real server, a calibration is worth its time.
    let is_worth_calibration = matches!(candidate.server, ChosenServer::Recipe(_));
    let calibration = match is_worth_calibration && !arguments.dry_run {
        true => Some(stored_or_brief(&CpuPlacement::of(plan))?),
        false => calibrate::stored()?,
    };
    let case =
        plan.workload.web().map(|web| case_of(&plan.benchmark.id, web.protocol.tls, web.protocol.connection));
    let calibrated =
        calibration.zip(case).and_then(|(calibration, case)| calibrated_quota(plan, &calibration, &case));
    Ok(calibrated.unwrap_or_else(|| match is_worth_calibration && arguments.dry_run {
        true => CpuQuota { cpus: None, reason: "set by a calibration at the start of the run".to_owned() },
        false => default_quota(),
    }))
}

/// Gives all servers the least of their quotas: those of a calibration differ with settings, and a comparison of
/// settings would be one of quotas.
pub(super) fn share_least_quota(quotas: &mut [CpuQuota]) {
    let cpus = |quota: &CpuQuota| quota.cpus.unwrap_or(f64::INFINITY);
    let least = quotas.iter().min_by(|one, other| cpus(one).total_cmp(&cpus(other))).cloned();
    let Some(least) = least else { return };
    for quota in quotas.iter_mut().filter(|quota| quota.cpus.is_some() && quota.cpus != least.cpus) {
        let reason = format!("the least of the settings that are compared: {}", least.reason);
        *quota = CpuQuota { cpus: least.cpus, reason };
    }
}

/// Returns the TLS setting that follows from the URL of a database, unless the run sets it.
fn tls_of_database(definition: &Definition, candidate: &Candidate) -> Option<ChosenSetting> {
    let is_set = candidate.settings.iter().any(|one| one.setting.name == "tls");
    let is_asked = candidate.url_encryption() != UrlEncryption::Unsaid && !is_set;
    is_asked.then(|| definition.family().choose_setting("tls", "on").ok()).flatten()
}

/// Returns the TLS setting that follows from a target: an `https://` target is accessed over TLS even if the benchmark
/// does not use it, with session resumption as in browsers, unless the run sets it.
fn tls_of_target(definition: &Definition, candidate: &Candidate) -> Option<ChosenSetting> {
    let is_https = candidate.web_target().is_some_and(|target| target.secure);
    let is_set = candidate.settings.iter().any(|one| one.setting.name == "tls");
    let is_off = definition.workload.web().is_some_and(|web| web.protocol.tls == Tls::Off);
    let resumed = || definition.family().choose_setting("tls", Tls::Resumed.name()).ok();
    (is_https && is_off && !is_set).then(resumed).flatten()
}

/// Checks that the target or the recipe supports the protocol. Recipes do not support HTTP/2 without TLS.
fn check_transport(candidate: &Candidate, protocol: &WebProtocol) -> Result<(), Failure> {
    if let Some(target) = candidate.web_target() {
        target.check(protocol).map_err(Failure::usage)?;
    }
    let is_clear = (protocol.tls, protocol.http) == (Tls::Off, HttpVersion::Http2);
    let is_by_recipe = matches!(candidate.server, ChosenServer::Recipe(_)) || candidate.accelerator.is_some();
    match is_clear && is_by_recipe {
        true => Err(Failure::usage("recipes support HTTP/2 over TLS only")
            .hint("add `--tls resumed` or `--tls full`")),
        false => Ok(()),
    }
}

fn overrides(arguments: &RunArguments, sut: SutPlan, placement: CpuPlacement) -> Overrides {
    let plan = &arguments.plan;
    Overrides {
        quick: plan.quick,
        load: plan.load.as_ref().map(|list| list.0.clone()),
        rates: plan.rate.as_ref().map(|list| list.0.clone()),
        max_load: plan.max_load,
        find_max: plan.find_max,
        refine: false,
        limits: Vec::new(),
        arrivals: plan.arrivals,
        in_flight_max: plan.in_flight_max,
        ramp_up: plan.ramp_up,
        settle: plan.settle,
        steady: plan.duration,
        ramp_down: plan.ramp_down,
        drain: plan.drain,
        settings: Vec::new(),
        seed: plan.seed,
        sut,
        load_cpus: placement.load_cpus,
        load_threads: placement.load_threads,
        source_addresses: arguments.sut.source_addresses.clone(),
    }
}

#[cfg(all(test, feature = "echo"))]
mod tests {
    use clap::Parser;
    use testbed::Recipe;

    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::subject;

    /// Goal: a database must not get the quota of a web server, nor wait for a calibration against one.
    #[test]
    fn servers_of_a_family_without_calibration_have_no_quota() {
        let parsed = Arguments::parse_from(["plimsoll", "run", "echo"]);
        let Command::Run(mut arguments) = parsed.command else { panic!("a run") };
        let chosen = subject::choose(&mut arguments).unwrap();
        let candidate = Candidate {
            label: "postgresql".to_owned(),
            title: "postgresql".to_owned(),
            server: ChosenServer::Recipe(Box::new(Recipe::load("postgresql").unwrap())),
            gateway: None,
            accelerator: None,
            group: None,
            settings: Vec::new(),
        };
        let plan = candidate_plan(&arguments, &chosen, &candidate, 1).unwrap();
        let quota = cpu_quota(&arguments, &candidate, &plan).unwrap();
        assert_eq!(quota, uncalibrated_quota(model::Family::Echo));
        assert_eq!(quota.cpus, None);
        assert_eq!(quota.reason, "the load generator is not calibrated for echo servers");
    }
}
