//! The highest level that passes: exponential growth, then a bracket that narrows.

use super::history::Level;
use super::{FindMax, LevelKind, SearchEnd, SearchStep};

/// Growth factor of the level while throughput grows with it: half as many steps as doubling, and one more later.
pub(super) const GROWTH: f64 = 4.0;

/// Growth factor once a closed loop's throughput lags behind its users: the server is near its limit.
const GROWTH_NEAR: f64 = 2.0;

/// Throughput per user, relative to the level before, from which it still grows with the level.
const IN_PROPORTION: f64 = 0.75;

/// Returns the next step after the highest pass and the lowest fail, if there is one; see the table of the parent
/// module.
pub(super) fn next(search: &FindMax, pass: &Level, fail: Option<&Level>) -> SearchStep {
    match fail {
        None if pass.level < search.range.most => SearchStep::Run(grow(search, pass)),
        None if pass.is_unsure() => SearchStep::Run(pass.level),
        None => search.done(Some(pass.maximum()), SearchEnd::Range),
        Some(fail) => narrow(search, pass, fail),
    }
}

fn grow(search: &FindMax, pass: &Level) -> f64 {
    let per_level = |level: &Level| level.throughput() / level.level;
    let before = search.history.passes().iter().rev().nth(1);
    let lags = before.is_some_and(|before| per_level(pass) < IN_PROPORTION * per_level(before));
    search.grown(pass.level, if lags { GROWTH_NEAR } else { GROWTH })
}

fn narrow(search: &FindMax, pass: &Level, fail: &Level) -> SearchStep {
    let history = &search.history;
    if history.has_pass_above_fail() && fail.was_run_once() {
        return SearchStep::Run(fail.level);
    }
    if !search.is_settled(pass.level, fail.level) {
        return SearchStep::Run(probe(search, pass.level, fail.level));
    }
    if pass.is_unsure() {
        return SearchStep::Run(pass.level);
    }
    if history.is_doubtful(fail) {
        return SearchStep::Run(fail.level);
    }
    search.done(Some(pass.maximum()), fail.end())
}

/// Returns the level to try between a pass and a fail.
fn probe(search: &FindMax, pass: f64, fail: f64) -> f64 {
    let middle = (pass * fail).sqrt();
    let target = delivered(search).map_or(middle, |guess| around(guess, pass, fail, search.tolerance));
    search.between(pass, fail, target).unwrap_or(middle)
}

/// Returns the greatest rate that an overloaded server delivered; only an open loop can overload one.
///
/// Source: no stable queue delivers more than its capacity, and one that does not collapse delivers that under
/// any greater load. A server that collapses delivers less, and the guess costs a point or two.
fn delivered(search: &FindMax) -> Option<f64> {
    if search.kind == LevelKind::Users {
        return None;
    }
    let fails = search.history.above_passes().iter();
    let overloaded = fails.filter(|fail| {
        !fail.passes()
            && fail.end() == SearchEnd::Server
            && fail.delivered() < fail.level / (1.0 + search.tolerance)
    });
    overloaded.map(Level::delivered).filter(|rate| 0.0 < *rate).max_by(f64::total_cmp)
}

