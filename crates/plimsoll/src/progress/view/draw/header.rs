//! The header: benchmark, server, current load point, remaining time.

use model::capitalized;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{FrameContext, bold, dim, put, put_bar, take_rows};
use crate::progress::state::{Point, State};
use crate::progress::text::{length, load_text, percent};

/// Minimum width for the full text, in columns.
const WIDE: u16 = 60;

/// Draws the three rows of the header, the most important first.
pub(super) fn draw(state: &State, context: FrameContext, mut area: Rect, buffer: &mut Buffer) {
    let title = Line::from(vec![Span::styled(title(state), bold())]);
    let server = state.run().server.clone().unwrap_or_default();
    put(buffer, take_rows(&mut area, 1), &title, &Line::from(server));
    let status = status(state, WIDE <= area.width);
    put(buffer, take_rows(&mut area, 1), &Line::from(status), &Line::styled(times(state, context), dim()));
    bars(state, context, take_rows(&mut area, 1), buffer);
}

/// Returns the name of the benchmark, with the unit of a score that the rows do not have.
fn title(state: &State) -> String {
    let plan = &state.run().plan;
    if plan.catalog.score.is_operation_rate() {
        plan.benchmark.title.clone()
    } else {
        format!("{}, score in {}", plan.benchmark.title, plan.catalog.words.score)
    }
}

/// Returns the current step or load point.
fn status(state: &State, is_wide: bool) -> String {
    let before = match (&state.step, state.n_begun) {
        (Some(step), _) => Some(capitalized(step)),
        (None, 0) => Some("Ready".to_owned()),
        (None, _) => None,
    };
    match (&state.point, before) {
        (_, Some(step)) => step,
        (Some(point), None) => of_point(state, point, is_wide),
        (None, None) => String::new(),
    }
}

fn of_point(state: &State, point: &Point, is_wide: bool) -> String {
    let run = &state.runs[point.key.run];
    let n = match run.plan.load_points.len() {
        _ if run.plan.search.is_some() => " of a search".to_owned(),
        n => format!(" of {n}"),
    };
    let label = if state.runs.len() == 1 { String::new() } else { format!(" · {}", run.label) };
    if let Some(stage) = point.stage(state) {
        let load = load_text(stage.load, state.words(point.key.run));
        let [elapsed, length] = [stage.elapsed, stage.length].map(|time| time.as_secs_f64());
        let head = if is_wide { "Stage " } else { "" };
        let of = format!("{} of {}", stage.number, stage.n_stages);
        return format!("{head}{of}{label} · {load} · {elapsed:.0} of {length:.0} s");
    }
    let load = load_text(point.key.load, state.words(point.key.run));
    let head = if is_wide { "Load point " } else { "" };
    format!("{head}{}{n}{label} · {load} · {}", point.index + 1, phase(point, state))
}

/// Formats the phase of a load point and the time in it: `steady, 24 of 60 s`.
fn phase(point: &Point, state: &State) -> String {
    let phases = &state.runs[point.key.run].plan.phases;
    if point.is_over {
        return "done".to_owned();
    }
    let start = phases.start_of(point.phase);
    let length = phases.end_of(point.phase).saturating_sub(start).as_secs_f64();
    let elapsed = point.at.saturating_sub(start).as_secs_f64();
    match state.runs[point.key.run].plan.operations {
        Some(operations) if point.key.load.is_closed() => {
            let started = point.totals.due;
            format!("{}, {elapsed:.0} s, {started} of {operations} started", point.phase.name())
        }
        _ => format!("{}, {elapsed:.0} of {length:.0} s", point.phase.name()),
    }
}

fn times(state: &State, context: FrameContext) -> String {
    let elapsed = length(context.elapsed);
    match state.remaining() {
        Some(remaining) => {
            let about = if state.may_add_points() { "at most" } else { "about" };
            format!("{elapsed} elapsed, {about} {} left", length(remaining))
        }
        None => format!("{elapsed} elapsed"),
    }
}

/// Draws the progress bars of the load point and of the whole run.
fn bars(state: &State, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let of_point = state.point.as_ref().map_or(0.0, |point| point.fraction_done(state).0);
    let mut bars = vec![("load point ", of_point)];
    bars.extend(state.fraction_done().map(|done| ("total ", done.0)));
    let gap = 3;
    let width = (area.width.saturating_sub(gap * (bars.len() as u16 - 1))) / bars.len() as u16;
    let mut x = area.x;
    for (name, part) in bars {
        bar(name, part, context, Rect { x, width, ..area }, buffer);
        x += width + gap;
    }
}

fn bar(name: &str, part: f64, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let number = format!(" {:>5}", percent(part));
    let before = name.len() as u16;
    let after = number.len() as u16;
    put(buffer, area, &Line::styled(name, dim()), &Line::from(number));
    let width = area.width.saturating_sub(before + after);
    put_bar(buffer, Rect { x: area.x + before, width, ..area }, part, context);
}
