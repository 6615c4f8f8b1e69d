//! SVG drawing of a chart.

use maud::{Markup, PreEscaped, html};

use super::filled::{bars, cells};
use super::layout::{DrawingWidth, LINE, Layout, SAMPLE, half_width, has_legend, label_x, legend_rows};
use super::shapes::{dash, marker, polyline, px};
use super::ticks::{label, labels, ticks, value_text};
use super::{Axis, Chart, DataSeries, Draw, Palette, Panel, Point, Scale};

/// Minimum length of a visible error bar; shorter ones are hidden by their marker.
const BAR_MIN: f64 = 11.0;

/// The most points of a series that show their values when they are pointed at.
const HOVER_MAX: usize = 60;

/// Draws a chart for a page whose style sheet defines the variables of [`Palette::PAGE`].
pub fn inline(chart: &Chart) -> Markup {
    inline_as(chart, chart.id, DrawingWidth::Page, "")
}

/// Draws a chart with a given width and anchor; `class` is an additional class for the style sheet.
pub(crate) fn inline_as(chart: &Chart, id: &str, drawing_width: DrawingWidth, class: &str) -> Markup {
    draw(chart, &Palette::PAGE, id, DrawOptions { drawing_width, class, standalone: false })
}

/// Draws a chart as a separate SVG file.
pub fn standalone(chart: &Chart, palette: &Palette) -> String {
    draw(
        chart,
        palette,
        chart.id,
        DrawOptions { drawing_width: DrawingWidth::Page, class: "", standalone: true },
    )
    .into_string()
}

/// Returns the position of a point in the drawing, in pixels.
pub fn position(chart: &Chart, panel: usize, point: &Point) -> (f64, f64) {
    let layout = Layout::of(chart, DrawingWidth::Page);
    (layout.x.pixel(point.x), layout.panels[panel].pixel(point.y))
}

/// Options of a drawing.
struct DrawOptions<'a> {
    drawing_width: DrawingWidth,
    class: &'a str,
    standalone: bool,
}

fn draw(chart: &Chart, palette: &Palette, id: &str, options: DrawOptions) -> Markup {
    let DrawOptions { drawing_width, class, standalone } = options;
    let layout = Layout::of(chart, drawing_width);
    let class = if class.is_empty() { "chart".to_owned() } else { format!("chart {class}") };
    let title = format!("{id}-title");
    let text = format!("{id}-text");
    html! {
        svg xmlns=[standalone.then_some("http://www.w3.org/2000/svg")] class=(class) role="img"
            viewBox={ "0 0 " (px(drawing_width.width())) " " (px(layout.height)) }
            aria-labelledby={ (title) " " (text) }
            font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" {
            title id=(title) { (chart.title) }
            desc id=(text) { (chart.description) }
            (zones(chart, &layout, palette))
            (marks(&layout, palette))
            @for (index, (panel, scale)) in chart.panels.iter().zip(&layout.panels).enumerate() {
                @let top = scale.to - if index == 0 { layout.marks } else { 0.0 };
                (panel_title(panel, top - layout.legends[index], palette))
                @if 0.0 < layout.legends[index] {
                    (legend_above(panel, top - layout.legends[index], drawing_width, palette))
                }
                (draw_panel(chart, panel, scale, &layout, palette))
            }
            (x_axis(&chart.x, &layout, palette))
        }
    }
}

fn zones(chart: &Chart, layout: &Layout, palette: &Palette) -> Markup {
    html! {
        g fill=(palette.zone) {
            @for panel in &layout.panels {
                @for zone in &chart.zones {
                    @let (from, to) = (layout.x.pixel(zone.from), layout.x.pixel(zone.to));
                    rect x=(px(from)) y=(px(panel.to)) width=(px(to - from)) height=(px(panel.from - panel.to)) {}
                }
            }
        }
    }
}

