//! Requests that the store does not answer: alone, or together with others that want the same.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{spawn_local, yield_now};
use units::{Nanos, wall};

use super::ask::Ask;
use super::errand::Errand;
use super::error_page::Fault;
use super::fetch::Fetched;
use super::flight::{Boarding, Flight, Lead, Outcome};
use super::flow::Arriving;
use super::handle::Exchange;
use super::hit;
use super::interims::Interims;
use super::lines::stored_lines_with_age;
use super::told::Told;
use crate::message::{HitPath, Reply, RequestBody};
use crate::policy::{Answer, Failure, MissReason, Variant, answer, content};
use crate::store::Object;

/// How many flights a request follows: one, and another if the first has shown on which fields responses depend, so
/// that those who want the same variant find together.
const FLIGHTS_MAX: usize = 2;

/// What following a flight has come to.
#[derive(Debug)]
enum Followed {
    /// An answer.
    Served(Box<Reply>),
    /// A response that is for requests with other values in the fields it depends on; these are the request's own.
    OtherVariant(Variant),
    /// A response that does not suit this request, or none in time.
    Unsuitable,
    /// A response that is for the leader only.
    NothingToShare,
}

impl Followed {
    fn served(reply: Reply) -> Followed {
        Followed::Served(Box::new(reply))
    }
}

impl Exchange {
    /// Gets what the store does not have. `is_marked` if responses under the key have turned out not to be storable:
    /// then nobody waits for anybody. Meanwhile `client` gets the interim responses to what is asked for it.
    pub(super) async fn run<B: RequestBody>(
        self: &Rc<Self>,
        errand: Errand,
        is_marked: bool,
        mut client: B,
    ) -> Reply {
        let (interims, mut came) = Interims::channel();
        let mut getting = pin!(self.get(errand, is_marked, interims));
        let reply = loop {
            // A client that takes nothing any more will not take the reply either.
            tokio::select! {
                biased;
                Some(interim) = came.recv() => drop(client.send_interim(interim).await),
                reply = &mut getting => break reply,
            }
        };
        while let Ok(interim) = came.try_recv() {
            drop(client.send_interim(interim).await);
        }
        reply
    }

    async fn get(self: &Rc<Self>, errand: Errand, is_marked: bool, interims: Interims) -> Reply {
        if errand.ask.is_loop(&self.settings.name) {
            return self.error(Fault { status: 508, reason: "loop" }, errand.ask.is_head());
        }
        let errand = Rc::new(errand);
        if is_marked || !errand.is_shareable || !errand.ask.is_sociable(&self.settings) {
            return self.alone(&errand, true, &interims).await;
        }
        let mut variant = errand.variant.clone();
        for _ in 0..FLIGHTS_MAX {
            let flight = match self.board(&errand, variant.clone()) {
                Boarding::Lead(lead) => return self.lead(errand, lead, interims).await,
                Boarding::Follow(flight) => flight,
            };
            match self.follow(&errand, &flight).await {
                Followed::Served(reply) => return *reply,
                Followed::OtherVariant(own) => variant = own,
                Followed::Unsuitable => break,
                Followed::NothingToShare => return self.alone(&errand, true, &interims).await,
            }
        }
        self.alone(&errand, false, &interims).await
    }

    /// Brings a stale response up to date, unless somebody is at it already.
    pub(super) fn refresh(self: &Rc<Self>, ask: Ask, object: &Arc<Object>) {
        let errand = Rc::new(Errand::refresh(ask, Arc::clone(object)));
        if errand.ask.is_loop(&self.settings.name) {
            return;
        }
        let Boarding::Lead(lead) = self.board(&errand, errand.variant.clone()) else {
            return;
        };
        // Another refresh may have ended between the look into the store and boarding.
        let found = self.shared.store.lookup(errand.ask.key.as_str());
        if found.objects.iter().any(|one| Arc::ptr_eq(one, object)) {
            let exchange = Rc::clone(self);
            spawn_local(
                async move { exchange.fetch(&errand, false, Some(lead), &Interims::for_nobody()).await },
            );
        } else {
            lead.settle(Outcome::Again);
        }
    }

    fn board(&self, errand: &Errand, variant: Variant) -> Boarding {
        let key = errand.ask.key.as_str();
        self.shared.flights.board(key, variant, self.shared.store.since(key))
    }

    /// Asks for itself. `is_own` if with its own conditions and ranges, as the response is hardly one to be kept.
    async fn alone(self: &Rc<Self>, errand: &Rc<Errand>, is_own: bool, interims: &Interims) -> Reply {
        let fetched = self.fetch(errand, is_own, None, interims).await;
        if matches!(fetched, Fetched::Kept { .. }) {
            // What has come whole with its head is in the store before its reply begins, which then says so.
            yield_now().await;
        }
        self.reply(errand, fetched)
    }

    /// Asks for all that want the same, in a task that goes on if this client leaves.
    async fn lead(self: &Rc<Self>, errand: Rc<Errand>, lead: Lead, interims: Interims) -> Reply {
        // Another flight may have landed between the look into the store and boarding.
        if let Some(reply) = self.again(&errand) {
            lead.settle(Outcome::Again);
            return reply;
        }
        let (sender, receiver) = oneshot::channel();
        let (exchange, task_errand) = (Rc::clone(self), Rc::clone(&errand));
        spawn_local(async move {
            let fetched = exchange.fetch(&task_errand, false, Some(lead), &interims).await;
            // The client may be gone.
            let _ = sender.send(fetched);
        });
        match receiver.await {
            Ok(fetched) => self.reply(&errand, fetched),
            Err(_) => self.error(Fault { status: 502, reason: "abandoned" }, errand.ask.is_head()),
        }
    }

