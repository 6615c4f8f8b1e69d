//! The two charts over time: of the whole run as planned; of a search, whose length is not known, a page that stands
//! still until it is full and then moves on by half, so that nothing jitters.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{HorizontalAlignment, Rect};
use ratatui::style::Color as Ink;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};
use units::Nanos;

use super::paint::{Look, bold, dim, put, take_rows};
use super::scale::{Scale, TimeAxis, linear, logarithmic};
use crate::progress::state::{Second, State};
use crate::progress::text::length;

/// Columns of the labels of the vertical axis, and of the axis.
const LABELS: u16 = 7;
const AXIS: u16 = 1;

/// The least columns of a graph.
const GRAPH_MIN: u16 = 10;

/// One line, or one set of bars.
struct Series {
    points: Vec<(f64, f64)>,
    kind: GraphType,
    ink: Ink,
}

/// A chart with its heading and its axes.
struct Graph<'a> {
    legend: Line<'static>,
    series: &'a [Series],
    scale: Scale,
    axis: TimeAxis,
}

/// A sign in a chart: how it looks, what it stands for.
struct Sign {
    mark: &'static str,
    name: &'static str,
    ink: Ink,
}

/// Draws the rate of operations.
pub fn draw_rate(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    let Some(axis) = axis(state, area) else { return };
    let dots = dots(state, &axis);
    let due = |second: &Second| (!second.load.is_closed()).then_some(second.due_rate);
    let failed = |second: &Second| (0 < second.errors).then_some(second.errors as f64);
    let unmeasured = |second: &Second| (!second.is_steady).then_some(second.rate);
    let steady = |second: &Second| second.is_steady.then_some(second.rate);
    let series = vec![
        Series { points: points(&dots, due), kind: GraphType::Scatter, ink: Ink::Yellow },
        Series { points: points(&dots, unmeasured), kind: GraphType::Scatter, ink: Ink::Cyan },
        Series { points: points(&dots, steady), kind: GraphType::Bar, ink: Ink::Cyan },
        Series { points: points(&dots, failed), kind: GraphType::Bar, ink: Ink::Red },
    ];
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = linear(values.fold(0.0, f64::max));
    let is_open = state.run().plan.loads().any(|load| !load.is_closed());
    let steady = Sign { mark: "⣿", name: "steady", ink: Ink::Cyan };
    let others = match is_open {
        true => Sign { mark: "⠒", name: "due", ink: Ink::Yellow },
        false => Sign { mark: "⠒", name: "not measured", ink: Ink::Cyan },
    };
    let errors = Sign { mark: "⣀", name: "errors", ink: Ink::Red };
    let legend = legend("Completed/s", &[steady, others, errors], look, area.width);
    Graph { legend, series: &series, scale, axis }.draw(state, look, area, buffer);
}

/// Draws the percentiles of the response time.
pub fn draw_response(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    let Some(axis) = axis(state, area) else { return };
    let dots = dots(state, &axis);
    type Of = fn(&Second) -> Option<Nanos>;
    let percentiles: [(&str, Of, Ink); 3] = [
        ("p50", |second| second.p50, Ink::Green),
        ("p90", |second| second.p90, Ink::Blue),
        ("p99", |second| second.p99, Ink::Magenta),
    ];
    let series = percentiles.map(|(_, of, ink)| {
        let time = |second: &Second| of(second).filter(|time| Nanos::ZERO < *time);
        let logarithm = |second: &Second| time(second).map(|time| time.as_secs_f64().log10());
        Series { points: points(&dots, logarithm), kind: GraphType::Line, ink }
    });
    let values = series.iter().flat_map(|one| &one.points).map(|(_, value)| *value);
    let scale = logarithmic(values);
    // Without color the lines are told apart by their order.
    let signs = percentiles.map(|(name, _, ink)| Sign { mark: "⠒", name, ink });
    let mut legend = legend("Response time", &signs, look, area.width);
    const ORDER: &str = "  (from below)";
    if legend.width() + ORDER.len() <= usize::from(area.width) {
        legend.push_span(Span::styled(ORDER, dim()));
    }
    Graph { legend, series: &series, scale, axis }.draw(state, look, area, buffer);
}

