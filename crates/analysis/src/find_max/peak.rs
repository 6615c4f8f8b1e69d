//! The search for the greatest throughput: growth until it stops, then only where the curve can still be higher.
//!
//! | observed so far | next |
//! |---|---|
//! | only passes, throughput rose by more than half the tolerance with the last doubling | twice the greatest |
//! | between two neighbours the curve can be higher than the best by more than the tolerance | the middle of where it can be highest |
//! | nowhere | done |
//!
//! How high it can be: the throughput of a closed loop is a concave function of its users that begins at the
//! origin, so between two levels it lies below the line through the two to their left, and below the line
//! through the two to their right. (Dowdy, Eager, Gordon, Saxton 1984, Throughput Concavity and Response Time
//! Convexity: for networks with a product form. A server that thrashes is concave around its peak.)

use super::history::Level;
use super::{FindMax, SearchEnd, SearchStep};

/// Growth of the level: small enough that the peak is not far from three neighbors.
const GROWTH: f64 = 2.0;

/// The least ratio of two levels between which a rise is told from noise.
const WELL_BELOW: f64 = 1.4;

/// A level and its throughput.
type Point = (f64, f64);

/// Returns the next step after the highest pass and the lowest fail, if there is one.
pub(super) fn next(search: &FindMax, pass: &Level, fail: Option<&Level>) -> SearchStep {
    if fail.is_none() && pass.level < search.range.most && rises(search) {
        return SearchStep::Run(search.grown(pass.level, GROWTH));
    }
    let passes = search.history.passes();
    match hidden(search, passes, fail) {
        Some(level) => SearchStep::Run(level),
        None => finish(search, passes, fail),
    }
}

/// Returns whether throughput still rises at the greatest level that passes: over that from well below it.
fn rises(search: &FindMax) -> bool {
    let Some((last, others)) = search.history.passes().split_last() else { return true };
    let before = others.iter().rfind(|level| level.level * WELL_BELOW <= last.level).or(others.first());
    before.is_none_or(|level| level.throughput() * (1.0 + search.tolerance / 2.0) < last.throughput())
}

/// Returns the middle of the gap in which the curve can be highest, if it can be higher than the best found.
fn hidden(search: &FindMax, passes: &[Level], fail: Option<&Level>) -> Option<f64> {
    let best = greatest(passes);
    let mut points: Vec<Point> = vec![(0.0, 0.0)];
    points.extend(passes.iter().map(|level| (level.level, level.throughput())));
    let gaps = (1..points.len()).filter_map(|at| {
        let low = points[at].0;
        let high = points.get(at + 1).map(|point| point.0).or(fail.map(|fail| fail.level))?;
        let bound = bound(&points, at, high);
        let is_open = best * (1.0 + search.tolerance) < bound && !search.is_settled(low, high);
        is_open.then_some((bound, low, high))
    });
    let (_, low, high) = gaps.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let middle = (low * high).sqrt();
    search.between(low, high, middle)
}

/// Returns how high a concave curve can be from point `at` to level `high`.
fn bound(points: &[Point], at: usize, high: f64) -> f64 {
    let left = line(points[at - 1], points[at]);
    let low = points[at].0;
    let Some(right) = points.get(at + 1).zip(points.get(at + 2)).map(|(one, two)| line(*one, *two)) else {
        return left(low).max(left(high));
    };
    let least = |x: f64| left(x).min(right(x));
    // The lines differ by a linear function: where that is zero, they cross.
    let gap_low = left(low) - right(low);
    let gap_high = left(high) - right(high);
    let crossing = low + (high - low) * gap_low / (gap_low - gap_high);
    let ends = least(low).max(least(high));
    if low < crossing && crossing < high { ends.max(least(crossing)) } else { ends }
}

fn line(one: Point, two: Point) -> impl Fn(f64) -> f64 {
    let slope = (two.1 - one.1) / (two.0 - one.0);
    move |x| one.1 + slope * (x - one.0)
}