/// Returns the guess if it lies between, else a step away from it, which doubles each time; never more than
/// half of what is left, so that a wrong guess costs no more than a step of bisection each time.
fn around(guess: f64, pass: f64, fail: f64, tolerance: f64) -> f64 {
    let middle = (pass * fail).sqrt();
    let step = 2.0 * tolerance.ln_1p();
    if guess < pass * (1.0 + tolerance) {
        let behind = (pass / guess).ln().max(0.0);
        (pass * (behind + step).exp()).min(middle)
    } else if fail < guess * (1.0 + tolerance) {
        let behind = (guess / fail).ln().max(0.0);
        (fail / (behind + step).exp()).max(middle)
    } else {
        guess
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Rng, StreamPurpose};

    use crate::find_max::script::{clear, play, search, unclear};
    use crate::find_max::{JudgedPoint, LevelKind, SearchEnd, SearchGoal, SearchResult};

    fn users(least: f64, most: f64, server: impl FnMut(f64, usize) -> JudgedPoint) -> (String, SearchResult) {
        play(search(least, most, LevelKind::Users, SearchGoal::HighestPass), server)
    }

    fn rates(least: f64, most: f64, server: impl FnMut(f64, usize) -> JudgedPoint) -> (String, SearchResult) {
        play(search(least, most, LevelKind::Rate, SearchGoal::HighestPass), server)
    }

    fn level(found: &SearchResult) -> Option<f64> {
        found.max.map(|max| max.level)
    }

    /// Passes up to 100 users; 10/s for each of the first 50.
    #[test]
    fn users_grow_fourfold_then_twofold_then_are_bisected() {
        let (asked, found) = users(1.0, 5000.0, |n, _| clear(n <= 100.0, 10.0 * n.min(50.0)));
        assert_eq!(asked, "1+ 4+ 16+ 64+ 256- 128- 91+ 108- 99+ 103- 101- 100+");
        assert_eq!((level(&found), found.fails_at, found.end), (Some(100.0), Some(101.0), SearchEnd::Server));
        assert!(!found.is_noisy);
    }

    /// A queue of 1,000/s whose delivered rate decides: 95 % of 1,052/s. What 4,096/s delivered is the first guess.
    #[test]
    fn a_rate_looks_near_what_an_overloaded_server_delivered() {
        let (asked, found) = rates(1.0, 1e5, |rate, _| clear(0.95 * rate <= 1000.0, rate.min(1000.0)));
        assert_eq!(asked, "1+ 4+ 16+ 64+ 256+ 1024+ 4096- 1091- 1057- 1040+");
        assert_eq!(level(&found), Some(1040.0));
    }

    /// As before, but a limit of the response time is missed from 600/s.
    #[test]
    fn a_guess_that_fails_costs_little() {
        let (asked, found) = rates(1.0, 1e5, |rate, _| clear(rate <= 600.0, rate.min(1000.0)));
        assert_eq!(
            asked,
            "1+ 4+ 16+ 64+ 256+ 1024- 1000- 961.2- 888- 757.9- 552.1+ 646.9- 597.6+ 621.8- 609.6- 603.6-"
        );
        assert_eq!(level(&found), Some(597.6));
    }

    #[test]
    fn the_least_level_fails_twice_before_nothing_is_found() {
        let (asked, found) = users(10.0, 100.0, |_, _| clear(false, 5.0));
        assert_eq!(asked, "10- 10-");
        assert_eq!((found.max, found.end, found.fails_at), (None, SearchEnd::Server, Some(10.0)));
    }

    /// Too few operations below 20 users, and a server for 100: the range begins where something can be said.
    #[test]
    fn levels_with_too_few_operations_are_passed_over() {
        let server = |most: f64| {
            move |users: f64, _| {
                let has_too_few = users < 20.0;
                JudgedPoint { has_too_few, ..clear(!has_too_few && users <= most, users.min(most)) }
            }
        };
        let (asked, found) = users(1.0, 5000.0, server(100.0));
        assert_eq!(asked, "1- 4- 16- 64+ 256- 128- 91+ 108- 99+ 103- 101- 100+");
        assert_eq!((level(&found), found.end), (Some(100.0), SearchEnd::Server));
        let (asked, found) = users(1.0, 5000.0, server(10.0));
        assert_eq!(asked, "1- 4- 16- 64- 64-");
        assert_eq!((found.max, found.end), (None, SearchEnd::Server));
        let (asked, found) = users(1.0, 10.0, server(100.0));
        assert_eq!(asked, "1- 4- 10- 10-");
        assert_eq!((found.max, found.end), (None, SearchEnd::TooFew));
    }

    #[test]
    fn the_end_of_the_range_is_at_least() {
        let (asked, found) = users(10.0, 100.0, |users, _| clear(true, users));
        assert_eq!(asked, "10+ 40+ 100+");
        assert_eq!((level(&found), found.end, found.fails_at), (Some(100.0), SearchEnd::Range, None));
        let (asked, found) = users(7.0, 7.0, |users, _| unclear(clear(true, users)));
        assert_eq!((asked.as_str(), level(&found)), ("7+ 7+", Some(7.0)));
    }

    /// The generator ends at 300 users, the server would at 1,000.
    #[test]
    fn a_limit_of_the_generator_is_no_maximum_of_the_server() {
        let server = |users: f64, _| JudgedPoint {
            is_generator_limited: 300.0 < users,
            ..clear(users <= 300.0, users)
        };
        let (_, found) = users(1.0, 5000.0, server);
        assert_eq!(found.end, SearchEnd::Generator);
        assert!(294.0 <= level(&found).unwrap());
        let (_, found) = users(400.0, 5000.0, server);
        assert_eq!((found.max, found.end), (None, SearchEnd::Generator));
    }

    /// The generator would end at 300 users, the server does at 100: the first fails say nothing, the last does.
    #[test]
    fn a_server_that_ends_before_the_generator_is_found() {
        let server = |users: f64, _| JudgedPoint {
            is_generator_limited: 300.0 < users,
            ..clear(users <= 100.0, users)
        };
        let (_, found) = users(30.0, 5000.0, server);
        assert_eq!((level(&found), found.end), (Some(100.0), SearchEnd::Server));
    }

    #[test]
    fn what_noise_could_have_decided_is_heard_twice() {
        let (asked, found) = users(64.0, 128.0, |users, _| unclear(clear(users <= 100.0, users)));
        assert_eq!(asked, "64+ 128- 91+ 108- 99+ 103- 101- 100+ 100+ 101-");
        assert_eq!((level(&found), found.is_noisy), (Some(100.0), false));
    }

    /// An accident in the second load point: all that comes later passes, so the fail is heard again.
    #[test]
    fn an_accident_does_not_end_the_search() {
        let (asked, found) = users(10.0, 1000.0, |users, before| clear(users <= 500.0 && before != 1, users));
        assert_eq!(
            asked,
            "10+ 40- 20+ 28+ 33+ 36+ 38+ 39+ 40+ 40+ 160+ 640- 320+ 453+ 538- 494+ 516- 505- 499+"
        );
        assert!(found.is_noisy && 490.0 <= level(&found).unwrap());
    }

    /// Fails at 40, passes above: heard again and confirmed, so that what is found has no failing level below it.
    #[test]
    fn a_pass_above_a_fail_is_noisy_and_does_not_count() {
        let server = |users: f64, _| clear(users != 40.0 && users <= 500.0, users);
        let mut search = search(10.0, 1000.0, LevelKind::Users, SearchGoal::HighestPass);
        [40.0, 160.0].into_iter().for_each(|level| search.observe(level, server(level, 0)));
        let (asked, found) = play(search, server);
        assert_eq!(asked, "10+ 40- 20+ 28+ 33+ 36+ 38+ 39+");
        assert_eq!((level(&found), found.fails_at, found.is_noisy), (Some(39.0), Some(40.0), true));
    }

    proptest! {
        /// The highest load of any capacity and range is found within the tolerance and in few load points, without noise.
        #[test]
        fn the_highest_pass_is_within_the_tolerance(capacity in 1.0..1e5f64, collapses: bool, closed: bool) {
            let kind = if closed { LevelKind::Users } else { LevelKind::Rate };
            let server = |level: f64, _| {
                let served = if collapses && capacity < level { capacity * capacity / level } else { level.min(capacity) };
                clear(level <= capacity, served)
            };
            let (asked, found) = play(search(1.0, 1e6, kind, SearchGoal::HighestPass), server);
            let found_level = level(&found).unwrap();
            prop_assert!(found_level <= capacity, "{}", asked);
            prop_assert!(capacity < (found_level * 1.02).max(found_level + 1.0) * 1.0001, "{}", asked);
            prop_assert!(found.n_runs <= 22, "{}", asked);
        }

        /// A server that answers at random near its capacity, and by accident anywhere: the search ends.
        #[test]
        fn a_search_ends_whatever_is_answered(seed: u64, width in 0.0..2.0f64, closed: bool, peak: bool) {
            let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
            let kind = if closed { LevelKind::Users } else { LevelKind::Rate };
            let goal = if peak { SearchGoal::PeakThroughput } else { SearchGoal::HighestPass };
            let server = |level: f64, _| {
                let passes = level < 500.0 * (1.0 + width * (rng.uniform() - 0.5));
                JudgedPoint {
                    is_generator_limited: rng.uniform() < 0.1,
                    is_clear: rng.uniform() < 0.5,
                    has_too_few: rng.uniform() < 0.1,
                    ..clear(passes, level.min(500.0) * (0.5 + rng.uniform()))
                }
            };
            play(search(1.0, 1e4, kind, goal), server);
        }
    }
}
