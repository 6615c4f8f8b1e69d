//! The bends of a curve of load points by three methods, and whether the methods agree.
//!
//! A bend found by one rule may be noise, or an artifact of which loads were measured. Three rules
//! that look at different things (a level, a fit, a shape) seldom err alike.

use crate::least_squares::{Observation, Problem};
use crate::{CurvePoint, saturation_point};

/// Kneedle's sensitivity: how far the curve must fall behind after the knee, in mean steps of load.
///
/// Source: Satopää et al. 2011, who recommend 1.
const SENSITIVITY: f64 = 1.0;

/// The highest growth of the rate beyond a knee, as a share of its growth before.
const GROWTH_LEFT_MAX: f64 = 0.5;

/// The loads at which a curve bends, by three methods; each `None` where the method sees no bend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knees {
    /// The smallest load with at least 97 % of the highest rate ([`saturation_point`]), if there are greater loads.
    pub saturation: Option<f64>,
    /// The load at which the two best-fitting straight lines meet ([`two_line_knee`]).
    pub two_lines: Option<f64>,
    /// The load at which the curve is farthest above its chord ([`kneedle`]).
    pub kneedle: Option<f64>,
    /// Whether the methods agree.
    pub agreement: Agreement,
}

/// The agreement of several methods about the load of a knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// At least two found a knee, all at the same load point or at two that are neighbors.
    Agree,
    /// At least two found a knee, farther apart.
    Differ,
    /// Fewer than two methods found a knee.
    Undecided,
}

/// Returns the knees of a curve. Points in any order, one per load; those that are not numbers are skipped.
pub fn knees(points: &[CurvePoint]) -> Knees {
    let points = in_order(points);
    let load = |point: Option<CurvePoint>| point.map(|point| point.load);
    let saturation =
        load(saturation_point(&points)).filter(|load| points.iter().any(|point| *load < point.load));
    let (two_lines, kneedle) = (load(two_line_knee(&points)), load(kneedle(&points)));
    let found: Vec<f64> = [saturation, two_lines, kneedle].into_iter().flatten().collect();
    Knees { saturation, two_lines, kneedle, agreement: agreement(&points, &found) }
}

fn agreement(points: &[CurvePoint], found: &[f64]) -> Agreement {
    let least = found.iter().copied().fold(f64::INFINITY, f64::min);
    let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let steps = points.iter().filter(|point| least < point.load && point.load <= most).count();
    match (found.len(), steps) {
        (0 | 1, _) => Agreement::Undecided,
        (_, 0 | 1) => Agreement::Agree,
        _ => Agreement::Differ,
    }
}

/// Returns the load point at which two straight lines meet that fit the rates best, the second at most half as steep.
///
/// For each load k but the first and the last, least squares of a + b·load + c·max(0, load − k); the
/// k with the smallest sum of squares, of equals the smallest. Points in any order, one per load.
/// `None` with fewer than four points, or unless 0 < b and b + c ≤ b/2: then the curve does not bend down.
///
/// Source: segmented regression with the break at a load point (Draper and Smith, Applied
/// Regression Analysis, 3rd edition, section 14.4).
pub fn two_line_knee(points: &[CurvePoint]) -> Option<CurvePoint> {
    let points = in_order(points);
    let (loads, rates) = scaled_axes(&points)?;
    let observations: Vec<Observation> =
        loads.iter().zip(rates).map(|(load, rate)| Observation { x: *load, y: rate, weight: 1.0 }).collect();
    let inner = if points.len() < 4 { 0..0 } else { 1..points.len() - 1 };
    let fits = inner.filter_map(|knee| Some((points[knee], two_lines(&observations, loads[knee])?)));
    let (knee, [before, change, _]) = fits.min_by(|one, other| one.1[2].total_cmp(&other.1[2]))?;
    let bends = 0.0 < before && before + change <= GROWTH_LEFT_MAX * before;
    bends.then_some(knee)
}