    /// Waits for what another gets, but not for ever.
    async fn follow(&self, errand: &Errand, flight: &Flight) -> Followed {
        let wait = Duration::from_nanos(self.settings.collapse_wait.0);
        let served = match tokio::time::timeout(wait, flight.outcome()).await {
            Err(_) => None,
            Ok(Outcome::Alone) => return Followed::NothingToShare,
            Ok(Outcome::Arriving(arriving)) => return self.join(errand, &arriving),
            Ok(Outcome::Again) => self.again(errand),
            Ok(Outcome::Error(status)) => self.stale_instead(errand, Failure::Status(status)),
            Ok(Outcome::Failed(fault)) => Some(self.failed(errand, fault)),
        };
        served.map_or(Followed::Unsuitable, Followed::served)
    }

    /// Looks into the store again; `None` if it still has no answer.
    fn again(&self, errand: &Errand) -> Option<Reply> {
        let (ask, now) = (&errand.ask, wall());
        let found = self.shared.store.lookup(ask.key.as_str());
        let Answer::Serve { index, content, .. } = self.decide(ask, &found.objects, now) else {
            return None;
        };
        let object = &found.objects[index];
        let told = collapsed(errand, object.origin_time);
        Some(hit::serve(ask, object, &content, told, now, &self.settings))
    }

    /// Reads along with a response on its way, if it suits the request and its beginning is still there.
    fn join(&self, errand: &Errand, arriving: &Arc<Arriving>) -> Followed {
        let (ask, now) = (&errand.ask, wall());
        let policy = &self.settings.policy;
        let content = match answer(&ask.request, ask.lines(), &[&arriving.stored], now, policy) {
            Answer::Serve { content, .. } => content,
            Answer::Miss(MissReason::VaryMiss) => {
                let own = Variant::of(&arriving.stored.response.vary, ask.lines(), &policy.codings);
                return own.map_or(Followed::Unsuitable, Followed::OtherVariant);
            }
            _ => return Followed::Unsuitable,
        };
        let Some(reader) = arriving.reader() else { return Followed::Unsuitable };
        let lines = stored_lines_with_age(&arriving.lines, &arriving.stored, now);
        let told = collapsed(errand, arriving.origin_time);
        Followed::served(self.flowing(ask, reader, lines, &content, told))
    }

    /// Returns what the client gets of what the origin has given.
    fn reply(&self, errand: &Errand, fetched: Fetched) -> Reply {
        let (ask, policy) = (&errand.ask, &self.settings.policy);
        match fetched {
            Fetched::Kept { reader, lines } => {
                let arriving = Arc::clone(reader.arriving());
                let content = content(&ask.request, ask.lines(), &arriving.stored, policy);
                let waited = Some(arriving.origin_time);
                let told = Told::forwarded(errand.why, HitPath::Miss, errand.reason, waited);
                let told = told.with_stored(arriving.is_stored());
                self.flowing(ask, reader, lines, &content, told)
            }
            Fetched::Validated { object, waited } => {
                let told = Told::forwarded(errand.why, HitPath::Revalidated, errand.reason, Some(waited));
                let content = content(&ask.request, ask.lines(), &object.stored, policy);
                hit::serve(ask, &object, &content, told.with_status(304), wall(), &self.settings)
            }
            Fetched::Relayed { reply, why } => {
                let (path, reason) = match why {
                    Some(why) => (HitPath::Pass, why.name()),
                    None => (HitPath::Miss, errand.reason),
                };
                let told = Told::forwarded(errand.why, path, reason, Some(reply.waited));
                self.relayed(ask, reply, told)
            }
            Fetched::Error(status) => {
                let fault = Fault { status, reason: "origin-error" };
                let reply = self.stale_instead(errand, Failure::Status(status));
                reply.unwrap_or_else(|| self.error(fault, ask.is_head()))
            }
            Fetched::Failed(fault) => self.failed(errand, fault),
        }
    }

    /// Returns what the client gets if the origin gave no answer.
    fn failed(&self, errand: &Errand, fault: Fault) -> Reply {
        let stale = self.stale_instead(errand, Failure::NoAnswer);
        stale.unwrap_or_else(|| self.error(fault, errand.ask.is_head()))
    }

    /// Returns a stale response in place of an error, if that is allowed.
    fn stale_instead(&self, errand: &Errand, failure: Failure) -> Option<Reply> {
        let (ask, now) = (&errand.ask, wall());
        let (object, why) = errand.stand_in(failure, now, &self.settings.policy)?;
        let told = Told::forwarded(errand.why, HitPath::Stale, why.name(), Some(object.origin_time));
        let told = match failure {
            Failure::Status(status) => told.with_status(status),
            Failure::NoAnswer => told,
        };
        let content = content(&ask.request, ask.lines(), &object.stored, &self.settings.policy);
        Some(hit::serve(ask, object, &content, told, now, &self.settings))
    }
}

/// Returns how it is told that a request got what another had asked for.
fn collapsed(errand: &Errand, saved: Nanos) -> Told {
    Told::forwarded(errand.why, HitPath::Collapsed, errand.reason, Some(saved)).with_collapsed()
}
