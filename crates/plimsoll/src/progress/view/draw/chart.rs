//! The two charts over time. A page stands still until it is full, then moves on by half, so that nothing jitters.

use ratatui::buffer::Buffer;
use ratatui::layout::{HorizontalAlignment, Rect};
use ratatui::style::Color as Ink;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};
use units::Nanos;

use super::paint::{Look, bold, dim, put, take_rows};
use super::scale::{Scale, linear, logarithmic, page};
use crate::progress::state::{Second, State};
use crate::progress::text::length;

/// Columns of the labels of the vertical axis, and of the axis.
const LABELS: u16 = 7;
const AXIS: u16 = 1;

/// One line, or one set of bars.
struct Series {
    points: Vec<(f64, f64)>,
    kind: GraphType,
    ink: Ink,
}

/// Draws the rate of operations.
pub fn draw_rate(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    let due = |second: &Second| (!second.load.is_closed()).then_some(second.due_rate);
    let failed = |second: &Second| (0 < second.errors).then_some(second.errors as f64);
    let unmeasured = |second: &Second| (!second.is_steady).then_some(second.rate);
    let steady = |second: &Second| second.is_steady.then_some(second.rate);
    let series = vec![
        Series { points: points(state, due), kind: GraphType::Scatter, ink: Ink::Yellow },
        Series { points: points(state, unmeasured), kind: GraphType::Scatter, ink: Ink::Cyan },
        Series { points: points(state, steady), kind: GraphType::Bar, ink: Ink::Cyan },
        Series { points: points(state, failed), kind: GraphType::Bar, ink: Ink::Red },
    ];
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = linear(values.fold(0.0, f64::max));
    let is_open = state.run().plan.loads().any(|load| !load.is_closed());
    let mut title = vec![Span::styled("Completed per second", bold())];
    title.extend(is_open.then(|| Span::styled("  dots: due", look.ink(Ink::Yellow))));
    title.push(Span::styled("  filled: steady", dim()));
    draw(&Line::from(title), &series, &scale, state, look, area, buffer);
}

/// Draws the percentiles of the response time.
pub fn draw_response(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    type Of = fn(&Second) -> Option<Nanos>;
    let percentiles: [(&str, Of, Ink); 3] = [
        ("p50", |second| second.p50, Ink::Green),
        ("p90", |second| second.p90, Ink::Blue),
        ("p99", |second| second.p99, Ink::Magenta),
    ];
    let series = percentiles.map(|(_, of, ink)| {
        let time = |second: &Second| of(second).filter(|time| Nanos::ZERO < *time);
        let logarithm = |second: &Second| time(second).map(|time| time.as_secs_f64().log10());
        Series { points: points(state, logarithm), kind: GraphType::Line, ink }
    });
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = logarithmic(values);
    let mut title = vec![Span::styled("Response time", bold()), Span::styled("  from below:", dim())];
    title.extend(percentiles.map(|(name, _, ink)| Span::styled(format!(" {name}"), look.ink(ink))));
    draw(&Line::from(title), &series, &scale, state, look, area, buffer);
}

/// Returns a value of all seconds that have it, with their times.
fn points(state: &State, of: impl Fn(&Second) -> Option<f64>) -> Vec<(f64, f64)> {
    state.history.seconds.iter().filter_map(|second| Some((second.at, of(second)?))).collect()
}

/// Draws a title, the loads, and below them the chart.
fn draw(
    title: &Line<'_>,
    series: &[Series],
    scale: &Scale,
    state: &State,
    look: Look,
    mut area: Rect,
    buffer: &mut Buffer,
) {
    put(buffer, take_rows(&mut area, 1), title, &Line::default());
    let loads = take_rows(&mut area, 1);
    let width = area.width.saturating_sub(LABELS + AXIS);
    // Two dots to a column, one second to a dot.
    let dots = f64::from(2 * width);
    let start = page(state.history.length.as_secs_f64(), dots);
    if area.height < 3 || width < 10 {
        return;
    }
    let shown: Vec<Series> = series.iter().map(|one| on_page(one, start)).collect();
    let ends = [start, start + dots].map(|at| length(Nanos::from_secs_f64(at)));
    let x_axis = Axis::default()
        .bounds([start + 1.0, start + dots])
        .labels(ends)
        // The first one below the graph: else its length would move the axis.
        .labels_alignment(HorizontalAlignment::Right)
        .style(dim());
    let y_axis = Axis::default()
        .bounds([scale.low, scale.high])
        .labels(scale.labels_for(area.height.saturating_sub(2), usize::from(LABELS)))
        .style(dim());
    let datasets = shown.iter().map(|one| {
        let set = Dataset::default().marker(Marker::Braille).graph_type(one.kind);
        set.style(look.ink(one.ink)).data(&one.points)
    });
    Chart::new(datasets.collect()).x_axis(x_axis).y_axis(y_axis).render(area, buffer);
    let graph = Rect { x: area.x + LABELS + AXIS, width, ..loads };
    draw_loads(state, start, graph, buffer);
}

fn on_page(series: &Series, start: f64) -> Series {
    let points = series.points.iter().copied().filter(|(at, _)| start < *at).collect();
    Series { points, ..*series }
}

/// Writes above the chart where each load point begins.
fn draw_loads(state: &State, start: f64, area: Rect, buffer: &mut Buffer) {
    let mut last = None;
    for second in state.history.seconds.iter().filter(|second| start < second.at) {
        let column = ((second.at - start - 1.0).max(0.0) / 2.0) as u16;
        if last.replace(second.ordinal) == Some(second.ordinal) || area.width <= column {
            continue;
        }
        let place = Rect { x: area.x + column, width: area.width - column, ..area };
        let name = state.name_of(second.run).map_or(String::new(), |name| format!("{name} "));
        // Blanks cover what is left of the one before.
        let text = format!("╷{name}{:<width$}", second.load.to_string(), width = usize::from(place.width));
        put(buffer, place, &Line::styled(text, dim()), &Line::default());
    }
}
