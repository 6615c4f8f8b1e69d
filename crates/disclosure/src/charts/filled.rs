//! Filled series: cells of a heat map, and bars.

use std::fmt::Write;

use maud::{Markup, html};

use super::layout::{Layout, half_width};
use super::shapes::px;
use super::ticks::value_label;
use super::{DataSeries, Format, Palette, Point, Scale};

/// Half the height of a bar.
const BAR_HALF: f64 = 9.0;

/// Distance of a bar from the middle of its row if its label is above it.
const NAME_ABOVE: f64 = 8.0;

/// Draws all rectangles of a density level as one path.
pub(super) fn cells(series: &DataSeries, y: &Scale, x: &Scale, palette: &Palette) -> Markup {
    let mut path = String::new();
    for corners in series.points.chunks_exact(2) {
        let left = px(x.pixel(corners[0].x));
        let right = px(x.pixel(corners[1].x));
        let bottom = px(y.pixel(corners[0].y));
        let top = px(y.pixel(corners[1].y));
        let _ = write!(path, "M{left} {bottom}H{right}V{top}H{left}Z");
    }
    // Antialiasing would draw lines between adjacent cells.
    html! { g class="series" { path d=(path) fill=(palette.heat(series.style)) shape-rendering="crispEdges" {} } }
}

/// Draws a bar for every point, with its value and confidence interval.
pub(super) fn bars(
    series: &DataSeries,
    y: &Scale,
    layout: &Layout,
    format: Format,
    palette: &Palette,
) -> Markup {
    let color = palette.series(series.style);
    html! {
        g class="series" {
            @for point in &series.points {
                @let middle = y.pixel(point.y) + if layout.names_above { NAME_ABOVE } else { 0.0 };
                (name(&series.name, middle, layout, palette))
                (bar(point, middle, &layout.x, color, palette))
                (value(point, middle, &layout.x, &value_label(point.x, format), palette))
            }
        }
    }
}

/// Draws the label of a bar at its left or above it.
fn name(name: &str, middle: f64, layout: &Layout, palette: &Palette) -> Markup {
    let start = layout.x.pixel(0.0);
    html! {
        @if layout.names_above {
            text x=(px(start)) y=(px(middle - BAR_HALF - 5.0)) fill=(palette.ink) { (name) }
        } @else {
            text x=(px(start - 9.0)) y=(px(middle + 4.0)) text-anchor="end" fill=(palette.ink) { (name) }
        }
    }
}

fn bar(point: &Point, middle: f64, x: &Scale, color: &'static str, palette: &Palette) -> Markup {
    let from = x.pixel(0.0);
    let to = x.pixel(point.x);
    let fill = if point.hollow { palette.paper } else { color };
    html! {
        path d={ "M" (px(from)) " " (px(middle - BAR_HALF)) "H" (px(to)) "V" (px(middle + BAR_HALF)) "H" (px(from)) "Z" }
            fill=(fill) stroke=(color) stroke-width="1.2" {}
        @if let Some((low, high)) = point.range.map(|(low, high)| (x.pixel(low), x.pixel(high))) {
            @let line = format!("M{} {}H{}{}{}", px(low), px(middle), px(high), cap(low, middle), cap(high, middle));
            // The outline separates the error bar from the bar, whatever the colors.
            path d=(line) stroke=(palette.paper) stroke-width="3.4" fill="none" {}
            path d=(line) stroke=(palette.ink) stroke-width="1.4" fill="none" {}
        }
    }
}

fn cap(x: f64, middle: f64) -> String {
    format!("M{} {}v8", px(x), px(middle - 4.0))
}

