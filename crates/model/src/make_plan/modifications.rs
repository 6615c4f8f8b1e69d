//! Deviations of a run from its benchmark's definition.

use languages::{load_text, time_text};

use super::load_points;
use crate::{
    Arrivals, Definition, Load, LoadPoint, Modification, Overrides, Pick, Plan, Search, Setting,
    WebDefinition, Workload, WorkloadSource,
};

/// Lists what differs from the definition, in the order in which reports show it.
pub(super) fn modifications(
    definition: &Definition,
    standard_workload: &Workload,
    overrides: &Overrides,
    plan: &Plan,
) -> Vec<Modification> {
    let (standard, ours) = (definition.phases, plan.phases);
    let quick = if overrides.quick { "quick run" } else { "full" };
    let course = [
        ("length", "full".to_owned(), quick.to_owned()),
        ("load", load_text_of(&standard_points(definition, overrides)), ours_text(plan)),
        ("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up)),
        ("settle phase", time_text(standard.settle), time_text(ours.settle)),
        ("steady phase", time_text(standard.steady), time_text(ours.steady)),
        ("ramp-down", time_text(standard.ramp_down), time_text(ours.ramp_down)),
        ("drain", time_text(standard.drain), time_text(ours.drain)),
    ];
    let time_limit = ("time limit", time_text(definition.time_limit), time_text(plan.time_limit));
    let settings = setting_rows(standard_workload, &plan.workload).into_iter().chain([time_limit]);
    let named = |(what, standard, ours): (&str, String, String)| (what.to_owned(), standard, ours);
    let differing = course
        .into_iter()
        .chain(settings)
        .map(named)
        .chain(workload_rows(definition, overrides))
        .filter(|(_, standard, ours)| standard != ours);
    differing.map(|(what, standard, ours)| Modification { what, standard, ours }).collect()
}

/// Returns the settings of the family, as the benchmark has them and as the run does.
fn setting_rows(standard: &Workload, ours: &Workload) -> Vec<(&'static str, String, String)> {
    let row = |setting: &Setting| Some((setting.title, setting.text(standard)?, setting.text(ours)?));
    ours.family().settings().iter().filter_map(row).collect()
}

/// Returns what the run replaces in the workload.
fn workload_rows(definition: &Definition, overrides: &Overrides) -> Vec<(String, String, String)> {
    let Some(web) = definition.workload.web() else { return Vec::new() };
    let own_filelist = format!("the standard one of {}", definition.id);
    let filelist = overrides.filelist.clone().unwrap_or_else(|| own_filelist.clone());
    let picks = overrides.picks.iter().filter_map(|(name, pick)| pick_row(web, name, pick));
    [("filelist".to_owned(), own_filelist, filelist)].into_iter().chain(picks).collect()
}

fn ours_text(plan: &Plan) -> String {
    match plan.search {
        None => load_text_of(&plan.load_points),
        Some(Search { least, most }) => {
            let what = if most.is_closed() { "users" } else { "operations per second" };
            format!("the highest, looked for from {} to {} {what}", least.level(), most.level())
        }
    }
}

/// Returns the load points of the definition. The maximum of steps is for a run to choose: it is no modification.
fn standard_points(definition: &Definition, overrides: &Overrides) -> Vec<LoadPoint> {
    let standard = Overrides {
        quick: false,
        load: None,
        rates: None,
        arrivals: None,
        in_flight_max: None,
        ..overrides.clone()
    };
    load_points(definition, &standard)
}

fn pick_row(web: &WebDefinition, name: &str, pick: &Pick) -> Option<(String, String, String)> {
    let WorkloadSource::Requests(requests, _) = &web.source else { return None };
    let mut parameters = requests.iter().flat_map(|request| &request.parameters);
    let standard = &parameters.find(|parameter| parameter.name == name)?.pick;
    Some((format!("choice of `{name}`"), standard.to_string(), pick.to_string()))
}

fn load_text_of(points: &[LoadPoint]) -> String {
    let levels = load_text(points.iter().map(|point| point.load.level()));
    match points.first().map(|point| point.load) {
        Some(Load::Rate { arrivals, in_flight_max, .. }) => {
            let arrivals = match arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "Poisson",
            };
            format!(
                "open loop, {levels} operations per second, {arrivals} arrivals, at most {in_flight_max} in flight"
            )
        }
        _ if levels == "1" => "closed loop, 1 user".to_owned(),
        _ => format!("closed loop, {levels} users"),
    }
}
