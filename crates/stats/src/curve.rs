//! The curve of load points: its peak, where it saturates, and its knee.

/// The share of the highest rate that counts as saturated.
const SATURATED: f64 = 0.97;

/// The share of the highest rate below which a rate is not equal to it, however wide the intervals. A house rule: intervals of
/// short phases tell nothing apart.
const EQUAL_MIN: f64 = 0.8;

/// The result of one load point: its load, rate and response time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The offered load, in the unit of its load plan: users, or operations/s.
    pub load: f64,
    /// The achieved rate, in operations/s.
    pub rate: f64,
    /// The mean response time, in s.
    pub response: f64,
    /// A confidence interval for the rate; `None` if there is none.
    pub interval: Option<(f64, f64)>,
}

impl CurvePoint {
    /// Returns whether its rate equals that of the peak: it is the same, or both have intervals that overlap and it is not far
    /// below.
    pub fn equals_peak(&self, peak: &CurvePoint) -> bool {
        let overlaps =
            |(low, high): (f64, f64)| peak.interval.is_some_and(|(from, to)| low <= to && from <= high);
        self.rate == peak.rate || EQUAL_MIN * peak.rate <= self.rate && self.interval.is_some_and(overlaps)
    }
}

/// Returns the point with the highest rate; of equals that with the smallest load.
///
/// Points in any order; those with a rate that is not a number are passed over. `None` if none is left.
pub fn peak(points: &[CurvePoint]) -> Option<CurvePoint> {
    best(points, |point| point.rate)
}

/// Returns the point with the smallest load that has at least 97 % of the highest rate, or a rate that equals it.
///
/// Beyond it more load brings no more rate. Points in any order; `None` if there are none.
pub fn saturation_point(points: &[CurvePoint]) -> Option<CurvePoint> {
    let peak = peak(points)?;
    let is_saturated = |point: &CurvePoint| SATURATED * peak.rate <= point.rate || point.equals_peak(&peak);
    least_load(points, is_saturated)
}

/// Returns the point with the smallest load whose rate equals the highest ([`CurvePoint::equals_peak`]); of several at that load
/// that with the highest rate. Points in any order; `None` if there are none.
pub fn least_peak(points: &[CurvePoint]) -> Option<CurvePoint> {
    let peak = peak(points)?;
    least_load(points, |point| point.equals_peak(&peak))
}

fn least_load(points: &[CurvePoint], is_meant: impl Fn(&CurvePoint) -> bool) -> Option<CurvePoint> {
    let meant = points.iter().filter(|point| is_meant(point));
    let by_load = |one: &&CurvePoint, other: &&CurvePoint| one.load.total_cmp(&other.load);
    meant.min_by(|one, other| by_load(one, other).then(other.rate.total_cmp(&one.rate))).copied()
}

/// Returns the point with the greatest rate ÷ response time; of equals that with the smallest load.
///
/// Points in any order; those without a response time above zero are passed over. `None` if none is left.
///
/// Source: the power of a queueing system, rate ÷ response time (Kleinrock 1979, Power and
/// Deterministic Rules of Thumb); for M/M/1 it is greatest at half the capacity.
pub fn knee(points: &[CurvePoint]) -> Option<CurvePoint> {
    best(points, |point| if 0.0 < point.response { point.rate / point.response } else { f64::NAN })
}