/// Returns the heading of a chart with what its signs stand for, as many as there is room for.
fn legend(title: &'static str, signs: &[Sign], look: Look, width: u16) -> Line<'static> {
    let mut line = Line::from(Span::styled(title, bold()));
    for sign in signs {
        let text = format!(" {}", sign.name);
        if usize::from(width) < line.width() + 3 + text.len() {
            break;
        }
        line.push_span(Span::raw("  "));
        line.push_span(Span::styled(sign.mark, look.ink(sign.ink)));
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

/// Returns what each dot shows: all seconds of which it has a part, merged. `None` where nothing has been seen.
fn dots(state: &State, axis: &TimeAxis) -> Vec<Option<Second>> {
    let seconds = &state.history.seconds;
    let mut first = 0;
    let dot = |dot: usize| {
        let (from, to) = axis.span(dot);
        // A tolerance, because edges are sums of fractions.
        while seconds.get(first).is_some_and(|second| second.at <= from + 1e-6) {
            first += 1;
        }
        let inside = seconds.range(first.min(seconds.len())..).take_while(|second| second.from < to - 1e-6);
        inside.copied().reduce(|merged, second| merged.merge(&second))
    };
    (0..axis.dots).map(dot).collect()
}

/// Returns a value of all dots that have it.
fn points(dots: &[Option<Second>], of: impl Fn(&Second) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |(dot, second): (usize, &Option<Second>)| Some((dot as f64, of(second.as_ref()?)?));
    dots.iter().enumerate().filter_map(point).collect()
}

impl Graph<'_> {
    /// Draws the heading, the loads, and below them the graph.
    fn draw(&self, state: &State, look: Look, mut area: Rect, buffer: &mut Buffer) {
        put(buffer, take_rows(&mut area, 1), &self.legend, &Line::default());
        let loads = take_rows(&mut area, 1);
        if area.height < 3 {
            return;
        }
        let ends = [self.axis.start, self.axis.end()].map(|at| length(Nanos::from_secs_f64(at)));
        let x_axis = Axis::default()
            .bounds([0.0, self.axis.dots as f64 - 1.0])
            .labels(ends)
            // The first one below the graph: else its length would move the axis.
            .labels_alignment(HorizontalAlignment::Right)
            .style(dim());
        let y_axis = Axis::default()
            .bounds([self.scale.low, self.scale.high])
            .labels(self.scale.labels_for(area.height.saturating_sub(2), usize::from(LABELS)))
            .style(dim());
        let datasets = self.series.iter().map(|one| {
            let set = Dataset::default().marker(Marker::Braille).graph_type(one.kind);
            set.style(look.ink(one.ink)).data(&one.points)
        });
        Chart::new(datasets.collect()).x_axis(x_axis).y_axis(y_axis).render(area, buffer);
        let graph = Rect { x: area.x + LABELS + AXIS, width: area.width - LABELS - AXIS, ..loads };
        draw_loads(state, &self.axis, graph, buffer);
    }
}

/// Writes above the chart where each load point begins, and its load where that has room.
fn draw_loads(state: &State, axis: &TimeAxis, area: Rect, buffer: &mut Buffer) {
    let mut last = None;
    let mut begins: Vec<(u16, &Second)> = Vec::new();
    for second in &state.history.seconds {
        let is_new = last.replace(second.ordinal) != Some(second.ordinal);
        // A load point that began before the page stands at its edge.
        let column = axis.dot_of(second.from).map_or(0, |dot| (dot / 2) as u16);
        if second.at <= axis.start || area.width <= column {
            continue;
        }
        if is_new || begins.is_empty() {
            // Of several in one column the last one is seen.
            begins.retain(|(other, _)| *other != column);
            begins.push((column, second));
        }
    }
    let ends = begins.iter().skip(1).map(|(column, _)| *column).chain([area.width]);
    for ((column, second), end) in begins.iter().zip(ends) {
        let place = Rect { x: area.x + column, width: end - column, ..area };
        let room = usize::from(place.width).saturating_sub(1);
        let text = load_label(state, second, room);
        put(buffer, place, &Line::styled(format!("╷{text:<room$}"), dim()), &Line::default());
    }
}

/// Returns the longest label of a load that has room: name and load, load, its number, nothing. One column stays free
/// before the next.
fn load_label(state: &State, second: &Second, room: usize) -> String {
    let load = second.load.to_string();
    let number = load.split([' ', '/']).next().unwrap_or_default().to_owned();
    let named = state.name_of(second.run).map(|name| format!("{name} {load}"));
    let labels = named.into_iter().chain([load, number]).map(Cow::from);
    let fits = |label: &str| label.chars().count() < room;
    labels.into_iter().find(|label| fits(label)).unwrap_or_default().into_owned()
}
