//! Where the parts of a drawing go.

use super::{Chart, Mark, Panel, Scale};

pub(super) const WIDTH: f64 = 860.0;
/// Room for the numbers of the vertical axis.
pub(super) const LEFT: f64 = 62.0;
/// Room for the vertical axis's title, above each panel.
const HEAD: f64 = 30.0;
/// Room for the numbers and the title of the horizontal axis.
const FOOT: f64 = 46.0;
const HEIGHT_ALONE: f64 = 270.0;
const HEIGHT_STACKED: f64 = 118.0;
/// Height of a bar with the room around it.
const HEIGHT_BAR: f64 = 28.0;
/// Height of a line of letters.
pub(super) const LINE: f64 = 15.0;
/// Mean width of a letter at 12 px; generous, since the font is not known.
const LETTER: f64 = 6.4;
/// Length of the piece of line in front of a series' name.
pub(super) const SAMPLE: f64 = 26.0;

/// Where everything goes.
pub(super) struct Layout {
    pub(super) x: Scale,
    /// The vertical scale of each panel: `from` is its bottom, `to` its top.
    pub(super) panels: Vec<Scale>,
    pub(super) right: f64,
    pub(super) height: f64,
    /// Names above the first panel, each with its row, counted from the bottom.
    pub(super) mark_rows: Vec<(Mark, usize)>,
    /// Height of those rows; they stand between the first panel and its title.
    pub(super) marks: f64,
}

impl Layout {
    pub(super) fn of(chart: &Chart) -> Layout {
        let names = chart.panels.iter().filter(|panel| has_legend(panel)).flat_map(|panel| &panel.series);
        let longest = names.map(|series| series.name.chars().count()).max();
        let margin = longest.map_or(22.0, |n| (n as f64 * LETTER + SAMPLE + 24.0).min(300.0));
        let right = WIDTH - margin;
        let x = Scale::fit(chart.x_values(), chart.x.spacing, false, LEFT + 8.0, right - 8.0);
        let mark_rows = mark_rows(&chart.marks, &x);
        let n_rows = mark_rows.iter().map(|(_, row)| row + 1).max().unwrap_or(0);
        let alone = chart.panels.len() == 1;
        let marks = n_rows as f64 * LINE;
        let mut top = marks;
        let mut panels = Vec::new();
        for panel in &chart.panels {
            let height = match panel.n_bars() {
                Some(n) => n as f64 * HEIGHT_BAR,
                None if alone => HEIGHT_ALONE,
                None => HEIGHT_STACKED,
            };
            let bottom = top + HEAD + height;
            panels.push(vertical(panel, bottom, top + HEAD));
            top = bottom;
        }
        Layout { x, panels, right, height: top + FOOT, mark_rows, marks }
    }

    pub(super) fn top(&self) -> f64 {
        self.panels.first().map_or(0.0, |panel| panel.to)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.panels.last().map_or(0.0, |panel| panel.from)
    }
}

/// Returns the vertical scale of a panel; bars have a row of height 1 each.
fn vertical(panel: &Panel, bottom: f64, top: f64) -> Scale {
    match panel.n_bars() {
        Some(n) => Scale { log: false, low: 0.0, high: n as f64, from: bottom, to: top },
        None => Scale::fit(panel.values(), panel.y.spacing, true, bottom, top),
    }
}

pub(super) fn has_legend(panel: &Panel) -> bool {
    1 < panel.series.len()
}

/// Gives each name a row in which it does not touch the one before it.
fn mark_rows(marks: &[Mark], x: &Scale) -> Vec<(Mark, usize)> {
    let mut ends: Vec<f64> = Vec::new();
    let mut rows = Vec::new();
    for mark in marks {
        let half = half_width(&mark.name);
        let middle = name_place(mark, x);
        let (left, right) = (middle - half, middle + half);
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

/// The middle of a mark's name: over its line, or as near as the edges of the drawing let it be.
pub(super) fn name_place(mark: &Mark, x: &Scale) -> f64 {
    let half = half_width(&mark.name);
    x.pixel(mark.x).min(WIDTH - half - 2.0).max(half + 2.0)
}
