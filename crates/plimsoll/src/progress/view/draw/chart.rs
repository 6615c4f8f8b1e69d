//! The two charts over time. Their axis is the planned length of the run; in a search, whose length is unknown, it is a
//! page that is filled and then scrolled by half, so that the chart does not jitter.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{HorizontalAlignment, Rect};
use ratatui::style::Color;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};
use units::Nanos;

use super::paint::{FrameContext, bold, dim, put, take_rows};
use super::scale::{Scale, TimeAxis, linear, logarithmic};
use crate::progress::state::{SecondValues, State};
use crate::progress::text::length;

/// Widths of the vertical axis's labels and of its line, in columns.
const LABELS: u16 = 7;
const AXIS: u16 = 1;

/// Minimum width of a graph, in columns.
const GRAPH_MIN: u16 = 10;

/// One line or one set of bars.
struct ChartSeries {
    points: Vec<(f64, f64)>,
    kind: GraphType,
    color: Color,
}

/// A chart with heading and axes.
struct Graph<'a> {
    legend: Line<'static>,
    series: &'a [ChartSeries],
    scale: Scale,
    axis: TimeAxis,
}

/// An entry of the legend: symbol, name and color.
struct LegendEntry {
    symbol: &'static str,
    name: &'static str,
    color: Color,
}

/// Draws the rate of operations.
pub(super) fn draw_rate(state: &State, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let Some(axis) = axis(state, area) else { return };
    let dots = dots(state, &axis);
    let due = |second: &SecondValues| (!second.load.is_closed()).then_some(second.due_rate);
    let failed = |second: &SecondValues| (0 < second.errors).then_some(second.errors as f64);
    let unmeasured = |second: &SecondValues| (!second.is_steady).then_some(second.rate);
    let steady = |second: &SecondValues| second.is_steady.then_some(second.rate);
    let series = vec![
        ChartSeries { points: points(&dots, due), kind: GraphType::Scatter, color: Color::Yellow },
        ChartSeries { points: points(&dots, unmeasured), kind: GraphType::Scatter, color: Color::Cyan },
        ChartSeries { points: points(&dots, steady), kind: GraphType::Bar, color: Color::Cyan },
        ChartSeries { points: points(&dots, failed), kind: GraphType::Bar, color: Color::Red },
    ];
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = linear(values.fold(0.0, f64::max));
    let is_open = state.run().plan.loads().any(|load| !load.is_closed());
    let steady = LegendEntry { symbol: "⣿", name: "steady", color: Color::Cyan };
    let others = if is_open {
        LegendEntry { symbol: "⠒", name: "due", color: Color::Yellow }
    } else {
        LegendEntry { symbol: "⠒", name: "not measured", color: Color::Cyan }
    };
    let errors = LegendEntry { symbol: "⣀", name: "errors", color: Color::Red };
    let legend = legend("Completed/s", &[steady, others, errors], context, area.width);
    Graph { legend, series: &series, scale, axis }.draw(state, context, area, buffer);
}

/// Draws the percentiles of response time.
pub(super) fn draw_response(state: &State, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let Some(axis) = axis(state, area) else { return };
    let dots = dots(state, &axis);
    type Of = fn(&SecondValues) -> Option<Nanos>;
    let percentiles: [(&str, Of, Color); 3] = [
        ("p50", |second| second.p50, Color::Green),
        ("p95", |second| second.p95, Color::Blue),
        ("p99", |second| second.p99, Color::Magenta),
    ];
    let series = percentiles.map(|(_, of, color)| {
        let time = |second: &SecondValues| of(second).filter(|time| Nanos::ZERO < *time);
        let logarithm = |second: &SecondValues| time(second).map(|time| time.as_secs_f64().log10());
        ChartSeries { points: points(&dots, logarithm), kind: GraphType::Line, color }
    });
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = logarithmic(values);
    // Without color, the order tells the lines apart.
    let entries = percentiles.map(|(name, _, color)| LegendEntry { symbol: "⠒", name, color });
    let mut legend = legend("Response time", &entries, context, area.width);
    const ORDER: &str = "  (from below)";
    if legend.width() + ORDER.len() <= usize::from(area.width) {
        legend.push_span(Span::styled(ORDER, dim()));
    }
    Graph { legend, series: &series, scale, axis }.draw(state, context, area, buffer);
}

