//! Several runs in one document: a campaign of benchmarks and servers, and what a comparison gains from whole reports.
//!
//! - `group`: runs by benchmark, and those of a benchmark by server
//! - `overview`: what was found, benchmark by benchmark
//! - `benchmark`: one benchmark: results, analysis, how it was run, what it does not account for
//! - `bars`, `curves`, `scatter`: servers beside one another
//! - `side_by_side`: configurations beside one another
//! - `test_disclosure`: how a benchmark was run
//! - `extras`: what of this a comparison's document takes

mod bars;
mod benchmark;
mod curves;
mod extras;
mod group;
mod overview;
mod scatter;
mod side_by_side;
mod test_disclosure;

use analysis::VerdictState;
use analysis::compare::RunInput;
use units::WallTime;

pub use extras::comparison_sections;
pub(crate) use group::{Group, groups};

use crate::charts::Chart;
use crate::sections::{method, state_text};
use crate::{Banner, Block, Document, Lead, Report, Section, Text};

/// A run of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct CampaignRun<'a> {
    /// What the run is called: `nginx #2`, or after its file. Different for each.
    pub name: &'a str,
    /// What its server is called: `nginx`.
    pub server: &'a str,
    /// When each load point began, by its index; those that are missing took no turns with others.
    pub began: &'a [(u32, WallTime)],
    /// What its own report is made of.
    pub report: Report<'a>,
}

impl<'a> CampaignRun<'a> {
    /// Returns what a comparison takes of it.
    pub fn compared(&self) -> RunInput<'a> {
        let Report { analysis, plan, testbed, provenance, .. } = self.report;
        let (name, server, began) = (self.name, self.server, self.began);
        RunInput { name, server, program: &provenance.program, plan, analysis, testbed, began }
    }
}

/// Makes the document of a campaign: what was found, each benchmark with its servers, configurations side by side, method.
///
/// Benchmarks and servers come in the order of their first runs. Without a run there is a document that says so.
pub fn campaign_document(runs: &[CampaignRun]) -> Document {
    let groups = groups(runs);
    let mut sections = vec![overview::section(&groups)];
    sections.extend(groups.iter().map(benchmark::section));
    sections.extend(side_by_side::section(runs));
    sections.extend(runs.first().map(|run| method::definitions_section(&run.report)));
    sections.push(files(runs));
    let program =
        runs.first().map_or(String::new(), |run| format!(" Made by {}.", run.report.provenance.program));
    Document {
        title: title(&groups),
        subtitle: subtitle(runs),
        banner: banner(runs, &groups),
        hero: None,
        answer: Text::default(),
        lead: lead(&groups),
        sections,
        colophon: format!(
            "Every number follows from the run files and can be computed again from them.{program}"
        )
        .into(),
    }
}

/// Returns who carries how much, in the first benchmark of which that can be said.
fn lead(groups: &[Group]) -> Option<Lead> {
    groups.iter().find_map(|group| {
        let figure = bars::figure(&group.entries(), group.words())?;
        let title = format!("{}: {}", group.title(), figure.chart.title);
        Some(Lead { chart: Chart { id: "lead-chart", title, ..figure.chart }, caption: figure.caption })
    })
}

fn title(groups: &[Group]) -> String {
    match groups {
        [] => "Performance report".to_owned(),
        [only] => format!("Performance report: {}", only.title()),
        several => format!("Performance report: {} benchmarks", several.len()),
    }
}

/// Returns the servers, and when the first run began.
fn subtitle(runs: &[CampaignRun]) -> String {
    let started = runs.first().and_then(|run| run.report.provenance.started.clone());
    [Some(servers(runs).join(", ")), started].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the names of the servers, each once.
fn servers<'r, 'a: 'r>(runs: impl IntoIterator<Item = &'r CampaignRun<'a>>) -> Vec<&'a str> {
    let mut servers: Vec<&str> = Vec::new();
    for run in runs {
        if !servers.contains(&run.server) {
            servers.push(run.server);
        }
    }
    servers
}

fn banner(runs: &[CampaignRun], groups: &[Group]) -> Banner {
    let state = |run: &CampaignRun| run.report.analysis.verdict.state;
    let n_valid = runs.iter().filter(|run| state(run) == VerdictState::Valid).count();
    let worst = match runs.iter().any(|run| state(run) == VerdictState::Incomplete) {
        true => VerdictState::Incomplete,
        false => VerdictState::Invalid,
    };
    let not_valid = runs.iter().filter(|run| state(run) != VerdictState::Valid);
    let reasons = not_valid.map(|run| {
        let text = Text::default().strong(format!("{}, {}", run.report.analysis.benchmark.title, run.name));
        text.plain(format!(": run {}", state_text(state(run))))
    });
    let modified = groups.iter().filter(|group| group.is_modified());
    Banner {
        state: if n_valid == runs.len() && !runs.is_empty() { VerdictState::Valid } else { worst },
        text: format!("{n_valid} of {} runs valid.", runs.len()).into(),
        reasons: reasons.collect(),
        modified: modified.map(|group| Text::from(group.modified_text())).collect(),
    }
}

/// Returns the section about the runs behind it: judgement, file, when.
fn files(runs: &[CampaignRun]) -> Section {
    let item = |run: &CampaignRun| {
        let Report { analysis, provenance, .. } = run.report;
        let text = Text::default().strong(run.name).plain(format!(
            ", {}: {}",
            analysis.benchmark.title,
            state_text(analysis.verdict.state)
        ));
        let text = match &provenance.run_file {
            Some(file) => text.plain(", ").code(file),
            None => text,
        };
        match &provenance.started {
            Some(started) => text.plain(format!(", begun {started}")),
            None => text,
        }
    };
    Section { id: "runs", title: "Runs".into(), blocks: vec![Block::List(runs.iter().map(item).collect())] }
}
