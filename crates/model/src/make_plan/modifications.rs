//! Deviations of a run from its benchmark's definition.

use languages::{load_text, time_text};

use super::load_points;
use crate::{
    Arrivals, BenchmarkId, ChosenSetting, Configuration, Definition, Family, Load, LoadPoint, LoadUnit,
    Modification, Noun, Overrides, Plan, Search, Shape, Workload, limits_text,
};

/// Lists what differs from the definition, in the order in which reports show it. `configurations` are the benchmark's
/// and the run's; the plan has its catalog.
pub(super) fn modifications(
    definition: &Definition,
    configurations: (&Configuration, &Configuration),
    overrides: &Overrides,
    plan: &Plan,
) -> Vec<Modification> {
    let standard = definition.phases;
    let ours = plan.phases;
    // Of a number of operations it is only a bound.
    let is_bound = plan.operations.is_some() && overrides.steady.is_none();
    let standard_steady = if is_bound { ours.steady } else { standard.steady };
    let quick = if overrides.quick { "quick run" } else { "full" };
    let of_load = [
        ("length", "full".to_owned(), quick.to_owned()),
        ("load", standard_text(definition, overrides, plan), ours_text(plan)),
    ];
    let of_phases = [
        ("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up)),
        ("settle phase", time_text(standard.settle), time_text(ours.settle)),
        ("operations", "any number".to_owned(), operations_text(definition, plan)),
        ("steady phase", time_text(standard_steady), time_text(ours.steady)),
        ("ramp-down", time_text(standard.ramp_down), time_text(ours.ramp_down)),
        ("drain", time_text(standard.drain), time_text(ours.drain)),
    ];
    // The lengths of the other phases follow from the stages.
    let of_phases = of_phases.into_iter().filter(|(what, ..)| plan.shape.is_none() || *what == "drain");
    let course =
        of_load.into_iter().chain(of_phases).map(|(what, standard, ours)| (what.to_owned(), standard, ours));
    let of_quick = if overrides.quick { definition.quick.settings.as_slice() } else { &[] };
    let chosen = [of_quick, &overrides.settings].concat();
    let differing = course
        .chain(setting_rows(plan.workload.family(), configurations, &chosen))
        .filter(|(_, standard, ours)| standard != ours);
    differing.map(|(what, standard, ours)| Modification { what, standard, ours }).collect()
}

/// Returns the settings of the family, as the benchmark has them and as the run does. One that the benchmark has no use
/// for, but the run has, is compared with what the benchmark would have beside the other settings that the run has
/// chosen.
fn setting_rows(
    family: Family,
    (standard, ours): (&Configuration, &Configuration),
    chosen: &[ChosenSetting],
) -> impl Iterator<Item = (String, String, String)> {
    family.settings().iter().flat_map(move |setting| {
        let mut known = setting.titled_values(standard);
        if known.is_empty() {
            let others: Vec<ChosenSetting> =
                chosen.iter().filter(|one| one.setting != setting).cloned().collect();
            known = setting.titled_values(&standard.clone().with(&others));
        }
        let both = known.into_iter().zip(setting.titled_values(ours));
        both.map(|((title, standard), (_, ours))| (title, standard, ours))
    })
}

/// Describes the load of the definition.
fn standard_text(definition: &Definition, overrides: &Overrides, plan: &Plan) -> String {
    let user = &plan.catalog.words.user;
    let points = standard_points(definition, &plan.workload, overrides);
    let shape = definition.shape.as_ref().map(|shape| Shape::of(&shape.stages, shape.until.clone()));
    load_text_with(&points, shape.as_ref(), user)
}

/// Describes load points, or the stages of a shape.
fn load_text_with(points: &[LoadPoint], shape: Option<&Shape>, user: &Noun) -> String {
    let Some(shape) = shape else { return load_text_of(points, "", user) };
    let text = load_text_of(points, "up to ", user);
    let is_open = points.first().is_some_and(|point| !point.load.is_closed());
    let stages = shape.text(if is_open { LoadUnit::Rate } else { LoadUnit::Users });
    let until = match shape.until.as_slice() {
        [] => String::new(),
        limits => format!("; until {} is broken", limits_text(limits)),
    };
    format!("{text}; stages {stages}{until}")
}

/// Returns the number of operations of a plan; URLs are made for it.
fn operations_text(definition: &Definition, plan: &Plan) -> String {
    let operations = plan.operations.filter(|_| definition.id != BenchmarkId::URLS);
    operations.map_or_else(|| "any number".to_owned(), |n| n.to_string())
}

fn ours_text(plan: &Plan) -> String {
    let user = &plan.catalog.words.user;
    match plan.search {
        None => load_text_with(&plan.load_points, plan.shape.as_ref(), user),
        Some(Search { least, most }) => {
            let what = if most.is_closed() { &user.many } else { "operations per second" };
            format!("the highest, looked for from {} to {} {what}", least.level(), most.level())
        }
    }
}

/// Returns the load points of the definition. The maximum of steps is for a run to choose: it is no modification.
fn standard_points(definition: &Definition, workload: &Workload, overrides: &Overrides) -> Vec<LoadPoint> {
    let standard = Overrides {
        quick: false,
        load: None,
        rates: None,
        stages: None,
        arrivals: None,
        in_flight_max: None,
        ..overrides.clone()
    };
    load_points(definition, workload, &standard)
}

/// Describes load points; `up_to` stands before their levels, and `user` is the benchmark's noun for users.
fn load_text_of(points: &[LoadPoint], up_to: &str, user: &Noun) -> String {
    let levels = load_text(points.iter().map(|point| point.load.level()));
    match points.first().map(|point| point.load) {
        Some(Load::Rate { arrivals, in_flight_max, .. }) => {
            let arrivals = match arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "Poisson",
            };
            format!(
                "open loop, {up_to}{levels} operations per second, {arrivals} arrivals, at most {in_flight_max} in flight"
            )
        }
        _ if levels == "1" => format!("closed loop, {up_to}1 {}", user.one),
        _ => format!("closed loop, {up_to}{levels} {}", user.many),
    }
}
