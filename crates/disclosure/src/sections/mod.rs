//! The sections of the report, one file each, and the list that orders them.

mod advice;
mod back_ends;
mod bottleneck;
mod brief;
mod changed_limits;
mod checks;
mod classes;
mod clients;
mod configuration;
mod delivery;
mod demand;
mod errors;
mod files;
mod heat_map;
pub(crate) mod highlights;
mod in_flight;
mod interactive;
mod kinds;
mod load_machines;
mod machine;
pub(crate) mod method;
pub(crate) mod narrative;
mod network;
mod notices;
mod opening;
mod pauses;
pub(crate) mod percentile_curve;
mod percentiles;
mod price;
pub(crate) mod production;
mod rates;
mod remarks;
mod reproduce;
mod resources;
mod results;
mod score;
mod stages;
mod steadiness;
pub(crate) mod summary;
mod timeline;
mod workload;

use analysis::attribute::Attribution;
use analysis::{LoadPointResult, Reason, VerdictState};
use model::{Limit, limits_text};

pub use opening::headline_text;
pub(crate) use opening::modification_text;
pub use price::price_text;
pub use results::{results_table, table_notes};
pub use stages::stages_text;

use SectionScope::{Any, Uniform};

use crate::charts::{Axis, Format, Mark, Spacing};
use crate::{Document, Hints, Report, Section, Text, finding_text};

/// Writes limits as a list: `p99<50ms, errors<0.1%`.
pub(super) fn limits_listed(limits: &[Limit]) -> String {
    limits_text(limits).replace(',', ", ")
}

/// Makes a section of a report; `None` if it has nothing to say about this run.
type SectionBuilder = fn(&Report) -> Option<Section>;

/// Number of sections that are not folded: the overview and the results.
const N_OPEN: usize = 2;

/// The runs that a section is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionScope {
    /// Any.
    Any,
    /// Those whose load points have one load each: over stages with different loads its figures would be merged.
    Uniform,
}

/// In reading order.
const SECTIONS: &[(SectionBuilder, SectionScope)] = &[
    (summary::section, Any),
    (results::section, Uniform),
    (stages::section, Any),
    (narrative::section, Uniform),
    (price::section, Any),
    (bottleneck::section, Uniform),
    (rates::section, Uniform),
    (delivery::section, Uniform),
    (clients::section, Uniform),
    (interactive::section, Uniform),
    (notices::section, Uniform),
    (classes::section, Uniform),
    (percentiles::section, Uniform),
    (timeline::section, Any),
    (files::section, Uniform),
    (kinds::section, Uniform),
    (resources::section, Uniform),
    (load_machines::section, Uniform),
    (demand::section, Uniform),
    (machine::section, Uniform),
    (errors::section, Any),
    (checks::section, Any),
    (in_flight::section, Uniform),
    (remarks::section, Any),
    (network::section, Any),
    (configuration::section, Any),
    (workload::section, Any),
    (production::section, Any),
    (method::section, Any),
    (reproduce::section, Any),
];

/// Makes the document of a report.
pub fn outline(report: &Report) -> Document {
    let program = &report.provenance.program;
    let run_file = &report.provenance.run_file;
    let mut colophon = Text::from("Every number in this report comes from the run file");
    if let Some(name) = run_file {
        colophon = colophon.plain(" ").code(name);
    }
    if let Some(sheet) = report.price {
        colophon = colophon.plain(", prices also from the price list ").code(&sheet.file).plain(",");
    }
    let notice = report.plan.workload.notice().map(|notice| format!(" {notice}")).unwrap_or_default();
    Document {
        title: report.analysis.benchmark.title.clone(),
        subtitle: opening::subtitle(report),
        banner: opening::banner(report),
        hero: opening::hero(report),
        answer: opening::answer(report),
        brief: brief::brief(report),
        n_open: N_OPEN,
        lead: rates::lead(report).or_else(|| timeline::lead(report)),
        sections: sections(report),
        colophon: colophon.plain(format!(" and can be recomputed from it. Written by {program}.{notice}")),
    }
}

