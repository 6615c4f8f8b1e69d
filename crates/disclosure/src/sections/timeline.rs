//! The run second by second: rate, response time, errors and CPU use over all load points.

use analysis::{TimeClasses, TimelinePoint};
use model::{Load, Phase};
use units::Nanos;

use super::stages::{self, ShapedRun};
use super::{heat_map, steadiness};
use crate::charts::{
    self, Axis, Chart, DataSeries, Draw, FoldedColumn as Folded, Format, Mark, Panel, Point, Spacing, Zone,
};
use crate::{Block, Column, Figure, LeadFigure, Report, Row, Section, Table, numbers};

/// More columns than this cannot be told apart on a page, and make it heavy.
const COLUMNS_MAX: usize = 240;

/// The seconds of one phase of one load point.
pub(super) struct PhaseSpan<'a> {
    pub(super) load_point: u32,
    /// When the load point began, on the axis of the whole run.
    start: f64,
    pub(super) load: String,
    offered: Load,
    pub(super) phase: Phase,
    /// Start and end on the time axis of the run.
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) seconds: &'a [TimelinePoint],
    /// Of the same seconds; empty where they were not kept.
    pub(super) classes: &'a [TimeClasses],
}

pub(super) fn section(report: &Report) -> Option<Section> {
    let spans = spans(report);
    if spans.is_empty() {
        return None;
    }
    let width = charts::width_for(spans.iter().map(|span| span.seconds.len()), COLUMNS_MAX);
    let folding = match width {
        1 => "One point per second.".to_owned(),
        n => format!(
            "One point per {n} s: rates are means, with a band from the lowest to the highest second; percentiles are those of the worst second, because percentiles cannot be averaged."
        ),
    };
    let warm_up = if warm_up_marks(report, &spans).is_empty() {
        ""
    } else {
        " Dotted: end of the warm-up of the rate (MSER-5)."
    };
    let shaped = ShapedRun::of(report);
    let steadiness = shaped.map_or_else(|| steadiness::sentence(report), |_| String::new());
    let figure = Figure {
        chart: chart(report, &spans),
        caption: format!(
            "{folding} Shaded: phases that are not measured. Pauses between load points are omitted.{warm_up} {steadiness}"
        )
        .into(),
        table: table(report, &spans),
        bulky: true,
    };
    let heat_map = heat_map::figure(report, &spans);
    let figures = [Some(figure), heat_map].into_iter().flatten();
    let mut blocks: Vec<Block> = figures.map(|figure| Block::Figure(Box::new(figure))).collect();
    let by_load_point = heat_map::by_load_point(report, &spans).filter(|_| shaped.is_none());
    blocks.extend(
        by_load_point
            .map(|table| Block::bulky_fold("Response times by load point", vec![Block::Table(table)])),
    );
    Some(Section { id: "timeline", title: "Timeline".into(), blocks })
}

/// Returns the chart that a report of a single load point opens with: rate and response time over the run.
pub(super) fn lead(report: &Report) -> Option<LeadFigure> {
    if let Some(chart) = shaped_chart(report) {
        let chart = Chart { id: "lead-chart", ..chart };
        return Some(LeadFigure { chart, caption: "Vertical lines: ends of stages.".into() });
    }
    let spans = spans(report);
    let whole = (!spans.is_empty()).then(|| chart(report, &spans))?;
    let chart = Chart {
        id: "lead-chart",
        title: "Rate and response time over the run".into(),
        panels: whole.panels.into_iter().take(2).collect(),
        ..whole
    };
    Some(LeadFigure { chart, caption: "Shaded: phases that are not measured.".into() })
}

/// Returns the chart of a run with stages: load, rate and response time on one axis; `None` of another run.
pub(super) fn shaped_chart(report: &Report) -> Option<Chart> {
    let shaped = ShapedRun::of(report)?;
    let spans = spans(report);
    let (x, scale) = time_axis(&spans);
    let x = Axis { title: x.title.replace("the first load point", "the load"), ..x };
    let response =
        Panel { limit: stages::response_limit(shaped, &report.plan.limits), ..response_panel(&spans) };
    let chart = Chart {
        id: "stages-chart",
        title: "Load, rate and response time over the run".into(),
        description: format!(
            "The planned load, the completed operations per second and the percentiles of the response time over time. {}.",
            shaped.counted()
        ),
        x,
        panels: vec![stages::load_panel(report, shaped), rate_panel(&spans), response],
        zones: stages::broken_zone(shaped).into_iter().collect(),
        marks: stages::stage_marks(report, shaped),
    };
    Some(scaled(chart, scale))
}

/// Returns a chart whose axis of time, in seconds, is divided by a unit.
fn scaled(mut chart: Chart, scale: f64) -> Chart {
    let series = chart.panels.iter_mut().flat_map(|panel| &mut panel.series);
    series.flat_map(|series| &mut series.points).for_each(|point| point.x /= scale);
    for zone in &mut chart.zones {
        *zone = Zone { from: zone.from / scale, to: zone.to / scale };
    }
    chart.marks.iter_mut().for_each(|mark| mark.x /= scale);
    chart
}

