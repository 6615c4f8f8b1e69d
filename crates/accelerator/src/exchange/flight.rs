//! Request collapsing: of concurrent requests for the same response one leads and asks the origin, the others follow.
//!
//! | state | event | next | followers |
//! |---|---|---|---|
//! | waiting | the head of a response that may be stored | streaming | read along if it matches, else fetch uncollapsed |
//! | waiting | the stored response is validated | store changed | look up again |
//! | waiting | a response that may not be stored | not shareable | fetch uncollapsed, all at once |
//! | waiting | the origin answers with an error | error | serve stale if they may, else fetch uncollapsed |
//! | waiting | the origin does not answer | failed | serve stale if they may, else the same error |
//! | waiting | the leader is gone | not shareable | as above |
//! | streaming | the last byte, or too many of them | – | new requests find the store, or lead a flight of their own |

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cache_policy::Variant;
use cache_store::RemovalSnapshot;
use tokio::sync::watch;

use super::error_page::LocalError;
use super::fill_memory::FillMemory;
use super::streaming::StreamingResponse;

/// The fetches in progress under all keys; shared by all threads.
#[derive(Debug)]
pub struct Flights {
    table: Mutex<HashMap<FlightKey, Arc<Flight>>>,
    filling: Arc<FillMemory>,
}

/// The key by which requests are collapsed: the cache key, and the values of the fields that responses under it
/// depend on as far as those are known.
type FlightKey = (Box<str>, Variant);

/// A fetch that followers wait for.
#[derive(Debug)]
pub(super) struct Flight {
    outcome: watch::Receiver<Option<FlightOutcome>>,
    since: RemovalSnapshot,
}

/// The outcome of a flight.
#[derive(Debug, Clone)]
pub(super) enum FlightOutcome {
    /// A response that all followers may share is arriving.
    Streaming(Arc<StreamingResponse>),
    /// The store has changed: look up again.
    StoreChanged,
    /// There is no response to share.
    NotShareable,
    /// The origin has answered with this error status.
    Error(u16),
    /// The origin has not answered.
    Failed(LocalError),
}

/// The role of a request in a collapsed fetch: leader or follower.
#[derive(Debug)]
pub(super) enum Join {
    /// The first request.
    Leader(Leader),
    /// A later request.
    Follower(Arc<Flight>),
}

/// The leader of a flight, which has to announce its outcome; if it is dropped without, its followers fetch
/// uncollapsed.
#[derive(Debug)]
pub(super) struct Leader {
    flights: Arc<Flights>,
    key: FlightKey,
    flight: Arc<Flight>,
    outcome: watch::Sender<Option<FlightOutcome>>,
}

impl Flights {
    /// Makes an empty table. Responses on their way into the store take at most `filling_bytes_max` of memory
    /// together; beyond that they are not stored.
    pub fn new(filling_bytes_max: u64) -> Flights {
        Flights { table: Mutex::new(HashMap::new()), filling: Arc::new(FillMemory::new(filling_bytes_max)) }
    }

    /// Returns the number of flights in progress.
    pub fn in_progress(&self) -> usize {
        self.table().len()
    }

    /// Returns the bytes of memory of responses on their way into the store, or that turned out not to be stored and
    /// are still read.
    pub fn filling_bytes(&self) -> u64 {
        self.filling.bytes()
    }

    /// Returns that memory.
    pub(super) fn filling(&self) -> &Arc<FillMemory> {
        &self.filling
    }

    /// Makes the caller a follower of the flight for this key, or the leader of a new one.
    ///
    /// `since` is from the caller's lookup. A request that comes after a removal does not follow a flight that began
    /// before it.
    pub(super) fn join(self: &Arc<Self>, key: &str, variant: Variant, since: RemovalSnapshot) -> Join {
        let key = (Box::from(key), variant);
        let mut table = self.table();
        match table.get(&key) {
            Some(flight) if flight.since == since => Join::Follower(Arc::clone(flight)),
            _ => {
                let (sender, receiver) = watch::channel(None);
                let flight = Arc::new(Flight { outcome: receiver, since });
                table.insert(key.clone(), Arc::clone(&flight));
                Join::Leader(Leader { flights: Arc::clone(self), key, flight, outcome: sender })
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<FlightKey, Arc<Flight>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Waits for the outcome; any number of followers may wait at once.
    pub(super) async fn outcome(&self) -> FlightOutcome {
        let mut outcome = self.outcome.clone();
        match outcome.wait_for(Option::is_some).await {
            Ok(found) => found.clone().unwrap_or(FlightOutcome::NotShareable),
            Err(_) => FlightOutcome::NotShareable,
        }
    }
}

impl Leader {
    /// Announces the outcome. Unless that is a response in progress, the flight ends.
    pub(super) fn settle(&self, outcome: FlightOutcome) {
        if !matches!(outcome, FlightOutcome::Streaming(_)) {
            self.detach();
        }
        self.outcome.send_replace(Some(outcome));
    }

    /// Ends the flight for requests to come.
    pub(super) fn detach(&self) {
        let mut table = self.flights.table();
        if table.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            table.remove(&self.key);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.detach();
    }
}

#[cfg(test)]
mod tests {
    use cache_store::Store;
    use units::WallTime;

    use super::*;

    const KEY: &str = "http://a/";

    fn flights() -> Arc<Flights> {
        Arc::new(Flights::new(100))
    }

    fn join(flights: &Arc<Flights>, store: &Store) -> Join {
        flights.join(KEY, Variant::default(), store.since(KEY))
    }

    fn leader(flights: &Arc<Flights>, store: &Store) -> Leader {
        let Join::Leader(leader) = join(flights, store) else { panic!("a flight is under way") };
        leader
    }

    fn follower(flights: &Arc<Flights>, store: &Store) -> Arc<Flight> {
        let Join::Follower(flight) = join(flights, store) else { panic!("no flight is under way") };
        flight
    }

    #[tokio::test]
    async fn the_first_request_leads_and_followers_get_the_outcome() {
        let flights = flights();
        let store = Store::in_memory(1 << 20);
        let lead = leader(&flights, &store);
        let one = follower(&flights, &store);
        let other = follower(&flights, &store);
        let (outcome, ()) = tokio::join!(one.outcome(), async { lead.settle(FlightOutcome::StoreChanged) });
        assert!(matches!(outcome, FlightOutcome::StoreChanged));
        drop(lead);
        assert!(
            matches!(other.outcome().await, FlightOutcome::StoreChanged),
            "late, but notified all the same"
        );
        assert_eq!(flights.in_progress(), 0);
    }

    #[tokio::test]
    async fn followers_of_a_dropped_leader_fetch_uncollapsed() {
        let flights = flights();
        let store = Store::in_memory(1 << 20);
        let lead = leader(&flights, &store);
        let flight = follower(&flights, &store);
        let (outcome, ()) = tokio::join!(flight.outcome(), async { drop(lead) });
        assert!(matches!(outcome, FlightOutcome::NotShareable));
        assert!(matches!(join(&flights, &store), Join::Leader(_)));
    }

    #[test]
    fn requests_after_a_removal_do_not_follow_an_earlier_flight() {
        let flights = flights();
        let store = Store::in_memory(1 << 20);
        let early = leader(&flights, &store);
        follower(&flights, &store);
        store.invalidate(KEY, WallTime(0));
        let late = leader(&flights, &store);
        drop(early);
        follower(&flights, &store);
        drop(late);
        assert_eq!(flights.in_progress(), 0);
    }
}