fn marks(layout: &Layout, palette: &Palette) -> Markup {
    html! {
        @for (mark, row) in &layout.mark_rows {
            @let x = layout.x.pixel(mark.x);
            @let y = layout.top() - 6.0 - LINE * *row as f64;
            @if mark.line {
                path d={ "M" (px(x)) " " (px(y + 4.0)) "V" (px(layout.bottom())) } stroke=(palette.axis)
                    stroke-dasharray="1 3" fill="none" {}
            }
            text x=(px(label_x(mark, &layout.x, layout.drawing_width.width()))) y=(px(y)) text-anchor="middle" fill=(palette.faint) {
                    (mark.name)
                }
        }
    }
}

fn panel_title(panel: &Panel, top: f64, palette: &Palette) -> Markup {
    html! {
        text x=(px(8.0)) y=(px(top - 11.0)) fill=(palette.ink) font-weight="600" { (panel.y.title) }
    }
}

fn draw_panel(chart: &Chart, panel: &Panel, scale: &Scale, layout: &Layout, palette: &Palette) -> Markup {
    html! {
        @match panel.n_bars() {
            Some(_) => { (vertical_grid(scale, layout, palette)) }
            None => { (horizontal_grid(panel, scale, layout, palette)) }
        }
        @if let Some((value, name)) = &panel.limit {
            @let y = scale.pixel(*value);
            path d={ "M" (px(layout.left)) " " (px(y)) "H" (px(layout.right)) } stroke=(palette.axis) stroke-dasharray="4 2" {}
            text x=(px(layout.left + 6.0)) y=(px(y + 13.0)) fill=(palette.faint) { (name) }
        }
        path d={ "M" (px(layout.left)) " " (px(scale.from)) "H" (px(layout.right)) } stroke=(palette.axis) {}
        @for series in &panel.series {
            @match series.draw {
                Draw::Points | Draw::Line => {
                    // Narrow drawings are for phones, where nobody points.
                    @let axes = (layout.drawing_width != DrawingWidth::Narrow).then_some([&chart.x, &panel.y]);
                    (draw_series(series, axes, scale, &layout.x, palette))
                }
                Draw::Cells => { (cells(series, scale, &layout.x, palette)) }
                Draw::Bars => { (bars(series, scale, layout, chart.x.format, palette)) }
            }
        }
        @if has_legend(panel) && panel.n_bars().is_none() && layout.drawing_width != DrawingWidth::Narrow {
            (legend(panel, scale, layout, palette))
        }
    }
}

fn horizontal_grid(panel: &Panel, scale: &Scale, layout: &Layout, palette: &Palette) -> Markup {
    let n_ticks = if scale.from - scale.to < 200.0 { 3 } else { 5 };
    let ticks = ticks(scale, n_ticks);
    let labels = labels(&ticks, panel.y.format);
    html! {
        @for (tick, label) in ticks.iter().zip(labels) {
            @let y = scale.pixel(*tick);
            path d={ "M" (px(layout.left)) " " (px(y)) "H" (px(layout.right)) } stroke=(palette.grid) {}
            text x=(px(layout.left - 7.0)) y=(px(y + 4.0)) text-anchor="end" fill=(palette.faint) {
                (label)
            }
        }
    }
}

/// Draws the grid behind bars, whose values are on the x axis.
fn vertical_grid(scale: &Scale, layout: &Layout, palette: &Palette) -> Markup {
    html! {
        @for tick in ticks(&layout.x, layout.drawing_width.n_ticks()) {
            path d={ "M" (px(layout.x.pixel(tick))) " " (px(scale.to)) "V" (px(scale.from)) } stroke=(palette.grid) {}
        }
    }
}

fn draw_series(
    series: &DataSeries,
    axes: Option<[&Axis; 2]>,
    y: &Scale,
    x: &Scale,
    palette: &Palette,
) -> Markup {
    let color = palette.series(series.style);
    let shown = || series.points.iter().filter(|point| point.y.is_finite() && (!y.log || 0.0 < point.y));
    let line = polyline(shown().map(|point| (x.pixel(point.x), y.pixel(point.y), point.gap)));
    let dash = dash(series.style);
    let width = if series.draw == Draw::Points { "2" } else { "1.4" };
    html! {
        g class="series" {
            @if series.draw == Draw::Line {
                path d=(band(series, y, x)) fill=(color) fill-opacity="0.2" {}
            }
            path d=(line) fill="none" stroke=(color) stroke-width=(width) stroke-linejoin="round" stroke-linecap=[(series.draw == Draw::Line).then_some("round")]
                stroke-dasharray=[(!dash.is_empty()).then_some(dash)] {}
            @if series.draw == Draw::Points {
                // Attributes of the group apply to all points, which are hundreds in a report.
                g stroke=(color) stroke-width="1.6" fill=(color) {
                    @for point in shown() {
                        (draw_point(point, series, axes, y, x, palette))
                    }
                }
            }
        }
    }
}