fn spans<'a>(report: &Report<'a>) -> Vec<PhaseSpan<'a>> {
    let phases = &report.plan.phases;
    let mut start = 0.0;
    let mut spans: Vec<PhaseSpan> = Vec::new();
    for point in &report.analysis.load_points {
        let load = crate::report::load_number(point.load);
        let mut first = 0;
        let mut before = f64::INFINITY;
        for seconds in point.timeline.chunk_by(|a, b| a.phase == b.phase) {
            let classes = point.time_classes.get(first..first + seconds.len()).unwrap_or_default();
            first += seconds.len();
            let phase = seconds[0].phase;
            // A load that ends with its last operation has its drain earlier than planned.
            let from = phases.start_of(phase).as_secs_f64().min(before);
            let to = phases.end_of(phase).as_secs_f64();
            // A phase that was broken off ends with its last second; half a second lies behind its middle.
            let to = to.min(seconds[seconds.len() - 1].at + 0.5);
            let to = to.max(from);
            before = to;
            spans.push(PhaseSpan {
                load_point: point.index,
                start,
                load: load.clone(),
                offered: point.load,
                phase,
                from: start + from,
                to: start + to,
                seconds,
                classes,
            });
        }
        start = spans.last().map_or(start, |last| last.to);
    }
    spans
}

/// Returns the columns of one value over the whole run, with a gap between load points and before a drain.
fn points(
    spans: &[PhaseSpan],
    value: impl Fn(&TimelinePoint) -> Option<f64>,
    y: fn(&Folded) -> f64,
) -> Vec<Point> {
    let seconds = |span: &PhaseSpan| {
        span.seconds.iter().map(|second| (span.start + second.at, value(second))).collect()
    };
    let folded = charts::fold(&spans.iter().map(seconds).collect::<Vec<_>>(), COLUMNS_MAX);
    let mut points: Vec<Point> = Vec::new();
    let mut before = None;
    for (span, columns) in spans.iter().zip(&folded) {
        for column in columns {
            // The drain belongs to its load point, but a line down to it would look like a breakdown.
            let line = Some((span.load_point, span.phase == Phase::Drain));
            let gap = before != line;
            before = line;
            let range = Some((column.min, column.max)).filter(|(min, max)| min < max);
            points.push(Point { range, gap, ..Point::new(column.at, y(column)) });
        }
    }
    points
}

/// Returns the title of the axis of the whole run, and its unit in seconds.
pub(super) fn time_axis(spans: &[PhaseSpan]) -> (Axis, f64) {
    let (unit, scale) = match spans.last() {
        Some(last) if 600.0 <= last.to => ("Minutes", 60.0),
        _ => ("Seconds", 1.0),
    };
    let title = format!("{unit} since the start of the first load point");
    (Axis::new(title, Spacing::FromZero, Format::Plain), scale)
}

fn chart(report: &Report, spans: &[PhaseSpan]) -> Chart {
    let (x, scale) = time_axis(spans);
    let mut panels = vec![rate_panel(spans), response_panel(spans)];
    panels.extend(error_panel(spans));
    panels.push(cpu_panel(report, spans));
    let shaped = ShapedRun::of(report);
    let mut marks: Vec<Mark> = match shaped {
        Some(shaped) => stages::stage_marks(report, shaped),
        None => {
            let named = load_marks(report, spans).into_iter().map(|mark| (mark, false));
            let lines = warm_up_marks(report, spans).into_iter().map(|mark| (mark, true));
            named.chain(lines).map(|((x, name), line)| Mark { x, name, line }).collect()
        }
    };
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    let chart = Chart {
        id: "timeline-chart",
        title: "Rate, response time, errors and CPU over the run".into(),
        description: match shaped {
            Some(_) => "The stages one after another; the numbers above are theirs.".to_owned(),
            None => format!(
                "All load points one after another; the numbers above are {}.",
                report.terms().load_noun
            ),
        },
        x,
        panels,
        zones: zones(spans).map(|(from, to)| Zone { from, to }).collect(),
        marks,
    };
    scaled(chart, scale)
}

fn line(name: &str, style: usize, points: Vec<Point>) -> DataSeries {
    DataSeries { name: name.to_owned(), style, draw: Draw::Line, points }
}

fn rate_panel(spans: &[PhaseSpan]) -> Panel {
    let rate = points(spans, |second| Some(second.rate), |column| column.mean);
    let y = Axis::new("Completed per second", Spacing::FromZero, Format::Plain);
    Panel { y, series: vec![line("rate", 0, rate)], limit: None }
}

fn response_panel(spans: &[PhaseSpan]) -> Panel {
    let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
    let p50 = points(spans, |second| seconds(second.p50), |column| column.max);
    let p99 = points(spans, |second| seconds(second.p99), |column| column.max);
    let series = [line("p99", 1, p99), line("p50", 0, p50)];
    let y = Axis::new("Response time (log)", Spacing::Log, Format::Seconds);
    Panel { y, series: series.into_iter().filter(|series| !series.points.is_empty()).collect(), limit: None }
}

