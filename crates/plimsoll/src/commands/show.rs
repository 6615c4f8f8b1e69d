//! `show`: shows a benchmark's load plan and workload.

use std::fmt;

use benchmarks::Benchmark;
use model::{
    CertificateCheck, Configuration, Connection, Modification, Overrides, Plan, Request, Setting, SutPlan,
    WebWorkload, limits_text, make_plan,
};
use serde_json::json;
use units::{Bytes, Nanos};

use super::{print, print_json};
use crate::arguments::ShowArguments;
use crate::benchmark;
use crate::exit::{Exit, Failure};

/// The unit of an offered rate.
const OFFERED: &str = "operations per second";

/// Shows a benchmark.
pub(super) fn perform(arguments: &ShowArguments, as_json: bool) -> Result<Exit, Failure> {
    let (Benchmark { definition, workload, .. }, settings) = benchmark::with_filelist(&arguments.benchmark)?;
    let configuration = Configuration::standard(&definition, workload.clone()).with(&settings);
    let overrides = Overrides { settings, ..Overrides::new(SutPlan::of("built-in")) };
    let plan = make_plan(&definition, workload, &overrides)?;
    if as_json {
        print_json(&json!({ "format": 1, "summary": definition.summary, "plan": plan }))?;
        return Ok(Exit::Valid);
    }
    print(&format!(
        "{} (`{}`, version {})\n{}\n",
        definition.title, definition.id, definition.version, definition.summary
    ))?;
    print(&plan_text(&plan))?;
    print(&settings_text(&configuration))?;
    print(&workload_text(&plan))?;
    Ok(Exit::Valid)
}

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

/// Formats load plan, phases, protocol and modifications, one line each.
fn plan_text(plan: &Plan) -> String {
    let mut lines = course_lines(plan);
    lines.push(protocol_line(plan).to_string());
    lines.extend(certificates_line(plan));
    lines.extend(modified_lines(plan).iter().map(ToString::to_string));
    lines.join("\n")
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
    let phases_line = match plan.n_points_max() {
        None => format!("phases        {} at each load point", lengths.join(", ")),
        Some(n) => {
            let total = Nanos((phases.quiet + phases.issuing()).0 * n as u64);
            let at_most = if plan.refinement.is_some() { "at most " } else { "" };
            format!("phases        {} at each load point, {at_most}{total} in all", lengths.join(", "))
        }
    };
    vec![load_line(plan), phases_line]
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

/// Lists what `--set` may vary, with the value of the benchmark.
fn settings_text(configuration: &Configuration) -> String {
    let settings = configuration.workload.family().settings().iter();
    let values: Vec<(&Setting, String, String)> = settings
        .flat_map(|setting| {
            setting.values(configuration).into_iter().map(move |(name, value)| (setting, name, value))
        })
        .collect();
    let width = values.iter().map(|(_, name, _)| name.len()).chain([12]).max().unwrap_or(0);
    let line = |(setting, name, value): &(&Setting, String, String)| {
        format!("{name:<width$} {value} ({}: {})", setting.about, setting.kind)
    };
    let lines = values.iter().map(line).chain(["change one with `--set NAME=VALUE`".to_owned()]);
    format!("settings      {}", lines.collect::<Vec<_>>().join(&format!("\n{:14}", "")))
}

fn protocol_text(plan: &Plan) -> String {
    let Some(protocol) = plan.workload.web().map(|web| web.protocol) else {
        let mode = plan.workload.mode_text().map(|mode| format!(", {mode}")).unwrap_or_default();
        return format!("{}{mode}", plan.workload.family());
    };
    let connection = match protocol.connection {
        Connection::PerRequest => "a connection per request".to_owned(),
        Connection::Sessions => "a connection per session".to_owned(),
        Connection::KeepAlive { requests_max: None } => {
            "persistent connections where the server keeps them".to_owned()
        }
        Connection::KeepAlive { requests_max: Some(n) } => format!("{n} requests per connection"),
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
    let what = match plan.load_points.first().is_some_and(|point| point.load.is_closed()) {
        true if levels == ["1"] => user.one.as_str(),
        true => user.many.as_str(),
        false => OFFERED,
    };
    let added = plan.refinement.map_or_else(String::new, |refinement| {
        format!(", and up to {} more where the rate stops growing between two of them", refinement.added_max)
    });
    format!("load points   {} {what}{added}", levels.join(", "))
}

fn workload_text(plan: &Plan) -> String {
    plan.workload.web().map_or_else(|| catalog_text(plan), |web| web_text(plan, web))
}

/// Lists the kinds of operations with their shares.
fn catalog_text(plan: &Plan) -> String {
    let mut lines = vec![format!("{:>9}  operation", "share")];
    for kind in &plan.catalog.kinds {
        let share = kind.share.map_or(String::new(), |share| format!("{:.2} %", 100.0 * share));
        lines.push(format!("{share:>9}  {}", kind.name));
    }
    lines.join("\n")
}

fn web_text(plan: &Plan, workload: &WebWorkload) -> String {
    let (files, bytes) = (workload.n_files(plan.level_max()), workload.file_bytes(plan.level_max()));
    let total: u64 = workload.pages.iter().map(|page| page.weight).sum();
    let mean = workload.mean_body_bytes().map_or_else(|| "unknown".to_owned(), |mean| format!("{mean:.1}"));
    let mut lines = vec![
        format!("file set      {} files, {} bytes ({})", files, bytes, Bytes(bytes)),
        format!(
            "mean          {mean} bytes per request, {:.2} requests per page",
            workload.requests_per_page()
        ),
        String::new(),
        format!("{:>9}  requests of the page (body bytes)", "share"),
    ];
    for page in &workload.pages {
        let requests = page.requests.iter().map(|index| request_text(&workload.requests[*index as usize]));
        let share = 100.0 * page.weight as f64 / total as f64;
        lines.push(format!("{share:>7.2} %  {}", requests.collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}

fn request_text(request: &Request) -> String {
    match request.body_limits() {
        Some((least, most)) if least == most => format!("{} ({least})", request.name),
        Some((least, most)) => format!("{} ({least} to {most})", request.name),
        None => request.name.clone(),
    }
}
