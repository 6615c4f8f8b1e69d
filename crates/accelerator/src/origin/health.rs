//! Health of a server.
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | up, n failures | success, good probe | up, 0 | |
//! | up, n failures | no connection, bad probe | up, n + 1, or down | down once `fall` is reached |
//! | up, n failures | a response is overdue | the same | only if nothing was answered since the request was sent; once per URL, unless another server has answered that URL since |
//! | the last that is up | no connection, an overdue response | up, n + 1 | no request takes down the last server |
//! | down, n good | good probe | down, n + 1, or up | up once `rise` is reached |
//! | down | failure, bad probe | down, 0 good | the time of the next trial does not change |
//! | down | success | up, or unchanged | a trial; with probes only probes count |
//! | down | a connection was made | up, or unchanged | a trial without a request; only if it was down for lack of connections |
//!
//! How a server treats a request that it has received says nothing about its health: one page may crash it each time,
//! or take a minute. So a connection that ends, or a response that is not valid HTTP, is no event here, and a response
//! that is late counts only as far as the server is silent altogether.
//!
//! Without probes a server that is down gets one trial after a while, then one more after the same while, until one
//! succeeds (`trial`).

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
    /// It accepted the connection of a trial without a request.
    Connected,
    /// No connection to it could be made, so no byte of the request was sent.
    Unreached,
    /// It has not answered a request in time.
    Overdue {
        /// The hash of the URL.
        url: u64,
        /// The time at which the request was made.
        since: Nanos,
        /// Whether another server has answered a request for the URL since: it is not the URL that is slow.
        is_url_answered: bool,
    },
    /// It answered a probe as expected.
    GoodProbe,
    /// It did not answer a probe as expected.
    BadProbe,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// With the failures in a row: their number, except for the URLs whose responses are overdue, `fall` at most.
    Up { failures: u32, overdue: Vec<u64> },
    /// `is_silent` if it accepted connections and did not answer.
    Down { good: u32, trial_at: Nanos, is_silent: bool },
}

impl State {
    const UP: State = State::Up { failures: 0, overdue: Vec::new() };

    fn condition(&self) -> ServerState {
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
    /// The time until a trial; `None` if probes decide.
    trial_after: Option<Nanos>,
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    state: State,
    /// The time of the last response.
    answered_at: Option<Nanos>,
}

impl Health {
    /// Makes the health of a server that has not been contacted yet: up.
    pub(super) fn new(settings: &HealthSettings) -> Health {
        let trial_after = settings.probe.is_none().then_some(settings.trial_after);
        let record = Mutex::new(Record { state: State::UP, answered_at: None });
        Health { fall: settings.fall, rise: settings.rise, trial_after, record }
    }

    /// Returns whether the server is up.
    pub(super) fn condition(&self) -> ServerState {
        self.lock().state.condition()
    }

    /// Returns whether a request may be sent to the server although it is down, if there is no other: not if probes
    /// decide.
    pub(super) fn is_last_resort(&self) -> bool {
        self.trial_after.is_some()
    }

    /// Returns whether a trial of the server begins now; no other begins for a while then.
    ///
    /// A server that has been silent is tried only with a request.
    pub(super) fn begin_trial(&self, has_request: bool, now: Nanos) -> bool {
        match (&mut self.lock().state, self.trial_after) {
            (State::Down { trial_at, is_silent, .. }, Some(trial_after))
                if *trial_at <= now && (has_request || !*is_silent) =>
            {
                *trial_at = now.saturating_add(trial_after);
                true
            }
            _ => false,
        }
    }

