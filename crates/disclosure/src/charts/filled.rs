//! Series that fill areas: the cells of a heat map, and bars.

use std::fmt::Write;

use maud::{Markup, html};

use super::layout::{Layout, half_width};
use super::shapes::px;
use super::ticks::value_label;
use super::{Format, Palette, Point, Scale, Series};

/// Half the height of a bar.
const BAR_HALF: f64 = 9.0;

/// Draws all rectangles of a level of density, as one path.
pub(super) fn cells(series: &Series, y: &Scale, x: &Scale, palette: &Palette) -> Markup {
    let mut path = String::new();
    for corners in series.points.chunks_exact(2) {
        let (left, right) = (px(x.pixel(corners[0].x)), px(x.pixel(corners[1].x)));
        let (bottom, top) = (px(y.pixel(corners[0].y)), px(y.pixel(corners[1].y)));
        let _ = write!(path, "M{left} {bottom}H{right}V{top}H{left}Z");
    }
    // Without soft edges: they would draw lines between neighbors.
    html! { g class="series" { path d=(path) fill=(palette.heat(series.style)) shape-rendering="crispEdges" {} } }
}

/// Draws a bar for every point, with its value and interval.
pub(super) fn bars(series: &Series, y: &Scale, layout: &Layout, format: Format, palette: &Palette) -> Markup {
    let color = palette.series(series.style);
    html! {
        g class="series" {
            @for point in &series.points {
                (bar(point, y, &layout.x, color, palette))
                (value(point, y, &layout.x, &value_label(point.x, format), palette))
            }
        }
    }
}

fn bar(point: &Point, y: &Scale, x: &Scale, color: &'static str, palette: &Palette) -> Markup {
    let (from, to, middle) = (x.pixel(0.0), x.pixel(point.x), y.pixel(point.y));
    let fill = if point.hollow { palette.paper } else { color };
    html! {
        path d={ "M" (px(from)) " " (px(middle - BAR_HALF)) "H" (px(to)) "V" (px(middle + BAR_HALF)) "H" (px(from)) "Z" }
            fill=(fill) stroke=(color) stroke-width="1.2" {}
        @if let Some((low, high)) = point.range.map(|(low, high)| (x.pixel(low), x.pixel(high))) {
            @let line = format!("M{} {}H{}{}{}", px(low), px(middle), px(high), cap(low, middle), cap(high, middle));
            // The seam keeps the line apart from its bar, whatever the colors.
            path d=(line) stroke=(palette.paper) stroke-width="3.4" fill="none" {}
            path d=(line) stroke=(palette.ink) stroke-width="1.4" fill="none" {}
        }
    }
}

fn cap(x: f64, middle: f64) -> String {
    format!("M{} {}v8", px(x), px(middle - 4.0))
}

/// Writes the value at the beginning of its bar, or behind it where the bar is too short for it.
fn value(point: &Point, y: &Scale, x: &Scale, text: &str, palette: &Palette) -> Markup {
    let (from, to) = (x.pixel(0.0), x.pixel(point.x));
    let end = point.range.map_or(to, |(_, high)| x.pixel(high).max(to));
    let is_inside = from + 2.0 * half_width(text) + 24.0 < to;
    let (at, color) = match (is_inside, point.hollow) {
        (true, false) => (from + 8.0, palette.paper),
        (true, true) => (from + 8.0, palette.ink),
        (false, _) => (end + 8.0, palette.ink),
    };
    html! { text x=(px(at)) y=(px(y.pixel(point.y) + 4.0)) fill=(color) font-weight="600" { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Axis, Chart, Draw, Panel, Spacing, standalone};

    fn chart(x: Axis, y: Axis, series: Vec<Series>) -> Chart {
        Chart {
            id: "test",
            title: "t".into(),
            description: "d".into(),
            x,
            panels: vec![Panel { y, series, limit: None }],
            zones: vec![],
            marks: vec![],
        }
    }

    fn plain(title: &str, spacing: Spacing) -> Axis {
        Axis::new(title, spacing, Format::Plain)
    }

    /// By hand: two rows of 28 px below 30 px of head; their middles at 44 and 72. The names at the right are six letters:
    /// 6 · 6.4 + 26 + 24 = 88.4 px, so x runs from 70 to 763.6, and 50 of 100 lies at 416.8.
    #[test]
    fn a_bar_runs_from_zero_to_its_value_and_its_interval_is_drawn() {
        let point = |x, y, range| Point { range, ..Point::new(x, y) };
        let bar = |name: &str, style, point| Series {
            name: name.to_owned(),
            style,
            draw: Draw::Bars,
            points: vec![point],
        };
        let series = vec![
            bar("nginx", 0, point(100.0, 1.5, None)),
            bar("apache", 1, Point { hollow: true, ..point(50.0, 0.5, Some((40.0, 60.0))) }),
        ];
        let chart = chart(plain("per second", Spacing::FromZero), plain("Server", Spacing::FromZero), series);
        let svg = standalone(&chart, &Palette::PAPER);
        assert!(svg.contains("M70 35H763.6V53H70Z"), "{svg}");
        assert!(svg.contains("M70 63H416.8V81H70Z\" fill=\"#ffffff\" stroke=\"#c65102\""), "{svg}");
        assert!(svg.contains("M347.4 72H486.2M347.4 68v8M486.2 68v8"), "{svg}");
        assert!(svg.contains(">100.00</text>") && svg.contains(">apache</text>"), "{svg}");
    }

    /// By hand: x from 0 to 2 over 70 to the right end, y from 1 to 10 ms on a log axis over 300 to 30.
    #[test]
    fn cells_lie_between_opposite_corners_and_levels_are_named_from_the_top() {
        let corners = |x: (f64, f64), y: (f64, f64)| [Point::new(x.0, y.0), Point::new(x.1, y.1)];
        let level = |style, points: [Point; 2]| Series {
            name: format!("level {style}"),
            style,
            draw: Draw::Cells,
            points: points.into(),
        };
        let series =
            vec![level(4, corners((0.0, 1.0), (0.001, 0.01))), level(0, corners((1.0, 2.0), (0.001, 0.01)))];
        let y = Axis::new("Response time", Spacing::Log, Format::Seconds);
        let svg = standalone(&chart(plain("Seconds", Spacing::FromZero), y, series), &Palette::PAPER);
        // Names of 7 letters: 44.8 + 26 + 24 = 94.8 px, so the axis ends at 757.2.
        assert!(svg.contains("M70 300H413.6V30H70Z\" fill=\"#0b2444\""), "{svg}");
        assert!(svg.contains("M413.6 300H757.2V30H413.6Z\" fill=\"#628bbb\""), "{svg}");
        let place = |name: &str| svg.find(name).unwrap();
        assert!(place("level 4</text>") < place("level 0</text>"));
    }
}