/// Returns the point for which `figure` is greatest; of equals that with the smallest load.
fn best(points: &[CurvePoint], figure: impl Fn(&CurvePoint) -> f64) -> Option<CurvePoint> {
    points
        .iter()
        .filter(|point| !figure(point).is_nan())
        .max_by(|one, other| figure(one).total_cmp(&figure(other)).then(other.load.total_cmp(&one.load)))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(points: &[CurvePoint]) -> [Option<f64>; 3] {
        [peak(points), saturation_point(points), knee(points)].map(|point| point.map(|point| point.load))
    }

    /// By hand: 97 % of 1,000 is 970, first reached at load 30. Rate ÷ response: 400 ÷ 0.02 = 20,000;
    /// 780 ÷ 0.025 = 31,200; 975 ÷ 0.05 = 19,500; 1,000 ÷ 0.1 = 10,000; 990 ÷ 0.2 = 4,950.
    #[test]
    fn peak_saturation_and_knee_by_hand() {
        let mut points = [
            (10.0, 400.0, 0.02),
            (20.0, 780.0, 0.025),
            (30.0, 975.0, 0.05),
            (40.0, 1_000.0, 0.1),
            (50.0, 990.0, 0.2),
        ]
        .map(|(load, rate, response)| CurvePoint { load, rate, response, interval: None });
        assert_eq!(loads(&points), [Some(40.0), Some(30.0), Some(20.0)]);
        points.reverse();
        assert_eq!(loads(&points), [Some(40.0), Some(30.0), Some(20.0)]);
    }

    /// Golden check of the application-server specification: clients 1, 4, 8, …, 60; 60, 240, 480, then 620 up to
    /// 40 clients, then 604, 588, 572, 556, 540: saturated at 12.
    #[test]
    fn a_plateau_saturates_where_it_begins() {
        let load = |step: u32| if step == 0 { 1.0 } else { 4.0 * f64::from(step) };
        let rate = |step| match step {
            0 => 60.0,
            1 => 240.0,
            2 => 480.0,
            3..=10 => 620.0,
            _ => 620.0 - 16.0 * f64::from(step - 10),
        };
        let points: Vec<CurvePoint> = (0..=15)
            .map(|step| CurvePoint {
                load: load(step),
                rate: rate(step),
                response: load(step) / rate(step),
                interval: None,
            })
            .collect();
        assert_eq!(points[15].rate, 540.0);
        assert_eq!(loads(&points)[..2], [Some(12.0), Some(12.0)]);
    }

    /// M/M/1 with capacity 1,000/s: rate ÷ response = λ(1,000 − λ), greatest at 500; 97 % of 950 is 921.5.
    #[test]
    fn the_knee_of_a_single_queue_is_at_half_its_capacity() {
        let points: Vec<CurvePoint> = (1..=19)
            .map(|k| 50.0 * f64::from(k))
            .map(|load| CurvePoint { load, rate: load, response: 1.0 / (1_000.0 - load), interval: None })
            .collect();
        assert_eq!(loads(&points), [Some(950.0), Some(950.0), Some(500.0)]);
    }

    /// The reported cases: gunicorn had 90.30/s at 10 clients and 90.90/s at 100; http.server 1900/s and 2142/s at 10 and 50,
    /// with intervals that overlap. A rate of half the highest is lower, whatever its interval.
    #[test]
    fn rates_with_overlapping_intervals_are_equal() {
        let curve = |points: &[(f64, f64, f64)]| {
            let point = |(load, rate, half): &(f64, f64, f64)| CurvePoint {
                load: *load,
                rate: *rate,
                response: load / rate,
                interval: (0.0 < *half).then_some((rate - half, rate + half)),
            };
            let points: Vec<CurvePoint> = points.iter().map(point).collect();
            [peak(&points), saturation_point(&points), least_peak(&points)].map(|point| point.unwrap().load)
        };
        assert_eq!(curve(&[(1.0, 45.0, 1.0), (10.0, 90.3, 0.9), (100.0, 90.9, 0.8)]), [100.0, 10.0, 10.0]);
        assert_eq!(
            curve(&[(1.0, 900.0, 80.0), (10.0, 1900.0, 150.0), (50.0, 2142.0, 140.0)]),
            [50.0, 10.0, 10.0]
        );
        // Apart, within 3 %: saturated, but not equal.
        assert_eq!(curve(&[(10.0, 98.0, 0.5), (20.0, 100.0, 0.5)]), [20.0, 10.0, 20.0]);
        assert_eq!(curve(&[(10.0, 50.0, 60.0), (20.0, 100.0, 60.0)]), [20.0, 20.0, 20.0]);
        // Without intervals only the same rate is equal.
        assert_eq!(curve(&[(10.0, 99.0, 0.0), (20.0, 100.0, 0.0), (30.0, 100.0, 0.0)]), [20.0, 10.0, 20.0]);
    }

    #[test]
    fn equal_points_give_the_smallest_load_and_none_give_none() {
        let point = |load, response| CurvePoint { load, rate: 5.0, response, interval: None };
        assert_eq!(loads(&[point(2.0, 1.0), point(1.0, 1.0), point(3.0, 1.0)]), [Some(1.0); 3]);
        assert_eq!(loads(&[]), [None; 3]);
        assert_eq!(loads(&[point(4.0, 0.0)]), [Some(4.0), Some(4.0), None]);
        assert_eq!(loads(&[CurvePoint { rate: f64::NAN, ..point(1.0, 1.0) }]), [None; 3]);
    }
}
