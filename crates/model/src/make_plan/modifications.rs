//! Deviations of a run from its benchmark's definition.

use languages::{load_text, time_text};

use super::load_points;
use crate::{
    Arrivals, Connection, Definition, Load, LoadPoint, Modification, Overrides, Pick, Plan, Search, Tls,
    WorkloadSource,
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
        ("load", load_text_of(&standard_points(definition, overrides)), ours_text(plan)),
        ("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up)),
        ("settle phase", time_text(standard.settle), time_text(ours.settle)),
        ("steady phase", time_text(standard.steady), time_text(ours.steady)),
        ("ramp-down", time_text(standard.ramp_down), time_text(ours.ramp_down)),
        ("drain", time_text(standard.drain), time_text(ours.drain)),
        ("HTTP version", as_defined.http.name().to_owned(), asked.http.name().to_owned()),
        ("TLS", tls_text(as_defined.tls), tls_text(asked.tls)),
        ("streams per connection", as_defined.streams.to_string(), asked.streams.to_string()),
        ("connection", connection_text(as_defined.connection), connection_text(asked.connection)),
        ("time limit", time_text(as_defined.time_limit), time_text(asked.time_limit)),
        ("filelist", own_filelist, filelist),
    ];
    let picks = overrides.picks.iter().filter_map(|(name, pick)| pick_row(definition, name, pick));
    let differing = rows
        .into_iter()
        .map(|(what, standard, ours)| (what.to_owned(), standard, ours))
        .chain(picks)
        .filter(|(_, standard, ours)| standard != ours);
    differing.map(|(what, standard, ours)| Modification { what, standard, ours }).collect()
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

fn pick_row(definition: &Definition, name: &str, pick: &Pick) -> Option<(String, String, String)> {
    let WorkloadSource::Requests(requests, _) = &definition.workload.source else { return None };
    let mut parameters = requests.iter().flat_map(|request| &request.parameters);
    let standard = &parameters.find(|parameter| parameter.name == name)?.pick;
    Some((format!("choice of `{name}`"), standard.to_string(), pick.to_string()))
}

fn tls_text(tls: Tls) -> String {
    match tls {
        Tls::Off => "off".to_owned(),
        Tls::Full => "a full handshake for every connection".to_owned(),
        Tls::Resumed => "with resumed sessions".to_owned(),
    }
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

fn connection_text(connection: Connection) -> String {
    match connection {
        Connection::PerRequest => "one per request".to_owned(),
        Connection::Sessions => "kept for a session of SPECweb99's lengths".to_owned(),
        Connection::KeepAlive { requests_max: None } => "kept alive".to_owned(),
        Connection::KeepAlive { requests_max: Some(n) } => format!("kept alive, at most {n} requests each"),
    }
}
