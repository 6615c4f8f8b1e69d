//! The stages of a load point with a shape: the load over time with rate and response time, and a table of their figures.

use analysis::{BrokenLimit, Finding, LoadPointResult, StageResult, UntilResult, VerdictState};
use model::{Limit, LimitMetric, Shape, Stage};
use units::Nanos;

use super::{limits_listed, state_text, timeline};
use crate::charts::{Axis, DataSeries, Draw, Format, Mark, Panel, Point, Spacing, Zone};
use crate::report::{LevelText, Terms};
use crate::{Block, Cell, Column, Figure, Hero, Report, Row, RowStyle, Section, Table, Text, Tile, numbers};

/// More stages than this have no room for their numbers above a chart.
const NAMED_MAX: usize = 24;

/// A load point with its shape.
#[derive(Clone, Copy)]
pub(super) struct ShapedRun<'a> {
    pub(super) shape: &'a Shape,
    pub(super) point: &'a LoadPointResult,
}

impl<'a> ShapedRun<'a> {
    /// Returns the load point with a shape of a run; `None` where the load of each stays the same, and before its first second.
    pub(super) fn of(report: &Report<'a>) -> Option<ShapedRun<'a>> {
        let shape = report.plan.shape.as_ref()?;
        let point = report.analysis.load_points.first().filter(|point| point.is_shaped())?;
        Some(ShapedRun { shape, point })
    }

    /// Returns the limit that ended it early.
    pub(super) fn broken(self) -> Option<BrokenLimit> {
        self.point.until.as_ref()?.broken
    }

    fn n(self, state: VerdictState) -> usize {
        self.point.stages.iter().filter(|stage| stage.verdict.state == state).count()
    }

    /// Counts its stages by their verdicts: `5 of 6 stages valid, 1 overloaded`.
    pub(super) fn counted(self) -> String {
        let n_planned = self.shape.stages.len();
        let noun = if n_planned == 1 { "stage" } else { "stages" };
        let others = [
            (self.n(VerdictState::Overloaded), "overloaded"),
            (self.n(VerdictState::Invalid), "invalid"),
            (self.n(VerdictState::Incomplete), "incomplete"),
            (n_planned.saturating_sub(self.point.stages.len()), "not run"),
        ];
        let others = others.iter().filter(|(n, _)| 0 < *n).map(|(n, what)| format!(", {n} {what}"));
        format!("{} of {n_planned} {noun} valid{}", self.n(VerdictState::Valid), others.collect::<String>())
    }
}

pub(super) fn section(report: &Report) -> Option<Section> {
    let shaped = ShapedRun::of(report)?;
    let figure = Figure {
        chart: timeline::shaped_chart(report)?,
        caption: caption(shaped),
        table: table(report, shaped),
        bulky: false,
    };
    Some(Section {
        id: "stages",
        title: "Load over time".into(),
        blocks: vec![Block::Figure(Box::new(figure))],
    })
}

fn caption(shaped: ShapedRun) -> Text {
    let broken = match shaped.broken() {
        Some(broken) => format!(" Shaded: the {} in which `{}` broke.", window_length(broken), broken.limit),
        None => String::new(),
    };
    Text::default().sentence(&format!(
        "Planned load, achieved rate and percentiles of the response time, by seconds. Vertical lines: ends of stages.{broken}"
    ))
}

fn window_length(broken: BrokenLimit) -> String {
    format!("window of {}", numbers::length(broken.window.end.saturating_sub(broken.window.start)))
}

/// Returns the table of the stages: every planned one, also those that were not run.
fn table(report: &Report, shaped: ShapedRun) -> Table {
    let is_open = report.is_open();
    let level = report.terms().level_text();
    let mut columns = vec![
        Column::numbers("Stage", ""),
        Column::numbers("From", "s"),
        Column::numbers("Length", "s"),
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Rate", "/s"),
        if is_open { Column::numbers("Delivered", "%") } else { Column::numbers("Present, mean", "") },
        Column::numbers("p50", ""),
        Column::numbers("p95", ""),
        Column::numbers("p99", ""),
        Column::numbers("Failed", "%"),
        Column::numbers("Generator", "%"),
        Column::numbers("Server", "%"),
    ];
    if is_open {
        columns.insert(6, Column::numbers("Lateness, p99", ""));
    } else {
        columns.insert(6, Column::numbers("Gap in N = X·(R + Z)", "%"));
    }
    columns.push(Column::words("Verdict"));
    let start = report.plan.phases.start_of(model::Phase::Steady);
    let rows = shaped.shape.spans().enumerate().map(|(index, (span, planned))| {
        let head = [
            (index + 1).to_string(),
            numbers::fixed((start + span.start).as_secs_f64(), 0),
            numbers::fixed(planned.length.as_secs_f64(), 0),
            stage_load(level, planned),
        ];
        match shaped.point.stages.iter().find(|stage| stage.index as usize == index) {
            None => not_run(head, columns.len()),
            Some(stage) => row(head, stage, is_open),
        }
    });
    let rows: Vec<Row> = rows.collect();
    Table::new("Stages", columns, rows).note(
        "Each stage is judged by itself; figures of stages with different loads are not merged, so that the run has no rate \
         and no percentile of its own. Behind a value: its 95 % interval, where a stage is long enough for it. Of a ramp, the \
         figures are those of all loads in it.",
    )
}

fn row(head: [String; 4], stage: &StageResult, is_open: bool) -> Row {
    let completed = stage.n.saturating_add(stage.errors);
    let failed = (0 < completed).then(|| stage.errors as f64 / completed as f64 * 100.0);
    let mut cells: Vec<Cell> = head.into_iter().map(Cell::from).collect();
    cells.push(Cell::with(numbers::figure(stage.rate), numbers::figure_interval(stage.rate_interval)));
    if is_open {
        let lateness = stage.lateness.as_ref().and_then(|lateness| lateness.percentile(0.99));
        cells.push(numbers::fixed(stage.delivered_ratio.map(|ratio| 100.0 * ratio), 1).into());
        cells.push(numbers::time(lateness.map(|p99| p99.value)).into());
    } else {
        cells.push(numbers::fixed(stage.users_mean, 1).into());
        cells.push(numbers::fixed(stage.little_gap.map(|gap| 100.0 * gap), 1).into());
    }
    cells.extend([0.5, 0.95, 0.99].map(|q| {
        let found = stage.response.percentile(q);
        let interval = found.and_then(|found| found.interval);
        Cell::with(numbers::time(found.map(|found| found.value)), numbers::time_interval(interval))
    }));
    cells.extend([
        numbers::figure(failed).into(),
        numbers::fixed(100.0 * stage.generator_busy, 0).into(),
        numbers::fixed(stage.sut_busy.map(|busy| 100.0 * busy), 0).into(),
        Cell::with(state_text(stage.verdict.state).to_owned(), missed_text(stage)),
    ]);
    let style = if stage.verdict.state == VerdictState::Valid { RowStyle::Plain } else { RowStyle::Invalid };
    Row { cells, style }
}

/// Names the limits of the user that a stage misses: `misses p99<200ms`.
fn missed_text(stage: &StageResult) -> String {
    let missed: Vec<String> = missed_limits(stage).map(ToString::to_string).collect();
    if missed.is_empty() { String::new() } else { format!("misses {}", missed.join(", ")) }
}

fn missed_limits(stage: &StageResult) -> impl Iterator<Item = &Limit> {
    stage.verdict.remarks.iter().filter_map(|remark| match &remark.finding {
        Finding::StageLimit { limit, .. } => Some(limit),
        _ => None,
    })
}

fn not_run(head: [String; 4], n_columns: usize) -> Row {
    let mut cells: Vec<Cell> = head.into_iter().map(Cell::from).collect();
    cells.resize(n_columns - 1, numbers::ABSENT.into());
    cells.push("not run".into());
    Row { cells, style: RowStyle::Invalid }
}

/// Returns the load of a stage: `100 → 200`, `200`.
pub(super) fn stage_load(level: LevelText, stage: &Stage) -> String {
    if stage.is_constant() {
        level.number(stage.from)
    } else {
        format!("{} → {}", level.number(stage.from), level.number(stage.to))
    }
}

/// Returns the table of the stages that were run for a terminal.
pub(super) fn short_table(terms: Terms, point: &LoadPointResult) -> Table {
    let columns = vec![
        Column::numbers("Stage", ""),
        Column::numbers(terms.load(), ""),
        Column::numbers("Rate", "/s"),
        Column::numbers("p50", ""),
        Column::numbers("p99", ""),
        Column::numbers("Failed", ""),
        Column::words("Verdict"),
    ];
    let percentile =
        |stage: &StageResult, q| numbers::time(stage.response.percentile(q).map(|one| one.value));
    let rows = point.stages.iter().map(|stage| {
        let style =
            if stage.verdict.state == VerdictState::Valid { RowStyle::Plain } else { RowStyle::Invalid };
        Row::plain([
            (u64::from(stage.index) + 1).to_string(),
            stage_load(terms.level_text(), &stage.planned),
            numbers::figure(stage.rate),
            percentile(stage, 0.5),
            percentile(stage, 0.99),
            numbers::count(stage.errors),
            state_text(stage.verdict.state).to_owned(),
        ])
        .style(style)
    });
    Table::new("Results per stage", columns, rows.collect())
}

/// Returns the panel of the planned load, a line through the ends of its stages.
pub(super) fn load_panel(report: &Report, shaped: ShapedRun) -> Panel {
    let start = report.plan.phases.start_of(model::Phase::Steady).as_secs_f64();
    let ends = shaped.shape.spans().flat_map(|(span, stage)| {
        let [from, to] = [span.start, span.end].map(|time| start + time.as_secs_f64());
        [Point::new(from, stage.from), Point::new(to, stage.to)]
    });
    let series =
        DataSeries { name: "planned load".into(), style: 2, draw: Draw::Line, points: ends.collect() };
    let title = if report.is_open() { "Offered per second".to_owned() } else { report.terms().load() };
    Panel { y: Axis::new(title, Spacing::FromZero, Format::Plain), series: vec![series], limit: None }
}

/// Returns a limit on a percentile or on the longest response time, to be drawn beside the response times.
pub(super) fn response_limit(shaped: ShapedRun, limits: &[Limit]) -> Option<(f64, String)> {
    let is_drawn = |limit: &&Limit| matches!(limit.metric(), LimitMetric::Percentile(_));
    let limit = shaped.shape.until.iter().chain(limits).find(is_drawn)?;
    Some((limit.value(), limit.to_string()))
}

/// Returns the ends of the stages as lines, and their numbers over their middles if there is room.
pub(super) fn stage_marks(report: &Report, shaped: ShapedRun) -> Vec<Mark> {
    let start = report.plan.phases.start_of(model::Phase::Steady).as_secs_f64();
    let n = shaped.shape.stages.len();
    let has_room = n <= NAMED_MAX;
    let marks = shaped.shape.spans().enumerate().flat_map(|(index, (span, _))| {
        let [from, to] = [span.start, span.end].map(|time| start + time.as_secs_f64());
        let name = Mark { x: (from + to) / 2.0, name: (index + 1).to_string(), line: false };
        let end = Mark { x: to, name: String::new(), line: true };
        [has_room.then_some(name), (index + 1 < n).then_some(end)]
    });
    marks.flatten().collect()
}

/// Returns the window in which a limit broke.
pub(super) fn broken_zone(shaped: ShapedRun) -> Option<Zone> {
    let window = shaped.broken()?.window;
    Some(Zone { from: window.start.as_secs_f64(), to: window.end.as_secs_f64() })
}

/// Returns the answer of the run in numbers: the load at which a limit broke or up to which it held, the verdicts of the
/// stages, and how the response time changed with the load.
pub(super) fn answer(report: &Report, shaped: ShapedRun) -> Text {
    let mut text = match &shaped.point.until {
        Some(until) => limit_answer(report, shaped, until),
        None => Text::default(),
    };
    if !text.is_empty() {
        text = text.plain(" ");
    }
    text = text.strong(shaped.counted()).plain(kept_text(report, shaped));
    match response_change(report, shaped) {
        Some(change) => text.plain(format!("; {change}.")),
        None => text.plain("."),
    }
}

/// Returns a clause about the user's limits on all stages; empty without limits.
fn kept_text(report: &Report, shaped: ShapedRun) -> String {
    let limits = limits_listed(&report.plan.limits);
    let stages = &shaped.point.stages;
    match stages.iter().filter(|stage| missed_limits(stage).next().is_some()).count() {
        _ if limits.is_empty() => String::new(),
        0 => format!(", all within {limits}"),
        n => format!(", {n} not within {limits}"),
    }
}

fn limit_answer(report: &Report, shaped: ShapedRun, until: &UntilResult) -> Text {
    let level = report.terms().level_text();
    let highest = level.with_unit(shaped.shape.level_max());
    let limits = limits_listed(&until.limits);
    match (until.broken, until.held) {
        (Some(broken), held) => {
            let held = match held {
                Some(held) => format!("; it held up to {}", level.with_unit(held.level_mean)),
                None => "; it held at no lower load that could be judged".to_owned(),
            };
            Text::default()
                .strong(broken.limit.to_string())
                .plain(" broke at ")
                .strong(level.with_unit(broken.window.level_mean))
                .plain(format!(
                    " (of up to {highest}): {} was {} in {}, at {}{held}.",
                    broken.limit.metric(),
                    broken.limit.metric().text(broken.value),
                    seconds_of(broken),
                    level.range(broken.window.level_from, broken.window.level_to),
                ))
        }
        (None, Some(held)) => Text::default().strong(limits).plain(" held up to ").strong(highest).plain(format!(
            ", the highest load of the shape ({} windows of 5 s were judged, the highest at {} on average).",
            numbers::count(u64::from(until.windows_judged)),
            level.with_unit(held.level_mean),
        )),
        (None, None) => Text::default()
            .strong(limits)
            .plain(" could not be judged: no 5 s in a row had enough operations. Offer more load, or set a limit that needs fewer."),
    }
}

fn seconds_of(broken: BrokenLimit) -> String {
    let [from, to] =
        [broken.window.start, broken.window.end].map(|time| numbers::fixed(time.as_secs_f64(), 0));
    format!("seconds {from} to {to}")
}

/// Returns a clause about the 99th percentile (or the median, where no stage has enough for that) at the least load and at the
/// load with the longest; `None` with fewer than two stages that have it.
fn response_change(report: &Report, shaped: ShapedRun) -> Option<String> {
    let value = |stage: &StageResult, q| stage.response.percentile(q).map(|one| one.value);
    let known = |q| shaped.point.stages.iter().filter(move |stage| value(stage, q).is_some());
    let (q, name) = if 1 < known(0.99).count() { (0.99, "p99") } else { (0.5, "p50") };
    let mean = |stage: &&StageResult| stage.planned.level_mean();
    let least = known(q).min_by(|one, other| mean(one).total_cmp(&mean(other)))?;
    // Of equal elements, `max_by_key` returns the last.
    let worst = known(q).rev().max_by_key(|stage| value(stage, q))?;
    let level = report.terms().level_text();
    let [from, to] = [least, worst].map(|stage| value(stage, q).unwrap_or(Nanos::ZERO));
    if least.index == worst.index {
        return (1 < known(q).count())
            .then(|| format!("{name} was longest in stage {}, {}", worst.index + 1, numbers::time(to)));
    }
    Some(format!(
        "{name} was {} at {} (stage {}) and {} at {} (stage {})",
        numbers::time(from),
        level.range(least.planned.from, least.planned.to),
        least.index + 1,
        numbers::time(to),
        level.range(worst.planned.from, worst.planned.to),
        worst.index + 1,
    ))
}

/// Returns the answer of a run with stages for a terminal, in plain text; `None` of another run.
pub fn stages_text(report: &Report) -> Option<String> {
    let answer = answer(report, ShapedRun::of(report)?);
    let text: String = answer
        .0
        .iter()
        .map(|span| match span {
            crate::Span::Plain(text) | crate::Span::Strong(text) | crate::Span::Code(text) => text.as_str(),
        })
        .collect();
    // As in tables on a terminal: a pipe can read the digits.
    Some(text.replace('\u{202f}', ""))
}

/// Returns the load at which a limit broke, with that up to which it held beside it.
pub(super) fn hero(report: &Report, shaped: ShapedRun) -> Option<Hero> {
    let until = shaped.point.until.as_ref()?;
    let level = report.terms().level_text();
    let limits = limits_listed(&until.limits);
    let (value, companion) = match (until.held, until.broken) {
        (Some(held), Some(broken)) => {
            (held.level_mean, Text::from("broke at ").strong(level.with_unit(broken.window.level_mean)))
        }
        (Some(_), None) => {
            (shaped.shape.level_max(), Text::from("the highest load of the shape; no limit broke"))
        }
        (None, _) => return None,
    };
    let companion =
        companion.plain(" — ").strong(format!("run {}", state_text(report.analysis.verdict.state)));
    Some(Hero {
        value: level.number(value),
        unit: format!("{} within {limits}", level.unit(value)),
        companion,
    })
}

/// Returns the tiles of the overview.
pub(super) fn tiles(report: &Report, shaped: ShapedRun) -> Vec<Tile> {
    let level = report.terms().level_text();
    let tile = |name: &str, value: String, note: String| Tile { name: name.to_owned(), value, note };
    let mut tiles = Vec::new();
    if let Some(until) = &shaped.point.until {
        let limits = limits_listed(&until.limits);
        match until.broken {
            Some(broken) => {
                let held = until.held.map_or_else(
                    || "held at no load that could be judged".to_owned(),
                    |held| format!("held up to {}", level.with_unit(held.level_mean)),
                );
                let value = level.with_unit(broken.window.level_mean);
                tiles.push(tile(&format!("{} broke at", broken.limit), value, held));
            }
            None if until.held.is_some() => {
                let value = level.with_unit(shaped.shape.level_max());
                tiles.push(tile(&format!("{limits} held up to"), value, "no limit broke".to_owned()));
            }
            None => tiles.push(tile(&limits, "not judged".to_owned(), "too few operations".to_owned())),
        }
    }
    tiles.push(tile(
        "Stages valid",
        format!("{} of {}", shaped.n(VerdictState::Valid), shaped.shape.stages.len()),
        format!("in {}", numbers::length(shaped.point.length)),
    ));
    let at = |stage: &StageResult| {
        let load = level.range(stage.planned.from, stage.planned.to);
        format!("stage {}, {load}", stage.index + 1)
    };
    let highest = shaped.point.stages.iter().max_by(|one, other| one.rate.total_cmp(&other.rate));
    tiles.extend(
        highest.map(|stage| tile("Highest rate", format!("{}/s", numbers::figure(stage.rate)), at(stage))),
    );
    let p99 = |stage: &&StageResult| Some(stage.response.percentile(0.99)?.value);
    let worst = shaped.point.stages.iter().filter(|stage| p99(stage).is_some()).max_by_key(p99);
    tiles.extend(worst.map(|stage| tile("Longest p99", numbers::time(p99(&stage)), at(stage))));
    let errors = shaped.point.total.errors;
    let all = shaped.point.total.n.saturating_add(errors);
    tiles.push(tile(
        "Errors",
        numbers::count(errors),
        format!("of {} operations in all", numbers::count(all)),
    ));
    tiles
}

/// Describes the load: `6 stages in 3 min, 0 to 400 users`.
pub(super) fn load_text(report: &Report, shape: &Shape) -> String {
    let level = report.terms().level_text();
    let least = shape.stages.iter().fold(f64::INFINITY, |least, stage| least.min(stage.from).min(stage.to));
    let until = if shape.until.is_empty() {
        String::new()
    } else {
        format!(", until one of these limits breaks: {}", limits_listed(&shape.until))
    };
    let n = shape.stages.len();
    let noun = if n == 1 { "stage" } else { "stages" };
    let length = numbers::length(shape.length());
    format!("{n} {noun} in {length}, {}{until}", level.range(least, shape.level_max()))
}

/// Returns the sentence of the verdict about a run with stages.
pub(super) fn verdict_text(shaped: ShapedRun) -> String {
    let counted = shaped.counted();
    match shaped.broken() {
        Some(broken) => format!("{counted}. The load ended early, as planned: {} broke", broken.limit),
        None => counted,
    }
}

/// Returns the next step.
pub(super) fn next(report: &Report, shaped: ShapedRun) -> Text {
    let level = report.terms().level_text();
    let flag = if report.is_open() { "--rate" } else { "--load" };
    let text = match (&shaped.point.until, shaped.broken()) {
        (Some(until), Some(broken)) => {
            let held = until.held.map(|held| held.level_mean);
            let loads = [held, Some(broken.window.level_mean)].into_iter().flatten();
            let loads: Vec<String> = loads.map(|load| level.plain(load)).collect();
            format!(
                "A window of 5 s finds the load at which a limit breaks, not how stable it is there: measure it for longer at \
                 loads that stay the same, with `{flag} {}`.",
                loads.join(",")
            )
        }
        (Some(_), None) => {
            format!("No limit broke up to {}: offer more.", level.with_unit(shaped.shape.level_max()))
        }
        (None, _) => {
            "To compare a change, measure loads that stay the same: runs with stages are not compared."
                .to_owned()
        }
    };
    Text::default().sentence(&text)
}
