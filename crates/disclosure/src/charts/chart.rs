//! What a chart shows.

use super::Format;

/// A chart: one or more panels above one another that share the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Anchor, unique in the document.
    pub id: &'static str,
    /// What it shows; the figure's caption.
    pub title: String,
    /// What can be seen on it, for people who cannot see it.
    pub description: String,
    /// The shared axis.
    pub x: Axis,
    /// From top to bottom; not empty.
    pub panels: Vec<Panel>,
    /// Shaded stretches of the horizontal axis.
    pub zones: Vec<Zone>,
    /// Named places on the horizontal axis.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit if the numbers have none.
    pub title: String,
    /// How values are spaced.
    pub spacing: Spacing,
    /// How its numbers are written.
    pub format: Format,
    /// Where numbers stand if the values themselves are the best places (few load points); else empty.
    pub at: Vec<f64>,
}

/// How values are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal steps, from zero.
    FromZero,
    /// Equal steps, from the least to the greatest value.
    Tight,
    /// Equal ratios; values at or below zero are left out.
    Log,
}

/// One plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// What is plotted.
    pub series: Vec<Series>,
    /// A limit, drawn as a horizontal line, with its name.
    pub limit: Option<(f64, String)>,
}

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What they are; empty if something else says so.
    pub name: String,
    /// Number of its color, dash and marker.
    pub style: usize,
    /// How they are drawn.
    pub draw: Draw,
    /// From left to right.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// A line with a marker and an interval bar at every point.
    Points,
    /// A line, and a band between the lower and upper values.
    Line,
    /// Filled rectangles between every two points, which are opposite corners; the style is a level of density, 0 the
    /// least.
    Cells,
    /// A horizontal bar from zero to x for every point, with the value in it; y is the middle of its row of height 1,
    /// counted from below, and the range is the interval of x.
    Bars,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where, on the horizontal axis.
    pub x: f64,
    /// How much.
    pub y: f64,
    /// Its interval or range.
    pub range: Option<(f64, f64)>,
    /// Whether it may not be trusted; drawn hollow.
    pub hollow: bool,
    /// Whether the line is broken before it.
    pub gap: bool,
}

impl Point {
    /// Makes a point without interval.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, range: None, hollow: false, gap: false }
    }
}

/// A shaded stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// A named place, drawn as a vertical line (or, with `line` off, as a name above the plot).
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What it is.
    pub name: String,
    /// Whether a line is drawn.
    pub line: bool,
}

impl Axis {
    /// Makes an axis with numbers at round values.
    pub fn new(title: impl Into<String>, spacing: Spacing, format: Format) -> Axis {
        Axis { title: title.into(), spacing, format, at: Vec::new() }
    }
}

impl Panel {
    /// Returns every value that must find its place on the vertical axis, ends of ranges included.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let limit = self.limit.iter().map(|(value, _)| *value);
        let points = self.series.iter().flat_map(|series| &series.points);
        points.flat_map(Point::values).chain(limit)
    }

    /// Returns how many rows of bars the panel has; `None` if it has none.
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

/// Charts with more points than this are drawn once only.
const HEAVY: usize = 40;

impl Chart {
    /// Returns whether another drawing of it would make a page much longer.
    pub(crate) fn is_heavy(&self) -> bool {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        HEAVY < series.map(|series| series.points.len()).sum()
    }

    /// Returns every value on the horizontal axis.
    pub(super) fn x_values(&self) -> impl Iterator<Item = f64> + '_ {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let points = series.flat_map(|series| series.points.iter().map(move |point| (series.draw, point)));
        let values = points.flat_map(|(draw, point)| {
            // Of bars the value is the length, and the range belongs to it.
            let range = point.range.filter(|_| draw == Draw::Bars);
            range.into_iter().flat_map(|(low, high)| [low, high]).chain([point.x])
        });
        values.chain(self.zones.iter().flat_map(|zone| [zone.from, zone.to]))
    }
}
