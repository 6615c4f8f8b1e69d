//! Test disclosure: the parameters of a run, from its plan.

use model::{Phase, Plan, ThinkTime};
use units::Nanos;

use crate::sections::summary::{data_set_text, load_text, protocol_text, subject_name};
use crate::{Report, Text, numbers};

/// Returns names and values, in the order of historical full-disclosure reports.
pub(super) fn facts(report: &Report) -> Vec<(String, Text)> {
    let plan = report.plan;
    let loads: Vec<_> = plan.load_points.iter().map(|point| point.load).collect();
    let benchmark = &plan.benchmark;
    let facts = [
        (subject_name(report), Some(benchmark.full_name())),
        ("Measured by", Some(report.provenance.program.clone())),
        ("Load points", Some(load_text(&loads, &report.terms().load()))),
        ("Quiet phase", phase(plan.phases.quiet)),
        ("Ramp-up", phase(plan.phases.ramp_up)),
        ("Settle phase", phase(plan.phases.settle)),
        ("Measured length", phase(plan.phases.steady)),
        ("Ramp-down", phase(plan.phases.ramp_down)),
        ("Length of a load point", phase(plan.phases.end_of(Phase::Drain))),
        ("Think time", think_text(report)),
        ("Protocol", Some(protocol_text(report))),
        ("Data set", data_set_text(report)),
        ("Load threads", Some(threads_text(plan))),
        ("Seed", Some(seed_text(report))),
        ("Modifications of the benchmark", (!benchmark.is_urls()).then(|| modifications(report))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Text::from(value?)))).collect()
}

/// Formats the length of a phase; `None` if the plan does not have this phase.
fn phase(length: Nanos) -> Option<String> {
    (Nanos::ZERO < length).then(|| numbers::length(length))
}

fn think_text(report: &Report) -> Option<String> {
    match report.plan.workload.think() {
        _ if report.is_open() => None,
        ThinkTime::Recorded => Some("as recorded".to_owned()),
        ThinkTime::None => Some("none".to_owned()),
        think if 1 < report.plan.catalog.pauses.len() => {
            let n = report.plan.catalog.pauses.len();
            let mean = numbers::time(think.mean());
            Some(format!("pauses of {n} kinds, {mean} from one operation to the next on average"))
        }
        ThinkTime::Scripted(mean) => Some(format!("those of a script, mean {}", numbers::time(mean))),
        ThinkTime::Fixed(time) => Some(format!("{}, constant", numbers::time(time))),
        ThinkTime::Exponential(time) => Some(format!("negative exponential, mean {}", numbers::time(time))),
    }
}

fn seed_text(report: &Report) -> String {
    let content = report.web().map(|web| format!(", content {}", web.content_seed));
    format!("{}{}", report.plan.seed, content.unwrap_or_default())
}

fn threads_text(plan: &Plan) -> String {
    let cpus: Vec<String> = plan.load_cpus().iter().map(u32::to_string).collect();
    if cpus.is_empty() {
        plan.load_threads().to_string()
    } else {
        format!("{} on CPU {}", plan.load_threads(), cpus.join(", "))
    }
}

fn modifications(report: &Report) -> String {
    let changes = &report.analysis.modifications;
    let list: Vec<String> =
        changes.iter().map(|one| format!("{} {} → {}", one.what, one.standard, one.ours)).collect();
    if list.is_empty() { "none".to_owned() } else { list.join("; ") }
}
