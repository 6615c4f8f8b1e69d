//! The announcement of a run: its plans, as they are printed before it or instead of it.

use analysis::compare::{SETTLED_WITHIN, TURN_SCATTER, found_beforehand, found_when_settled};
use model::{Plan, Refinement, SutPlan};
use units::{Bytes, Ratio};

use crate::candidate::Candidate;
use crate::plan_lines;
use crate::planned_run::PlannedRun;
use crate::preflight;
use crate::progress::length;
use crate::requirements::SEARCH_POINTS;
use crate::stderr::eprint;

/// Prints the plans before the run, of which the first `n_certain` are performed in any case.
pub(crate) fn announce(runs: &[PlannedRun], n_certain: usize) {
    eprint(announcement(runs, n_certain) + "\n");
}

/// Formats the plans: the load, the protocol and modifications, every server with its resources, and the total time.
pub(crate) fn announcement(runs: &[PlannedRun], n_certain: usize) -> String {
    let plan = &runs[0].plan;
    let benchmark = &plan.benchmark;
    let mut lines = vec![if runs.iter().any(|run| 0 < run.candidate.page) {
        format!("{} running servers, compared", servers(runs).len())
    } else if benchmark.is_urls() {
        benchmark.title.clone()
    } else {
        format!("{} (`{}`, version {})", benchmark.title, benchmark.id, benchmark.version)
    }];
    lines.extend(plan_lines::course_lines(plan));
    lines.extend(lines_of_all(runs, |plan| vec![plan_lines::protocol_line(plan)]));
    lines.extend(plan_lines::certificates_line(plan));
    lines.extend(lines_of_all(runs, plan_lines::modified_lines));
    lines.extend(servers(runs).into_iter().map(|run| server_line(&run.plan.sut, &run.candidate)));
    lines.push(load_line(plan));
    lines.extend(turns_line(runs, n_certain));
    lines.push(total_line(runs, n_certain));
    lines.join("\n")
}

/// Returns the first run of each server.
pub(crate) fn servers(runs: &[PlannedRun]) -> Vec<&PlannedRun> {
    let is_first = |(index, run): &(usize, &PlannedRun)| {
        !runs[..*index].iter().any(|other| is_of_one_server(other, run))
    };
    runs.iter().enumerate().filter(is_first).map(|(_, run)| run).collect()
}

fn is_of_one_server(one: &PlannedRun, other: &PlannedRun) -> bool {
    one.candidate.title == other.candidate.title
}

/// Says how servers that are already running take turns, and what difference that will show; `None` of other runs.
fn turns_line(runs: &[PlannedRun], n_certain: usize) -> Option<String> {
    let servers = servers(runs);
    let is_compared = 1 < servers.len() && servers.iter().all(|run| run.candidate.is_compared_running());
    let [n_turns, n_turns_max] = [n_certain, runs.len()].map(|n| n / servers.len().max(1));
    is_compared.then(|| {
        let labels: Vec<&str> = servers.iter().filter_map(|run| run.candidate.state.as_deref()).collect();
        let backward: Vec<&str> = labels.iter().rev().copied().collect();
        let order = format!("{} – {}", labels.join(" "), backward.join(" "));
        let alpha = Ratio(0.05 / (servers.len() - 1) as f64);
        let finds = match found_beforehand(n_turns, alpha) {
            _ if n_turns < n_turns_max => format!(
                "up to {n_turns_max} until the ratio is known within {}; then a difference of {} is found in 19 of 20 \
                 comparisons",
                percent(SETTLED_WITHIN.0),
                percent(found_when_settled(alpha))
            ),
            Some(more) => format!(
                "a difference of {} is found in 19 of 20 comparisons if turns scatter by {}",
                percent(more),
                percent(TURN_SCATTER.0)
            ),
            None => "too few for an answer with an interval: `--repeat 3` or more".to_owned(),
        };
        format!("turns         {n_turns} of each at each load point, {order} – …; {finds}")
    })
}