/// Returns the heading of a chart with as many legend entries as fit.
fn legend(title: &'static str, entries: &[LegendEntry], context: FrameContext, width: u16) -> Line<'static> {
    let mut line = Line::from(Span::styled(title, bold()));
    for entry in entries {
        let text = format!(" {}", entry.name);
        if usize::from(width) < line.width() + 3 + text.len() {
            break;
        }
        line.push_span(Span::raw("  "));
        line.push_span(Span::styled(entry.symbol, context.color(entry.color)));
        line.push_span(Span::styled(text, dim()));
    }
    line
}

/// Returns the horizontal axis; `None` if there is no room for a chart.
fn axis(state: &State, area: Rect) -> Option<TimeAxis> {
    let width = area.width.saturating_sub(LABELS + AXIS);
    let planned = state.history.planned.map(Nanos::as_secs_f64);
    // Two dots to a column.
    let axis = TimeAxis::new(planned, state.history.length.as_secs_f64(), 2 * usize::from(width));
    (GRAPH_MIN <= width).then_some(axis)
}

/// Returns the value of each dot: all seconds that overlap it, merged; `None` where there is no data.
fn dots(state: &State, axis: &TimeAxis) -> Vec<Option<SecondValues>> {
    let seconds = &state.history.seconds;
    let mut first = 0;
    let dot = |dot: usize| {
        let (from, to) = axis.span(dot);
        // A tolerance for rounding errors of the dots' edges.
        while seconds.get(first).is_some_and(|second| second.at <= from + 1e-6) {
            first += 1;
        }
        let inside = seconds.range(first.min(seconds.len())..).take_while(|second| second.from < to - 1e-6);
        inside.copied().reduce(|merged, second| merged.merge(&second))
    };
    (0..axis.dots).map(dot).collect()
}

/// Returns the points of a series: a value of every dot that has it.
fn points(dots: &[Option<SecondValues>], of: impl Fn(&SecondValues) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |(dot, second): (usize, &Option<SecondValues>)| Some((dot as f64, of(second.as_ref()?)?));
    dots.iter().enumerate().filter_map(point).collect()
}

impl Graph<'_> {
    /// Draws the heading, the loads and the graph.
    fn draw(&self, state: &State, context: FrameContext, mut area: Rect, buffer: &mut Buffer) {
        put(buffer, take_rows(&mut area, 1), &self.legend, &Line::default());
        let loads = take_rows(&mut area, 1);
        if area.height < 3 {
            return;
        }
        let ends = [self.axis.start, self.axis.end()].map(|at| length(Nanos::from_secs_f64(at)));
        let x_axis = Axis::default()
            .bounds([0.0, self.axis.dots as f64 - 1.0])
            .labels(ends)
            // Right alignment keeps the first label from shifting the axis.
            .labels_alignment(HorizontalAlignment::Right)
            .style(dim());
        let y_axis = Axis::default()
            .bounds([self.scale.low, self.scale.high])
            .labels(self.scale.labels_for(area.height.saturating_sub(2), usize::from(LABELS)))
            .style(dim());
        let datasets = self.series.iter().map(|one| {
            let set = Dataset::default().marker(Marker::Braille).graph_type(one.kind);
            set.style(context.color(one.color)).data(&one.points)
        });
        Chart::new(datasets.collect()).x_axis(x_axis).y_axis(y_axis).render(area, buffer);
        let graph = Rect { x: area.x + LABELS + AXIS, width: area.width - LABELS - AXIS, ..loads };
        draw_loads(state, &self.axis, graph, buffer);
    }
}

/// Draws above the chart the start of each load point, with its load if that fits.
fn draw_loads(state: &State, axis: &TimeAxis, area: Rect, buffer: &mut Buffer) {
    let mut last = None;
    let mut begins: Vec<(u16, &SecondValues)> = Vec::new();
    for second in &state.history.seconds {
        let is_new = last.replace(second.ordinal) != Some(second.ordinal);
        // A load point that began before the page is shown at its edge.
        let column = axis.dot_of(second.from).map_or(0, |dot| (dot / 2) as u16);
        if second.at <= axis.start || area.width <= column {
            continue;
        }
        if is_new || begins.is_empty() {
            // Of several in one column, the last is shown.
            begins.retain(|(other, _)| *other != column);
            begins.push((column, second));
        }
    }
    let ends = begins.iter().skip(1).map(|(column, _)| *column).chain([area.width]);
    for ((column, second), end) in begins.iter().zip(ends) {
        let label = Rect { x: area.x + column, width: end - column, ..area };
        let room = usize::from(label.width).saturating_sub(1);
        let text = load_label(state, second, room);
        put(buffer, label, &Line::styled(format!("╷{text:<room$}"), dim()), &Line::default());
    }
}

/// Returns the longest label of a load that fits: server and load, load, number, or nothing. One column is left free
/// before the next label.
fn load_label(state: &State, second: &SecondValues, room: usize) -> String {
    let load = second.load.text(&state.words(second.run).user);
    let number = load.split([' ', '/']).next().unwrap_or_default().to_owned();
    let named = state.label_if_several(second.run).map(|name| format!("{name} {load}"));
    let labels = named.into_iter().chain([load, number]).map(Cow::from);
    let fits = |label: &str| label.chars().count() < room;
    labels.into_iter().find(|label| fits(label)).unwrap_or_default().into_owned()
}
