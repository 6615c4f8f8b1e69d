//! Bottleneck of each load point, with its evidence.

use analysis::attribute::{Attribution, CAUSES, Cause, Condition, Indicator, IndicatorUnit, Threshold};
use analysis::{LoadPointResult, VerdictState};

use super::changed_limits::changed_limits;
use super::{attributed, hollow_note, is_doubtful, load_axis};
use crate::bottleneck::{bottleneck_name, bottleneck_text};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::load_number;
use crate::{Block, Column, Figure, Report, Row, RowStyle, Section, Table, Text, numbers};

/// Shares that are drawn against the load, each with the number of its color.
const DRAWN: [(Indicator, usize); 5] = [
    (Indicator::ProcessorUse, 1),
    (Indicator::CpuBusy, 0),
    (Indicator::DiskBusy, 2),
    (Indicator::NetworkBusy, 3),
    (Indicator::WorkersBusy, 4),
];

/// The number of load points that fit beside one another in a table.
const INDICATORS_MAX: usize = 10;

pub(super) fn section(report: &Report) -> Option<Section> {
    let said = bottleneck_text(&report.analysis.load_points, &report.analysis.words.user)?;
    let text = Text::from("Bottleneck: ").strong(said).plain(".");
    let mut blocks = vec![Block::Paragraph(text), Block::Table(table(report))];
    blocks.extend(changed_limits(report).map(Block::Table));
    blocks.push(Block::Figure(Box::new(figure(report))));
    let known: Vec<(&LoadPointResult, &Attribution)> = attributed(report).collect();
    let mut tables: Vec<Block> =
        known.chunks(INDICATORS_MAX).map(|some| Block::Table(indicators(report, some))).collect();
    tables.push(Block::Table(rules()));
    blocks.push(Block::bulky_fold("All indicators, rules and thresholds", tables));
    Some(Section { id: "bottleneck", title: "Bottleneck".into(), blocks })
}

fn table(report: &Report) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::words("Bottleneck"),
        Column::words("Evidence"),
        Column::words("Highest utilization"),
    ];
    let row = |(point, attribution): (&LoadPointResult, &Attribution)| {
        let evidence: Vec<String> =
            attribution.evidence.iter().map(|(condition, value)| found_text(condition, *value)).collect();
        let used: Vec<String> =
            attribution.most_used().iter().map(|(indicator, value)| value_text(*indicator, *value)).collect();
        let style =
            if point.verdict.state == VerdictState::Valid { RowStyle::Plain } else { RowStyle::Invalid };
        let name = bottleneck_name(attribution);
        Row::plain([load_number(point.load), name, dash(evidence.join("; ")), dash(used.join(", "))])
            .style(style)
    };
    Table::new("Bottleneck of each load point", columns, attributed(report).map(row).collect()).note(
        "Evidence: indicators with their thresholds in brackets. Probably: concluded from indirect indicators, or from less \
         than 5 s. Highest utilization: the two resources closest to their limit.",
    )
}

/// Returns an indicator with its value and threshold: `disk busy 97 % (at least 90 %)`.
fn found_text(condition: &Condition, value: f64) -> String {
    let Condition { indicator, .. } = *condition;
    match indicator {
        Indicator::ServerUnseen => value_text(indicator, value),
        _ => format!("{} ({})", value_text(indicator, value), threshold_text(condition)),
    }
}

/// Returns an indicator with its value: `disk busy 97 %`.
pub(super) fn value_text(indicator: Indicator, value: f64) -> String {
    match indicator {
        // It has two values, and a number says nothing to a reader.
        Indicator::ServerUnseen => seen_text(value).to_owned(),
        _ => format!("{} {}", indicator_name(indicator), indicator_text(indicator, value)),
    }
}

/// Returns a condition by itself: `disk busy at least 90 %`.
fn condition_text(condition: &Condition) -> String {
    match (condition.indicator, condition.threshold) {
        (Indicator::ServerUnseen, Threshold::AtLeast(_)) => seen_text(1.0).to_owned(),
        (Indicator::ServerUnseen, Threshold::Below(_)) => seen_text(0.0).to_owned(),
        _ => format!("{} {}", indicator_name(condition.indicator), threshold_text(condition)),
    }
}

fn seen_text(value: f64) -> &'static str {
    if value < 1.0 {
        "the server’s processes were found"
    } else {
        "the server’s processes were not found"
    }
}

/// Returns the name of an indicator for readers, where that in exports and records is shorthand.
fn indicator_name(indicator: Indicator) -> &'static str {
    match indicator {
        Indicator::RateOfIdeal => "rate ÷ rate without queueing",
        Indicator::ServiceCounts => "samples of connections to services",
        Indicator::HeldByService => "operations waiting for a service",
        Indicator::ServerUnseen => "server processes not found",
        other => other.name(),
    }
}