fn sections(report: &Report) -> Vec<Section> {
    let is_shaped = stages::ShapedRun::of(report).is_some();
    let chosen = SECTIONS.iter().filter(|(_, scope)| *scope == Any || !is_shaped);
    chosen.filter_map(|(builder, _)| builder(report)).collect()
}

/// Returns the load points with a known bottleneck.
fn attributed<'a>(report: &'a Report) -> impl Iterator<Item = (&'a LoadPointResult, &'a Attribution)> {
    report.analysis.load_points.iter().filter_map(|point| Some((point, point.attribution.as_ref()?)))
}

/// Returns the word for a verdict, with a symbol that can be told apart without color.
pub(crate) fn state_text(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "✓\u{a0}valid",
        VerdictState::Overloaded => "↑\u{a0}overloaded",
        VerdictState::Invalid => "✕\u{a0}invalid",
        VerdictState::Incomplete => "◐\u{a0}incomplete",
    }
}

/// Writes a reason with its load point, rule and hint, unless the hint was given.
fn reason_entry(report: &Report, hints: &mut Hints, reason: &Reason) -> Text {
    let mut text = Text::default();
    if let Some(index) = reason.load_point {
        let load =
            report.analysis.load_points.iter().find(|point| point.index == index).map(|point| point.load);
        let load = load.or(report.plan.load_points.get(index as usize).map(|point| point.load));
        let load = load.map_or(String::new(), |load| format!(" ({})", report.terms().load_text(load)));
        let place = match stage_text(report, reason) {
            Some(stage) => format!("{stage}: "),
            None => format!("Load point {}{load}: ", index + 1),
        };
        text = text.strong(place);
    }
    let found = finding_text(&reason.finding);
    text = text.sentence(&format!("{found} (rule ")).code(reason.rule()).plain(")");
    match hints.next_of(reason) {
        Some(hint) => text.sentence(&format!(". Hint: {hint}")),
        None => text,
    }
}

/// Names the stage that a reason concerns, with its load; `None` if it concerns all of a load point.
fn stage_text(report: &Report, reason: &Reason) -> Option<String> {
    let index = reason.stage?;
    let stage = report.plan.shape.as_ref()?.stages.get(index as usize)?;
    let load = report.terms().level_text().range(stage.from, stage.to);
    Some(format!("Stage {} ({load})", u64::from(index) + 1))
}

/// Returns the axis of the load, with a number under every load point as far as there is room.
fn load_axis(report: &Report) -> Axis {
    let title = if report.is_open() {
        "Offered operations per second".to_owned()
    } else {
        report.terms().load().to_owned()
    };
    let at = report.analysis.load_points.iter().map(|point| point.load.level()).collect();
    Axis { at, ..Axis::new(title, Spacing::FromZero, Format::Plain) }
}

/// Returns the marks of the curve: knee, saturation and peak, in one mark where they coincide.
fn curve_marks(report: &Report) -> Vec<Mark> {
    let curve = &report.analysis.curve;
    if !report.has_curve() {
        return Vec::new();
    }
    let named = [(curve.knee, "knee"), (report.analysis.saturation(), "saturation"), (curve.peak, "peak")];
    let mut marks: Vec<Mark> = Vec::new();
    for (index, name) in named {
        let Some(point) = index.and_then(|index| report.analysis.load_points.get(index)) else { continue };
        let x = point.load.level();
        match marks.iter_mut().find(|mark| mark.x == x) {
            Some(mark) => mark.name = format!("{} · {name}", mark.name),
            None => marks.push(Mark { x, name: name.to_owned(), line: true }),
        }
    }
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    marks
}

/// Returns whether the numbers of a load point are in doubt.
pub(crate) fn is_doubtful(point: &LoadPointResult) -> bool {
    point.verdict.state != VerdictState::Valid
}

/// Returns the note for a figure’s caption about points in doubt, if there are any.
fn hollow_note(report: &Report) -> &'static str {
    if report.analysis.load_points.iter().any(is_doubtful) {
        " Hollow markers: load points that are not valid."
    } else {
        ""
    }
}