fn draw_point(
    point: &Point,
    series: &DataSeries,
    axes: Option<[&Axis; 2]>,
    y: &Scale,
    x: &Scale,
    palette: &Palette,
) -> Markup {
    // A chart with so many points is pointed at in vain, and the texts would be most of the page.
    let axes = axes.filter(|_| series.points.len() <= HOVER_MAX);
    let hover = axes.map(|axes| hover_text(point, series, axes));
    let at = x.pixel(point.x);
    let height = y.pixel(point.y);
    html! {
        @if let Some((low, high)) = point.range.map(|(low, high)| (y.pixel(low), y.pixel(high)))
            && BAR_MIN < low - high {
            path d={ "M" (px(at)) " " (px(low)) "V" (px(high)) (cap(at, low)) (cap(at, high)) }
                stroke-width="1.2" fill="none" {}
        }
        path d=(marker(series.style, at, height)) fill=[point.hollow.then_some(palette.paper)] {
            @if let Some(hover) = hover { title { (hover) } }
        }
    }
}

/// Returns the text that browsers show at a point: `p99: 404 ms (390 ms–419 ms) at 32`.
fn hover_text(point: &Point, series: &DataSeries, [x, y]: [&Axis; 2]) -> String {
    let name = if series.name.is_empty() { &y.title } else { &series.name };
    let value = |value| value_text(value, y.format);
    let range = point.range.map(|(low, high)| format!(" ({}–{})", value(low), value(high)));
    format!("{name}: {}{} at {}", value(point.y), range.unwrap_or_default(), label(point.x, x.format))
}

fn cap(x: f64, y: f64) -> PreEscaped<String> {
    PreEscaped(format!("M{} {}H{}", px(x - 4.0), px(y), px(x + 4.0)))
}

/// Returns the outline of the band between the ends of the ranges, one closed path per piece without a gap.
fn band(series: &DataSeries, y: &Scale, x: &Scale) -> String {
    let ranged: Vec<(f64, f64, f64, bool)> = series
        .points
        .iter()
        .filter_map(|point| {
            point.range.map(|(low, high)| (x.pixel(point.x), y.pixel(low), y.pixel(high), point.gap))
        })
        .collect();
    let mut path = String::new();
    for piece in ranged.chunk_by(|_, next| !next.3) {
        let upper = piece.iter().map(|(x, _, high, _)| (*x, *high, false));
        let lower = piece.iter().rev().map(|(x, low, _, _)| (*x, *low, false));
        path += &polyline(upper.chain(lower));
        path.push('Z');
    }
    path
}

/// Labels the series at the right, as close to their last values as possible.
fn legend(panel: &Panel, scale: &Scale, layout: &Layout, palette: &Palette) -> Markup {
    let mut labels: Vec<(f64, &DataSeries)> =
        named(panel).map(|series| (name_height(series, scale), series)).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    spread(&mut labels, scale.to, scale.from);
    let from = layout.right + 8.0;
    html! {
        @for (y, series) in labels {
            (sample(series, from, y, palette))
            text x=(px(from + SAMPLE + 6.0)) y=(px(y + 4.0)) fill=(palette.ink) { (series.name) }
        }
    }
}

/// Labels the series in rows between the title of a panel and its plot; `top` is the upper edge of the first row.
fn legend_above(panel: &Panel, top: f64, drawing_width: DrawingWidth, palette: &Palette) -> Markup {
    html! {
        @for (row, x, series) in legend_rows(panel, drawing_width.width()) {
            @let y = top + LINE * row as f64;
            (sample(series, x, y, palette))
            text x=(px(x + SAMPLE + 6.0)) y=(px(y + 4.0)) fill=(palette.ink) { (series.name) }
        }
    }
}

