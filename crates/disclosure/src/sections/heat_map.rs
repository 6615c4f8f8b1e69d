//! Response times over the whole run: how many operations were how slow at what time.

use analysis::{TimeClasses, class_start};
use model::Phase;
use units::Nanos;

use super::timeline::{PhaseSpan, load_marks, time_axis};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Mark, Panel, Point, Spacing, width_for};
use crate::{Cell, Column, Figure, Report, Row, Table, numbers};

/// More columns than this are folded.
const COLUMNS_MAX: usize = 120;

/// Levels of density: each goes up to this share of a column's operations. What is rare must stay visible.
const LEVELS: [(f64, &str); 5] =
    [(0.001, "up to 0.1 %"), (0.01, "to 1 %"), (0.1, "to 10 %"), (0.3, "to 30 %"), (1.0, "above 30 %")];

/// Lower edge of class 0 in the drawing: a logarithmic axis has no zero.
const LEAST: Nanos = Nanos(630);

/// Seconds that are folded into one column, all of one phase of one load point.
struct HeatMapColumn {
    load: String,
    /// Start and end on the time axis of the run.
    from: f64,
    to: f64,
    phase: &'static str,
    classes: TimeClasses,
}

/// Returns the heat map with its numbers; `None` if no classes were kept, or nothing succeeded.
pub(super) fn figure(report: &Report, spans: &[PhaseSpan]) -> Option<Figure> {
    let width = width_for(spans.iter().map(|span| span.classes.len()), COLUMNS_MAX);
    let columns: Vec<HeatMapColumn> = spans.iter().flat_map(|span| columns(span, width)).collect();
    if columns.iter().all(|column| column.classes.n() == 0) {
        return None;
    }
    let folded = match width {
        1 => "a second".to_owned(),
        n => format!("up to {n} seconds"),
    };
    let caption = format!(
        "A column is {folded}, a row a class of response times (logarithmic); the darker (with a dark background: the lighter) \
         a cell, the larger the share of the column’s operations that were so slow."
    );
    Some(Figure {
        chart: chart(report, spans, &columns),
        caption: caption.into(),
        table: table(report, "Response times over the run, share of operations", &columns),
        bulky: true,
    })
}

/// Returns what the picture comes to in the steady phase of each load point: short enough for all forms of the report.
pub(super) fn by_load_point(report: &Report, spans: &[PhaseSpan]) -> Option<Table> {
    let steady = spans.iter().filter(|span| span.phase == Phase::Steady);
    let kept = steady.filter(|span| !span.classes.is_empty());
    let whole: Vec<HeatMapColumn> = kept.flat_map(|span| columns(span, span.classes.len())).collect();
    let is_empty = whole.iter().all(|column| column.classes.n() == 0);
    (!is_empty).then(|| table(report, "Response times by load point, share of operations", &whole))
}

fn columns(span: &PhaseSpan, width: usize) -> Vec<HeatMapColumn> {
    let columns = span.classes.chunks(width).enumerate();
    let n = span.classes.len();
    let at = |second: usize| span.from + (span.to - span.from) * second as f64 / n as f64;
    columns
        .map(|(column, seconds)| {
            let first = column * width;
            let mut classes = TimeClasses::default();
            seconds.iter().for_each(|second| classes.merge(second));
            HeatMapColumn {
                load: span.load.clone(),
                from: at(first),
                to: at(first + seconds.len()),
                phase: span.phase.name(),
                classes,
            }
        })
        .collect()
}

fn chart(report: &Report, spans: &[PhaseSpan], columns: &[HeatMapColumn]) -> Chart {
    let (x, scale) = time_axis(spans);
    let level = |level: usize| DataSeries {
        name: LEVELS[level].1.to_owned(),
        style: level,
        draw: Draw::Cells,
        points: rectangles(columns, level, scale),
    };
    let marks = load_marks(report, spans).into_iter();
    Chart {
        id: "heat-map",
        title: "Response times over the run".into(),
        description: description(columns),
        x,
        panels: vec![Panel {
            y: Axis::new("Response time (log); share of operations", Spacing::Log, Format::Seconds),
            series: (0..LEVELS.len()).rev().map(level).filter(|series| !series.points.is_empty()).collect(),
            limit: None,
        }],
        zones: Vec::new(),
        marks: marks.map(|(x, name)| Mark { x: x / scale, name, line: false }).collect(),
    }
}

/// Says between what the bulk of the response times lies over the whole run.
fn description(columns: &[HeatMapColumn]) -> String {
    let mut all = TimeClasses::default();
    columns.iter().for_each(|column| all.merge(&column.classes));
    let Some((fullest, n)) = all.counts().iter().max_by_key(|(_, n)| *n) else { return String::new() };
    let share = numbers::percent(*n as f64 / all.n() as f64, 0);
    format!("The largest class holds {share} of all operations: they took {}.", class_text(*fullest))
}

