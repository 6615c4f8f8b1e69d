//! Requests for the same that wait for each other: one leads and asks the origin, the others follow.
//!
//! | state | event | next | what followers do |
//! |---|---|---|---|
//! | waiting | the head of a response that may be kept | arriving | read the flow if it suits them, else go alone |
//! | waiting | the stored response is still good | again | look into the store again |
//! | waiting | a response that may not be kept | alone | go, all at once, each by itself |
//! | waiting | the origin answers with an error | error | take what is stale if they may, else go alone |
//! | waiting | the origin does not answer | failed | take what is stale if they may, else the same error |
//! | waiting | the leader is gone | alone | as above |
//! | arriving | the last byte, or too many of them | – | new ones find the store, or lead a flight of their own |

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::error_page::Fault;
use super::flow::Arriving;
use crate::policy::Variant;
use crate::store::Since;

/// What is being asked for under all keys; shared by all threads.
#[derive(Debug)]
pub struct Flights {
    table: Mutex<HashMap<FlightKey, Arc<Flight>>>,
    filling_bytes: AtomicU64,
    filling_bytes_max: u64,
}

/// What the followers of a flight have in common: the key, and the fields that responses under it depend on as far as
/// that is known.
type FlightKey = (Box<str>, Variant);

/// A request that others wait for.
#[derive(Debug)]
pub(super) struct Flight {
    outcome: watch::Receiver<Option<Outcome>>,
    since: Since,
}

/// What came of a flight.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// A response that all of them may have is on its way.
    Arriving(Arc<Arriving>),
    /// The store has changed.
    Again,
    /// There is nothing to share.
    Alone,
    /// The origin has answered with this status, an error of its own.
    Error(u16),
    /// The origin has not answered.
    Failed(Fault),
}

/// What somebody is who wants the same as perhaps others.
#[derive(Debug)]
pub(super) enum Boarding {
    /// The first.
    Lead(Lead),
    /// One of those after it.
    Follow(Arc<Flight>),
}

/// The right and duty to say what comes of a flight; if it is dropped without, its followers go alone.
#[derive(Debug)]
pub(super) struct Lead {
    flights: Arc<Flights>,
    key: FlightKey,
    flight: Arc<Flight>,
    outcome: watch::Sender<Option<Outcome>>,
}

/// The part of [`Flights::filling_bytes`] that one response takes, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Filling {
    flights: Arc<Flights>,
    bytes: u64,
}

impl Flights {
    /// Makes an empty table. Responses that arrive take at most `filling_bytes_max` of memory together; beyond that they
    /// are not kept.
    pub fn new(filling_bytes_max: u64) -> Flights {
        Flights { table: Mutex::new(HashMap::new()), filling_bytes: AtomicU64::new(0), filling_bytes_max }
    }

    /// Returns how many flights are under way.
    pub fn in_progress(&self) -> usize {
        self.table().len()
    }

    /// Returns how many bytes of memory responses take that are not in the store yet.
    pub fn filling_bytes(&self) -> u64 {
        self.filling_bytes.load(Ordering::Relaxed)
    }

