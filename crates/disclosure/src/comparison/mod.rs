//! Several runs side by side: sentences and tables for the terminal, and a document of their own.

mod answer;
mod chart;
mod configuration;
mod sentences;
mod tables;

use analysis::VerdictState;
use analysis::compare::Comparison;
use model::Load;

pub(crate) use answer::comparison_answer;
pub use configuration::configuration_table;
pub use sentences::comparison_text;
pub use tables::{comparison_changes, comparison_overall, comparison_summary, comparison_table};

use crate::report::Words;
use crate::scaling;
use crate::sections::{modification_text, state_text};
use crate::{Banner, Block, Document, Lead, NoteKind, Provenance, Section, Text};

/// Makes a document of the comparison; `provenance` in the order of the runs, may be shorter.
pub fn comparison_document(comparison: &Comparison, provenance: &[Provenance]) -> Document {
    let names: Vec<&str> = comparison.sides.iter().map(|side| side.name.as_str()).collect();
    let mut sections = vec![
        Section { id: "comparison", title: "Comparison".into(), blocks: summary(comparison) },
        Section { id: "levels", title: "Load by load".into(), blocks: levels(comparison) },
    ];
    sections.extend(scaling::section(&comparison.scalings, words(comparison).rate_heading));
    sections.extend(configuration::section(comparison));
    sections.push(runs(comparison, provenance));
    let program = provenance.first().map_or(String::new(), |first| format!(" Made by {}.", first.program));
    Document {
        title: format!("{}: comparison", comparison.benchmark.title),
        subtitle: format!("{} · benchmark version {}", names.join(", "), comparison.benchmark.version),
        banner: banner(comparison),
        hero: None,
        answer: Text::default(),
        lead: lead(comparison),
        sections,
        colophon: format!(
            "Every number follows from the run files and can be computed again from them.{program}"
        )
        .into(),
    }
}

fn banner(comparison: &Comparison) -> Banner {
    let not_valid: Vec<_> = comparison.runs.iter().filter(|run| run.state != VerdictState::Valid).collect();
    let worst = if not_valid.iter().any(|run| run.state == VerdictState::Incomplete) {
        VerdictState::Incomplete
    } else {
        VerdictState::Invalid
    };
    let counted =
        format!("{} of {} runs valid", comparison.runs.len() - not_valid.len(), comparison.runs.len());
    let answer = comparison_answer(comparison).map_or(String::new(), |answer| format!("{answer} "));
    let alike = match comparison.plan_differences.is_empty() {
        true => "all of the same benchmark, workload, protocol, phases, load, seed and generator",
        false => "not of the same plan, and compared all the same",
    };
    let invalid = not_valid.iter().map(|run| {
        Text::default().strong(run.name.clone()).plain(format!(": run {}", state_text(run.state)))
    });
    let unlike = comparison.plan_differences.iter().map(|one| Text::from(format!("not alike: {one}")));
    Banner {
        state: if not_valid.is_empty() { VerdictState::Valid } else { worst },
        text: Text::default().sentence(&format!("{answer}{counted}; {alike}.")),
        reasons: invalid.chain(unlike).collect(),
        modified: comparison.modifications.iter().map(modification_text).collect(),
    }
}

fn summary(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = paragraphs(comparison);
    blocks.push(Block::Table(comparison_summary(comparison)));
    blocks.extend(comparison_overall(comparison).map(Block::Table));
    blocks
}

/// Returns what the comparison says, a paragraph for each of its sentences.
pub(crate) fn paragraphs(comparison: &Comparison) -> Vec<Block> {
    let sentences = comparison_text(comparison);
    sentences.iter().map(|sentence| Block::Paragraph(Text::default().sentence(sentence))).collect()
}

/// Returns rate and response time of all sides against the load; `None` if fewer than two loads are common to them.
fn lead(comparison: &Comparison) -> Option<Lead> {
    (1 < comparison.levels.len()).then(|| Lead {
        chart: chart::chart(comparison),
        caption: "Bars: 95 % intervals. Hollow markers: load points that are not valid.".into(),
    })
}

fn levels(comparison: &Comparison) -> Vec<Block> {
    if comparison.levels.is_empty() {
        let text = "There is no load at which all of them were measured.";
        return vec![Block::Note(NoteKind::Info, text.into())];
    }
    let changes = comparison_changes(comparison);
    let mut blocks = vec![Block::Table(comparison_table(comparison))];
    if !changes.rows.is_empty() {
        let title = "Every figure at every load".into();
        blocks.push(Block::Fold { title, blocks: vec![Block::Table(changes)] });
    }
    blocks
}

/// Returns the section about the runs behind it: judgement, side, file.
fn runs(comparison: &Comparison, provenance: &[Provenance]) -> Section {
    let run = |(index, run): (usize, &analysis::compare::ComparedRun)| {
        let side = &comparison.sides[run.side];
        let of = if side.name == run.name { String::new() } else { format!(", of {}", side.name) };
        let text = Text::default().strong(run.name.clone()).plain(format!("{of}: {}", state_text(run.state)));
        match provenance.get(index).and_then(|provenance| provenance.run_file.clone()) {
            Some(file) => text.plain(", ").code(file),
            None => text,
        }
    };
    let list = comparison.runs.iter().enumerate().map(run).collect();
    Section { id: "runs", title: "Runs".into(), blocks: vec![Block::List(list)] }
}

fn words(comparison: &Comparison) -> Words {
    let of_levels = comparison.levels.iter().map(|level| level.load);
    let of_best = comparison.sides.iter().filter_map(|side| Some(side.best.as_ref()?.load));
    Words::new(comparison.benchmark.headline, of_levels.chain(of_best).all(Load::is_closed))
}
