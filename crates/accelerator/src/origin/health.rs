//! Health of a server.
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | up, n failures | success, good probe | up, 0 | |
//! | up, n failures | failure, bad probe | up, n + 1, or down | down once `fall` is reached |
//! | down, n good | good probe | down, n + 1, or up | up once `rise` is reached |
//! | down | failure, bad probe | down, 0 good | the time of the next trial does not change |
//! | down | success | up, or unchanged | a trial request; with probes only probes count |
//!
//! Without probes a server that is down gets one trial request after a while, then one more after the same while,
//! until one succeeds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use units::Nanos;

use super::settings::HealthSettings;

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    /// It gets requests.
    Up,
    /// It gets none, because it has failed too often.
    Down,
}

/// An event in the health of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HealthEvent {
    /// It answered a request.
    Success,
    /// It did not answer a request.
    Failure,
    /// It answered a probe as expected.
    GoodProbe,
    /// It did not answer a probe as expected.
    BadProbe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up { failures: u32 },
    Down { good: u32, trial_at: Nanos },
}

impl State {
    fn condition(self) -> ServerState {
        match self {
            State::Up { .. } => ServerState::Up,
            State::Down { .. } => ServerState::Down,
        }
    }
}

/// The health of one server, shared by all threads.
#[derive(Debug)]
pub(super) struct Health {
    fall: u32,
    rise: u32,
    /// The time until a trial request; `None` if probes decide.
    trial_after: Option<Nanos>,
    state: Mutex<State>,
}

impl Health {
    /// Makes the health of a server that has not been contacted yet: up.
    pub(super) fn new(settings: &HealthSettings) -> Health {
        let trial_after = settings.probe.is_none().then_some(settings.trial_after);
        let state = Mutex::new(State::Up { failures: 0 });
        Health { fall: settings.fall, rise: settings.rise, trial_after, state }
    }

    /// Returns whether the server is up.
    pub(super) fn condition(&self) -> ServerState {
        self.lock().condition()
    }

    /// Returns whether the server may get a request: it is up, or due for a trial.
    pub(super) fn is_candidate(&self, now: Nanos) -> bool {
        match *self.lock() {
            State::Up { .. } => true,
            State::Down { trial_at, .. } => self.trial_after.is_some() && trial_at <= now,
        }
    }

    /// Notes that a request goes to the server now; if the server is down, this is its trial, and no other request is
    /// sent to it for a while.
    ///
    /// Returns whether it may be sent: another thread may have been first.
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

    /// Notes an event; returns the new state if it differs from the one before.
    pub(super) fn note(&self, event: HealthEvent, now: Nanos) -> Option<ServerState> {
        let mut state = self.lock();
        let before = state.condition();
        *state = self.after(*state, event, now);
        let condition = state.condition();
        (condition != before).then_some(condition)
    }

    fn after(&self, state: State, event: HealthEvent, now: Nanos) -> State {
        let up = State::Up { failures: 0 };
        match (state, event) {
            (State::Up { .. }, HealthEvent::Success | HealthEvent::GoodProbe) => up,
            (State::Up { failures }, HealthEvent::Failure | HealthEvent::BadProbe) => {
                let failures = failures.saturating_add(1);
                let trial_at = now.saturating_add(self.trial_after.unwrap_or(Nanos::ZERO));
                let is_down = self.fall != 0 && self.fall <= failures;
                if is_down { State::Down { good: 0, trial_at } } else { State::Up { failures } }
            }
            (State::Down { .. }, HealthEvent::Success) if self.trial_after.is_some() => up,
            (State::Down { .. }, HealthEvent::Success) => state,
            (State::Down { good, .. }, HealthEvent::GoodProbe) if self.rise <= good.saturating_add(1) => up,
            (State::Down { good, trial_at }, HealthEvent::GoodProbe) => {
                State::Down { good: good + 1, trial_at }
            }
            // The failure may be of a request sent long ago: it does not delay the trial.
            (State::Down { trial_at, .. }, HealthEvent::Failure | HealthEvent::BadProbe) => {
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
    use HealthEvent::{BadProbe, Failure, GoodProbe, Success};

    /// Three failures bring it down, two good probes up; without probes it is tried every 5 s.
    fn health(is_probed: bool) -> Health {
        let probe = is_probed.then(Probe::default);
        Health::new(&HealthSettings { probe, fall: 3, rise: 2, trial_after: Nanos::from_secs(5) })
    }

    fn note_all(health: &Health, events: &[HealthEvent]) -> Vec<Option<ServerState>> {
        events.iter().map(|&event| health.note(event, Nanos::ZERO)).collect()
    }

    #[test]
    fn consecutive_failures_bring_a_server_down_and_a_success_resets() {
        let health = health(true);
        let events = [Failure, Failure, Success, Failure, BadProbe, GoodProbe, Failure, Failure];
        assert_eq!(note_all(&health, &events), [None; 8]);
        assert_eq!(health.note(Failure, Nanos::ZERO), Some(ServerState::Down));
        assert_eq!(health.note(Failure, Nanos::ZERO), None);
    }

    #[test]
    fn only_consecutive_good_probes_bring_a_probed_server_up() {
        let health = health(true);
        note_all(&health, &[Failure; 3]);
        assert_eq!(note_all(&health, &[GoodProbe, BadProbe, GoodProbe, Success, Success]), [None; 5]);
        assert!(!health.is_candidate(Nanos::MAX) && !health.enter(Nanos::MAX));
        assert_eq!(health.note(GoodProbe, Nanos::ZERO), Some(ServerState::Up));
        assert!(health.enter(Nanos::ZERO));
    }

    #[test]
    fn without_probes_one_trial_request_at_a_time_until_success() {
        let health = health(false);
        note_all(&health, &[Failure; 3]);
        let (before, at, later) = (Nanos(4_999_999_999), Nanos::from_secs(5), Nanos::from_secs(10));
        assert!(!health.is_candidate(before) && health.is_candidate(at));
        assert!(health.enter(at) && !health.enter(at) && !health.is_candidate(at));
        assert_eq!(health.note(Failure, at), None);
        assert!(!health.enter(before) && health.enter(later));
        assert_eq!(health.note(Success, later), Some(ServerState::Up));
        assert!(health.enter(later) && health.enter(later));
    }

    #[test]
    fn earlier_requests_that_fail_do_not_delay_the_trial() {
        let health = health(false);
        note_all(&health, &[Failure; 3]);
        assert_eq!(health.note(Failure, Nanos(4_999_999_999)), None);
        assert!(health.is_candidate(Nanos::from_secs(5)));
    }

    #[test]
    fn with_fall_zero_a_server_stays_up() {
        let health = Health::new(&HealthSettings { fall: 0, ..HealthSettings::default() });
        assert_eq!(note_all(&health, &[Failure; 100]), [None; 100]);
        assert_eq!(health.condition(), ServerState::Up);
    }
}
