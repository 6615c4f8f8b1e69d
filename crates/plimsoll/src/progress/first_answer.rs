//! The first answer of a run: a figure that stands 15 s after the user asked, however long the run goes on.
//!
//! It is of the load point that runs by then, as `analysis` judges it so far, and names what it is of. A run that is over by
//! then has its results; several runs that take turns have their comparison.

use analysis::LoadPointStatus;
use disclosure::figure_text;
use units::Nanos;

use super::state::{IndicatorStatus, State, most_severe};
use super::text::{load_text, stage_load_text, time};

/// The time after which it stands, since the user asked.
const STANDS_AFTER: Nanos = Nanos::from_secs(15);

/// The time at which it is given at the latest: the status of a load point comes once a second.
const GIVEN_AT: Nanos = Nanos(STANDS_AFTER.0 - 1_000_000_000);

/// Whether the first answer was given.
#[derive(Debug, Default)]
pub(super) struct FirstAnswer {
    is_given: bool,
}

impl FirstAnswer {
    /// Returns the answer, once: when a first load point is over, or after [`GIVEN_AT`] as soon as something was measured.
    /// `elapsed` is the time since the user asked.
    pub(super) fn of(&mut self, status: &LoadPointStatus, state: &State, elapsed: Nanos) -> Option<String> {
        let left = state.remaining();
        let is_time = (status.is_over || GIVEN_AT <= elapsed) && Nanos::ZERO < status.length;
        let has_more = left.is_none_or(|left| Nanos::ZERO < left && STANDS_AFTER < elapsed + left);
        if self.is_given || !is_time || !has_more || 1 < state.runs.len() {
            return None;
        }
        self.is_given = true;
        text(status, state, elapsed, left)
    }
}

/// Words the answer: the rate with its interval, the load that it is of, and what speaks against it.
fn text(status: &LoadPointStatus, state: &State, elapsed: Nanos, left: Option<Nanos>) -> Option<String> {
    let point = state.point.as_ref()?;
    let words = state.words(point.key.run);
    let shape = state.runs[point.key.run].plan.shape.as_ref();
    let stage = status.stage.and_then(|stage| shape?.stages.get(stage.index as usize));
    let load = match stage {
        Some(stage) => stage_load_text(stage, point.key.load, words),
        None => load_text(point.key.load, words),
    };
    let after = minutes(elapsed);
    let until = match left {
        Some(left) if state.may_add_points() => {
            format!("; refined until {} at most", minutes(elapsed + left))
        }
        Some(left) => format!("; refined until {}", minutes(elapsed + left)),
        None => "; refined until the search ends".to_owned(),
    };
    if let Some((name, IndicatorStatus::Bad, why)) = most_severe(status) {
        let why = if why.is_empty() { name.to_owned() } else { why };
        return Some(format!(
            "First answer after {after}: none yet: the load of {load} is not valid so far, {why}{until}."
        ));
    }
    let interval = match status.rate_interval {
        Some((low, high)) => {
            format!("95 % interval {} to {}", figure_text(low.max(0.0)), figure_text(high))
        }
        None => format!("from {:.0} s, too few for an interval", status.length.as_secs_f64()),
    };
    let p99 = status.p99.map_or_else(String::new, |p99| format!(", p99 {}", time(Some(p99))));
    let rate = figure_text(status.rate);
    Some(format!(
        "First answer after {after}: {rate} {}/s at {load} ({interval}){p99}{until}.",
        words.operation.many
    ))
}

/// Formats a time since the start as minutes and seconds: `0:48`.
fn minutes(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    /// The state at 24 s of the steady phase of a load point of 30 users, and its status.
    fn running() -> (State, LoadPointStatus) {
        let state = fixtures::closed();
        let status = state.point.as_ref().and_then(|point| point.status.clone()).unwrap();
        (state, status)
    }

    /// By hand: 304, 305 and 306 per second in turn; 101 s are left of the plan.
    #[test]
    fn the_answer_stands_after_fifteen_seconds_and_comes_once() {
        let (state, status) = running();
        let mut answer = FirstAnswer::default();
        assert_eq!(answer.of(&status, &state, S(13)), None);
        insta::assert_snapshot!(answer.of(&status, &state, S(14)).unwrap(), @"First answer after 0:14: 305.0 operations/s at 30 users (95 % interval 304.6 to 305.3), p99 146 ms; refined until 1:55.");
        assert_eq!(answer.of(&status, &state, S(15)), None);
    }

    #[test]
    fn a_load_point_that_is_over_is_an_answer_at_once() {
        let (state, status) = running();
        let over = LoadPointStatus { is_over: true, rate_interval: None, p99: None, length: S(3), ..status };
        insta::assert_snapshot!(FirstAnswer::default().of(&over, &state, S(5)).unwrap(), @"First answer after 0:05: 305.0 operations/s at 30 users (from 3 s, too few for an interval); refined until 1:46.");
    }

    #[test]
    fn nothing_that_is_not_valid_is_an_answer() {
        let (state, mut status) = running();
        status.standings[0].state = analysis::StandingState::Broken;
        insta::assert_snapshot!(FirstAnswer::default().of(&status, &state, S(14)).unwrap(), @"First answer after 0:14: none yet: the load of 30 users is not valid so far, record; refined until 1:55.");
    }

    /// A run that ends within 15 s has its results by then, and interleaved runs a comparison.
    #[test]
    fn no_answer_is_given_where_results_follow() {
        let (mut state, status) = running();
        state.runs[0].plan.load_points.truncate(3);
        state.runs[0].plan.phases.steady = S(20);
        assert_eq!(state.remaining(), Some(Nanos::ZERO));
        assert_eq!(FirstAnswer::default().of(&status, &state, S(14)), None);
        let several = fixtures::interleaved();
        assert_eq!(FirstAnswer::default().of(&status, &several, S(14)), None);
        let (state, status) = running();
        let nothing = LoadPointStatus { length: Nanos::ZERO, ..status };
        assert_eq!(FirstAnswer::default().of(&nothing, &state, S(14)), None);
    }
}
