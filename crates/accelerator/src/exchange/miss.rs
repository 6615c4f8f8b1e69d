//! Requests that the store cannot answer, collapsed with others or alone.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cache_policy::{CacheDecision, FetchFailure, MissReason, Variant, content, decide};
use cache_store::StoredResponse;
use tokio::sync::oneshot;
use tokio::task::{spawn_local, yield_now};
use units::{Nanos, wall};

use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::error_page::LocalError;
use super::fetch::FetchOutcome;
use super::flight::{Flight, FlightOutcome, Join, Leader};
use super::handle::Exchange;
use super::hit::Hit;
use super::interim_relay::InterimRelay;
use super::lines::stored_lines_with_age;
use super::origin_fetch::OriginFetch;
use super::response::Response;
use super::streaming::StreamingResponse;
use crate::message::{ProxyReason, RequestBody, ResponsePath};

/// The most flights that a request follows: one, and another if the first has shown on which fields responses depend,
/// so that requests for one variant are collapsed.
const FLIGHTS_MAX: usize = 2;

/// The outcome of following a flight.
#[derive(Debug)]
enum FollowOutcome {
    /// A response.
    Served(Box<Response>),
    /// A response that does not match, because of a field it depends on; holds the request's own variant.
    OtherVariant(Variant),
    /// A response that does not match this request, or none in time.
    Unsuitable,
    /// A response for the leader only.
    NotShareable,
}

impl FollowOutcome {
    fn served(response: Response) -> FollowOutcome {
        FollowOutcome::Served(Box::new(response))
    }
}

impl Exchange {
    /// Fetches what the store does not have. If `is_hit_for_miss`, responses under the key are known not to be
    /// storable, and requests are not collapsed. Meanwhile `client` gets the interim responses.
    pub(super) async fn fetch_missing<B: RequestBody>(
        self: &Rc<Self>,
        fetch: OriginFetch,
        is_hit_for_miss: bool,
        mut client: B,
    ) -> Response {
        let (interims, mut received) = InterimRelay::channel();
        let mut fetching = pin!(self.fetch_collapsed(fetch, is_hit_for_miss, interims));
        let response = loop {
            // A client that does not take an interim response will not take the final one either.
            tokio::select! {
                biased;
                Some(interim) = received.recv() => drop(client.send_interim(interim).await),
                response = &mut fetching => break response,
            }
        };
        while let Ok(interim) = received.try_recv() {
            drop(client.send_interim(interim).await);
        }
        self.unless_failed(response).await
    }

    async fn fetch_collapsed(
        self: &Rc<Self>,
        fetch: OriginFetch,
        is_hit_for_miss: bool,
        interims: InterimRelay,
    ) -> Response {
        if fetch.request.is_loop(&self.settings.name) {
            return self.error(LocalError::new(508, ProxyReason::Loop), fetch.request.is_head());
        }
        let fetch = Rc::new(fetch);
        if is_hit_for_miss || !fetch.is_shareable || !fetch.request.can_collapse(&self.settings) {
            return self.fetch_uncollapsed(&fetch, true, &interims).await;
        }
        let mut variant = fetch.variant.clone();
        for _ in 0..FLIGHTS_MAX {
            let flight = match self.join(&fetch, variant.clone()) {
                Join::Leader(leader) => return self.fetch_as_leader(fetch, leader, interims).await,
                Join::Follower(flight) => flight,
            };
            match self.wait_as_follower(&fetch, &flight).await {
                FollowOutcome::Served(response) => return *response,
                FollowOutcome::OtherVariant(own) => variant = own,
                FollowOutcome::Unsuitable => break,
                FollowOutcome::NotShareable => {
                    return self.fetch_uncollapsed(&fetch, true, &interims).await;
                }
            }
        }
        self.fetch_uncollapsed(&fetch, false, &interims).await
    }