/// Returns the series with a name; the others are explained elsewhere.
fn named(panel: &Panel) -> impl Iterator<Item = &DataSeries> {
    panel.series.iter().filter(|series| !series.name.is_empty())
}

/// Returns the preferred position of a series' label: at its last value. Density levels are listed from the top.
fn name_height(series: &DataSeries, scale: &Scale) -> f64 {
    match (series.draw, series.points.last()) {
        (Draw::Cells, _) => scale.to,
        (_, Some(last)) => scale.pixel(last.y),
        (_, None) => scale.from,
    }
}

/// Draws the sample of a series before its label.
fn sample(series: &DataSeries, from: f64, y: f64, palette: &Palette) -> Markup {
    let dash = dash(series.style);
    let color = palette.series(series.style);
    html! {
        @match series.draw {
            Draw::Cells => {
                path d={ "M" (px(from)) " " (px(y - 5.0)) "h" (px(SAMPLE)) "v10h" (px(-SAMPLE)) "Z" }
                    fill=(palette.heat(series.style)) {}
            }
            Draw::Bars => {}
            Draw::Line | Draw::Points => {
                path d={ "M" (px(from)) " " (px(y)) "h" (px(SAMPLE)) } stroke=(color)
                    stroke-width="2" stroke-dasharray=[(!dash.is_empty()).then_some(dash)] {}
            }
        }
        @if series.draw == Draw::Points {
            path d=(marker(series.style, from + SAMPLE / 2.0, y)) fill=(color) {}
        }
    }
}

/// Moves labels apart until they do not overlap, and back up if they leave the panel at the bottom.
fn spread(labels: &mut [(f64, &DataSeries)], top: f64, bottom: f64) {
    let mut least = top + 4.0;
    for label in labels.iter_mut() {
        label.0 = label.0.max(least);
        least = label.0 + LINE;
    }
    let mut most = bottom - 4.0;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - LINE;
    }
}

