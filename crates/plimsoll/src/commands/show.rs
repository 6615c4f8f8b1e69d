//! `show`: shows a benchmark's load plan and workload.

use benchmarks::Benchmark;
use model::{Configuration, Overrides, Plan, Request, Setting, SutPlan, WebWorkload, make_plan};
use serde_json::json;
use units::Bytes;

use super::{print, print_json};
use crate::arguments::ShowArguments;
use crate::benchmark;
use crate::exit::{Exit, Failure};
use crate::plan_lines::{certificates_line, course_lines, modified_lines, protocol_line};

/// Shows a benchmark.
pub(super) fn perform(arguments: &ShowArguments, as_json: bool) -> Result<Exit, Failure> {
    let (Benchmark { definition, workload, .. }, settings) = benchmark::with_filelist(&arguments.benchmark)?;
    let configuration = definition.configuration(workload.clone()).with(&settings);
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

/// Formats load plan, phases, protocol and modifications, one line each.
fn plan_text(plan: &Plan) -> String {
    let mut lines = course_lines(plan);
    lines.push(protocol_line(plan).to_string());
    lines.extend(certificates_line(plan));
    lines.extend(modified_lines(plan).iter().map(ToString::to_string));
    lines.join("\n")
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
    let files = workload.n_files(plan.level_max());
    let bytes = workload.file_bytes(plan.level_max());
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
