//! The handling of a request, from the client's head to the decision.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use cache_policy::{CacheDecision, ReuseDecision, StaleReason, decide, write_date};
use cache_store::{Lookup, Store, StoredResponse};
use http1::HeaderLines;
use units::{WallTime, wall};

use super::bypass::BypassReason;
use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::error_page::{ALLOWED, LocalError, error_page};
use super::flight::Flights;
use super::hit::Hit;
use super::memo::Memo;
use super::origin_fetch::OriginFetch;
use super::response::{Response, ResponseBody};
use super::settings::ExchangeSettings;
use crate::message::{ClientRequest, ProxyReason, RequestBody, RequestHandling, ResponsePath};
use crate::origin::OriginClient;

/// The state that the exchanges of all threads share.
#[derive(Debug, Clone)]
pub struct SharedCache {
    /// The store.
    pub store: Arc<Store>,
    /// The fetches in progress.
    pub flights: Arc<Flights>,
}

/// The request handler of one thread: within a `LocalSet` or a local runtime of tokio, because it spawns local tasks.
pub struct Exchange {
    pub(super) shared: SharedCache,
    pub(super) settings: Arc<ExchangeSettings>,
    pub(super) origin: OriginClient,
}

impl Exchange {
    /// Makes the exchange of the calling thread. New settings need a new exchange; both share the store.
    pub fn new(shared: SharedCache, settings: Arc<ExchangeSettings>, origin: OriginClient) -> Rc<Exchange> {
        Rc::new(Exchange { shared, settings, origin })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ExchangeSettings {
        &self.settings
    }

    /// Returns the shared state.
    pub fn shared(&self) -> &SharedCache {
        &self.shared
    }

    /// Returns the stored response of a memo if it still answers the request, and counts a hit.
    ///
    /// Takes no lock and allocates nothing.
    #[inline]
    pub fn recall(&self, memo: &Memo, now: WallTime) -> Option<Arc<StoredResponse>> {
        let object = memo.object(now)?;
        object.note_hit();
        Some(object)
    }

    /// Answers a request; `body` also takes the interim responses that the origin sends before the final one.
    ///
    /// Dropping the future means that the client is gone. A fetch that others wait for goes on without it.
    pub async fn handle<B: RequestBody>(self: &Rc<Self>, client_request: ClientRequest, body: B) -> Response {
        let is_head = client_request.method_name == b"HEAD";
        let request = match CacheRequest::read(client_request, &self.settings) {
            Ok(request) => request,
            Err(error) => return self.error(error, is_head),
        };
        if request.max_forwards() == Some(0) {
            return options(wall());
        }
        if self.is_bypassed(&request) {
            return Box::pin(self.relay(request, body, BypassReason::OPERATOR)).await;
        }
        let mut found = self.shared.store.lookup(request.key.as_str());
        let mut path = ResponsePath::Memory;
        if self.should_look_on_disk(&request, &found) {
            found = Box::pin(self.look_on_disk(&request, found)).await;
            path = ResponsePath::Disk;
        }
        let now = wall();
        match decide(&request.meta, request.lines(), found.stored(), now, &self.settings.policy) {
            CacheDecision::Serve { index, how, content } => {
                let object = found.objects.swap_remove(index);
                let hit = Hit { request: &request, object: &object, content: &content };
                let mut response = hit.serve(CacheStatus::of_hit(path, how, &object), now, &self.settings);
                response.memo = hit.memo(how, found.epoch, now);
                if matches!(how, ReuseDecision::Stale { why: StaleReason::WhileRevalidating, .. }) {
                    self.refresh(request, &object);
                }
                response
            }
            CacheDecision::Pass(why) => Box::pin(self.relay(request, body, why.into())).await,
            CacheDecision::Miss(why) => {
                let is_hit_for_miss =
                    found.hit_for_miss.is_some_and(|hit_for_miss| hit_for_miss.is_valid(now));
                let fetch = OriginFetch::miss(request, why, found.objects, &self.settings.policy);
                Box::pin(self.fetch_missing(fetch, is_hit_for_miss, body)).await
            }
            CacheDecision::Validate { index, why } => {
                let fetch = OriginFetch::validation(request, why, found.objects.swap_remove(index));
                Box::pin(self.fetch_missing(fetch, false, body)).await
            }
            CacheDecision::OnlyIfCached => {
                self.error(LocalError::new(504, ProxyReason::OnlyIfCached), is_head)
            }
        }
    }

    /// Replaces a response by an error page if its body has failed before any of it was sent.
    pub(super) async fn unless_failed(&self, mut response: Response) -> Response {
        let ResponseBody::Stream(stream) = &mut response.body else { return response };
        match stream.failure_at_start().await {
            Some(error) => self.error(LocalError::from(&error), false),
            None => response,
        }
    }

    /// Makes the response to a request that fails or is refused here.
    pub(super) fn error(&self, error: LocalError, is_head: bool) -> Response {
        error_page(error.status, error.reason, is_head, &self.settings, wall())
    }

    fn is_bypassed(&self, request: &CacheRequest) -> bool {
        self.settings.bypass.iter().any(|pattern| pattern.matches(request.target()))
    }

    fn should_look_on_disk(&self, request: &CacheRequest, found: &Lookup) -> bool {
        found.objects.is_empty()
            && request.meta.is_retrieval()
            && self.shared.store.is_on_disk(request.key.as_str())
    }

    /// Returns what the disk tier has; it is in memory afterwards, unless there is no room for it.
    async fn look_on_disk(&self, request: &CacheRequest, before: Lookup) -> Lookup {
        let objects = self.shared.store.fetch(&request.key, &self.settings.policy).await;
        if objects.is_empty() {
            return before;
        }
        let found = self.shared.store.lookup(request.key.as_str());
        if found.objects.is_empty() { Lookup { objects, ..found } } else { found }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exchange").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Answers an OPTIONS request that is not forwarded (RFC 9110 §7.6.2, §9.3.7).
fn options(now: WallTime) -> Response {
    let mut lines = HeaderLines::new();
    lines.push(b"Date", write_date(now).as_bytes());
    lines.push(b"Allow", ALLOWED);
    lines.push_number(b"Content-Length", 0);
    let handling = RequestHandling {
        path: ResponsePath::Pass,
        reason: ProxyReason::MaxForwards.into(),
        origin_time: None,
    };
    Response { status: 200, lines, body: ResponseBody::Empty, handling, memo: None }
}
