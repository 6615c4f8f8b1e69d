//! CPU scaling of servers: table, curve and fitted laws.

use analysis::scaling::{BUSY_MIN, CpuGroup, Scaling};
use stats::{Estimate, FitError, FitQuality, Prediction};

use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::{Terms, load_number};
use crate::{Block, Cell, Column, Figure, NoteKind, Row, RowStyle, Section, Table, numbers};

/// Number of points of a drawn curve.
const CURVE_POINTS: u32 = 60;

/// Returns the section; `None` if no server was run with different numbers of CPUs.
pub(crate) fn section(scalings: &[Scaling], terms: Terms) -> Option<Section> {
    if scalings.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Figure(Box::new(Figure {
        chart: chart(scalings, terms),
        caption: "Markers: highest valid rate per number of CPUs, the median of its repetitions. Hollow: the CPUs were not \
                  saturated, or shared with the load generator, so the rate says little about scaling. Lines: the fitted universal scalability law."
            .into(),
        table: table(scalings, terms),
        bulky: false,
    }))];
    blocks.push(Block::Table(laws(scalings, terms)));
    blocks.extend(scalings.iter().flat_map(|scaling| [not_full(scaling), shared(scaling)]).flatten());
    Some(Section { id: "scaling", title: "Scaling with CPUs".into(), blocks })
}

/// Returns a note about the repetitions that other resources than the CPUs limited.
fn not_full(scaling: &Scaling) -> Option<Block> {
    let other = scaling.groups.iter().filter(|group| group.generator.is_none() && !group.is_bound_by_cpus());
    let sizes: Vec<String> = other.map(limited).collect();
    (!sizes.is_empty()).then(|| {
        let text = format!(
            "{}: the speed-up is not a scaling factor where the CPUs were less than {} busy at the peak: {}.",
            scaling.server,
            numbers::percent(BUSY_MIN, 0),
            sizes.join(", ")
        );
        Block::Note(NoteKind::Warning, text.into())
    })
}

/// Returns a note about the passes in which the load generator used CPUs of the server.
fn shared(scaling: &Scaling) -> Option<Block> {
    let shared = |group: &CpuGroup| {
        let generator = group.generator?;
        Some(format!("{} CPUs (of which the generator used {generator:.2})", group.cpus))
    };
    let sizes: Vec<String> = scaling.groups.iter().filter_map(shared).collect();
    (!sizes.is_empty()).then(|| {
        let text = format!(
            "{}: the speed-up is a ratio of rates, not a scaling factor, where server and load generator shared the CPUs, and \
             no law is fitted to it: {}.",
            scaling.server,
            sizes.join(", ")
        );
        Block::Note(NoteKind::Warning, text.into())
    })
}

fn limited(group: &CpuGroup) -> String {
    let by =
        group.bottleneck.map_or(String::new(), |bottleneck| format!(", limited by {}", bottleneck.name()));
    format!("{} CPUs ({} busy{by})", group.cpus, numbers::percent(group.busy, 0))
}

fn table(scalings: &[Scaling], terms: Terms) -> Table {
    let columns = vec![
        Column::words("Server"),
        Column::numbers("CPUs", ""),
        Column::numbers(terms.score_heading, ""),
        Column::numbers("Repetitions", ""),
        Column::numbers("At load", ""),
        Column::numbers("CPUs busy", "%"),
        Column::numbers("Speed-up", ""),
        Column::numbers("Efficiency", ""),
        Column::numbers("Serial fraction", ""),
    ];
    let rows =
        scalings.iter().flat_map(|scaling| scaling.groups.iter().map(|group| row(&scaling.server, group)));
    Table::new("Highest valid rate per number of CPUs", columns, rows.collect()).note(
        "Speed-up: rate ÷ rate on one CPU. Efficiency: speed-up ÷ CPUs. Serial fraction: Karp–Flatt metric, the fraction of \
         the work that is not parallelized.",
    )
}

fn row(server: &str, group: &CpuGroup) -> Row {
    let speed_up = group.speed_up.as_ref();
    let range = match (group.scores.first(), group.scores.last()) {
        (Some(low), Some(high)) if 1 < group.scores.len() => numbers::figure_interval(Some((*low, *high))),
        _ => String::new(),
    };
    let cells: Vec<Cell> = vec![
        server.into(),
        group.cpus.to_string().into(),
        Cell::with(numbers::figure(group.score), range),
        group.scores.len().to_string().into(),
        load_number(group.load).into(),
        numbers::fixed(group.busy.map(|busy| 100.0 * busy), 1).into(),
        numbers::fixed(speed_up.map(|one| one.speed_up), 3).into(),
        numbers::fixed(speed_up.map(|one| one.efficiency.0), 3).into(),
        numbers::fixed(speed_up.and_then(|one| one.serial_share), 4).into(),
    ];
    Row { cells, style: if group.is_bound_by_cpus() { RowStyle::Plain } else { RowStyle::Invalid } }
}

/// Returns the table of the fitted laws, with one row per server and law.
fn laws(scalings: &[Scaling], terms: Terms) -> Table {
    let columns = vec![
        Column::words("Server"),
        Column::words("Law"),
        Column::numbers("λ", if terms.is_operation_rate { "/s" } else { "" }),
        Column::numbers("σ", ""),
        Column::numbers("κ", ""),
        Column::numbers("Peak or limit", ""),
        Column::numbers("R²", ""),
        Column::words("Remark"),
    ];
    let rows = scalings.iter().flat_map(|scaling| [amdahl(scaling, terms), usl(scaling, terms)]);
    Table::new("Scalability laws fitted to the highest rates", columns, rows.collect()).note(
        "X(p) = λp ÷ (1 + σ(p − 1) + κp(p − 1)). Amdahl's law has κ = 0 and the limit λ ÷ σ; the universal scalability law \
         (USL) has its peak at √((1 − σ) ÷ κ) CPUs. In parentheses: 95 % confidence intervals.",
    )
}