/// Returns opposite corners of the rectangles of one level: runs of neighboring columns of a class are one.
fn rectangles(columns: &[HeatMapColumn], level: usize, scale: f64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for class in classes(columns) {
        let (low, high) = edges(class);
        let mut open: Option<(f64, f64)> = None;
        for column in columns.iter().filter(|column| level_of(column, class) == Some(level)) {
            open = match open {
                Some((from, to)) if to == column.from => Some((from, column.to)),
                before => {
                    points.extend(before.into_iter().flat_map(|run| corners(run, (low, high), scale)));
                    Some((column.from, column.to))
                }
            };
        }
        points.extend(open.into_iter().flat_map(|run| corners(run, (low, high), scale)));
    }
    points
}

fn corners((from, to): (f64, f64), (low, high): (f64, f64), scale: f64) -> [Point; 2] {
    [Point::new(from / scale, low), Point::new(to / scale, high)]
}

/// Returns the classes that occur, by rising time.
fn classes(columns: &[HeatMapColumn]) -> Vec<u8> {
    let mut all = TimeClasses::default();
    columns.iter().for_each(|column| all.merge(&column.classes));
    all.counts().iter().map(|(class, _)| *class).collect()
}

/// Returns the level of a class in a column; `None` if nothing of it is there.
fn level_of(column: &HeatMapColumn, class: u8) -> Option<usize> {
    let share = share(column, class)?;
    LEVELS.iter().position(|(most, _)| share <= *most).or(Some(LEVELS.len() - 1))
}

fn share(column: &HeatMapColumn, class: u8) -> Option<f64> {
    let (_, n) = column.classes.counts().iter().find(|(known, _)| *known == class)?;
    Some(*n as f64 / column.classes.n() as f64)
}

/// Returns the times between which a class is drawn, in s.
fn edges(class: u8) -> (f64, f64) {
    let low = class_start(class).max(LEAST);
    let high = class_start(class + 1);
    (low.as_secs_f64(), high.as_secs_f64())
}

/// Writes `1.60–2.50 ms`.
fn class_text(class: u8) -> String {
    match class {
        0 => format!("below {}", numbers::time(class_start(1))),
        _ => numbers::time_interval(Some((class_start(class), class_start(class + 1)))),
    }
}

/// Returns a row for every column: share of its operations per class, in percent.
fn table(report: &Report, caption: &str, columns: &[HeatMapColumn]) -> Table {
    let classes = classes(columns);
    let mut headings = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("From", "s"),
        Column::words("Phase"),
        Column::numbers("n", ""),
    ];
    headings.extend(classes.iter().map(|class| Column::numbers(class_text(*class), "%")));
    let row = |column: &HeatMapColumn| {
        let mut cells: Vec<Cell> = vec![
            column.load.clone().into(),
            numbers::fixed(column.from, 0).into(),
            column.phase.into(),
            numbers::count(column.classes.n()).into(),
        ];
        cells.extend(classes.iter().map(|class| {
            let share = share(column, *class);
            Cell::from(share.map_or(String::new(), |share| numbers::fixed(100.0 * share, 2)))
        }));
        Row::plain(cells)
    };
    Table::new(caption, headings, columns.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use stats::Histogram;

    use super::*;

    fn column(from: f64, times: &[(u64, u64)]) -> HeatMapColumn {
        let mut histogram = Histogram::new();
        times
            .iter()
            .for_each(|(micros, n)| (0..*n).for_each(|_| histogram.record(Nanos::from_micros(*micros))));
        HeatMapColumn {
            load: "10".into(),
            from,
            to: from + 1.0,
            phase: "steady",
            classes: TimeClasses::of(&histogram),
        }
    }

    /// By hand: 1 of 100 is at most 1 %, 99 of 100 is above 30 %. The class of 1.1 ms goes from 1 to 1.6 ms.
    #[test]
    fn neighbors_of_one_level_are_one_rectangle() {
        let same = [(1_100, 99), (7_000, 1)];
        let columns = [column(0.0, &same), column(1.0, &same), column(5.0, &same)];
        let corner = Point::new;
        let expected = [corner(0.0, 0.001), corner(2.0, 0.0016), corner(5.0, 0.001), corner(6.0, 0.0016)];
        assert_eq!(rectangles(&columns, 4, 1.0), expected);
        assert_eq!(rectangles(&columns, 1, 1.0).len(), 4);
        assert!(rectangles(&columns, 0, 1.0).is_empty() && rectangles(&columns, 2, 1.0).is_empty());
    }

    #[test]
    fn every_share_has_a_level_and_nothing_has_none() {
        let column = column(0.0, &[(11, 1), (110, 9), (1_100, 990)]);
        let levels = [11, 110, 1_100, 11_000].map(|micros| {
            let class = (0..48).find(|class| Nanos::from_micros(micros) < class_start(class + 1)).unwrap();
            level_of(&column, class)
        });
        assert_eq!(levels, [Some(0), Some(1), Some(4), None]);
    }

    #[test]
    fn classes_are_named_by_their_ends() {
        assert_eq!([0, 17].map(class_text), ["below 1.00 µs", "1.60–2.50 ms"]);
        assert_eq!([6, 30].map(class_text), ["10.0–16.0 µs", "630 ms–1.00 s"]);
    }
}
