//! The planner of a run: makes the plan of each server, at first and again after each trial.

use model::{CpuQuota, Overrides, Plan, SutPlan, TotalTime, WebSut, make_plan};

use super::calibrate::{stored, stored_or_brief};
use super::run_spec::RunSpec;
use crate::candidate::{Candidate, ChosenServer};
use crate::exit::Failure;
use crate::family::{CalibratedWorkload, command_line};
use crate::placement::{
    CpuPlacement, all_for_load, beside_server, calibrated_quota, cpu_group, default_quota, fixed_quota,
    split_cpus, uncalibrated_quota,
};
use crate::planned_run::{PlannedRun, TrialFindings, differ_in_settings};
use crate::trust;

/// The maker of the plans of a run's servers.
pub(super) struct Planner<'a> {
    /// The run.
    pub spec: &'a RunSpec,
    /// Whether a run may add load points to those of its plan: not where runs are compared, which have the same.
    refine: bool,
    /// The number of runs, repetitions included.
    n_runs: usize,
}

impl Planner<'_> {
    /// Makes the planner of so many runs.
    pub(super) fn new(spec: &RunSpec, n_runs: usize) -> Planner<'_> {
        Planner { spec, refine: spec.chosen.is_refined && n_runs == 1, n_runs }
    }

    /// Makes the plan of a server with what trials have found out about it.
    ///
    /// # Errors
    /// There can be no such run.
    pub(super) fn plan(&self, candidate: &Candidate, found: &TrialFindings) -> Result<Plan, Failure> {
        let plan = self.plan_with(candidate, &self.overrides(candidate, found)?)?;
        match &found.quota {
            Some(quota) => Ok(plan.with_quota(quota.clone()).map_err(|problem| vec![problem])?),
            None => Ok(plan),
        }
    }

    /// Makes the plan of a server anew, after a trial has found out something.
    ///
    /// # Errors
    /// There can be no such run.
    pub(super) fn plan_again(&self, run: &mut PlannedRun) -> Result<(), Failure> {
        run.plan = self.plan(&run.candidate, &run.found)?;
        Ok(())
    }

    /// Returns what a run of a server overrides in the definition.
    ///
    /// # Errors
    /// Its CPUs are not available.
    pub(super) fn overrides(
        &self,
        candidate: &Candidate,
        found: &TrialFindings,
    ) -> Result<Overrides, Failure> {
        let sut = &self.spec.sut;
        let placement = self.placement(candidate, found.load_threads)?;
        let agents = self.spec.agents.plans(&placement);
        let CpuPlacement { sut_cpus, load_cpus, load_threads } = placement;
        let sut_plan = SutPlan {
            label: candidate.state.clone(),
            cpus: sut_cpus,
            memory: sut.sut_memory,
            disk: sut.sut_disk,
            profile: sut.profile.clone(),
            certificates: trust::check(sut),
            ..SutPlan::of(candidate.name())
        };
        let definition = &self.spec.chosen_for(candidate).benchmark.definition;
        let of_target = (command_line(definition.family()).target_setting)(candidate, definition);
        let overrides = self.spec.overrides.clone();
        let n_runs = u32::try_from(self.n_runs).unwrap_or(u32::MAX);
        Ok(Overrides {
            refine: self.refine,
            total: overrides.total.map(|total| TotalTime { n_runs, ..total }),
            in_flight_max: overrides.in_flight_max.or(found.in_flight_max),
            settings: candidate.settings.iter().cloned().chain(of_target).collect(),
            sut: sut_plan,
            agents,
            load_cpus,
            load_threads,
            source_addresses: sut.source_addresses.clone(),
            ..overrides
        })
    }

    /// Divides the CPUs between a server and the load; `threads` is the number of load threads beside a running server on
    /// this machine.
    fn placement(&self, candidate: &Candidate, threads: u32) -> Result<CpuPlacement, Failure> {
        let sut = &self.spec.sut;
        let load_cpus = sut.load_cpus.as_ref().map(|list| list.0.as_slice());
        match (&candidate.server, candidate.group) {
            (_, Some(size)) => cpu_group(&sut.sut_groups, size, load_cpus),
            (ChosenServer::External(_), None) if candidate.is_running_here() => {
                beside_server(load_cpus, threads)
            }
            (ChosenServer::External(_) | ChosenServer::Embedded(_), None) => all_for_load(load_cpus),
            _ => split_cpus(sut.sut_cpus.as_ref().map(|list| list.0.as_slice()), load_cpus),
        }
    }

    /// Makes the plan of a server with these overrides.
    ///
    /// # Errors
    /// There can be no such run.
    pub(super) fn plan_with(&self, candidate: &Candidate, overrides: &Overrides) -> Result<Plan, Failure> {
        let chosen = self.spec.chosen_for(candidate);
        let workload = chosen.workload(&candidate.settings)?;
        let mut plan = make_plan(&chosen.benchmark.definition, workload, overrides)?;
        // The accelerator's memory depends on the load.
        let accelerator = candidate.accelerator.as_ref().map(|one| one.plan(&plan.file_set()));
        plan.sut.web = WebSut::of(candidate.gateway, accelerator);
        (command_line(plan.workload.family()).check_plan)(candidate, &plan)?;
        Ok(plan)
    }

    /// Gives all servers their CPU quotas, which may follow from a calibration.
    ///
    /// # Errors
    /// The calibration failed, or a quota is not above zero.
    pub(super) fn set_quotas(&self, runs: &mut [PlannedRun]) -> Result<(), Failure> {
        let quota = |run: &PlannedRun| cpu_quota(self.spec, &run.candidate, &run.plan);
        let mut quotas = runs.iter().map(quota).collect::<Result<Vec<CpuQuota>, Failure>>()?;
        if differ_in_settings(runs) {
            share_least_quota(&mut quotas);
        }
        for (run, quota) in runs.iter_mut().zip(quotas) {
            run.found.quota = Some(quota);
            self.plan_again(run)?;
        }
        Ok(())
    }
}

