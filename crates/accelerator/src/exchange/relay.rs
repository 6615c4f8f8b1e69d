//! Requests that are none for the cache, and replies that are for one client only.

use std::rc::Rc;

use units::wall;

use super::ask::Ask;
use super::error_page::Fault;
use super::handle::Exchange;
use super::lines::{self, is_without_body, push_length};
use super::outgoing::{Purpose, outgoing};
use super::stream::BodyStream;
use super::told::Told;
use crate::message::{HeaderLines, HitPath, Reply, ReplyBody, RequestBody};
use crate::origin::{OriginReply, OriginTunnel};
use crate::policy::{Forward, Invalidation, PassReason, invalidation};

/// The way to the origin after a 101: what the client sends is written to it, what is read from it goes to the client.
///
/// What came right after the head is read first.
pub type Tunnel = Box<OriginTunnel>;

/// Why a request is passed on untouched by the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passing {
    why: Forward,
    reason: &'static str,
}

impl Passing {
    /// The operator wants it so for this target.
    pub const BYPASS: Passing = Passing { why: Forward::Bypass, reason: "bypass" };
}

impl From<PassReason> for Passing {
    fn from(reason: PassReason) -> Passing {
        let why = if reason == PassReason::Method { Forward::Method } else { Forward::Bypass };
        Passing { why, reason: reason.name() }
    }
}

impl Exchange {
    /// Passes a request on with its body, and what comes back to its client.
    pub(super) async fn relay<B: RequestBody>(self: &Rc<Self>, ask: Ask, body: B, passing: Passing) -> Reply {
        if ask.is_loop(&self.settings.name) {
            return self.error(Fault { status: 508, reason: "loop" }, ask.is_head());
        }
        let request = outgoing(&ask, &Purpose::Pass, &self.settings);
        let sent = self.origins.send(&request, body).await;
        match sent {
            Ok(reply) => {
                self.invalidate(&ask, &reply);
                let told = Told::forwarded(passing.why, HitPath::Pass, passing.reason, Some(reply.waited));
                self.relayed(&ask, reply, told)
            }
            Err(failure) => self.error(Fault::from(&failure), ask.is_head()),
        }
    }

    /// Makes what is stored unusable without validation that an unsafe request may have changed.
    fn invalidate(&self, ask: &Ask, reply: &OriginReply) {
        let changed = invalidation(&ask.request, &ask.key, reply.status, reply.lines.iter());
        if let Invalidation::Keys(keys) = changed {
            let now = wall();
            for key in &keys {
                self.shared.store.invalidate(key.as_str(), now);
            }
        }
    }

    /// Makes the reply that gives one client what the origin has sent.
    pub(super) fn relayed(&self, ask: &Ask, reply: OriginReply, told: Told) -> Reply {
        let status = reply.status;
        let mut lines = lines::forwarded(&reply.lines, reply.version, reply.times.received, &self.settings);
        if status != 304 {
            push_length(&mut lines, status, reply.content_length);
        }
        told.write(&mut lines, None, &ask.key, &self.settings);
        let body = if status == 101 {
            tunnel(reply, &mut lines)
        } else if ask.is_head() || is_without_body(status) || reply.body.is_ended() {
            ReplyBody::Empty
        } else {
            ReplyBody::Stream(BodyStream::of_origin(reply.body))
        };
        Reply { status, lines, body, handling: told.handling(), memo: None }
    }
}

/// Turns a 101 into a tunnel, and says to what protocol: that line else ends here.
fn tunnel(reply: OriginReply, lines: &mut HeaderLines) -> ReplyBody {
    reply
        .lines
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(b"upgrade"))
        .for_each(|(name, value)| lines.push(name, value));
    match reply.body.into_tunnel() {
        Some(origin) => ReplyBody::Tunnel(Box::new(origin)),
        None => ReplyBody::Empty,
    }
}
