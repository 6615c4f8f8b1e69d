//! Contents of a chart.

use super::Format;

/// A chart: one or more stacked panels that share the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Anchor, unique in the document.
    pub id: &'static str,
    /// Title of the chart.
    pub title: String,
    /// Text alternative for people who cannot see the chart.
    pub description: String,
    /// The shared x axis.
    pub x: Axis,
    /// Panels from top to bottom; not empty.
    pub panels: Vec<Panel>,
    /// Shaded ranges of the x axis.
    pub zones: Vec<Zone>,
    /// Labelled positions on the x axis.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Quantity, with its unit if the numbers have none.
    pub title: String,
    /// Spacing of the values.
    pub spacing: Spacing,
    /// Format of the tick labels.
    pub format: Format,
    /// Explicit tick positions, for axes with few values; empty for round values.
    pub at: Vec<f64>,
}

/// Spacing of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Linear, from zero.
    FromZero,
    /// Linear, from the lowest to the highest value.
    Tight,
    /// Logarithmic; values of zero and below are not drawn.
    Log,
}

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The y axis.
    pub y: Axis,
    /// The plotted series.
    pub series: Vec<DataSeries>,
    /// A limit with its name, drawn as a horizontal line.
    pub limit: Option<(f64, String)>,
}

/// A data series.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSeries {
    /// Name in the legend; empty if the series is labelled elsewhere.
    pub name: String,
    /// Index of its color, dash pattern and marker.
    pub style: usize,
    /// Kind of drawing.
    pub draw: Draw,
    /// Points from left to right.
    pub points: Vec<Point>,
}

/// Kind of drawing of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// A line with a marker and an error bar at every point.
    Points,
    /// A line with a band between the ends of the ranges.
    Line,
    /// Filled rectangles, each between two points that are opposite corners; the style is a density level, 0 being the
    /// lowest.
    Cells,
    /// A horizontal bar from zero to x for every point, labelled with the value; y is the middle of its row of height 1,
    /// counted from the bottom, and the range is the interval of x.
    Bars,
}

/// A data point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Value on the y axis.
    pub y: f64,
    /// Confidence interval or range.
    pub range: Option<(f64, f64)>,
    /// Whether the marker is hollow, which marks doubtful values.
    pub hollow: bool,
    /// Whether the line has a gap before the point.
    pub gap: bool,
}

impl Point {
    /// Creates a point without range.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, range: None, hollow: false, gap: false }
    }
}

/// A shaded range.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Start on the x axis.
    pub from: f64,
    /// End on the x axis.
    pub to: f64,
}

/// A labelled position, drawn as a vertical line, or only as a label above the plot if `line` is false.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Position on the x axis.
    pub x: f64,
    /// Label.
    pub name: String,
    /// Whether a line is drawn.
    pub line: bool,
}

impl Axis {
    /// Creates an axis with ticks at round values.
    pub fn new(title: impl Into<String>, spacing: Spacing, format: Format) -> Axis {
        Axis { title: title.into(), spacing, format, at: Vec::new() }
    }
}

impl Panel {
    /// Returns all values that the y axis must include, among them the ends of ranges.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let limit = self.limit.iter().map(|(value, _)| *value);
        let points = self.series.iter().flat_map(|series| &series.points);
        points.flat_map(Point::values).chain(limit)
    }

    /// Returns the number of bars; `None` if the panel has none.
    pub(super) fn n_bars(&self) -> Option<usize> {
        let bars = self.series.iter().filter(|series| series.draw == Draw::Bars);
        let n: usize = bars.map(|series| series.points.len()).sum();
        (0 < n).then_some(n)
    }
}

impl Point {
    fn values(&self) -> impl Iterator<Item = f64> + use<> {
        let ends = self.range.into_iter().flat_map(|(low, high)| [low, high]);
        ends.chain([self.y])
    }
}

/// Maximum number of points of a chart that is drawn twice.
const HEAVY: usize = 40;

impl Chart {
    /// Returns whether a second drawing of the chart would make a page much larger.
    pub(crate) fn is_heavy(&self) -> bool {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        HEAVY < series.map(|series| series.points.len()).sum()
    }

    /// Returns all values on the x axis.
    pub(super) fn x_values(&self) -> impl Iterator<Item = f64> + '_ {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let points = series.flat_map(|series| series.points.iter().map(move |point| (series.draw, point)));
        let values = points.flat_map(|(draw, point)| {
            // The value of a bar is its length, to which the range belongs.
            let range = point.range.filter(|_| draw == Draw::Bars);
            range.into_iter().flat_map(|(low, high)| [low, high]).chain([point.x])
        });
        values.chain(self.zones.iter().flat_map(|zone| [zone.from, zone.to]))
    }
}
