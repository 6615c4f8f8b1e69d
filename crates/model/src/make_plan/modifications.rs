//! Deviations of a run from its benchmark's definition.

use languages::{load_text, time_text};

use super::load_points;
use crate::{
    Arrivals, ChosenSetting, Configuration, Definition, Family, Load, LoadPoint, Modification, Noun,
    Overrides, Plan, Search, Workload,
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
    let quick = if overrides.quick { "quick run" } else { "full" };
    let user = &plan.catalog.words.user;
    let course = [
        ("length", "full".to_owned(), quick.to_owned()),
        (
            "load",
            load_text_of(&standard_points(definition, &plan.workload, overrides), user),
            ours_text(plan),
        ),
        ("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up)),
        ("settle phase", time_text(standard.settle), time_text(ours.settle)),
        ("steady phase", time_text(standard.steady), time_text(ours.steady)),
        ("ramp-down", time_text(standard.ramp_down), time_text(ours.ramp_down)),
        ("drain", time_text(standard.drain), time_text(ours.drain)),
    ];
    let course = course.into_iter().map(|(what, standard, ours)| (what.to_owned(), standard, ours));
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

fn ours_text(plan: &Plan) -> String {
    let user = &plan.catalog.words.user;
    match plan.search {
        None => load_text_of(&plan.load_points, user),
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
        arrivals: None,
        in_flight_max: None,
        ..overrides.clone()
    };
    load_points(definition, workload, &standard)
}

/// Describes load points; `user` is the benchmark's noun for users.
fn load_text_of(points: &[LoadPoint], user: &Noun) -> String {
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
        _ if levels == "1" => format!("closed loop, 1 {}", user.one),
        _ => format!("closed loop, {levels} {}", user.many),
    }
}