/// Formats a share in percent, with one digit behind the point.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Lists what all plans say once, and after it what only some say, with the names of their servers.
fn lines_of_all(runs: &[PlannedRun], lines_of: impl Fn(&Plan) -> Vec<plan_lines::PlanLine>) -> Vec<String> {
    let said: Vec<Vec<plan_lines::PlanLine>> = runs.iter().map(|run| lines_of(&run.plan)).collect();
    let is_shared = |line: &plan_lines::PlanLine| said.iter().all(|lines| lines.contains(line));
    let shared = said.iter().take(1).flatten().filter(|line| is_shared(line)).map(ToString::to_string);
    let own = said.iter().zip(runs).flat_map(|(lines, run)| {
        let own = lines.iter().filter(|line| !is_shared(line));
        own.map(|line| line.of(&run.candidate.label).to_string())
    });
    shared.chain(own).collect()
}

/// Says how many threads perform the load, and of how many agents where these are processes of their own.
fn load_line(plan: &Plan) -> String {
    let threads = if plan.load_threads() == 1 { "thread" } else { "threads" };
    let agents = match plan.agents.len() {
        1 => String::new(),
        n => format!(" of {n} load agents"),
    };
    format!("load          {} {threads}{agents}, CPUs {}", plan.load_threads(), cpus(&plan.load_cpus()))
}

fn server_line(sut: &SutPlan, candidate: &Candidate) -> String {
    let quota = match sut.quota {
        Some(quota) => format!("limited to {quota} CPUs ({})", sut.quota_reason),
        None => format!("not limited ({})", sut.quota_reason),
    };
    let memory = sut.memory.map(|memory| format!("; memory up to {}", Bytes(memory)));
    let disk = sut.disk.map(|disk| format!("; disk up to {disk}"));
    let cache = sut.accelerator().map(|one| format!("; cache up to {}", Bytes(one.cache_bytes)));
    let more = [memory, disk, cache].into_iter().flatten().collect::<String>();
    format!("server        {}, CPUs {}, {quota}{more}", candidate.title, cpus(&sut.cpus))
}

fn total_line(runs: &[PlannedRun], n_certain: usize) -> String {
    let plan = &runs[0].plan;
    let (about, what) = match (plan.search, plan.refinement, &plan.shape) {
        (Some(_), ..) => ("about ", format!("{SEARCH_POINTS} load points of a search")),
        (None, Some(refinement), _) => {
            let Refinement { n_planned, added_max } = refinement;
            ("at most ", format!("{n_planned} load points, and up to {added_max} between them"))
        }
        (None, None, Some(shape)) => {
            let at_most = if shape.until.is_empty() { "" } else { "at most " };
            let plural = if shape.stages.len() == 1 { "" } else { "s" };
            (at_most, format!("{} stage{plural} of one load point", shape.stages.len()))
        }
        (None, None, None) if plan.load_points.len() == 1 => {
            let at_most = if plan.operations.is_some() { "at most " } else { "" };
            (at_most, "1 load point".to_owned())
        }
        (None, None, None) => ("", format!("{} load points", plan.load_points.len())),
    };
    let (n, n_servers) = (runs.len(), servers(runs).len());
    let length_of = |runs| length(preflight::load_time(runs));
    if n_certain < n {
        let [least, most] = [&runs[..n_certain], runs].map(length_of);
        let [times, times_max] = [n_certain, n].map(|n| n / n_servers.max(1));
        return format!(
            "total time    {least} to {most} of load: {what} for each of {n_servers} servers, {times} to {times_max} times"
        );
    }
    let servers = match n / n_servers.max(1) {
        _ if n == 1 => String::new(),
        times if 1 < n_servers && 1 < times => format!(" for each of {n_servers} servers, {times} times"),
        times if 1 < times => format!(", {times} times"),
        _ => format!(" for each of {n} servers"),
    };
    format!("total time    {about}{} of load: {what}{servers}", length_of(runs))
}

fn cpus(list: &[u32]) -> String {
    match list {
        [] => "any".to_owned(),
        list => observe::format_cpu_list(list),
    }
}
