//! The marks of the curve and the headline.

use model::Plan;
use stats::{CurvePoint, knee, least_peak, peak, saturation_point};

use crate::find_max::{SearchResult, counts};
use crate::{Curve, HeadlineFigure, LoadPointResult, VerdictState};

/// Finds peak, saturation and knee over the valid load points, or over all if none is valid.
pub(crate) fn curve(load_points: &[LoadPointResult]) -> Curve {
    let candidates = |only_valid: bool| -> Vec<(usize, CurvePoint)> {
        let points = load_points.iter().enumerate();
        points
            .filter(|(_, p)| !only_valid || p.verdict.state == VerdictState::Valid)
            .filter_map(curve_point)
            .collect()
    };
    let mut chosen = candidates(true);
    if chosen.is_empty() {
        chosen = candidates(false);
    }
    let points: Vec<CurvePoint> = chosen.iter().map(|(_, point)| *point).collect();
    let place = |mark: Option<CurvePoint>| {
        let mark = mark?;
        chosen.iter().find(|(_, point)| *point == mark).map(|(index, _)| *index)
    };
    Curve {
        peak: place(peak(&points)),
        saturation: place(saturation_point(&points)),
        knee: place(knee(&points)),
    }
}

/// Returns the benchmark's own figure: the highest score of a valid load point, with the response time there; of scores that
/// equal it within their intervals, that at the smallest load. Of a search, only load points at the load that it found
/// count.
pub(crate) fn headline(
    plan: &Plan,
    load_points: &[LoadPointResult],
    found: Option<&SearchResult>,
) -> Option<HeadlineFigure> {
    let valid = load_points
        .iter()
        .enumerate()
        .filter(|(_, point)| point.verdict.state == VerdictState::Valid && counts(plan, found, point));
    let scored: Vec<(usize, CurvePoint)> = valid.filter_map(curve_point).collect();
    let points: Vec<CurvePoint> = scored.iter().map(|(_, point)| *point).collect();
    let best = least_peak(&points)?;
    let (load_point, _) = *scored.iter().find(|(_, point)| *point == best)?;
    Some(HeadlineFigure {
        name: plan.catalog.words.score.clone(),
        value: best.rate,
        load_point,
        response_mean: best.response,
    })
}

/// Returns the point of a load point on the curve; `None` if nothing succeeded there.
fn curve_point((index, point): (usize, &LoadPointResult)) -> Option<(usize, CurvePoint)> {
    let response = point.response.mean?;
    let load = point.load.level();
    let rate = point.score?;
    let interval = point.score_interval;
    Some((index, CurvePoint { load, rate, response, interval }))
}