fn amdahl(scaling: &Scaling, terms: Terms) -> Row {
    match &scaling.amdahl {
        Err(error) => unfitted(scaling, "Amdahl", error),
        Ok(law) => {
            let limit = law.limit().map_or("none".to_owned(), |limit| {
                format!("{} at most", terms.short_score_text(Some(limit)))
            });
            let kappa = numbers::ABSENT.to_owned().into();
            fitted(
                scaling,
                "Amdahl",
                [estimate(&law.lambda, 2), estimate(&law.sigma, 5), kappa],
                limit,
                &law.quality,
            )
        }
    }
}

fn usl(scaling: &Scaling, terms: Terms) -> Row {
    match &scaling.usl {
        Err(error) => unfitted(scaling, "USL", error),
        Ok(law) => {
            let cells = [estimate(&law.lambda, 2), estimate(&law.sigma, 5), estimate(&law.kappa, 7)];
            fitted(
                scaling,
                "USL",
                cells,
                law.peak().map_or("none".to_owned(), |peak| peak_text(terms, &peak)),
                &law.quality,
            )
        }
    }
}

fn peak_text(terms: Terms, peak: &Prediction) -> String {
    let mark = if peak.extrapolated { ", extrapolated far beyond the measured range" } else { "" };
    let score = terms.short_score_text(Some(peak.rate));
    format!("{score} at {} CPUs{mark}", numbers::fixed(peak.size, 1))
}

fn fitted(
    scaling: &Scaling,
    law: &str,
    [lambda, sigma, kappa]: [Cell; 3],
    peak: String,
    quality: &FitQuality,
) -> Row {
    let remark = if quality.few_points { "few data points: the fit adds little to the ratios" } else { "" };
    let cells: Vec<Cell> = vec![
        scaling.server.clone().into(),
        law.into(),
        lambda,
        sigma,
        kappa,
        peak.into(),
        numbers::fixed(quality.r_squared, 5).into(),
        remark.into(),
    ];
    Row { cells, style: RowStyle::Plain }
}

fn unfitted(scaling: &Scaling, law: &str, error: &FitError) -> Row {
    let absent = || numbers::ABSENT.to_owned();
    let mut cells = vec![scaling.server.clone(), law.to_owned()];
    cells.extend(std::iter::repeat_with(absent).take(5));
    cells.push(error.to_string());
    Row::plain(cells)
}

fn estimate(estimate: &Estimate, decimals: usize) -> Cell {
    let range = numbers::range(Some((estimate.low, estimate.high)), decimals);
    Cell::with(numbers::fixed(estimate.value, decimals), range)
}

fn chart(scalings: &[Scaling], terms: Terms) -> Chart {
    let mut series = Vec::new();
    for (style, scaling) in scalings.iter().enumerate() {
        let point = |group: &CpuGroup| {
            let range = group.scores.first().copied().zip(group.scores.last().copied());
            let drawn = Point::new(group.cpus as f64, group.score);
            Point {
                range: range.filter(|(low, high)| low < high),
                hollow: !group.is_bound_by_cpus(),
                ..drawn
            }
        };
        let points = scaling.groups.iter().map(point).collect();
        series.push(DataSeries { name: scaling.server.clone(), style, draw: Draw::Points, points });
    }
    for (style, scaling) in scalings.iter().enumerate() {
        if let Some(points) = curve(scaling) {
            let name = format!("{}, USL", scaling.server);
            series.push(DataSeries { name, style: scalings.len() + style, draw: Draw::Line, points });
        }
    }
    let mut at: Vec<f64> =
        scalings.iter().flat_map(|one| &one.groups).map(|group| group.cpus as f64).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    Chart {
        id: "scaling-chart",
        title: "Highest rate by number of CPUs".into(),
        description: "The highest valid rate of each server for each number of CPUs.".into(),
        x: Axis { at, ..Axis::new("CPUs", Spacing::FromZero, Format::Plain) },
        panels: vec![Panel {
            y: Axis::new(terms.score_heading, Spacing::FromZero, Format::Plain),
            series,
            limit: None,
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

/// Returns the fitted law from one CPU to the largest number of CPUs; `None` if none was fitted.
fn curve(scaling: &Scaling) -> Option<Vec<Point>> {
    let law = scaling.usl.as_ref().ok()?;
    let largest = scaling.groups.last()?.cpus as f64;
    let size = |step: u32| 1.0 + (largest - 1.0) * f64::from(step) / f64::from(CURVE_POINTS);
    Some((0..=CURVE_POINTS).map(|step| Point::new(size(step), law.at(size(step)).rate)).collect())
}

/// Returns a sentence about the speed-up with more CPUs, for a terminal.
pub fn scaling_text(scaling: &Scaling) -> Option<String> {
    let last = scaling.groups.last()?;
    let speed_up = last.speed_up.as_ref()?;
    let caveat = match last.generator {
        Some(generator) => {
            format!("; this is not scaling, because the load generator used {generator:.2} of them")
        }
        None if last.is_bound_by_cpus() => String::new(),
        None => "; its CPUs were not saturated".to_owned(),
    };
    Some(format!(
        "{}: {} CPUs handle {} × the rate of one CPU (efficiency {}){caveat}",
        scaling.server,
        last.cpus,
        numbers::fixed(speed_up.speed_up, 2),
        numbers::percent(speed_up.efficiency.0, 0)
    ))
}