fn x_axis(axis: &Axis, layout: &Layout, palette: &Palette) -> Markup {
    let bottom = layout.bottom();
    let values =
        if axis.at.is_empty() { ticks(&layout.x, layout.drawing_width.n_ticks()) } else { axis.at.clone() };
    let mut end = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for (value, text) in values.iter().zip(labels(&values, axis.format)) {
        let x = layout.x.pixel(*value);
        let half = half_width(&text);
        if end + 6.0 < x - half {
            end = x + half;
            shown.push((x, text));
        }
    }
    html! {
        @for (x, text) in shown {
            path d={ "M" (px(x)) " " (px(bottom)) "v5" } stroke=(palette.axis) {}
            text x=(px(x)) y=(px(bottom + 18.0)) text-anchor="middle" fill=(palette.faint) { (text) }
        }
        text x=(px((layout.left + layout.right) / 2.0)) y=(px(bottom + 38.0)) text-anchor="middle" fill=(palette.ink)
            font-weight="600" { (axis.title) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Format, Mark, Spacing};

    fn series(style: usize, points: &[(f64, f64)]) -> DataSeries {
        let points = points.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        DataSeries { name: format!("series {style}"), style, draw: Draw::Points, points }
    }

    fn chart(all: Vec<DataSeries>) -> Chart {
        let y = Axis::new("milliseconds", Spacing::FromZero, Format::Plain);
        Chart {
            id: "test",
            title: "a <title>".into(),
            description: "a & description".into(),
            x: Axis::new("Clients", Spacing::FromZero, Format::Plain),
            panels: vec![Panel { y, series: all, limit: None }],
            zones: vec![],
            marks: vec![],
        }
    }

    /// Method: x from 0 to 20 over the pixels 70 to 830, y from 0 to 100 over 300 down to 30.
    #[test]
    fn every_point_is_drawn_at_its_position() {
        let chart = chart(vec![series(1, &[(0.0, 0.0), (10.0, 100.0), (20.0, 25.0)])]);
        let svg = standalone(&chart, &Palette::PAPER);
        assert!(svg.contains("M70 300L450 30L830 232.5"), "{svg}");
        for (x, y) in [(70.0, 300.0), (450.0, 30.0), (830.0, 232.5)] {
            assert!(svg.contains(&marker(1, x, y)), "no marker at {x} {y}");
        }
        assert_eq!(position(&chart, 0, &Point::new(20.0, 25.0)), (830.0, 232.5));
    }

    #[test]
    fn series_differ_without_color() {
        let all = (0..3).map(|style| series(style, &[(1.0, 1.0), (2.0, 2.0)])).collect();
        let grey = Palette { series: ["#777"; 6], ..Palette::PAPER };
        let svg = standalone(&chart(all), &grey);
        let lines: Vec<&str> =
            svg.match_indices("<g class=\"series\">").map(|(at, _)| &svg[at..at + 400]).collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0] != lines[1] && lines[1] != lines[2] && lines[0] != lines[2]);
        assert!(svg.contains("stroke-dasharray=\"7 4\"") && svg.contains("stroke-dasharray=\"2 3\""));
    }

    #[test]
    fn a_chart_has_a_text_alternative() {
        let svg = inline(&chart(vec![])).into_string();
        assert!(svg.contains("aria-labelledby=\"test-title test-text\""));
        assert!(svg.contains("<title id=\"test-title\">a &lt;title&gt;</title>"));
        assert!(svg.contains("a &amp; description") && !svg.contains("http"));
    }

    #[test]
    fn an_interval_is_an_error_bar_and_a_doubtful_point_is_hollow() {
        let mut one = series(0, &[(0.0, 0.0), (20.0, 50.0)]);
        one.points[1] = Point { range: Some((25.0, 100.0)), hollow: true, ..one.points[1] };
        let svg = standalone(&chart(vec![one]), &Palette::PAPER);
        assert!(svg.contains("M830 232.5V30M826 232.5H834M826 30H834"), "{svg}");
        assert_eq!(svg.matches("fill=\"#ffffff\"").count(), 1);
    }

    #[test]
    fn labels_at_the_right_never_overlap() {
        let all: Vec<DataSeries> = (0..5).map(|style| series(style, &[(1.0, 9.0)])).collect();
        let mut labels: Vec<(f64, &DataSeries)> = all.iter().map(|series| (280.0, series)).collect();
        spread(&mut labels, 30.0, 300.0);
        assert!(labels.windows(2).all(|pair| LINE <= pair[1].0 - pair[0].0));
        assert!(labels.iter().all(|label| (30.0..=300.0).contains(&label.0)));
    }

    /// Goal: on a narrow screen the font size stays the same, and nothing is outside of the drawing.
    #[test]
    fn a_narrow_drawing_has_its_legend_above_and_stays_within_its_width() {
        let all = (0..3).map(|style| series(style, &[(0.0, 1.0), (20.0, 2.0)])).collect();
        let svg = inline_as(&chart(all), "n", DrawingWidth::Narrow, "narrow").into_string();
        assert!(svg.contains("class=\"chart narrow\"") && svg.contains("viewBox=\"0 0 380 "), "{svg}");
        assert!(svg.contains("font-size=\"12\""));
        let labels = svg.split("<text x=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let labels: Vec<f64> = labels.map(|x| x.parse().unwrap()).collect();
        assert!(labels.iter().all(|x| (0.0..=380.0).contains(x)), "{labels:?}");
        let name = svg.find(">series 0</text>").unwrap();
        assert!(name < svg.find("class=\"series\"").unwrap(), "the legend comes before the plot");
    }

    #[test]
    fn a_label_at_the_edge_stays_inside() {
        let mut chart = chart(vec![series(0, &[(0.0, 1.0), (20.0, 2.0)])]);
        chart.marks = vec![Mark { x: 20.0, name: "saturation and peak".into(), line: true }];
        // 19 letters are 60.8 px to either side of the middle.
        assert!(standalone(&chart, &Palette::PAPER).contains("<text x=\"797.2\""));
    }
}
