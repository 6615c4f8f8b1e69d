//! Stored responses brought up to date.

use std::sync::Arc;

use http1::RequestMethod;
use units::wall;

use super::errand::Errand;
use super::handle::Exchange;
use super::lines;
use crate::message::HeaderLines;
use crate::origin::OriginReply;
use crate::policy::{
    Freshened, HeadUpdate, Request, Response, Store, Stored, Variant, freshen, head_update, merge, store,
};
use crate::store::{Object, Purge, Removal, Since};

/// A reply that brings stored responses up to date.
struct Update<'a> {
    errand: &'a Errand,
    lines: HeaderLines,
    response: &'a Response,
    since: Since,
}

impl Exchange {
    /// Brings up to date what a 304 is about, and returns what answers the request; `None` if it is about nothing that
    /// was asked about.
    pub(super) fn freshened(
        &self,
        errand: &Errand,
        reply: &OriginReply,
        since: Since,
    ) -> Option<Arc<Object>> {
        let response = Response::read(304, reply.lines.iter(), reply.times, &self.settings.policy);
        let Freshened::Update(indices) = freshen(&errand.stored(), &response) else {
            return None;
        };
        let update = self.update_by(errand, reply, &response, since);
        let mut answer = None;
        for old in indices.iter().filter_map(|&index| errand.against.get(index)) {
            answer = Some(self.update(old, &update));
        }
        answer
    }

    /// Takes note of what a reply to HEAD says about the stored response that suits the request.
    pub(super) fn note_head(&self, errand: &Errand, reply: &OriginReply, response: &Response, since: Since) {
        let Some(old) = &errand.stale else { return };
        match head_update(&old.stored, response) {
            HeadUpdate::Update => {
                self.update(old, &self.update_by(errand, reply, response, since));
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
        errand: &'a Errand,
        reply: &OriginReply,
        response: &'a Response,
        since: Since,
    ) -> Update<'a> {
        let lines = lines::forwarded(&reply.lines, reply.version, reply.times.received, &self.settings);
        Update { errand, lines, response, since }
    }

    /// Returns a stored response as an update makes it, and puts it in the place of the old one.
    ///
    /// If the update says that it is not to be stored, it is thrown out; this one request still gets it.
    fn update(&self, old: &Arc<Object>, update: &Update) -> Arc<Object> {
        let policy = &self.settings.policy;
        let merged = merge(old.lines.iter(), update.lines.iter(), update.response);
        let pairs = merged.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        let ask = &update.errand.ask;
        let response =
            Response::read(old.status(), pairs.clone(), update.response.times, policy).of(&ask.key);
        let request = Request { method: RequestMethod::Get, ..ask.request };
        let storable = store(&request, &response, policy);
        let own = Variant::of(&response.vary, ask.lines(), &policy.codings).unwrap_or_default();
        let is_as_before = response.vary == old.stored.response.vary;
        let variant = if is_as_before { old.stored.variant.clone() } else { own.clone() };
        let stored = Stored::new(response, variant, old.stored.body_bytes, policy);
        let new = Arc::new(old.updated(stored, lines_of(pairs)));
        match storable {
            Store::Yes(_) => self.put(old, &new, own, update.since),
            Store::No(why) if why.is_lasting() => {
                let key = Purge::Key(new.key.as_str().to_owned());
                self.shared.store.purge(&key, Removal::Delete, wall());
            }
            Store::No(_) => {}
        }
        new
    }

    /// Puts an updated response in the place of the old one; beside it also as the variant of the request that has
    /// brought the update, if that is another: the origin has said that it suits that too.
    fn put(&self, old: &Arc<Object>, new: &Arc<Object>, own: Variant, since: Since) {
        self.shared.store.replace(old, new, since);
        if own != new.stored.variant {
            let stored = Stored { variant: own, ..new.stored.clone() };
            let other = Arc::new(new.updated(stored, new.lines.clone()));
            self.shared.store.insert(&other, since, &self.settings.policy);
        }
    }
}

/// Collects lines as they are stored: without those that every reply gets anew.
fn lines_of<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> HeaderLines {
    let mut lines = HeaderLines::with_capacity(512);
    let is_anew =
        |name: &[u8]| [&b"age"[..], b"content-length"].iter().any(|one| one.eq_ignore_ascii_case(name));
    pairs.filter(|(name, _)| !is_anew(name)).for_each(|(name, value)| lines.push(name, value));
    lines
}