fn threshold_text(condition: &Condition) -> String {
    match condition.threshold {
        Threshold::AtLeast(least) => format!("at least {}", indicator_text(condition.indicator, least)),
        Threshold::Below(limit) => format!("below {}", indicator_text(condition.indicator, limit)),
    }
}

/// Writes the value of an indicator with its unit.
fn indicator_text(indicator: Indicator, value: f64) -> String {
    match indicator.unit() {
        IndicatorUnit::Share => numbers::percent(value, 0),
        IndicatorUnit::Factor => format!("{} ×", numbers::figure(value)),
        IndicatorUnit::Count if value.fract() == 0.0 => numbers::fixed(value, 0),
        IndicatorUnit::Count => numbers::figure(value),
        IndicatorUnit::PerSecond => format!("{}/s", numbers::figure(value)),
        IndicatorUnit::PerOperation => numbers::figure(value),
        IndicatorUnit::Bytes => numbers::bytes(value as u64),
    }
}

fn dash(text: String) -> String {
    if text.is_empty() { numbers::ABSENT.to_owned() } else { text }
}

/// Returns the table of rules, in the order in which they are checked.
fn rules() -> Table {
    let columns = vec![
        Column::words("Bottleneck"),
        Column::words("Conditions that must be known and hold"),
        Column::words("Conditions that must hold if known"),
    ];
    let conditions = |all: &[Condition]| dash(all.iter().map(condition_text).collect::<Vec<_>>().join(", "));
    let row = |cause: &Cause| {
        Row::plain([
            cause.bottleneck.name().to_owned(),
            conditions(cause.all),
            conditions(cause.unless_unknown),
        ])
    };
    Table::new("Rules: the first that holds names the bottleneck", columns, CAUSES.iter().map(row).collect())
}

fn figure(report: &Report) -> Figure {
    let caption = format!("Utilization of each resource.{}", hollow_note(report));
    Figure { chart: chart(report), caption: caption.into(), table: shares(report), bulky: false }
}

fn chart(report: &Report) -> Chart {
    let series = |(indicator, style): (Indicator, usize)| {
        let points = report.by_load().into_iter().filter_map(|point| {
            let found = point.attribution.as_ref()?.indicators.get(&indicator)?;
            let drawn = Point::new(point.load.level(), *found);
            Some(Point { hollow: is_doubtful(point), ..drawn })
        });
        DataSeries { name: indicator.name().to_owned(), style, draw: Draw::Points, points: points.collect() }
    };
    Chart {
        id: "use-chart",
        title: format!("Utilization against {}", report.terms().load_noun),
        description: "Utilization of CPUs, disks, network and workers at each load point.".into(),
        x: load_axis(report),
        panels: vec![Panel {
            y: Axis::new("Utilization", Spacing::FromZero, Format::Percent),
            series: DRAWN.into_iter().map(series).filter(|one| !one.points.is_empty()).collect(),
            limit: None,
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

/// Returns the drawn shares, a row per load point.
fn shares(report: &Report) -> Table {
    let drawn: Vec<Indicator> = DRAWN
        .iter()
        .map(|(indicator, _)| *indicator)
        .filter(|indicator| is_known(report, *indicator))
        .collect();
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    columns.extend(drawn.iter().map(|indicator| Column::numbers(indicator_name(*indicator), "%")));
    let row = |(point, attribution): (&LoadPointResult, &Attribution)| {
        let mut cells = vec![load_number(point.load)];
        let of = |indicator: &Indicator| attribution.indicators.get(indicator).map(|share| 100.0 * share);
        cells.extend(drawn.iter().map(|indicator| numbers::fixed(of(indicator), 1)));
        Row::plain(cells)
    };
    Table::new("Utilization of resources", columns, attributed(report).map(row).collect())
}

fn is_known(report: &Report, indicator: Indicator) -> bool {
    attributed(report).any(|(_, attribution)| attribution.indicators.contains_key(&indicator))
}

/// Returns all indicators that are known at any load point, a row each, with a column for each of some load points.
fn indicators(report: &Report, some: &[(&LoadPointResult, &Attribution)]) -> Table {
    let mut columns = vec![Column::words("Indicator")];
    columns.extend(some.iter().map(|(point, _)| Column::numbers(load_number(point.load), "")));
    let row = |indicator: &Indicator| {
        let of = |attribution: &Attribution| {
            attribution
                .indicators
                .get(indicator)
                .map_or(numbers::ABSENT.to_owned(), |value| indicator_text(*indicator, *value))
        };
        let mut cells = vec![indicator_name(*indicator).to_owned()];
        cells.extend(some.iter().map(|(_, attribution)| of(attribution)));
        Row::plain(cells)
    };
    let known = Indicator::ALL.iter().filter(|indicator| is_known(report, **indicator));
    let caption = format!("Indicators of bottlenecks by number of {}", report.terms().load_noun);
    Table::new(caption, columns, known.map(row).collect())
}
