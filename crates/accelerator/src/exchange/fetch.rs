//! Fetching of responses that may be stored.

use std::rc::Rc;
use std::sync::Arc;

use cache_policy::{FetchFailure, NotStored, ResponseMeta, StoreDecision, Variant, hit_for_miss, store};
use cache_store::{Purge, Removal, RemovalSnapshot, StoredResponse};
use http1::HeaderLines;
use units::{Nanos, wall};

use super::error_page::LocalError;
use super::flight::{FlightOutcome, Leader};
use super::handle::Exchange;
use super::interim_relay::InterimRelay;
use super::origin_fetch::OriginFetch;
use super::streaming::StreamingReader;
use super::upstream_request::{Purpose, upstream_request};
use crate::message::ProxyReason;
use crate::origin::{OriginFailure, UpstreamResponse};

/// The outcome of a fetch.
#[derive(Debug)]
pub(super) enum FetchOutcome {
    /// A response that is on its way into the store.
    Storing {
        /// The body, for the client that asked.
        reader: StreamingReader,
        /// The lines, for the client that asked.
        lines: HeaderLines,
    },
    /// A response for the client that asked alone.
    Relayed {
        /// The response.
        response: UpstreamResponse,
        /// The reason why it is not stored; `None` for a response to HEAD, which is never stored.
        why: Option<NotStored>,
    },
    /// A stored response that the origin has validated.
    Validated {
        /// The stored response, freshened.
        object: Arc<StoredResponse>,
        /// The time that the origin took.
        waited: Nanos,
    },
    /// An error with this status that a stale response may replace.
    Error(u16),
    /// No response.
    Failed(LocalError),
}

impl Exchange {
    /// Asks the origin, and starts to store the response if that is allowed.
    ///
    /// With `is_uncollapsed` the client's own conditions and ranges are forwarded, unless a stored response is to be
    /// validated. A `leader` announces the outcome to its followers; `interims` takes the interim responses.
    pub(super) async fn fetch(
        self: &Rc<Self>,
        fetch: &Rc<OriginFetch>,
        is_uncollapsed: bool,
        leader: Option<Leader>,
        interims: &InterimRelay,
    ) -> FetchOutcome {
        let since = self.shared.store.since(fetch.request.key.as_str());
        let is_uncollapsed = is_uncollapsed && fetch.against.is_empty();
        let purpose = if is_uncollapsed { Purpose::Own } else { fetch.fill_purpose() };
        let mut sent = self.send(fetch, &purpose, interims).await;
        if let Ok(response) = &sent
            && response.status == 304
            && !is_uncollapsed
        {
            if let Some(object) = self.freshened(fetch, response, since) {
                settle(leader.as_ref(), FlightOutcome::StoreChanged);
                return FetchOutcome::Validated { object, waited: response.waited };
            }
            sent = self.send(fetch, &OriginFetch::fill_unconditionally(), interims).await;
        }
        match sent {
            Ok(response) if response.status == 304 && !is_uncollapsed => {
                self.failure(leader, LocalError::new(502, ProxyReason::OriginNotModified))
            }
            Ok(response) => self.arrived(fetch, response, is_uncollapsed, since, leader, interims).await,
            Err(failure) => self.failure(leader, LocalError::from(&failure)),
        }
    }

    async fn send(
        &self,
        fetch: &OriginFetch,
        purpose: &Purpose,
        interims: &InterimRelay,
    ) -> Result<UpstreamResponse, OriginFailure> {
        self.origin.send(&upstream_request(&fetch.request, purpose, &self.settings), interims.clone()).await
    }

    fn failure(&self, leader: Option<Leader>, error: LocalError) -> FetchOutcome {
        // A fault of this one request says nothing about the requests of others.
        let is_uncollapsed = error.status < 500;
        settle(
            leader.as_ref(),
            if is_uncollapsed { FlightOutcome::NotShareable } else { FlightOutcome::Failed(error) },
        );
        FetchOutcome::Failed(error)
    }