    /// Refreshes a stale response in the background, unless a refresh is in progress.
    pub(super) fn refresh(self: &Rc<Self>, request: CacheRequest, object: &Arc<StoredResponse>) {
        let fetch = Rc::new(OriginFetch::refresh(request, Arc::clone(object)));
        if fetch.request.is_loop(&self.settings.name) {
            return;
        }
        let Join::Leader(leader) = self.join(&fetch, fetch.variant.clone()) else {
            return;
        };
        // Another refresh may have ended between the lookup and joining.
        let found = self.shared.store.lookup(fetch.request.key.as_str());
        if found.objects.iter().any(|one| Arc::ptr_eq(one, object)) {
            let exchange = Rc::clone(self);
            spawn_local(async move {
                exchange.fetch(&fetch, false, Some(leader), &InterimRelay::discarding()).await
            });
        } else {
            leader.settle(FlightOutcome::StoreChanged);
        }
    }

    fn join(&self, fetch: &OriginFetch, variant: Variant) -> Join {
        let key = fetch.request.key.as_str();
        self.shared.flights.join(key, variant, self.shared.store.since(key))
    }

    /// Fetches for this request alone. `is_uncollapsed` if its own conditions and ranges are forwarded, as the
    /// response is unlikely to be stored.
    async fn fetch_uncollapsed(
        self: &Rc<Self>,
        fetch: &Rc<OriginFetch>,
        is_uncollapsed: bool,
        interims: &InterimRelay,
    ) -> Response {
        let outcome = self.fetch(fetch, is_uncollapsed, None, interims).await;
        if matches!(outcome, FetchOutcome::Storing { .. }) {
            // A response that arrived together with its head is in the store before it is forwarded, and says so.
            yield_now().await;
        }
        self.response_for(fetch, outcome)
    }

    /// Fetches for all followers, in a task that goes on if this client leaves.
    async fn fetch_as_leader(
        self: &Rc<Self>,
        fetch: Rc<OriginFetch>,
        leader: Leader,
        interims: InterimRelay,
    ) -> Response {
        // Another flight may have ended between the lookup and joining.
        if let Some(response) = self.look_up_again(&fetch) {
            leader.settle(FlightOutcome::StoreChanged);
            return response;
        }
        let (sender, receiver) = oneshot::channel();
        let exchange = Rc::clone(self);
        let task_fetch = Rc::clone(&fetch);
        spawn_local(async move {
            let outcome = exchange.fetch(&task_fetch, false, Some(leader), &interims).await;
            // The client may be gone.
            let _ = sender.send(outcome);
        });
        match receiver.await {
            Ok(outcome) => self.response_for(&fetch, outcome),
            Err(_) => self.error(LocalError::new(502, ProxyReason::Abandoned), fetch.request.is_head()),
        }
    }

    /// Waits for the leader's response, for a limited time.
    async fn wait_as_follower(&self, fetch: &OriginFetch, flight: &Flight) -> FollowOutcome {
        let wait = Duration::from_nanos(self.settings.collapse_wait.0);
        let served = match tokio::time::timeout(wait, flight.outcome()).await {
            Err(_) => None,
            Ok(FlightOutcome::NotShareable) => return FollowOutcome::NotShareable,
            Ok(FlightOutcome::Streaming(streaming)) => return self.attach(fetch, &streaming),
            Ok(FlightOutcome::StoreChanged) => self.look_up_again(fetch),
            Ok(FlightOutcome::Error(status)) => self.stale_instead(fetch, FetchFailure::Status(status)),
            Ok(FlightOutcome::Failed(error)) => Some(self.failed(fetch, error)),
        };
        served.map_or(FollowOutcome::Unsuitable, FollowOutcome::served)
    }

    /// Looks up the store again; `None` if it still cannot answer.
    fn look_up_again(&self, fetch: &OriginFetch) -> Option<Response> {
        let request = &fetch.request;
        let now = wall();
        let found = self.shared.store.lookup(request.key.as_str());
        let policy = &self.settings.policy;
        let CacheDecision::Serve { index, content, .. } =
            decide(&request.meta, request.lines(), found.stored(), now, policy)
        else {
            return None;
        };
        let object = &found.objects[index];
        let cache_status = collapsed(fetch, object.origin_time);
        Some(Hit { request, object, content: &content }.serve(cache_status, now, &self.settings))
    }