fn error_panel(spans: &[PhaseSpan]) -> Option<Panel> {
    let any = spans.iter().flat_map(|span| span.seconds).any(|second| 0.0 < second.error_rate);
    let errors = points(spans, |second| Some(second.error_rate), |column| column.mean);
    let y = Axis::new("Errors per second", Spacing::FromZero, Format::Plain);
    any.then(|| Panel { y, series: vec![line("errors", 1, errors)], limit: None })
}

fn cpu_panel(report: &Report, spans: &[PhaseSpan]) -> Panel {
    let allowance = report.plan.sut_allowance();
    let ours = points(spans, |second| Some(second.generator_busy), |column| column.mean);
    let theirs =
        points(spans, |second| Some(second.sut_cpus? / allowance.unwrap_or(1.0)), |column| column.mean);
    let name = if allowance.is_some() { "server" } else { "server (of 1 CPU)" };
    let series = [line(name, 1, theirs), line("generator", 0, ours)];
    let y = Axis::new("CPU use", Spacing::FromZero, Format::Percent);
    Panel { y, series: series.into_iter().filter(|series| !series.points.is_empty()).collect(), limit: None }
}

/// The spans that are not measured.
fn zones(spans: &[PhaseSpan]) -> impl Iterator<Item = (f64, f64)> {
    let unmeasured = spans.iter().filter(|span| span.phase != Phase::Steady);
    unmeasured.map(|span| (span.from, span.to))
}

/// The load over the middle of each load point; in words if there are few.
pub(super) fn load_marks(report: &Report, spans: &[PhaseSpan]) -> Vec<(f64, String)> {
    let points = spans.chunk_by(|a, b| a.load_point == b.load_point);
    let few = are_few(report);
    let mark = |of_point: &[PhaseSpan]| {
        let first = &of_point[0];
        let last = &of_point[of_point.len() - 1];
        let name = if few { report.terms().load_text(first.offered) } else { first.load.clone() };
        ((first.start + last.to) / 2.0, name)
    };
    points.map(mark).collect()
}

/// Returns the ends of warm-ups that lasted into full load; they have a name if there are few load points.
fn warm_up_marks(report: &Report, spans: &[PhaseSpan]) -> Vec<(f64, String)> {
    let full_load = report.plan.phases.end_of(Phase::RampUp);
    let name = if are_few(report) { "warm" } else { "" };
    let mark = |of_point: &[PhaseSpan]| {
        let point = report.analysis.load_points.iter().find(|point| point.index == of_point[0].load_point)?;
        let end = point.warm_up.filter(|end| full_load < *end)?;
        Some((of_point[0].start + end.as_secs_f64(), name.to_owned()))
    };
    spans.chunk_by(|a, b| a.load_point == b.load_point).filter_map(mark).collect()
}

/// Returns whether there is room for names over load points.
fn are_few(report: &Report) -> bool {
    report.analysis.load_points.len() <= 6
}

fn table(report: &Report, spans: &[PhaseSpan]) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Middle", "s"),
        Column::words("Phase"),
        Column::numbers("Rate, mean", "/s"),
        Column::numbers("min–max", "/s"),
        Column::numbers("p50, worst", ""),
        Column::numbers("p99, worst", ""),
        Column::numbers("Errors", "/s"),
        Column::numbers("Generator", "%"),
        Column::numbers("Server", "CPUs"),
    ];
    let width = charts::width_for(spans.iter().map(|span| span.seconds.len()), COLUMNS_MAX);
    let groups = spans.iter().flat_map(|span| span.seconds.chunks(width).map(move |group| (span, group)));
    Table::new("Timeline", columns, groups.map(|(span, group)| row(span, group)).collect())
}

fn row(span: &PhaseSpan, group: &[TimelinePoint]) -> Row {
    let one = |value: &dyn Fn(&TimelinePoint) -> Option<f64>| {
        let values = group.iter().map(|second| (second.at, value(second))).collect();
        charts::fold(&[values], 1)[0].first().copied()
    };
    let mean = |folded: Option<Folded>| folded.map(|folded| folded.mean);
    let worst = |folded: Option<Folded>| folded.map(|folded| folded.max);
    let rate = one(&|second| Some(second.rate));
    Row::plain([
        span.load.clone(),
        numbers::fixed(rate.map(|rate| span.start + rate.at), 1),
        span.phase.name().to_owned(),
        numbers::figure(mean(rate)),
        numbers::figure_interval(rate.map(|rate| (rate.min, rate.max))),
        numbers::seconds(worst(one(&|second| second.p50.map(Nanos::as_secs_f64)))),
        numbers::seconds(worst(one(&|second| second.p99.map(Nanos::as_secs_f64)))),
        numbers::figure(mean(one(&|second| Some(second.error_rate)))),
        numbers::fixed(mean(one(&|second| Some(second.generator_busy * 100.0))), 1),
        numbers::figure(mean(one(&|second| second.sut_cpus))),
    ])
}
