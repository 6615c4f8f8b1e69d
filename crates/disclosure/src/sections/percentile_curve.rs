//! Response time against percentile, on an axis on which every nine has the same length.

use analysis::{LoadPointResult, TimeSummary, values_needed};
use units::Ratio;

use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::{Cell, Column, Figure, Report, Row, Table, numbers};

/// Percentiles of a curve, as 1 ÷ (1 − p): beyond each lies one value in so many. 100 is the p99.
const TICKS: [f64; 16] =
    [2.0, 4.0, 10.0, 20.0, 40.0, 100.0, 200.0, 400.0, 1e3, 2e3, 4e3, 1e4, 2e4, 4e4, 1e5, 1e6];

/// More curves than there are styles cannot be told apart.
const CURVES_MAX: usize = 5;

/// The curve of a distribution.
pub(crate) struct Curve {
    name: String,
    /// By the index of the percentile; `None` if there are too few values for its interval to exist.
    points: [Option<Point>; TICKS.len()],
}

impl Curve {
    /// Makes the curve of times, whose numbers may be doubted.
    pub(crate) fn of(name: String, times: &TimeSummary, is_doubtful: bool) -> Curve {
        let point = |tick: f64| {
            let q = ratio(tick);
            let is_known = values_needed(q) <= times.histogram.n();
            let value = times.histogram.quantile(q).filter(|_| is_known)?;
            let interval = times.percentile(q.0).and_then(|known| known.interval);
            let range = interval.map(|(low, high)| (low.as_secs_f64(), high.as_secs_f64()));
            Some(Point { range, hollow: is_doubtful, ..Point::new(tick, value.as_secs_f64()) })
        };
        Curve { name, points: TICKS.map(point) }
    }
}

/// Returns the figure of a run: of few load points all, else those that matter; `None` if no percentile has enough values.
pub(super) fn figure(report: &Report) -> Option<Figure> {
    let curve = |(point, mark): (&LoadPointResult, &str)| {
        let load = report.terms().load_text(point.load);
        let name = if mark.is_empty() { load } else { format!("{load} ({mark})") };
        Curve::of(name, &point.response, super::is_doubtful(point))
    };
    let curves: Vec<Curve> = chosen(report).into_iter().map(curve).collect();
    let left_out = report.analysis.load_points.len() - curves.len();
    let chart = Chart {
        id: "percentile-curve",
        title: "Response time against percentile".into(),
        description: "Response time by percentile, one curve per load point.".into(),
        ..chart(&curves)?
    };
    let mut caption = "Both axes are logarithmic, and every further nine has the same width: the steeper the end of a curve, the longer \
                       its slowest responses. Bars: 95 % intervals, if known. Percentiles with too few values beyond them are \
                       not shown."
        .to_owned();
    if 0 < left_out {
        caption +=
            " Only the most important load points are shown; the table above has percentiles of all of them.";
    }
    Some(Figure { chart, caption: caption.into(), table: table(&curves), bulky: false })
}

/// Returns the load points that are drawn, in the order of the run, with what they are.
fn chosen<'a>(report: &Report<'a>) -> Vec<(&'a LoadPointResult, &'static str)> {
    let points = &report.analysis.load_points;
    let curve = &report.analysis.curve;
    let marks = [(curve.peak, "peak"), (report.analysis.saturation(), "saturation"), (curve.knee, "knee")];
    let found = |index: usize| marks.iter().find(|(at, _)| *at == Some(index) && report.has_curve());
    let mark = |index: usize| found(index).map_or("", |(_, name)| *name);
    let ends = [0, points.len().saturating_sub(1)];
    let matters = |index: &usize| ends.contains(index) || !mark(*index).is_empty();
    let all = 0..points.len();
    let chosen: Vec<usize> =
        if points.len() <= CURVES_MAX { all.collect() } else { all.filter(matters).collect() };
    chosen.into_iter().map(|index| (&points[index], mark(index))).collect()
}

