//! Freshening of stored responses.

use std::sync::Arc;

use cache_policy::{
    FreshenedResponses, HeadUpdate, RequestMeta, ResponseMeta, StoreDecision, StoredMeta, Variant, freshen,
    head_update, merge, store,
};
use cache_store::{Purge, Removal, RemovalSnapshot, StoredResponse};
use http1::{HeaderLines, RequestMethod};
use units::wall;

use super::handle::Exchange;
use super::lines;
use super::origin_fetch::OriginFetch;
use crate::origin::UpstreamResponse;

/// A response that freshens stored responses.
struct Update<'a> {
    fetch: &'a OriginFetch,
    lines: HeaderLines,
    meta: &'a ResponseMeta,
    since: RemovalSnapshot,
}

impl Exchange {
    /// Freshens the stored responses that a 304 selects, and returns the one that answers the request; `None` if it
    /// selects none of those that were validated.
    pub(super) fn freshened(
        &self,
        fetch: &OriginFetch,
        response: &UpstreamResponse,
        since: RemovalSnapshot,
    ) -> Option<Arc<StoredResponse>> {
        let meta = ResponseMeta::read(304, response.lines.iter(), response.times, &self.settings.policy);
        let FreshenedResponses::Update(indices) = freshen(&fetch.stored(), &meta) else {
            return None;
        };
        let update = self.update_by(fetch, response, &meta, since);
        let mut answer = None;
        for old in indices.iter().filter_map(|&index| fetch.against.get(index)) {
            answer = Some(self.update(old, &update));
        }
        answer
    }

    /// Applies a response to HEAD to the stored response that matches the request.
    pub(super) fn note_head(
        &self,
        fetch: &OriginFetch,
        response: &UpstreamResponse,
        meta: &ResponseMeta,
        since: RemovalSnapshot,
    ) {
        let Some(old) = &fetch.stale else { return };
        match head_update(&old.stored, meta) {
            HeadUpdate::Update => {
                self.update(old, &self.update_by(fetch, response, meta, since));
            }
            HeadUpdate::Stale(_) => {
                let mut stored = old.stored.clone();
                stored.expire(wall());
                self.shared.store.replace(old, &Arc::new(old.updated(stored, old.lines.clone())), since);
            }
            HeadUpdate::Nothing => {}
        }
    }

    fn update_by<'a>(
        &self,
        fetch: &'a OriginFetch,
        response: &UpstreamResponse,
        meta: &'a ResponseMeta,
        since: RemovalSnapshot,
    ) -> Update<'a> {
        let lines =
            lines::forwarded(&response.lines, response.version, response.times.received, &self.settings);
        Update { fetch, lines, meta, since }
    }

    /// Returns a freshened copy of a stored response, and puts it in the place of the old one.
    ///
    /// If the update forbids storing, the stored response is removed; this one request still gets the copy.
    fn update(&self, old: &Arc<StoredResponse>, update: &Update) -> Arc<StoredResponse> {
        let policy = &self.settings.policy;
        let merged = merge(old.lines.iter(), update.lines.iter(), update.meta);
        let pairs = merged.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        let request = &update.fetch.request;
        let meta =
            ResponseMeta::read(old.status(), pairs.clone(), update.meta.times, policy).of(&request.key);
        let as_get = RequestMeta { method: RequestMethod::Get, ..request.meta };
        let storable = store(&as_get, &meta, policy);
        let own = Variant::of(&meta.vary, request.lines(), &policy.codings).unwrap_or_default();
        let is_as_before = meta.vary == old.stored.response.vary;
        let variant = if is_as_before { old.stored.variant.clone() } else { own.clone() };
        let stored = StoredMeta::new(meta, variant, old.stored.body_bytes, policy);
        let new = Arc::new(old.updated(stored, lines_of(pairs)));
        match storable {
            StoreDecision::Yes(_) => self.put(old, &new, own, update.since),
            StoreDecision::No(why) if why.is_persistent() => {
                let key = Purge::Key(new.key.as_str().to_owned());
                self.shared.store.purge(&key, Removal::Delete, wall());
            }
            StoreDecision::No(_) => {}
        }
        new
    }

    /// Replaces the old response by the freshened one; also stores it as the variant of the request that led to the
    /// update, if that is another one: the origin has said that it matches that too.
    fn put(
        &self,
        old: &Arc<StoredResponse>,
        new: &Arc<StoredResponse>,
        own: Variant,
        since: RemovalSnapshot,
    ) {
        self.shared.store.replace(old, new, since);
        if own != new.stored.variant {
            let stored = StoredMeta { variant: own, ..new.stored.clone() };
            let other = Arc::new(new.updated(stored, new.lines.clone()));
            self.shared.store.insert(&other, since, &self.settings.policy);
        }
    }
}

/// Collects lines for storing, without those that are written anew for every response.
fn lines_of<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> HeaderLines {
    let mut lines = HeaderLines::with_capacity(512);
    let is_anew =
        |name: &[u8]| [&b"age"[..], b"content-length"].iter().any(|one| one.eq_ignore_ascii_case(name));
    pairs.filter(|(name, _)| !is_anew(name)).for_each(|(name, value)| lines.push(name, value));
    lines
}
