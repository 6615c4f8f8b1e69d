//! Requests, decided one by one.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use units::{WallTime, wall};

use super::ask::Ask;
use super::errand::Errand;
use super::error_page::{ALLOWED, Fault, error_page};
use super::flight::Flights;
use super::hit::{Hit, serve};
use super::memo::Memo;
use super::relay::Passing;
use super::settings::ExchangeSettings;
use crate::message::{Handling, HeaderLines, HitPath, Inbound, Reply, ReplyBody, RequestBody};
use crate::origin::Origins;
use crate::policy::{Answer, Reuse, StaleReason, Stored, answer, write_date};
use crate::store::{EpochSeen, Found, Object, Store};

/// What all threads share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// What is stored.
    pub store: Arc<Store>,
    /// What is being asked for.
    pub flights: Arc<Flights>,
}

/// Answers requests on one thread: within a `LocalSet` or a local runtime of tokio, as it starts tasks of its own.
pub struct Exchange {
    pub(super) shared: Shared,
    pub(super) settings: Arc<ExchangeSettings>,
    pub(super) origins: Origins,
}

impl Exchange {
    /// Makes the exchange of the calling thread. New settings want a new one; both share what is stored.
    pub fn new(shared: Shared, settings: Arc<ExchangeSettings>, origins: Origins) -> Rc<Exchange> {
        Rc::new(Exchange { shared, settings, origins })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ExchangeSettings {
        &self.settings
    }

    /// Returns what all threads share.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the stored response that a front remembers if it still answers the request, and notes that it did.
    ///
    /// No lock, no allocation.
    #[inline]
    pub fn recall(&self, memo: &Memo, now: WallTime) -> Option<Arc<Object>> {
        let object = memo.object(now)?;
        object.note_hit();
        Some(object)
    }

    /// Answers a request; `body` also takes the interim responses that the origin sends before its reply to it.
    ///
    /// May be dropped while it waits, which says that the client is gone. What others wait for goes on without it.
    pub async fn handle<B: RequestBody>(self: &Rc<Self>, inbound: Inbound, body: B) -> Reply {
        let is_head = inbound.method_name == b"HEAD";
        let ask = match Ask::read(inbound, &self.settings) {
            Ok(ask) => ask,
            Err(fault) => return self.error(fault, is_head),
        };
        if ask.forwards_left() == Some(0) {
            return options(wall());
        }
        if self.is_bypassed(&ask) {
            return Box::pin(self.relay(ask, body, Passing::BYPASS)).await;
        }
        let mut found = self.shared.store.lookup(ask.key.as_str());
        let mut path = HitPath::Memory;
        if self.is_worth_a_look_on_disk(&ask, &found) {
            found = Box::pin(self.look_on_disk(&ask, found)).await;
            path = HitPath::Disk;
        }
        let now = wall();
        match self.decide(&ask, &found.objects, now) {
            Answer::Serve { index, how, content } => {
                let object = found.objects.swap_remove(index);
                self.hit(ask, Hit { object, how, content, path }, found.epoch, now)
            }
            Answer::Pass(why) => Box::pin(self.relay(ask, body, why.into())).await,
            Answer::Miss(why) => {
                let is_marked = found.mark.is_some_and(|mark| mark.is_valid(now));
                let errand = Errand::miss(ask, why, found.objects, &self.settings.policy);
                Box::pin(self.run(errand, is_marked, body)).await
            }
            Answer::Validate { index, why } => {
                let errand = Errand::validation(ask, why, found.objects.swap_remove(index));
                Box::pin(self.run(errand, false, body)).await
            }
            Answer::OnlyIfCached => self.error(Fault { status: 504, reason: "only-if-cached" }, is_head),
        }
    }

    /// Decides what becomes of a request.
    pub(super) fn decide(&self, ask: &Ask, objects: &[Arc<Object>], now: WallTime) -> Answer {
        let stored: Vec<&Stored> = objects.iter().map(|object| &object.stored).collect();
        answer(&ask.request, ask.lines(), &stored, now, &self.settings.policy)
    }

    /// Makes the reply to a request that fails or is refused here.
    pub(super) fn error(&self, fault: Fault, is_head: bool) -> Reply {
        error_page(fault.status, fault.reason, is_head, &self.settings, wall())
    }

    fn is_bypassed(&self, ask: &Ask) -> bool {
        self.settings.bypass.iter().any(|pattern| pattern.matches(ask.target()))
    }

    fn is_worth_a_look_on_disk(&self, ask: &Ask, found: &Found) -> bool {
        found.objects.is_empty()
            && ask.request.is_retrieval()
            && self.shared.store.is_on_disk(ask.key.as_str())
    }

    /// Returns what the disk has, which is in memory then, unless that has no room for it.
    async fn look_on_disk(&self, ask: &Ask, before: Found) -> Found {
        let objects = self.shared.store.fetch(&ask.key, &self.settings.policy).await;
        if objects.is_empty() {
            return before;
        }
        let found = self.shared.store.lookup(ask.key.as_str());
        if found.objects.is_empty() { Found { objects, ..found } } else { found }
    }

    fn hit(self: &Rc<Self>, ask: Ask, hit: Hit, epoch: EpochSeen, now: WallTime) -> Reply {
        let mut reply = serve(&ask, &hit.object, &hit.content, hit.told(), now, &self.settings);
        reply.memo = hit.memorable(&ask).map(|kind| Memo::new(&hit.object, epoch, now, kind));
        if matches!(hit.how, Reuse::Stale { why: StaleReason::WhileRevalidating, .. }) {
            self.refresh(ask, &hit.object);
        }
        reply
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exchange").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Answers an OPTIONS that goes no further (RFC 9110 §7.6.2, §9.3.7).
fn options(now: WallTime) -> Reply {
    let mut lines = HeaderLines::new();
    lines.push(b"Date", write_date(now).as_bytes());
    lines.push(b"Allow", ALLOWED);
    lines.push_number(b"Content-Length", 0);
    let handling = Handling { path: HitPath::Pass, reason: "max-forwards", origin_time: None };
    Reply { status: 200, lines, body: ReplyBody::Empty, handling, memo: None }
}
