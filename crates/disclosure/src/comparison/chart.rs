//! Chart of the rate and response time of all sides by load.

use analysis::VerdictState;
use analysis::compare::{ComparedLevel, Comparison, Figures};

use super::terms;
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};

pub(super) fn chart(comparison: &Comparison) -> Chart {
    let terms = terms(comparison);
    let panel = |title: &str, format, value: fn(&Figures) -> Option<f64>, ranges: bool| {
        let series = (0..comparison.sides.len()).map(|side| {
            let point = |level: &ComparedLevel| {
                let figures = level.figures.get(side)?;
                let drawn = Point::new(level.load.level(), value(figures)?);
                let range = figures.score_interval.filter(|_| ranges);
                Some(Point { range, hollow: figures.state != VerdictState::Valid, ..drawn })
            };
            DataSeries {
                name: comparison.sides[side].name.clone(),
                style: side,
                draw: Draw::Points,
                points: comparison.levels.iter().filter_map(point).collect(),
            }
        });
        let series = series.filter(|series| !series.points.is_empty()).collect();
        Panel { y: Axis::new(title, Spacing::FromZero, format), series, limit: None }
    };
    let at = comparison.levels.iter().map(|level| level.load.level()).collect();
    Chart {
        id: "comparison-chart",
        title: format!("Rate and response time by {}", terms.load_noun),
        description: format!("The rate in {} and the mean response time of each server.", terms.score),
        x: Axis { at, ..Axis::new(terms.load(), Spacing::FromZero, Format::Plain) },
        panels: vec![
            panel(terms.score_heading, Format::Plain, |figures| Some(figures.score), true),
            panel("Mean response time", Format::Seconds, |figures| figures.response_mean, false),
        ],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}
