//! The operations in flight of a client that has several, each at a place that engine and driver know it by.

use std::collections::VecDeque;

use files::FileOperation;
use model::Reply;
use units::{Clock, Nanos, RealClock};

use super::failure::{PerformedAction, SessionFailure, session_reply};
use super::first_data::FirstDataTimer;

/// The operations in flight of a client. `C` is what its protocol knows of a call that was composed.
#[derive(Debug)]
pub(crate) struct Window<C> {
    clock: RealClock,
    first_data: FirstDataTimer,
    /// The operations, by their places.
    places: Vec<Option<InFlight<C>>>,
    /// The places of those whose calls were not composed, the oldest first.
    waiting: VecDeque<usize>,
    /// The places and replies of those that have ended, and were not told.
    ended: VecDeque<(usize, Reply)>,
}

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight<C> {
    pub(crate) operation: FileOperation,
    sent: Nanos,
    /// Its call, once that was composed.
    pub(crate) call: Option<C>,
}

impl<C: Copy> Window<C> {
    /// Makes so many places for operations, with nothing in flight.
    pub(crate) fn new(clock: RealClock, first_data: FirstDataTimer, n_places: usize) -> Window<C> {
        Window {
            clock,
            first_data,
            places: vec![None; n_places],
            waiting: VecDeque::new(),
            ended: VecDeque::new(),
        }
    }

    /// Returns the number of places.
    pub(crate) fn n_places(&self) -> usize {
        self.places.len()
    }

    /// Puts an operation at a place, behind those that wait.
    pub(crate) fn begin(&mut self, place: usize, operation: &FileOperation, sent: Nanos) {
        self.places[place] = Some(InFlight { operation: *operation, sent, call: None });
        self.waiting.push_back(place);
    }

    /// Returns the operation that waits longest, with its place.
    pub(crate) fn first_waiting(&self) -> Option<(usize, FileOperation)> {
        let place = *self.waiting.front()?;
        Some((place, self.places[place]?.operation))
    }

    /// Takes the operation that waits longest out of those that wait: its call is composed, or it is performed alone.
    pub(crate) fn take_first_waiting(&mut self) {
        self.waiting.pop_front();
    }

    /// Returns whether all operations in flight wait.
    pub(crate) fn all_wait(&self) -> bool {
        self.places.iter().flatten().count() <= self.waiting.len()
    }

    /// Notes the call of the operation at a place.
    pub(crate) fn composed(&mut self, place: usize, call: C) {
        if let Some(one) = &mut self.places[place] {
            one.call = Some(call);
        }
    }

    /// Returns the operation at a place; `None` if none is in flight there.
    pub(crate) fn in_flight(&self, place: usize) -> Option<InFlight<C>> {
        self.places[place]
    }

    /// Returns the calls that were composed and not answered, with their places.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (usize, C)> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(place, one)| Some((place, one.as_ref()?.call?)))
    }

    /// Ends the operation at a place, which has taken so many exchanges.
    pub(crate) fn end(&mut self, place: usize, n_exchanges: u64, result: Result<(), impl SessionFailure>) {
        let Some(InFlight { operation, sent, .. }) = self.places[place].take() else { return };
        let done = self.clock.now();
        let mut reply = session_reply(&operation, sent, PerformedAction { done, n_exchanges, result });
        self.first_data.note(&operation, &mut reply);
        self.ended.push_back((place, reply));
    }

    /// Ends all operations with their session. The one that was sent first fails for the reason of that, and the others because
    /// the session is lost.
    pub(crate) fn lose_session<F: SessionFailure>(&mut self, failure: F) {
        self.waiting.clear();
        let in_flight = self.places.iter().enumerate();
        let first = in_flight.filter_map(|(place, one)| Some((one.as_ref()?.sent, place))).min();
        if let Some((_, place)) = first {
            self.end(place, 0, Err(failure));
        }
        for place in 0..self.places.len() {
            self.end(place, 0, Err(F::lost()));
        }
    }

    /// Returns whether an operation has ended that was not told.
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes the operation that has ended first of those that were not told: its place and its reply.
    pub(crate) fn take_ended(&mut self) -> Option<(usize, Reply)> {
        self.ended.pop_front()
    }

    /// Forgets the operation at a place, whether it has ended or not.
    pub(crate) fn forget(&mut self, place: usize) {
        self.places[place] = None;
        self.ended.retain(|(ended, _)| *ended != place);
    }

    /// Forgets all operations.
    pub(crate) fn forget_all(&mut self) {
        self.waiting.clear();
        self.ended.clear();
        self.places.fill(None);
    }
}