/// Returns the CPU quota of a plan's server. Measures a calibration if the quota follows from one and none is stored,
/// except in a dry run.
fn cpu_quota(spec: &RunSpec, candidate: &Candidate, plan: &Plan) -> Result<CpuQuota, Failure> {
    if let Some(quota) = fixed_quota(&spec.sut, plan) {
        return Ok(quota);
    }
    let family = plan.workload.family();
    let own = command_line(family);
    if let ChosenServer::Embedded(embedded) = &candidate.server {
        return Ok(CpuQuota { cpus: None, reason: embedded.place.to_owned() });
    }
    if own.calibration.is_empty() {
        return Ok(uncalibrated_quota(family));
    }
    // The built-in server has a safe default quota; for a real server, a calibration is worth its time.
    let is_worth_calibration = matches!(candidate.server, ChosenServer::Recipe(_));
    let calibration = if is_worth_calibration && !spec.dry_run {
        Some(stored_or_brief(&CpuPlacement::of(plan))?)
    } else {
        stored()?
    };
    let case = (own.calibrated)(plan).map(CalibratedWorkload::name);
    let calibrated =
        calibration.zip(case).and_then(|(calibration, case)| calibrated_quota(plan, &calibration, &case));
    Ok(calibrated.unwrap_or_else(|| {
        if is_worth_calibration && spec.dry_run {
            CpuQuota { cpus: None, reason: "set by a calibration at the start of the run".to_owned() }
        } else {
            default_quota()
        }
    }))
}