    /// Makes the caller a follower of the flight for this key, or the leader of a new one.
    ///
    /// `since` is that of the caller's look into the store. Who comes after something was thrown out follows no flight
    /// that began before it.
    pub(super) fn board(self: &Arc<Self>, key: &str, variant: Variant, since: Since) -> Boarding {
        let key = (Box::from(key), variant);
        let mut table = self.table();
        match table.get(&key) {
            Some(flight) if flight.since == since => Boarding::Follow(Arc::clone(flight)),
            _ => {
                let (sender, receiver) = watch::channel(None);
                let flight = Arc::new(Flight { outcome: receiver, since });
                table.insert(key.clone(), Arc::clone(&flight));
                Boarding::Lead(Lead { flights: Arc::clone(self), key, flight, outcome: sender })
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<FlightKey, Arc<Flight>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Waits for what comes of it; any number may wait at once.
    pub async fn outcome(&self) -> Outcome {
        let mut outcome = self.outcome.clone();
        match outcome.wait_for(Option::is_some).await {
            Ok(found) => found.clone().unwrap_or(Outcome::Alone),
            Err(_) => Outcome::Alone,
        }
    }
}

impl Lead {
    /// Says what comes of the flight. Unless it is arriving, the flight ends.
    pub fn settle(&self, outcome: Outcome) {
        if !matches!(outcome, Outcome::Arriving(_)) {
            self.detach();
        }
        self.outcome.send_replace(Some(outcome));
    }

    /// Ends the flight for those who come from now on.
    pub fn detach(&self) {
        let mut table = self.flights.table();
        if table.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            table.remove(&self.key);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.detach();
    }
}

impl Filling {
    /// Begins with nothing.
    pub fn new(flights: &Arc<Flights>) -> Filling {
        Filling { flights: Arc::clone(flights), bytes: 0 }
    }

    /// Takes room for more bytes; `false` if there is none.
    pub fn take(&mut self, bytes: u64) -> bool {
        let before = self.flights.filling_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        before.saturating_add(bytes) <= self.flights.filling_bytes_max
    }

    /// Gives all of it back.
    pub fn give_back(&mut self) {
        self.flights.filling_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;
    use crate::store::Store;

    const KEY: &str = "http://a/";

    fn flights() -> Arc<Flights> {
        Arc::new(Flights::new(100))
    }

    fn board(flights: &Arc<Flights>, store: &Store) -> Boarding {
        flights.board(KEY, Variant::default(), store.since(KEY))
    }

    fn lead(flights: &Arc<Flights>, store: &Store) -> Lead {
        let Boarding::Lead(lead) = board(flights, store) else { panic!("a flight is under way") };
        lead
    }

    fn follow(flights: &Arc<Flights>, store: &Store) -> Arc<Flight> {
        let Boarding::Follow(flight) = board(flights, store) else { panic!("no flight is under way") };
        flight
    }

    #[tokio::test]
    async fn the_first_leads_and_all_others_learn_what_comes_of_it() {
        let (flights, store) = (flights(), Store::in_memory(1 << 20));
        let lead = lead(&flights, &store);
        let (one, other) = (follow(&flights, &store), follow(&flights, &store));
        let (outcome, ()) = tokio::join!(one.outcome(), async { lead.settle(Outcome::Again) });
        assert!(matches!(outcome, Outcome::Again));
        drop(lead);
        assert!(matches!(other.outcome().await, Outcome::Again), "late, but told all the same");
        assert_eq!(flights.in_progress(), 0);
    }

    #[tokio::test]
    async fn a_leader_that_is_gone_leaves_its_followers_to_themselves() {
        let (flights, store) = (flights(), Store::in_memory(1 << 20));
        let lead = lead(&flights, &store);
        let flight = follow(&flights, &store);
        let (outcome, ()) = tokio::join!(flight.outcome(), async { drop(lead) });
        assert!(matches!(outcome, Outcome::Alone));
        assert!(matches!(board(&flights, &store), Boarding::Lead(_)));
    }

    #[test]
    fn nobody_follows_a_flight_that_began_before_something_was_thrown_out() {
        let (flights, store) = (flights(), Store::in_memory(1 << 20));
        let early = lead(&flights, &store);
        follow(&flights, &store);
        store.invalidate(KEY, WallTime(0));
        let late = lead(&flights, &store);
        drop(early);
        follow(&flights, &store);
        drop(late);
        assert_eq!(flights.in_progress(), 0);
    }

    #[test]
    fn room_for_what_arrives_is_limited_and_given_back() {
        let flights = flights();
        let (mut one, mut other) = (Filling::new(&flights), Filling::new(&flights));
        assert!(one.take(60) && other.take(40) && !one.take(1));
        assert_eq!(flights.filling_bytes(), 101);
        drop(one);
        assert_eq!(flights.filling_bytes(), 40);
        other.give_back();
        assert_eq!(flights.filling_bytes(), 0);
    }
}