    /// Decides what to do with a response other than a 304.
    async fn arrived(
        self: &Rc<Self>,
        fetch: &Rc<OriginFetch>,
        response: UpstreamResponse,
        is_uncollapsed: bool,
        since: RemovalSnapshot,
        leader: Option<Leader>,
        interims: &InterimRelay,
    ) -> FetchOutcome {
        let policy = &self.settings.policy;
        let meta = ResponseMeta::read(response.status, response.lines.iter(), response.times, policy)
            .of(&fetch.request.key);
        let failure = FetchFailure::Status(response.status);
        if fetch.stale_substitute(failure, wall(), policy).is_some() {
            settle(leader.as_ref(), FlightOutcome::Error(response.status));
            return FetchOutcome::Error(response.status);
        }
        if fetch.request.is_head() {
            self.note_head(fetch, &response, &meta, since);
            return FetchOutcome::Relayed { response, why: None };
        }
        match self.storable(fetch, &response, &meta) {
            Ok(variant) => self.start_fill(fetch, response, meta, variant, since, leader),
            Err(why) => {
                self.note_not_stored(fetch, why, response.status);
                let is_error = 500 <= response.status;
                settle(
                    leader.as_ref(),
                    if is_error {
                        FlightOutcome::Error(response.status)
                    } else {
                        FlightOutcome::NotShareable
                    },
                );
                if !is_uncollapsed && fetch.request.meta.has_range && may_have_parts(&response) {
                    // Its connection may be reused for the part.
                    drop(response);
                    return self.part(fetch, why, interims).await;
                }
                FetchOutcome::Relayed { response, why: Some(why) }
            }
        }
    }

    /// Fetches once more, just the ranges that the client wants: the whole was fetched to be stored, and is not
    /// stored.
    async fn part(&self, fetch: &OriginFetch, why: NotStored, interims: &InterimRelay) -> FetchOutcome {
        match self.send(fetch, &Purpose::Own, interims).await {
            Ok(response) => FetchOutcome::Relayed { response, why: Some(why) },
            Err(failure) => FetchOutcome::Failed(LocalError::from(&failure)),
        }
    }

    /// Decides whether a response may be stored, makes room for it, and returns its variant.
    fn storable(
        &self,
        fetch: &OriginFetch,
        response: &UpstreamResponse,
        meta: &ResponseMeta,
    ) -> Result<Variant, NotStored> {
        let policy = &self.settings.policy;
        if let StoreDecision::No(why) = store(&fetch.request.meta, meta, policy) {
            return Err(why);
        }
        let bytes_max = self.shared.store.object_bytes_max() as u64;
        if response.content_length.is_some_and(|length| bytes_max < length) {
            return Err(NotStored::TooLarge);
        }
        let variant = Variant::of(&meta.vary, fetch.request.lines(), &policy.codings);
        let variant = variant.ok_or(NotStored::VariesByEverything)?;
        let length = response.content_length.unwrap_or(0);
        if !self.shared.store.make_room(fetch.request.key.as_str(), length) {
            return Err(NotStored::NoRoom);
        }
        Ok(variant)
    }

    /// Notes that a response was not stored: the next requests for it are not collapsed, and the stored response that
    /// it replaces is removed.
    pub(super) fn note_not_stored(&self, fetch: &OriginFetch, why: NotStored, status: u16) {
        let key = fetch.request.key.as_str();
        let now = wall();
        if fetch.stale.is_some() && status < 500 && why.is_persistent() {
            self.shared.store.purge(&Purge::Key(key.to_owned()), Removal::Delete, now);
        }
        if let Some(hit_for_miss) = hit_for_miss(why, now, &self.settings.policy) {
            self.shared.store.set_hit_for_miss(key, hit_for_miss);
        }
    }
}

/// Returns whether the origin may support ranges of this response: not of errors, and not if it says so.
fn may_have_parts(response: &UpstreamResponse) -> bool {
    let ranges = response.lines.get("accept-ranges").unwrap_or_default();
    response.status == 200 && !ranges.eq_ignore_ascii_case(b"none")
}

/// Announces the outcome of a flight, if there is one.
pub(super) fn settle(leader: Option<&Leader>, outcome: FlightOutcome) {
    if let Some(leader) = leader {
        leader.settle(outcome);
    }
}