    /// Notes an event; returns the new state if it differs from the one before.
    ///
    /// `is_last` if no other server is up.
    pub(super) fn note(&self, event: HealthEvent, is_last: bool, now: Nanos) -> Option<ServerState> {
        let mut record = self.lock();
        let before = record.state.condition();
        match event {
            HealthEvent::Success => {
                record.answered_at = Some(now);
                self.note_success(&mut record.state);
            }
            HealthEvent::Connected => self.note_connected(&mut record.state),
            HealthEvent::GoodProbe => self.note_good_probe(&mut record.state),
            HealthEvent::Overdue { since, .. } if record.answered_at.is_some_and(|at| since <= at) => {}
            HealthEvent::Unreached | HealthEvent::Overdue { .. } | HealthEvent::BadProbe => {
                self.note_failure(&mut record.state, event, is_last, now);
            }
        }
        let condition = record.state.condition();
        (condition != before).then_some(condition)
    }

    fn note_success(&self, state: &mut State) {
        if self.trial_after.is_some() || state.condition() == ServerState::Up {
            *state = State::UP;
        }
    }

    fn note_connected(&self, state: &mut State) {
        if self.trial_after.is_some() && matches!(state, State::Down { is_silent: false, .. }) {
            *state = State::UP;
        }
    }

    fn note_good_probe(&self, state: &mut State) {
        match state {
            State::Down { good, .. } if good.saturating_add(1) < self.rise => *good += 1,
            _ => *state = State::UP,
        }
    }

