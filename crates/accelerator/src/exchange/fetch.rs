//! The origin asked for what may be stored.

use std::rc::Rc;
use std::sync::Arc;

use units::{Nanos, wall};

use super::errand::Errand;
use super::error_page::Fault;
use super::flight::{Lead, Outcome};
use super::flow::FlowReader;
use super::handle::Exchange;
use super::interims::Interims;
use super::outgoing::{Purpose, outgoing};
use crate::message::HeaderLines;
use crate::origin::{OriginFailure, OriginReply};
use crate::policy::{Failure, NotStored, Response, Store, Variant, hit_for_miss, store};
use crate::store::{Object, Purge, Removal, Since};

/// What asking the origin has brought.
#[derive(Debug)]
pub(super) enum Fetched {
    /// A response that is on its way into the store.
    Kept {
        /// Its body, for whoever asked.
        reader: FlowReader,
        /// Its lines, for whoever asked.
        lines: HeaderLines,
    },
    /// A response that is only for whoever asked.
    Relayed {
        /// The response.
        reply: OriginReply,
        /// Why it is not stored; `None` if nobody wanted to store it: the reply to a HEAD.
        why: Option<NotStored>,
    },
    /// A stored response is still good.
    Validated {
        /// The stored response, brought up to date.
        object: Arc<Object>,
        /// How long the origin took to say so.
        waited: Nanos,
    },
    /// An error with this status that a stale response may stand in for.
    Error(u16),
    /// No answer.
    Failed(Fault),
}

impl Exchange {
    /// Asks the origin, and starts to store what comes back if that is allowed.
    ///
    /// With `is_own` the request goes with its own conditions and ranges unless something stored is to be validated.
    /// A `lead` learns what comes of it, `interims` what comes before the reply.
    pub(super) async fn fetch(
        self: &Rc<Self>,
        errand: &Rc<Errand>,
        is_own: bool,
        lead: Option<Lead>,
        interims: &Interims,
    ) -> Fetched {
        let since = self.shared.store.since(errand.ask.key.as_str());
        let is_own = is_own && errand.against.is_empty();
        let purpose = if is_own { Purpose::Own } else { errand.filling() };
        let mut sent = self.send(errand, &purpose, interims).await;
        if let Ok(reply) = &sent
            && reply.status == 304
            && !is_own
        {
            if let Some(object) = self.freshened(errand, reply, since) {
                settle(lead.as_ref(), Outcome::Again);
                return Fetched::Validated { object, waited: reply.waited };
            }
            sent = self.send(errand, &Errand::filling_anew(), interims).await;
        }
        match sent {
            Ok(reply) if reply.status == 304 && !is_own => {
                self.failure(lead, Fault { status: 502, reason: "origin-not-modified" })
            }
            Ok(reply) => self.arrived(errand, reply, is_own, since, lead, interims).await,
            Err(failure) => self.failure(lead, Fault::from(&failure)),
        }
    }

    async fn send(
        &self,
        errand: &Errand,
        purpose: &Purpose,
        interims: &Interims,
    ) -> Result<OriginReply, OriginFailure> {
        self.origins.send(&outgoing(&errand.ask, purpose, &self.settings), interims.clone()).await
    }

    fn failure(&self, lead: Option<Lead>, fault: Fault) -> Fetched {
        // What is wrong with this one request says nothing about those of others.
        let is_own = fault.status < 500;
        settle(lead.as_ref(), if is_own { Outcome::Alone } else { Outcome::Failed(fault) });
        Fetched::Failed(fault)
    }

    /// Decides what becomes of a response that is not about a stored one.
    async fn arrived(
        self: &Rc<Self>,
        errand: &Rc<Errand>,
        reply: OriginReply,
        is_own: bool,
        since: Since,
        lead: Option<Lead>,
        interims: &Interims,
    ) -> Fetched {
        let policy = &self.settings.policy;
        let response =
            Response::read(reply.status, reply.lines.iter(), reply.times, policy).of(&errand.ask.key);
        let failure = Failure::Status(reply.status);
        if errand.stand_in(failure, wall(), policy).is_some() {
            settle(lead.as_ref(), Outcome::Error(reply.status));
            return Fetched::Error(reply.status);
        }
        if errand.ask.is_head() {
            self.note_head(errand, &reply, &response, since);
            return Fetched::Relayed { reply, why: None };
        }
        match self.storable(errand, &reply, &response) {
            Ok(variant) => self.keep(errand, reply, response, variant, since, lead),
            Err(why) => {
                self.remember_not_stored(errand, why, reply.status);
                let is_error = 500 <= reply.status;
                settle(lead.as_ref(), if is_error { Outcome::Error(reply.status) } else { Outcome::Alone });
                if !is_own && errand.ask.request.has_range && may_have_parts(&reply) {
                    // Its connection may serve for the part.
                    drop(reply);
                    return self.part(errand, why, interims).await;
                }
                Fetched::Relayed { reply, why: Some(why) }
            }
        }
    }

    /// Asks once more for just the part that is wanted: the whole was asked for to be kept, and is not for that.
    async fn part(&self, errand: &Errand, why: NotStored, interims: &Interims) -> Fetched {
        match self.send(errand, &Purpose::Own, interims).await {
            Ok(reply) => Fetched::Relayed { reply, why: Some(why) },
            Err(failure) => Fetched::Failed(Fault::from(&failure)),
        }
    }

    /// Decides whether a response may be stored, and returns as which variant.
    fn storable(
        &self,
        errand: &Errand,
        reply: &OriginReply,
        response: &Response,
    ) -> Result<Variant, NotStored> {
        let policy = &self.settings.policy;
        if let Store::No(why) = store(&errand.ask.request, response, policy) {
            return Err(why);
        }
        let bytes_max = self.shared.store.object_bytes_max() as u64;
        if reply.content_length.is_some_and(|length| bytes_max < length) {
            return Err(NotStored::TooLarge);
        }
        let variant = Variant::of(&response.vary, errand.ask.lines(), &policy.codings);
        variant.ok_or(NotStored::VariesByEverything)
    }

    /// Takes note that a response was not stored: the next requests for it wait for nobody, and what the origin has
    /// replaced by it is not served any more.
    pub(super) fn remember_not_stored(&self, errand: &Errand, why: NotStored, status: u16) {
        let (key, now) = (errand.ask.key.as_str(), wall());
        if errand.stale.is_some() && status < 500 && why.is_lasting() {
            self.shared.store.purge(&Purge::Key(key.to_owned()), Removal::Delete, now);
        }
        if let Some(mark) = hit_for_miss(why, now, &self.settings.policy) {
            self.shared.store.set_mark(key, mark);
        }
    }
}

/// Tells whether the origin may have parts of what it has answered with: not of errors, and not if it says so.
fn may_have_parts(reply: &OriginReply) -> bool {
    let ranges = reply.lines.get("accept-ranges").unwrap_or_default();
    reply.status == 200 && !ranges.eq_ignore_ascii_case(b"none")
}

/// Says what came of a flight, if there is one.
pub(super) fn settle(lead: Option<&Lead>, outcome: Outcome) {
    if let Some(lead) = lead {
        lead.settle(outcome);
    }
}
