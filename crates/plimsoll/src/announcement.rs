//! The announcement of a run: its plans, as they are printed before it or instead of it.

use model::{Plan, SutPlan};
use units::Bytes;

use crate::candidates::Candidate;
use crate::commands::{doctor::SEARCH_POINTS, show};
use crate::preflight;
use crate::progress::length;
use crate::stderr::eprint;

/// Prints the plans before the run.
pub(crate) fn announce(plans: &[Plan], candidates: &[Candidate]) {
    eprint(announcement(plans, candidates) + "\n");
}

/// Formats the plans: the load, the protocol and modifications, every server with its resources, and the total time.
pub(crate) fn announcement(plans: &[Plan], candidates: &[Candidate]) -> String {
    let plan = &plans[0];
    let benchmark = &plan.benchmark;
    let mut lines = vec![match benchmark.is_urls() {
        true => benchmark.title.clone(),
        false => format!("{} (`{}`, version {})", benchmark.title, benchmark.id, benchmark.version),
    }];
    lines.extend(show::course_lines(plan));
    lines.extend(lines_of_all(plans, candidates, |plan| vec![show::protocol_line(plan)]));
    lines.extend(show::certificates_line(plan));
    lines.extend(lines_of_all(plans, candidates, show::modified_lines));
    lines.extend(plans.iter().zip(candidates).map(|(plan, candidate)| server_line(&plan.sut, candidate)));
    let threads = if plan.load_threads() == 1 { "thread" } else { "threads" };
    lines.push(format!("load          {} {threads}, CPUs {}", plan.load_threads(), cpus(plan.load_cpus())));
    lines.push(total_line(plans));
    lines.join("\n")
}

/// Lists what all plans say once, and after it what only some say, with the names of their servers.
fn lines_of_all(
    plans: &[Plan],
    candidates: &[Candidate],
    lines_of: impl Fn(&Plan) -> Vec<show::PlanLine>,
) -> Vec<String> {
    let said: Vec<Vec<show::PlanLine>> = plans.iter().map(lines_of).collect();
    let is_shared = |line: &show::PlanLine| said.iter().all(|lines| lines.contains(line));
    let shared = said.iter().take(1).flatten().filter(|line| is_shared(line)).map(ToString::to_string);
    let own = said.iter().zip(candidates).flat_map(|(lines, candidate)| {
        let own = lines.iter().filter(|line| !is_shared(line));
        own.map(|line| line.of(&candidate.label).to_string())
    });
    shared.chain(own).collect()
}

fn server_line(sut: &SutPlan, candidate: &Candidate) -> String {
    let quota = match sut.quota {
        Some(quota) => format!("limited to {quota} CPUs ({})", sut.quota_reason),
        None => format!("not limited ({})", sut.quota_reason),
    };
    let memory = sut.memory.map(|memory| format!("; memory up to {}", Bytes(memory)));
    let disk = sut.disk.map(|disk| format!("; disk up to {disk}"));
    let cache = sut.accelerator.as_ref().map(|one| format!("; cache up to {}", Bytes(one.cache_bytes)));
    let more = [memory, disk, cache].into_iter().flatten().collect::<String>();
    format!("server        {}, CPUs {}, {quota}{more}", candidate.label, cpus(&sut.cpus))
}

fn total_line(plans: &[Plan]) -> String {
    let plan = &plans[0];
    let (about, what) = match plan.search {
        Some(_) => ("about ", format!("{SEARCH_POINTS} load points of a search")),
        None if plan.load_points.len() == 1 => ("", "1 load point".to_owned()),
        None => ("", format!("{} load points", plan.load_points.len())),
    };
    let servers =
        if plans.len() == 1 { String::new() } else { format!(" for each of {} servers", plans.len()) };
    format!("total time    {about}{} of load: {what}{servers}", length(preflight::load_time(plans)))
}

fn cpus(list: &[u32]) -> String {
    match list {
        [] => "any".to_owned(),
        list => observe::format_cpu_list(list),
    }
}