    /// Reads along with a response in progress, if it matches the request and its beginning is still in memory.
    fn attach(&self, fetch: &OriginFetch, streaming: &Arc<StreamingResponse>) -> FollowOutcome {
        let request = &fetch.request;
        let now = wall();
        let policy = &self.settings.policy;
        let content = match decide(&request.meta, request.lines(), [&streaming.stored], now, policy) {
            CacheDecision::Serve { content, .. } => content,
            CacheDecision::Miss(MissReason::VaryMiss) => {
                let own = Variant::of(&streaming.stored.response.vary, request.lines(), &policy.codings);
                return own.map_or(FollowOutcome::Unsuitable, FollowOutcome::OtherVariant);
            }
            _ => return FollowOutcome::Unsuitable,
        };
        let Some(reader) = streaming.reader() else { return FollowOutcome::Unsuitable };
        let lines = stored_lines_with_age(&streaming.lines, &streaming.stored, now);
        let cache_status = collapsed(fetch, streaming.origin_time);
        FollowOutcome::served(self.streaming_response(request, reader, lines, &content, cache_status))
    }

    /// Makes the client's response from the outcome of a fetch.
    fn response_for(&self, fetch: &OriginFetch, outcome: FetchOutcome) -> Response {
        let request = &fetch.request;
        let policy = &self.settings.policy;
        match outcome {
            FetchOutcome::Storing { reader, lines } => {
                let streaming = Arc::clone(reader.streaming());
                let content = content(&request.meta, request.lines(), &streaming.stored, policy);
                let waited = Some(streaming.origin_time);
                let cache_status =
                    CacheStatus::forwarded(fetch.why, ResponsePath::Miss, fetch.reason, waited);
                let cache_status = cache_status.with_stored(streaming.is_stored());
                self.streaming_response(request, reader, lines, &content, cache_status)
            }
            FetchOutcome::Validated { object, waited } => {
                let cache_status =
                    CacheStatus::forwarded(fetch.why, ResponsePath::Revalidated, fetch.reason, Some(waited));
                let content = content(&request.meta, request.lines(), &object.stored, policy);
                let hit = Hit { request, object: &object, content: &content };
                hit.serve(cache_status.with_status(304), wall(), &self.settings)
            }
            FetchOutcome::Relayed { response, why } => {
                let (path, reason) = match why {
                    Some(why) => (ResponsePath::Pass, why.into()),
                    None => (ResponsePath::Miss, fetch.reason),
                };
                let cache_status = CacheStatus::forwarded(fetch.why, path, reason, Some(response.waited));
                self.relayed(request, response, cache_status)
            }
            FetchOutcome::Error(status) => {
                let error = LocalError::new(status, ProxyReason::OriginError);
                let response = self.stale_instead(fetch, FetchFailure::Status(status));
                response.unwrap_or_else(|| self.error(error, request.is_head()))
            }
            FetchOutcome::Failed(error) => self.failed(fetch, error),
        }
    }

    /// Makes the client's response if the origin did not answer.
    fn failed(&self, fetch: &OriginFetch, error: LocalError) -> Response {
        let stale = self.stale_instead(fetch, FetchFailure::NoAnswer);
        stale.unwrap_or_else(|| self.error(error, fetch.request.is_head()))
    }

    /// Returns a stale response in place of an error, if that is allowed.
    fn stale_instead(&self, fetch: &OriginFetch, failure: FetchFailure) -> Option<Response> {
        let request = &fetch.request;
        let now = wall();
        let (object, why) = fetch.stale_substitute(failure, now, &self.settings.policy)?;
        let cache_status =
            CacheStatus::forwarded(fetch.why, ResponsePath::Stale, why.into(), Some(object.origin_time));
        let cache_status = match failure {
            FetchFailure::Status(status) => cache_status.with_status(status),
            FetchFailure::NoAnswer => cache_status,
        };
        let content = content(&request.meta, request.lines(), &object.stored, &self.settings.policy);
        Some(Hit { request, object, content: &content }.serve(cache_status, now, &self.settings))
    }
}

/// Returns the cache status of a collapsed request.
fn collapsed(fetch: &OriginFetch, saved: Nanos) -> CacheStatus {
    CacheStatus::forwarded(fetch.why, ResponsePath::Collapsed, fetch.reason, Some(saved)).with_collapsed()
}