/// Fits two lines that meet at `knee`: slope before, its change there, sum of squares.
fn two_lines(observations: &[Observation], knee: f64) -> Option<[f64; 3]> {
    let model = |load: f64, lines: &[f64; 3]| {
        let terms = [1.0, load, (load - knee).max(0.0)];
        (lines.iter().zip(terms).map(|(a, b)| a * b).sum(), terms)
    };
    let bounds = [(f64::NEG_INFINITY, f64::INFINITY); 3];
    let found = Problem { observations, model: &model, bounds }.minimize([0.0; 3])?;
    Some([found.parameters[1], found.parameters[2], found.sum_squares])
}

/// Returns the load point at which the curve is farthest above the straight line through its ends, by Kneedle.
///
/// Loads and rates are scaled to 0 to 1; d = rate − load. A local maximum d_k is a knee if, before
/// the next local maximum, d falls below d_k − S·(mean step of the scaled load), S = 1. Of several knees
/// that with the greatest d. Points in any order, one per load. `None` with fewer than three points
/// or without such a knee.
///
/// Source: Satopää, Albrecht, Irwin and Raghavan 2011, Finding a "Kneedle" in a Haystack.
pub fn kneedle(points: &[CurvePoint]) -> Option<CurvePoint> {
    let points = in_order(points);
    let above = differences(&points)?;
    let step = 1.0 / (points.len() - 1) as f64;
    let peaks: Vec<usize> =
        (1..above.len() - 1).filter(|k| above[k - 1] < above[*k] && above[k + 1] <= above[*k]).collect();
    let ends = peaks.iter().skip(1).copied().chain([above.len()]);
    let is_knee = |(peak, end): &(&usize, usize)| {
        above[**peak..*end].iter().any(|difference| *difference < above[**peak] - SENSITIVITY * step)
    };
    let knees = peaks.iter().zip(ends).filter(is_knee).map(|(peak, _)| *peak);
    knees
        .max_by(|one, other| above[*one].total_cmp(&above[*other]).then(other.cmp(one)))
        .map(|knee| points[knee])
}

/// Returns d = scaled rate − scaled load of each point. `None` with fewer than three points or if loads or rates are
/// all equal.
fn differences(points: &[CurvePoint]) -> Option<Vec<f64>> {
    let (loads, rates) = scaled_axes(points)?;
    (3 <= points.len()).then(|| rates.iter().zip(loads).map(|(rate, load)| rate - load).collect())
}

/// Returns loads and rates, each scaled to 0 to 1. `None` if the loads or the rates are all equal.
fn scaled_axes(points: &[CurvePoint]) -> Option<(Vec<f64>, Vec<f64>)> {
    let loads = scaled(points.iter().map(|point| point.load).collect())?;
    let rates = scaled(points.iter().map(|point| point.rate).collect())?;
    Some((loads, rates))
}

/// Scales values so that the smallest is 0 and the largest 1. `None` if there are none or all are equal.
fn scaled(values: Vec<f64>) -> Option<Vec<f64>> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least < most).then(|| values.iter().map(|value| (value - least) / (most - least)).collect())
}

