//! Layout of a drawing.

use super::{Chart, DataSeries, Mark, Panel, Scale};

/// Width of the tick labels of the y axis.
const LEFT: f64 = 62.0;
/// Maximum width of bar labels at the left; wider ones are above their bars.
const NAME_MAX: f64 = 260.0;
/// Height of the title of the y axis, above each panel.
const HEAD: f64 = 30.0;
/// Height of the tick labels and the title of the x axis.
const FOOT: f64 = 46.0;
const HEIGHT_ALONE: f64 = 270.0;
const HEIGHT_STACKED: f64 = 118.0;
/// Height of a bar with its margins.
const HEIGHT_BAR: f64 = 28.0;
/// Height of a bar with its margins and a label above it.
const HEIGHT_NAMED_BAR: f64 = 44.0;
/// Height of a line of text.
pub(super) const LINE: f64 = 15.0;
/// Left edge of the legend above a panel.
const LEGEND_LEFT: f64 = 8.0;
/// Estimated mean width of a letter at 12 px; generous, because the font is not known.
const LETTER: f64 = 6.4;
/// Width of the sample before the label of a series.
pub(super) const SAMPLE: f64 = 26.0;

/// Width of a drawing. The font size is 12 px for all widths, so that text stays legible on narrow screens, where a
/// scaled-down picture would not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawingWidth {
    /// The width of a page, with the legend at the right.
    Page,
    /// Half of a wide screen.
    Half,
    /// The width of a phone, with the legend above.
    Narrow,
}

impl DrawingWidth {
    pub(super) fn width(self) -> f64 {
        match self {
            DrawingWidth::Page => 860.0,
            DrawingWidth::Half => 600.0,
            DrawingWidth::Narrow => 380.0,
        }
    }

    pub(super) fn n_ticks(self) -> u32 {
        if self == DrawingWidth::Narrow { 4 } else { 8 }
    }
}

/// Positions of all parts of a drawing.
pub(super) struct Layout {
    pub(super) drawing_width: DrawingWidth,
    /// Left edge of the plots.
    pub(super) left: f64,
    /// Whether the labels of bars are above their bars instead of at their left.
    pub(super) names_above: bool,
    /// Height of the legend above each panel; 0 if the legend is at the right.
    pub(super) legends: Vec<f64>,
    pub(super) x: Scale,
    /// The y scale of each panel: `from` is its bottom, `to` its top.
    pub(super) panels: Vec<Scale>,
    pub(super) right: f64,
    pub(super) height: f64,
    /// Marks above the first panel, each with its row, counted from the bottom.
    pub(super) mark_rows: Vec<(Mark, usize)>,
    /// Height of those rows, which are between the first panel and its title.
    pub(super) marks: f64,
}

impl Layout {
    pub(super) fn of(chart: &Chart, drawing_width: DrawingWidth) -> Layout {
        let width = drawing_width.width();
        let longest = |bars: bool| {
            let panels = chart.panels.iter().filter(move |panel| panel.n_bars().is_some() == bars);
            let names = panels.filter(|panel| has_legend(panel)).flat_map(|panel| &panel.series);
            names.map(|series| series.name.chars().count() as f64 * LETTER).reduce(f64::max)
        };
        let names = longest(true);
        let names_above =
            drawing_width == DrawingWidth::Narrow || names.is_some_and(|names| NAME_MAX < names);
        let left = match names {
            Some(names) if !names_above => LEFT.max(names + 20.0),
            Some(_) => 8.0,
            None => LEFT,
        };
        let margin = match longest(false) {
            Some(names) if drawing_width != DrawingWidth::Narrow => (names + SAMPLE + 24.0).min(300.0),
            _ => 22.0,
        };
        let right = width - margin;
        let x = Scale::fit(chart.x_values(), chart.x.spacing, false, left + 8.0, right - 8.0);
        let mark_rows = mark_rows(&chart.marks, &x, width);
        let n_rows = mark_rows.iter().map(|(_, row)| row + 1).max().unwrap_or(0);
        let alone = chart.panels.len() == 1;
        let marks = n_rows as f64 * LINE;
        let mut top = marks;
        let mut panels = Vec::new();
        let mut legends = Vec::new();
        for panel in &chart.panels {
            let legend =
                if drawing_width == DrawingWidth::Narrow && panel.n_bars().is_none() && has_legend(panel) {
                    legend_rows(panel, width).iter().map(|(row, ..)| row + 1).max().unwrap_or(0)
                } else {
                    0
                };
            legends.push(legend as f64 * LINE);
            top += legend as f64 * LINE;
            let height = match panel.n_bars() {
                Some(n) if names_above => n as f64 * HEIGHT_NAMED_BAR,
                Some(n) => n as f64 * HEIGHT_BAR,
                None if alone => HEIGHT_ALONE,
                None => HEIGHT_STACKED,
            };
            let bottom = top + HEAD + height;
            panels.push(vertical(panel, bottom, top + HEAD));
            top = bottom;
        }
        let height = top + FOOT;
        Layout { drawing_width, left, names_above, legends, x, panels, right, height, mark_rows, marks }
    }

    pub(super) fn top(&self) -> f64 {
        self.panels.first().map_or(0.0, |panel| panel.to)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.panels.last().map_or(0.0, |panel| panel.from)
    }
}

/// Returns the y scale of a panel; each bar has a row of height 1.
fn vertical(panel: &Panel, bottom: f64, top: f64) -> Scale {
    match panel.n_bars() {
        Some(n) => Scale { log: false, low: 0.0, high: n as f64, from: bottom, to: top },
        None => Scale::fit(panel.values(), panel.y.spacing, true, bottom, top),
    }
}

/// Returns each named series with its row and its left edge in the legend above a panel.
pub(super) fn legend_rows(panel: &Panel, width: f64) -> Vec<(usize, f64, &DataSeries)> {
    let mut row = 0;
    let mut x = LEGEND_LEFT;
    let mut rows = Vec::new();
    for series in panel.series.iter().filter(|series| !series.name.is_empty()) {
        let needed = SAMPLE + 6.0 + series.name.chars().count() as f64 * LETTER;
        if LEGEND_LEFT < x && width < x + needed {
            (row, x) = (row + 1, LEGEND_LEFT);
        }
        rows.push((row, x, series));
        x += needed + 14.0;
    }
    rows
}

pub(super) fn has_legend(panel: &Panel) -> bool {
    1 < panel.series.len()
}

/// Assigns each mark a row in which it does not overlap the previous one.
fn mark_rows(marks: &[Mark], x: &Scale, width: f64) -> Vec<(Mark, usize)> {
    let mut ends: Vec<f64> = Vec::new();
    let mut rows = Vec::new();
    for mark in marks {
        let half = half_width(&mark.name);
        let middle = label_x(mark, x, width);
        let left = middle - half;
        let right = middle + half;
        let free = ends.iter().position(|end| *end + 4.0 < left);
        let row = free.unwrap_or(ends.len());
        if free.is_none() {
            ends.push(right);
        }
        ends[row] = right;
        rows.push((mark.clone(), row));
    }
    rows
}

pub(super) fn half_width(name: &str) -> f64 {
    name.chars().count() as f64 * LETTER / 2.0
}

/// Returns the middle of a mark's label: above its line, or as close as the edges of the drawing allow.
pub(super) fn label_x(mark: &Mark, x: &Scale, width: f64) -> f64 {
    let half = half_width(&mark.name);
    x.pixel(mark.x).min(width - half - 2.0).max(half + 2.0)
}
