//! In what a run differs from its benchmark's definition.

use super::closed;
use crate::{
    Arrivals, Connection, Definition, Load, LoadPoint, Modification, Overrides, Plan, load_text, time_text,
};

/// Lists what differs from the definition, in the order in which reports show it.
pub(super) fn modifications(
    definition: &Definition,
    overrides: &Overrides,
    plan: &Plan,
) -> Vec<Modification> {
    let (standard, ours) = (definition.phases, plan.phases);
    let (as_defined, asked) = (&definition.protocol, &plan.protocol);
    let quick = if overrides.quick { "quick run" } else { "full" };
    let own_filelist = format!("the standard one of {}", definition.id);
    let filelist = overrides.filelist.clone().unwrap_or_else(|| own_filelist.clone());
    let rows = [
        ("length", "full".to_owned(), quick.to_owned()),
        ("load", load_text_of(&closed(&definition.load.users)), load_text_of(&plan.load_points)),
        ("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up)),
        ("settle phase", time_text(standard.settle), time_text(ours.settle)),
        ("steady phase", time_text(standard.steady), time_text(ours.steady)),
        ("drain", time_text(standard.drain), time_text(ours.drain)),
        ("connection", connection_text(as_defined.connection), connection_text(asked.connection)),
        ("time limit", time_text(as_defined.time_limit), time_text(asked.time_limit)),
        ("filelist", own_filelist, filelist),
    ];
    let differing = rows.into_iter().filter(|(_, standard, ours)| standard != ours);
    differing.map(|(what, standard, ours)| Modification { what: what.to_owned(), standard, ours }).collect()
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
        _ => format!("closed loop, {levels} users"),
    }
}

fn connection_text(connection: Connection) -> String {
    match connection {
        Connection::PerRequest => "one per request".to_owned(),
        Connection::KeepAlive { requests_max: None } => "kept alive".to_owned(),
        Connection::KeepAlive { requests_max: Some(n) } => format!("kept alive, at most {n} requests each"),
    }
}
