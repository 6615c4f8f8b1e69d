//! Lines about a plan: its load, phases, protocol, certificates and modifications.

use std::fmt;

use fleet::SURVEY_ROUNDS;
use model::{CertificateCheck, ConnectionLifetime, Load, LoadUnit, Modification, Plan, Shape, limits_text};
use units::Nanos;

/// The unit of an offered rate.
const OFFERED: &str = "operations per second";

/// A line about a plan: a heading and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanLine {
    heading: &'static str,
    text: String,
}

impl PlanLine {
    /// Returns the line about the plan of one of several servers.
    pub(crate) fn of(&self, server: &str) -> PlanLine {
        PlanLine { heading: self.heading, text: format!("{server}: {}", self.text) }
    }
}

impl fmt::Display for PlanLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14}{}", self.heading, self.text)
    }
}

/// Formats load plan and phases, one line each.
pub(crate) fn course_lines(plan: &Plan) -> Vec<String> {
    let phases = &plan.phases;
    let named = [
        ("quiet", phases.quiet),
        ("ramp-up", phases.ramp_up),
        ("settle", phases.settle),
        ("steady", phases.steady),
        ("ramp-down", phases.ramp_down),
        ("drain", phases.drain),
    ];
    let lengths: Vec<String> = named
        .into_iter()
        .filter(|(_, length)| *length != Nanos::ZERO)
        .map(|(name, length)| format!("{name} {length}"))
        .collect();
    if let Some(shape) = &plan.shape {
        let phases_line = format!("phases        {}", lengths.join(", "));
        return vec![load_line(plan), stages_line(plan, shape), phases_line];
    }
    let phases_line = match plan.n_points_max() {
        None => format!("phases        {} at each load point", lengths.join(", ")),
        Some(n) => {
            let total = Nanos((phases.quiet + phases.issuing()).0 * n as u64);
            let is_bound = plan.refinement.is_some() || plan.operations.is_some();
            let at_most = if is_bound { "at most " } else { "" };
            format!("phases        {} at each load point, {at_most}{total} in all", lengths.join(", "))
        }
    };
    let lines = [Some(load_line(plan)), operations_line(plan), Some(phases_line)];
    lines.into_iter().flatten().collect()
}

/// Formats the number of operations in all, and what the server gets beside them.
fn operations_line(plan: &Plan) -> Option<String> {
    let operations = plan.operations?;
    let end = if plan.loads().all(Load::is_closed) { "with which the load ends" } else { "as they fall due" };
    Some(format!(
        "operations    {operations} in all, {end}; the checks of the server send {} besides",
        checks_text(plan)
    ))
}

/// Describes the operations that are sent beside the load: of URLs, each is fetched a few times and then once, also by each
/// of several load agents, and at the end once by each load thread if its body was compared.
fn checks_text(plan: &Plan) -> String {
    let n_kinds = plan.catalog.kinds.len();
    if !plan.benchmark.is_urls() {
        return "some of each kind".to_owned();
    }
    let n_agents = if plan.agents.len() == 1 { 0 } else { plan.agents.len() };
    let n = (SURVEY_ROUNDS + 1 + n_agents + plan.load_threads() as usize) * n_kinds;
    format!("up to {n} {}", plan.catalog.words.operation.of(n as u64))
}

/// Says what the stages of a load over time are, in how many they are judged, and what ends them.
fn stages_line(plan: &Plan, shape: &Shape) -> String {
    let is_open = plan.load_points.first().is_some_and(|point| !point.load.is_closed());
    let unit = if is_open { LoadUnit::Rate } else { LoadUnit::Users };
    let written: Vec<String> = shape.joined().iter().map(|stage| stage.text(unit)).collect();
    let judged = match shape.stages.len() {
        1 => String::new(),
        n if n == written.len() => format!("; each of these {n} is judged"),
        n => format!("; judged in {n} stages, because ramps are cut into several"),
    };
    let until = match shape.until.as_slice() {
        [] => String::new(),
        limits => format!("; until {} is broken", limits_text(limits)),
    };
    format!("stages        {}{judged}{until}", written.join(", "))
}

/// Formats the protocol and the time limit.
pub(crate) fn protocol_line(plan: &Plan) -> PlanLine {
    let text = format!("{}, time limit {}", protocol_text(plan), plan.time_limit);
    PlanLine { heading: "protocol", text }
}

/// Formats the certificates that are accepted, if they are not the system's.
pub(crate) fn certificates_line(plan: &Plan) -> Option<String> {
    match &plan.sut.certificates {
        CertificateCheck::System => None,
        CertificateCheck::File(path) => Some(format!("certificates  signed by the authorities in `{path}`")),
        CertificateCheck::Off => Some("certificates  not verified (`--insecure`)".to_owned()),
    }
}

/// Lists what differs from the definition.
pub(crate) fn modified_lines(plan: &Plan) -> Vec<PlanLine> {
    let text = |one: &Modification| format!("{}: {} → {}", one.what, one.standard, one.ours);
    let lines = plan.modifications.iter().map(|one| PlanLine { heading: "modified", text: text(one) });
    lines.collect()
}

fn protocol_text(plan: &Plan) -> String {
    let Some(protocol) = plan.workload.web().map(|web| web.protocol) else {
        let mode = plan.workload.mode_text().map(|mode| format!(", {mode}")).unwrap_or_default();
        return format!("{}{mode}", plan.workload.family());
    };
    let connection = match protocol.connection {
        ConnectionLifetime::PerRequest => "a connection per request".to_owned(),
        ConnectionLifetime::Sessions => "a connection per session".to_owned(),
        ConnectionLifetime::KeepAlive { requests_max: None } => {
            "persistent connections where the server keeps them".to_owned()
        }
        ConnectionLifetime::KeepAlive { requests_max: Some(n) } => format!("{n} requests per connection"),
    };
    format!("HTTP/{}{}, {connection}", protocol.http.name(), protocol.tls.clause())
}

fn load_line(plan: &Plan) -> String {
    if let Some(search) = plan.search {
        let what = if search.most.is_closed() { plan.catalog.words.user.many.as_str() } else { OFFERED };
        let limits = match plan.limits.as_slice() {
            [] => String::new(),
            limits => format!(" with {}", limits_text(limits)),
        };
        return format!(
            "load          search for the highest load{limits}, from {} to {} {what}",
            search.least.level(),
            search.most.level()
        );
    }
    let levels: Vec<String> = plan.load_points.iter().map(|point| point.load.level().to_string()).collect();
    let user = &plan.catalog.words.user;
    let what = if !plan.load_points.first().is_some_and(|point| point.load.is_closed()) {
        OFFERED
    } else if levels == ["1"] {
        user.one.as_str()
    } else {
        user.many.as_str()
    };
    let added = plan.refinement.map_or_else(String::new, |refinement| {
        format!(", and up to {} more where the rate stops growing between two of them", refinement.added_max)
    });
    if plan.shape.is_some() {
        return format!("load          over time, up to {} {what}", levels.join(", "));
    }
    format!("load points   {} {what}{added}", levels.join(", "))
}