fn finish(search: &FindMax, passes: &[Level], fail: Option<&Level>) -> SearchStep {
    let enough = greatest(passes) * (1.0 - search.tolerance / 2.0);
    let chosen = passes.iter().find(|level| enough <= level.throughput());
    // Only where the curve still rises does its end matter; a rise below the best level is noise.
    let is_last = chosen.map(|level| level.level) == passes.last().map(|level| level.level);
    let still_rises = is_last && rises(search);
    let fail = fail.filter(|_| still_rises);
    match fail {
        Some(fail) if search.history.is_doubtful(fail) => SearchStep::Run(fail.level),
        Some(fail) => search.done(chosen.map(Level::maximum), fail.end()),
        None if still_rises => search.done(chosen.map(Level::maximum), SearchEnd::Range),
        None => search.done(chosen.map(Level::maximum), SearchEnd::Server),
    }
}

fn greatest(passes: &[Level]) -> f64 {
    passes.iter().map(Level::throughput).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Rng, StreamPurpose};

    use crate::find_max::script::{clear, play, search};
    use crate::find_max::{JudgedPoint, LevelKind, SearchEnd, SearchGoal, SearchResult};

    fn peak(least: f64, most: f64, server: impl FnMut(f64, usize) -> JudgedPoint) -> (String, SearchResult) {
        play(search(least, most, LevelKind::Users, SearchGoal::PeakThroughput), server)
    }

    fn level(found: &SearchResult) -> Option<f64> {
        found.max.map(|max| max.level)
    }

    /// 10/s per user, at most 80/s: nothing can hide between 4 and 8, where the curve is known to be straight.
    #[test]
    fn a_plateau_is_found_where_it_begins() {
        let (asked, found) = peak(1.0, 1000.0, |users, _| clear(true, 10.0 * users.min(8.0)));
        assert_eq!(asked, "1+ 2+ 4+ 8+ 16+ 11+");
        assert_eq!((level(&found), found.end), (Some(8.0), SearchEnd::Server));
    }

    /// 50 users carry most; more than that fall back.
    #[test]
    fn a_peak_between_the_steps_of_the_growth_is_found() {
        let curve = |users: f64| users.min(100.0 - users).max(0.5);
        let (asked, found) = peak(1.0, 1000.0, |users, _| clear(true, curve(users)));
        assert_eq!(asked, "1+ 2+ 4+ 8+ 16+ 32+ 64+ 128+ 45+ 54+ 49+ 51+ 50+");
        assert!(49.0 <= curve(level(&found).unwrap()));
        assert_eq!(found.end, SearchEnd::Server);
    }

    #[test]
    fn throughput_that_grows_to_the_end_is_at_least() {
        let (asked, found) = peak(1.0, 100.0, |users, _| clear(true, users));
        assert_eq!(asked, "1+ 2+ 4+ 8+ 16+ 32+ 64+ 100+");
        assert_eq!((level(&found), found.end), (Some(100.0), SearchEnd::Range));
    }

    /// Throughput grows, but from 30 users on there are errors.
    #[test]
    fn a_peak_ends_where_load_points_fail() {
        let (asked, found) = peak(1.0, 100.0, |users, _| clear(users < 30.0, users));
        assert_eq!(asked, "1+ 2+ 4+ 8+ 16+ 32- 23+ 27+ 29+ 30-");
        assert_eq!((level(&found), found.end, found.fails_at), (Some(29.0), SearchEnd::Server, Some(30.0)));
    }

    proptest! {
        /// The universal scalability law with 1 % of noise: within 3 % of its peak.
        /// X(N) = N ÷ (1 + α·(N − 1) + β·N·(N − 1)). (Gunther 2007, Guerrilla Capacity Planning, chapter 4.)
        #[test]
        fn the_peak_of_a_scalability_law_is_found(seed: u64, alpha in 0.0..0.2f64, peak_at in 2.0..600.0f64) {
            let beta = (1.0 - alpha) / (peak_at * peak_at);
            let curve = |n: f64| n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
            let best = (1..=1000).map(|n| curve(f64::from(n))).fold(0.0, f64::max);
            let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
            let noise = |rng: &mut Rng| 1.0 + 0.01 * (rng.uniform() - 0.5);
            let (asked, found) = peak(1.0, 1000.0, |users, _| clear(true, curve(users) * noise(&mut rng)));
            prop_assert!(0.97 * best <= curve(level(&found).unwrap()), "{}", asked);
            prop_assert!(found.n_runs <= 25, "{}", asked);
        }
    }
}