    fn note_failure(&self, state: &mut State, event: HealthEvent, is_last: bool, now: Nanos) {
        let (failures, overdue) = match state {
            State::Up { failures, overdue } => (failures, overdue),
            // The failure may be of a request sent long ago: it does not delay the trial.
            State::Down { good, .. } => return *good = 0,
        };
        match event {
            HealthEvent::Overdue { url, is_url_answered, .. } if overdue.contains(&url) => {
                *failures = failures.saturating_add(is_url_answered.into());
            }
            HealthEvent::Overdue { url, .. } if overdue.len() < self.fall as usize => overdue.push(url),
            _ => *failures = failures.saturating_add(1),
        }
        let n_failures = u64::from(*failures) + overdue.len() as u64;
        let may_fall = self.fall != 0 && (event == HealthEvent::BadProbe || !is_last);
        if may_fall && u64::from(self.fall) <= n_failures {
            let trial_at = now.saturating_add(self.trial_after.unwrap_or(Nanos::ZERO));
            *state = State::Down { good: 0, trial_at, is_silent: !overdue.is_empty() };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Probe;
    use super::*;
    use HealthEvent::{BadProbe, Connected, GoodProbe, Success, Unreached};

    /// Three failures bring it down, two good probes up; without probes it is tried every 5 s.
    fn health(is_probed: bool) -> Health {
        let probe = is_probed.then(Probe::default);
        let trial_after = Nanos::from_secs(5);
        Health::new(&HealthSettings { probe, fall: 3, rise: 2, trial_after, ..HealthSettings::default() })
    }

    /// Notes these events of a server that is not the last.
    fn note_all(health: &Health, events: &[HealthEvent]) -> Vec<Option<ServerState>> {
        events.iter().map(|&event| health.note(event, false, Nanos::ZERO)).collect()
    }

    fn overdue(url: u64, since: Nanos) -> HealthEvent {
        HealthEvent::Overdue { url, since, is_url_answered: false }
    }

    #[test]
    fn consecutive_failures_bring_a_server_down_and_a_success_resets() {
        let health = health(true);
        let events = [Unreached, Unreached, Success, Unreached, BadProbe, GoodProbe, Unreached, Unreached];
        assert_eq!(note_all(&health, &events), [None; 8]);
        assert_eq!(note_all(&health, &[Unreached, Unreached]), [Some(ServerState::Down), None]);
    }

    #[test]
    fn only_consecutive_good_probes_bring_a_probed_server_up() {
        let health = health(true);
        note_all(&health, &[Unreached; 3]);
        let events = [GoodProbe, BadProbe, GoodProbe, Success, Connected];
        assert_eq!(note_all(&health, &events), [None; 5]);
        assert!(!health.begin_trial(true, Nanos::MAX) && !health.is_last_resort());
        assert_eq!(note_all(&health, &[GoodProbe]), [Some(ServerState::Up)]);
    }

    #[test]
    fn without_probes_one_trial_at_a_time_until_success() {
        let health = health(false);
        note_all(&health, &[Unreached; 3]);
        let before = Nanos(4_999_999_999);
        let at = Nanos::from_secs(5);
        let later = Nanos::from_secs(10);
        // A request sent earlier that fails now does not delay the trial.
        assert_eq!(health.note(Unreached, false, before), None);
        assert!(!health.begin_trial(true, before) && health.begin_trial(true, at));
        assert_eq!(health.note(Unreached, false, at), None);
        assert!(!health.begin_trial(true, at) && health.begin_trial(false, later));
        assert_eq!(health.note(Connected, false, later), Some(ServerState::Up));
        assert!(!health.begin_trial(true, Nanos::MAX));
    }

    #[test]
    fn requests_never_take_down_the_last_server_but_probes_do() {
        let health = health(true);
        for url in 0..100 {
            assert_eq!(health.note(Unreached, true, Nanos::ZERO), None);
            assert_eq!(health.note(overdue(url, Nanos::ZERO), true, Nanos::ZERO), None);
        }
        assert_eq!(health.note(BadProbe, true, Nanos::ZERO), Some(ServerState::Down));
    }

    /// A server that has failed while it was the last goes as soon as another one is up.
    #[test]
    fn failures_of_the_last_server_count_once_another_is_up() {
        let health = health(false);
        (0..3).for_each(|_| assert_eq!(health.note(Unreached, true, Nanos::ZERO), None));
        assert_eq!(health.note(Unreached, false, Nanos::ZERO), Some(ServerState::Down));
    }

    #[test]
    fn overdue_responses_count_once_per_url() {
        let health = health(false);
        let since = Nanos::from_secs(1);
        assert_eq!(note_all(&health, &[overdue(7, since); 100]), [None; 100]);
        assert_eq!(note_all(&health, &[overdue(8, since), overdue(7, since)]), [None; 2]);
        assert_eq!(note_all(&health, &[overdue(9, since)]), [Some(ServerState::Down)]);
        assert_eq!(note_all(&health, &[Connected]), [None], "it has accepted connections all the time");
        assert!(!health.begin_trial(false, Nanos::MAX), "so it is tried with a request");
        assert_eq!(note_all(&health, &[Success]), [Some(ServerState::Up)]);
    }

    /// A site of which only one URL is requested: another server answers it, so it is not slow.
    #[test]
    fn overdue_responses_of_one_url_count_if_another_server_answers_it() {
        let health = health(false);
        let event = HealthEvent::Overdue { url: 7, since: Nanos::ZERO, is_url_answered: true };
        assert_eq!(note_all(&health, &[event; 3]), [None, None, Some(ServerState::Down)]);
        assert!(!health.begin_trial(false, Nanos::MAX), "it is tried with a request");
    }

    /// Slow pages beside others that are answered: the server is well.
    #[test]
    fn overdue_responses_count_only_while_the_server_is_silent() {
        let health = health(false);
        assert_eq!(health.note(Success, false, Nanos::from_secs(2)), None);
        for url in 0..10 {
            assert_eq!(health.note(overdue(url, Nanos::from_secs(2)), false, Nanos::from_secs(9)), None);
        }
        let later = [1, 2, 3].map(|url| health.note(overdue(url, Nanos(2_000_000_001)), false, Nanos::MAX));
        assert_eq!(later, [None, None, Some(ServerState::Down)]);
    }

    #[test]
    fn with_fall_zero_a_server_stays_up() {
        let health = Health::new(&HealthSettings { fall: 0, ..HealthSettings::default() });
        assert_eq!(note_all(&health, &[Unreached; 100]), [None; 100]);
        assert_eq!(note_all(&health, &[overdue(1, Nanos::MAX), BadProbe]), [None; 2]);
        assert_eq!(health.condition(), ServerState::Up);
    }
}