/// Returns the points that are numbers, in the order of their loads.
fn in_order(points: &[CurvePoint]) -> Vec<CurvePoint> {
    let finite = |point: &&CurvePoint| point.load.is_finite() && point.rate.is_finite();
    let mut points: Vec<CurvePoint> = points.iter().filter(finite).copied().collect();
    points.sort_by(|one, other| one.load.total_cmp(&other.load));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<CurvePoint> {
        let point = |(load, rate)| CurvePoint { load, rate, response: 1.0, interval: None };
        points.into_iter().map(point).collect()
    }

    #[track_caller]
    fn check(points: &[CurvePoint], expected: [Option<f64>; 3], agreement: Agreement) {
        let found = knees(points);
        assert_eq!([found.saturation, found.two_lines, found.kneedle], expected, "{points:?}");
        assert_eq!(found.agreement, agreement);
        let reversed: Vec<CurvePoint> = points.iter().rev().copied().collect();
        assert_eq!(knees(&reversed), found);
    }

    /// Clients 1, 4, 8, …, 60 of the application-server specification: 60, 240, 480, then 620 up to 40
    /// clients, then 604, 588, 572, 556, 540.
    fn application_server() -> Vec<CurvePoint> {
        let plateau = std::iter::repeat_n(620.0, 8);
        let rates =
            [60.0, 240.0, 480.0].into_iter().chain(plateau).chain([604.0, 588.0, 572.0, 556.0, 540.0]);
        let clients = [1.0].into_iter().chain((1..=15).map(|step| 4.0 * f64::from(step)));
        curve(clients.zip(rates))
    }

    /// Golden check: all three give 12.
    #[test]
    fn all_methods_find_the_knee_of_a_plateau() {
        let points = application_server();
        assert_eq!((points.len(), points[15].load, points[15].rate), (16, 60.0, 540.0));
        check(&points, [Some(12.0); 3], Agreement::Agree);
    }

    /// Golden check: y = −1 ÷ (x + 0.1) + 5 at ten points from 0 to 1: the knee is at 0.2222.
    #[test]
    fn kneedle_finds_the_knee_of_its_authors() {
        let points = curve((0..10).map(|k| f64::from(k) / 9.0).map(|x| (x, -1.0 / (x + 0.1) + 5.0)));
        let found = differences(&points).unwrap();
        for (found, expected) in found.iter().zip([0.0, 0.4678, 0.5364, 0.5128]) {
            assert!((found - expected).abs() < 5e-5, "{found} for {expected}");
        }
        assert_eq!(kneedle(&points).unwrap().load, 2.0 / 9.0);
    }

    /// By hand: 10 per load up to 40, then 2 per load: both lines are exact, and meet at 4.
    #[test]
    fn two_lines_meet_at_the_bend() {
        let points = curve(
            (0..10).map(f64::from).map(|load| (load, 10.0 * load.min(4.0) + 2.0 * (load - 4.0).max(0.0))),
        );
        assert_eq!(two_line_knee(&points).unwrap().load, 4.0);
        // Steeper after the bend, or not half as flat: no knee.
        for after in [20.0, 6.0] {
            let points = curve(
                (0..10)
                    .map(f64::from)
                    .map(|load| (load, 10.0 * load + (after - 10.0) * (load - 4.0).max(0.0))),
            );
            assert_eq!(two_line_knee(&points), None, "{after}");
        }
    }

    /// A rate that only grows: no method may find a knee, also with noise of 1 %.
    #[test]
    fn a_straight_rise_has_no_knee() {
        check(
            &curve((1..=8).map(|load| (f64::from(load), 10.0 * f64::from(load)))),
            [None; 3],
            Agreement::Undecided,
        );
        let noise = [1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 0.99, 1.01];
        let noisy =
            curve((1..=8).zip(noise).map(|(load, noise)| (f64::from(load), 10.0 * f64::from(load) * noise)));
        check(&noisy, [None; 3], Agreement::Undecided);
    }

    /// By hand: 97 % of 1,000 is 970, at 90 first; lines and shape see the bend at 20, six steps before.
    #[test]
    fn a_slow_approach_makes_the_methods_differ() {
        let rates = [400.0, 800.0, 830.0, 860.0, 890.0, 920.0, 945.0, 965.0, 985.0, 1_000.0];
        let points = curve((1..).map(|k| 10.0 * f64::from(k)).zip(rates));
        check(&points, [Some(90.0), Some(20.0), Some(20.0)], Agreement::Differ);
    }

    #[test]
    fn curves_without_shape_have_no_knees() {
        for points in [
            curve([]),
            curve([(1.0, 5.0)]),
            curve([(1.0, f64::NAN), (2.0, 1.0), (f64::INFINITY, 2.0)]),
            curve([(1.0, 9.0), (1.0, 9.0), (1.0, 9.0), (1.0, 9.0), (1.0, 9.0)]),
        ] {
            check(&points, [None; 3], Agreement::Undecided);
        }
        // All equal: saturated at the first load, and nothing to see for the others.
        check(
            &curve((1..=5).map(|load| (f64::from(load), 9.0))),
            [Some(1.0), None, None],
            Agreement::Undecided,
        );
    }
}
