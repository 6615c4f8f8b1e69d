//! Whether a server is up.
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | up, n failures | success, good probe | up, 0 | |
//! | up, n failures | failure, bad probe | up, n + 1, or down | down once `fall` are reached |
//! | down, n good | good probe | down, n + 1, or up | up once `rise` are reached |
//! | down | failure, bad probe | down, 0 good | the next trial stays when it is due |
//! | down | success | up, or as it was | a request that was tried; with probes only they count |
//!
//! Without probes a server that is down is tried with one request after a while, then with one more after the same
//! while, until one succeeds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use units::Nanos;

use super::settings::HealthSettings;

/// Whether a server gets requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It does.
    Up,
    /// It does not, as it has failed too often.
    Down,
}

/// What was found out about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// It has answered a request.
    Success,
    /// It has not.
    Failure,
    /// It has answered a probe as it should.
    GoodProbe,
    /// It has not.
    BadProbe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up { failures: u32 },
    Down { good: u32, trial_at: Nanos },
}

impl State {
    fn condition(self) -> Condition {
        match self {
            State::Up { .. } => Condition::Up,
            State::Down { .. } => Condition::Down,
        }
    }
}

/// The state of one server, shared by all threads.
#[derive(Debug)]
pub(super) struct Health {
    fall: u32,
    rise: u32,
    /// How long it is left alone; `None` if probes decide.
    trial_after: Option<Nanos>,
    state: Mutex<State>,
}

impl Health {
    /// Makes the state of a server of which nothing is known: up.
    pub(super) fn new(settings: &HealthSettings) -> Health {
        let trial_after = settings.probe.is_none().then_some(settings.trial_after);
        let state = Mutex::new(State::Up { failures: 0 });
        Health { fall: settings.fall, rise: settings.rise, trial_after, state }
    }

    /// Returns whether the server is up.
    pub(super) fn condition(&self) -> Condition {
        self.lock().condition()
    }

    /// Tells whether the server may be asked: it is up, or to be tried.
    pub(super) fn is_candidate(&self, now: Nanos) -> bool {
        match *self.lock() {
            State::Up { .. } => true,
            State::Down { trial_at, .. } => self.trial_after.is_some() && trial_at <= now,
        }
    }

    /// Takes note that a request goes to the server now; no other is tried with it for a while if it is down.
    ///
    /// Returns whether it may: another thread may have been first.
    pub(super) fn enter(&self, now: Nanos) -> bool {
        match (&mut *self.lock(), self.trial_after) {
            (State::Up { .. }, _) => true,
            (State::Down { trial_at, .. }, Some(trial_after)) if *trial_at <= now => {
                *trial_at = now.saturating_add(trial_after);
                true
            }
            (State::Down { .. }, _) => false,
        }
    }

    /// Takes note of an event; returns the new condition if it is another than before.
    pub(super) fn note(&self, event: Event, now: Nanos) -> Option<Condition> {
        let mut state = self.lock();
        let before = state.condition();
        *state = self.after(*state, event, now);
        let condition = state.condition();
        (condition != before).then_some(condition)
    }

    fn after(&self, state: State, event: Event, now: Nanos) -> State {
        let up = State::Up { failures: 0 };
        match (state, event) {
            (State::Up { .. }, Event::Success | Event::GoodProbe) => up,
            (State::Up { failures }, Event::Failure | Event::BadProbe) => {
                let failures = failures.saturating_add(1);
                let trial_at = now.saturating_add(self.trial_after.unwrap_or(Nanos::ZERO));
                let is_down = self.fall != 0 && self.fall <= failures;
                if is_down { State::Down { good: 0, trial_at } } else { State::Up { failures } }
            }
            (State::Down { .. }, Event::Success) if self.trial_after.is_some() => up,
            (State::Down { .. }, Event::Success) => state,
            (State::Down { good, .. }, Event::GoodProbe) if self.rise <= good.saturating_add(1) => up,
            (State::Down { good, trial_at }, Event::GoodProbe) => State::Down { good: good + 1, trial_at },
            // The failure may be of a request sent long ago: it does not put off the trial.
            (State::Down { trial_at, .. }, Event::Failure | Event::BadProbe) => {
                State::Down { good: 0, trial_at }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Probe;
    use super::*;
    use Event::{BadProbe, Failure, GoodProbe, Success};

    /// Three failures bring it down, two good probes up; without probes it is tried every 5 s.
    fn health(is_probed: bool) -> Health {
        let probe = is_probed.then(Probe::default);
        Health::new(&HealthSettings { probe, fall: 3, rise: 2, trial_after: Nanos::from_secs(5) })
    }

    fn note_all(health: &Health, events: &[Event]) -> Vec<Option<Condition>> {
        events.iter().map(|&event| health.note(event, Nanos::ZERO)).collect()
    }

    #[test]
    fn failures_in_a_row_bring_a_server_down_and_a_success_between_them_forgives() {
        let health = health(true);
        let events = [Failure, Failure, Success, Failure, BadProbe, GoodProbe, Failure, Failure];
        assert_eq!(note_all(&health, &events), [None; 8]);
        assert_eq!(health.note(Failure, Nanos::ZERO), Some(Condition::Down));
        assert_eq!(health.note(Failure, Nanos::ZERO), None);
    }

    #[test]
    fn good_probes_in_a_row_bring_it_up_and_nothing_else_does() {
        let health = health(true);
        note_all(&health, &[Failure; 3]);
        assert_eq!(note_all(&health, &[GoodProbe, BadProbe, GoodProbe, Success, Success]), [None; 5]);
        assert!(!health.is_candidate(Nanos::MAX) && !health.enter(Nanos::MAX));
        assert_eq!(health.note(GoodProbe, Nanos::ZERO), Some(Condition::Up));
        assert!(health.enter(Nanos::ZERO));
    }

    #[test]
    fn without_probes_one_request_at_a_time_is_tried_until_one_succeeds() {
        let health = health(false);
        note_all(&health, &[Failure; 3]);
        let (before, at, later) = (Nanos(4_999_999_999), Nanos::from_secs(5), Nanos::from_secs(10));
        assert!(!health.is_candidate(before) && health.is_candidate(at));
        assert!(health.enter(at) && !health.enter(at) && !health.is_candidate(at));
        assert_eq!(health.note(Failure, at), None);
        assert!(!health.enter(before) && health.enter(later));
        assert_eq!(health.note(Success, later), Some(Condition::Up));
        assert!(health.enter(later) && health.enter(later));
    }

    #[test]
    fn failures_of_requests_sent_before_do_not_put_off_the_trial() {
        let health = health(false);
        note_all(&health, &[Failure; 3]);
        assert_eq!(health.note(Failure, Nanos(4_999_999_999)), None);
        assert!(health.is_candidate(Nanos::from_secs(5)));
    }

    #[test]
    fn without_a_limit_nothing_brings_it_down() {
        let health = Health::new(&HealthSettings { fall: 0, ..HealthSettings::default() });
        assert_eq!(note_all(&health, &[Failure; 100]), [None; 100]);
        assert_eq!(health.condition(), Condition::Up);
    }
}