/// Draws the value inside the bar at its start, or after the bar if the bar is too short.
fn value(point: &Point, middle: f64, x: &Scale, text: &str, palette: &Palette) -> Markup {
    let from = x.pixel(0.0);
    let to = x.pixel(point.x);
    let end = point.range.map_or(to, |(_, high)| x.pixel(high).max(to));
    let is_inside = from + 2.0 * half_width(text) + 24.0 < to;
    let (at, color) = match (is_inside, point.hollow) {
        (true, false) => (from + 8.0, palette.paper),
        (true, true) => (from + 8.0, palette.ink),
        (false, _) => (end + 8.0, palette.ink),
    };
    html! { text x=(px(at)) y=(px(middle + 4.0)) fill=(color) font-weight="600" { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Axis, Chart, Draw, Panel, Spacing, standalone};

    fn chart(x: Axis, y: Axis, series: Vec<DataSeries>) -> Chart {
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

    /// By hand: two rows of 28 px below 30 px of title; their middles are at 44 and 72. The labels at the left are six letters
    /// or 38.4 px wide, which fits: x ranges from 70 to 830, and 50 of 100 is at 450.
    #[test]
    fn a_bar_extends_from_zero_to_its_value_and_has_an_error_bar() {
        let point = |x, y, range| Point { range, ..Point::new(x, y) };
        let bar = |name: &str, style, point| DataSeries {
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
        assert!(svg.contains("M70 35H830V53H70Z"), "{svg}");
        assert!(svg.contains("M70 63H450V81H70Z\" fill=\"#ffffff\" stroke=\"#c65102\""), "{svg}");
        assert!(svg.contains("M374 72H526M374 68v8M526 68v8"), "{svg}");
        assert!(svg.contains(">100.0</text>"), "{svg}");
    }

    /// Goal: the label of a bar is next to it, not at the other end of the page.
    #[test]
    fn a_bar_has_its_label_next_to_it() {
        let bars = |name: &str| {
            let one = |y| DataSeries {
                name: name.to_owned(),
                style: 0,
                draw: Draw::Bars,
                points: vec![Point::new(100.0, y)],
            };
            let x = plain("x", Spacing::FromZero);
            let y = plain("y", Spacing::FromZero);
            standalone(&chart(x, y, vec![one(1.5), one(0.5)]), &Palette::PAPER)
        };
        let short = bars("nginx");
        assert!(
            short.contains("<text x=\"61\" y=\"48\" text-anchor=\"end\" fill=\"#16202e\">nginx<"),
            "{short}"
        );
        // 50 letters do not fit: the label is above the bar, and a row is 44 px high.
        let long = bars(&"x".repeat(50));
        assert!(long.contains("M16 51H830V69H16Z") && long.contains("<text x=\"16\" y=\"46\""), "{long}");
    }

    /// By hand: x from 0 to 2 at pixels 70 to the right end, y from 1 to 10 ms on a log axis at pixels 300 to 30.
    #[test]
    fn cells_are_between_opposite_corners_and_levels_are_labelled_from_the_top() {
        let corners = |x: (f64, f64), y: (f64, f64)| [Point::new(x.0, y.0), Point::new(x.1, y.1)];
        let level = |style, points: [Point; 2]| DataSeries {
            name: format!("level {style}"),
            style,
            draw: Draw::Cells,
            points: points.into(),
        };
        let series =
            vec![level(4, corners((0.0, 1.0), (0.001, 0.01))), level(0, corners((1.0, 2.0), (0.001, 0.01)))];
        let y = Axis::new("Response time", Spacing::Log, Format::Seconds);
        let svg = standalone(&chart(plain("Seconds", Spacing::FromZero), y, series), &Palette::PAPER);
        // Labels of 7 letters: 44.8 + 26 + 24 = 94.8 px, so the axis ends at 757.2.
        assert!(svg.contains("M70 300H413.6V30H70Z\" fill=\"#0b2444\""), "{svg}");
        assert!(svg.contains("M413.6 300H757.2V30H413.6Z\" fill=\"#628bbb\""), "{svg}");
        let position = |name: &str| svg.find(name).unwrap();
        assert!(position("level 4</text>") < position("level 0</text>"));
    }
}