/// Gives all servers the least of their quotas: those of a calibration differ with settings, and a comparison of
/// settings would be one of quotas.
fn share_least_quota(quotas: &mut [CpuQuota]) {
    let cpus = |quota: &CpuQuota| quota.cpus.unwrap_or(f64::INFINITY);
    let least = quotas.iter().min_by(|one, other| cpus(one).total_cmp(&cpus(other))).cloned();
    let Some(least) = least else { return };
    for quota in quotas.iter_mut().filter(|quota| quota.cpus.is_some() && quota.cpus != least.cpus) {
        let reason = format!("the least of the settings that are compared: {}", least.reason);
        *quota = CpuQuota { cpus: least.cpus, reason };
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use testbed::Recipe;

    use super::*;
    use crate::arguments::{Arguments, Command};

    /// Goal: a database must not get the quota of a web server, nor wait for a calibration against one.
    #[test]
    fn servers_of_a_family_without_calibration_have_no_quota() {
        let parsed = Arguments::parse_from(["plimsoll", "run", "orderentry"]);
        let Command::Run(arguments) = parsed.command else { panic!("a run") };
        let spec = RunSpec::resolve(*arguments).unwrap();
        let candidate = Candidate {
            label: "postgresql".to_owned(),
            title: "postgresql".to_owned(),
            server: ChosenServer::Recipe(Box::new(Recipe::load("postgresql").unwrap())),
            gateway: None,
            accelerator: None,
            group: None,
            settings: Vec::new(),
            state: None,
            address: String::new(),
            page: 0,
        };
        let plan = Planner::new(&spec, 1).plan(&candidate, &TrialFindings::default()).unwrap();
        let quota = cpu_quota(&spec, &candidate, &plan).unwrap();
        assert_eq!(quota, uncalibrated_quota(model::Family::OrderEntry));
        assert_eq!(quota.cpus, None);
        assert_eq!(quota.reason, "the load generator is not calibrated for order-entry servers");
    }

    /// Goal: who asks for encryption in the URL of a database is not loaded in clear, whatever the benchmark; whoever turns
    /// it off for a run is not told that certificates need it.
    #[test]
    fn a_database_whose_url_asks_for_encryption_is_loaded_encrypted() {
        let encryption = |query: &str, more: &[&str]| {
            let target = format!("postgres://plimsoll@127.0.0.1:5432/plimsoll{query}");
            let words = ["plimsoll", "run", "orderentry", "--target", &target];
            let parsed = Arguments::parse_from([&words[..], more].concat());
            let Command::Run(arguments) = parsed.command else { panic!("a run") };
            let spec = RunSpec::resolve(*arguments).unwrap();
            let candidates = spec.candidates().unwrap();
            let spec = spec.with_certificates_of(&candidates);
            let plan = Planner::new(&spec, 1).plan(&candidates[0], &TrialFindings::default()).unwrap();
            (plan.workload.is_encrypted(), spec.sut.insecure)
        };
        assert_eq!(encryption("?sslmode=require", &[]), (true, true));
        assert_eq!(encryption("?sslmode=verify-full", &[]), (true, false));
        assert_eq!(encryption("", &[]), (false, false));
        assert_eq!(encryption("?sslmode=disable", &[]), (false, false));
        assert_eq!(encryption("?sslmode=require", &["--set", "tls=off"]), (false, false));
        assert_eq!(encryption("", &["--set", "tls=on"]), (true, false));
    }

    /// Goal: what trials find out stands beside what the user asks for, which comes first; it is in every later plan.
    #[test]
    fn plans_follow_from_the_arguments_and_from_what_trials_find() {
        let planned = |words: &[&str], found: &TrialFindings| {
            let parsed = Arguments::parse_from([&["plimsoll", "run", "one-object"], words].concat());
            let Command::Run(arguments) = parsed.command else { panic!("a run") };
            let spec = RunSpec::resolve(*arguments).unwrap();
            let candidates = spec.candidates().unwrap();
            Planner::new(&spec, candidates.len()).plan(&candidates[0], found).unwrap()
        };
        let quota = CpuQuota { cpus: Some(0.5), reason: "a trial".to_owned() };
        let found = TrialFindings { in_flight_max: Some(7), quota: Some(quota), ..TrialFindings::default() };
        let words = ["--rate", "10", "--seed", "3", "--duration", "2", "--limit", "errors<1%"];
        let plan = planned(&words, &found);
        assert_eq!((plan.seed, plan.phases.steady, plan.limits.len()), (3, units::Nanos::from_secs(2), 1));
        assert_eq!((plan.load_points[0].load.level(), plan.load_points[0].load.in_flight_max()), (10.0, 7));
        assert_eq!((plan.sut.quota, plan.sut.quota_reason.as_str()), (Some(0.5), "a trial"));
        let asked = planned(&[&words[..], &["--in-flight-max", "9"]].concat(), &found);
        assert_eq!(asked.load_points[0].load.in_flight_max(), 9);
    }
}