/// Draws curves over one another; `None` if there is nothing to draw. Anchor, title and description are still to be given.
pub(crate) fn chart(curves: &[Curve]) -> Option<Chart> {
    let series: Vec<DataSeries> = curves
        .iter()
        .enumerate()
        .map(|(style, curve)| DataSeries {
            name: curve.name.clone(),
            style,
            draw: Draw::Points,
            points: curve.points.iter().flatten().copied().collect(),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let last =
        series.iter().filter_map(|series| series.points.last()).map(|point| point.x).fold(0.0, f64::max);
    let at = TICKS.into_iter().filter(|tick| *tick <= last).collect();
    (!series.is_empty()).then(|| Chart {
        id: "percentile-curve",
        title: String::new(),
        description: String::new(),
        x: Axis { at, ..Axis::new("Percentile", Spacing::Log, Format::Nines) },
        panels: vec![Panel {
            y: Axis::new("Response time (log)", Spacing::Log, Format::Seconds),
            series,
            limit: None,
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    })
}

/// The tables of percentiles hold 0.99, which 1 − 1/100 is not to the last bit.
fn ratio(tick: f64) -> Ratio {
    Ratio((tick - 1.0) / tick)
}

/// Returns a row per percentile, a column per curve.
pub(crate) fn table(curves: &[Curve]) -> Table {
    let mut columns = vec![Column::numbers("Percentile", "%")];
    columns.extend(curves.iter().map(|curve| Column::numbers(curve.name.clone(), "")));
    let row = |(index, tick): (usize, &f64)| {
        let values = || curves.iter().map(|curve| curve.points[index].map(|point| point.y));
        let cells = values().map(|value| Cell::from(numbers::seconds(value)));
        let is_known = values().any(|value| value.is_some());
        is_known.then(|| Row::plain([Cell::from(percent_text(*tick))].into_iter().chain(cells)))
    };
    let rows = TICKS.iter().enumerate().filter_map(row).collect();
    Table::new("Response time per percentile", columns, rows)
}

/// Writes 97.5 or 99.99 without more decimals than it needs.
fn percent_text(tick: f64) -> String {
    let text = format!("{:.4}", 100.0 * ratio(tick).0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use stats::Histogram;
    use units::Nanos;

    use super::*;

    fn summary(n: u64) -> TimeSummary {
        let mut histogram = Histogram::new();
        (1..=n).for_each(|k| histogram.record(Nanos::from_micros(k)));
        TimeSummary { histogram, mean: None, mean_interval: None, percentiles: vec![], max: None }
    }

    /// By hand: 368 values are just enough for the p99, the p99.5 needs 736 (ln 0.025 ÷ ln 0.995).
    #[test]
    fn a_curve_ends_where_values_become_too_few() {
        let names = |n: u64| {
            let times = summary(n);
            let curves = [Curve::of("one".into(), &times, false)];
            table(&curves).rows.iter().map(|row| row.cells[0].text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(367), ["50", "75", "90", "95", "97.5"]);
        assert_eq!(names(368), ["50", "75", "90", "95", "97.5", "99"]);
        assert_eq!(names(736).last().unwrap(), "99.5");
        assert_eq!(names(5), [""; 0]);
    }

    #[test]
    fn a_chart_has_a_point_for_every_row_of_its_table() {
        let times = [summary(10_000), summary(400)];
        let curves =
            [Curve::of("long".into(), &times[0], false), Curve::of("short".into(), &times[1], false)];
        let chart = chart(&curves).unwrap();
        let lengths: Vec<usize> = chart.panels[0].series.iter().map(|series| series.points.len()).collect();
        assert_eq!(lengths, [table(&curves).rows.len(), 6]);
        assert_eq!(chart.x.at.last(), chart.panels[0].series[0].points.last().map(|point| &point.x));
    }
}
