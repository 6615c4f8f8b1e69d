//! A response on its way into the store, and to all that wait for it.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::spawn_local;
use units::wall;

use super::ask::Ask;
use super::errand::Errand;
use super::fetch::{Fetched, settle};
use super::flight::{Filling, Lead, Outcome};
use super::flow::{Arriving, FlowReader};
use super::handle::Exchange;
use super::lines::{self, is_without_body, of_not_modified, of_range_refused, push_length};
use super::stream::BodyStream;
use super::told::Told;
use crate::message::{BodyError, HeaderLines, Reply, ReplyBody};
use crate::origin::{OriginBody, OriginReply};
use crate::policy::{
    ByteRange, Content, NotStored, Ranges, Response, Stored, Variant, body_is_complete, content_range,
};
use crate::store::{Object, Since, tags_of};

/// Brings the body of a response from the origin to its readers and into the store.
#[derive(Debug)]
struct Keeper {
    exchange: Rc<Exchange>,
    errand: Rc<Errand>,
    arriving: Arc<Arriving>,
    since: Since,
    lead: Option<Lead>,
    filling: Filling,
    is_kept: bool,
}

impl Exchange {
    /// Starts to store a response, and to let all that wait for it read along.
    pub(super) fn keep(
        self: &Rc<Self>,
        errand: &Rc<Errand>,
        reply: OriginReply,
        response: Response,
        variant: Variant,
        since: Since,
        lead: Option<Lead>,
    ) -> Fetched {
        let settings = &self.settings;
        let lines = lines::forwarded(&reply.lines, reply.version, reply.times.received, settings);
        let kept = lines::kept(&reply.lines, &response, reply.version, settings);
        let length = reply.content_length;
        let stored = Stored::new(response, variant, length.unwrap_or(0), &settings.policy);
        let (arriving, reader) = Arriving::begin(kept, stored, length, reply.waited);
        settle(lead.as_ref(), Outcome::Arriving(Arc::clone(&arriving)));
        let keeper = Keeper {
            exchange: Rc::clone(self),
            errand: Rc::clone(errand),
            arriving,
            since,
            lead,
            filling: Filling::new(&self.shared.flights),
            is_kept: true,
        };
        spawn_local(keeper.run(reply.body));
        Fetched::Kept { reader, lines }
    }

    /// Makes the reply that gives a client what it gets of a response on its way.
    ///
    /// One part is cut out as it passes; several are not, and none if the length is not known: the client gets the whole
    /// then, as it must be ready for (RFC 9110 §14.2).
    pub(super) fn flowing(
        &self,
        ask: &Ask,
        reader: FlowReader,
        mut lines: HeaderLines,
        content: &Content,
        told: Told,
    ) -> Reply {
        let arriving = Arc::clone(reader.arriving());
        let stored = &arriving.stored;
        let (status, body) = match (content, arriving.content_length) {
            (Content::NotModified(_), _) => {
                lines = of_not_modified(&lines);
                (304, ReplyBody::Empty)
            }
            (Content::Response(Ranges::One(range)), Some(length)) => {
                lines.push(b"Content-Range", content_range(Some(*range), length).as_bytes());
                (206, part(reader, *range, &mut lines))
            }
            (Content::Response(Ranges::Refused(_)), Some(length)) => {
                lines = of_range_refused(&lines);
                lines.push(b"Content-Range", content_range(None, length).as_bytes());
                lines.push_number(b"Content-Length", 0);
                (416, ReplyBody::Empty)
            }
            (Content::Response(_), length) => {
                let status = stored.response.status;
                (status, whole(reader, status, length, &mut lines))
            }
        };
        told.write(&mut lines, Some((stored, wall())), &ask.key, &self.settings);
        Reply { status, lines, body, handling: told.handling(), memo: None }
    }
}

fn part(reader: FlowReader, range: ByteRange, lines: &mut HeaderLines) -> ReplyBody {
    let length = (range.last - range.first).saturating_add(1);
    lines.push_number(b"Content-Length", length);
    ReplyBody::Stream(BodyStream::of_flow(reader.limited(range.first, length)))
}

/// Returns the whole body: at once if it is all there, so that its length is known and it leaves in one go.
fn whole(mut reader: FlowReader, status: u16, length: Option<u64>, lines: &mut HeaderLines) -> ReplyBody {
    if is_without_body(status) {
        return ReplyBody::Empty;
    }
    let Some(pieces) = reader.rest() else {
        push_length(lines, status, length);
        return ReplyBody::Stream(BodyStream::of_flow(reader));
    };
    let length = pieces.iter().map(Bytes::len).sum::<usize>();
    push_length(lines, status, Some(length as u64));
    ReplyBody::Pieces(pieces)
}

impl Keeper {
    async fn run(mut self, mut body: OriginBody) {
        let outcome = self.fill(&mut body).await;
        if outcome.is_ok() && self.is_kept {
            self.store();
        }
        // New requests find the store now, or lead a flight of their own.
        drop(self.lead.take());
        self.arriving.end(outcome);
    }

    /// Passes the body on, piece by piece.
    async fn fill(&mut self, body: &mut OriginBody) -> Result<(), BodyError> {
        let mut received = 0_u64;
        while self.arriving.room().await {
            let Some(piece) = body.next().await? else {
                let is_complete = body_is_complete(self.arriving.content_length, received, true);
                return is_complete.map_err(|_| BodyError::Truncated);
            };
            received += piece.len() as u64;
            self.check_room(received, piece.len() as u64);
            self.arriving.push(piece);
        }
        // Nobody reads it and nobody keeps it.
        Err(BodyError::Truncated)
    }

    /// Gives up keeping what is too large, or too much together with all else that arrives.
    fn check_room(&mut self, received: u64, added: u64) {
        if !self.is_kept {
            return;
        }
        let store = &self.exchange.shared.store;
        if (store.object_bytes_max() as u64) < received {
            let status = self.arriving.stored.response.status;
            self.exchange.remember_not_stored(&self.errand, NotStored::TooLarge, status);
            self.let_go();
        } else if !self.filling.take(added) {
            self.let_go();
        }
    }

    fn let_go(&mut self) {
        self.is_kept = false;
        self.filling.give_back();
        drop(self.lead.take());
        self.arriving.let_go();
    }

    fn store(&self) {
        let (arriving, shared) = (&self.arriving, &self.exchange.shared);
        let body = shared.store.pack(&arriving.pieces());
        let mut stored = arriving.stored.clone();
        stored.body_bytes = body.len() as u64;
        let tags = tags_of(arriving.lines.iter());
        let (key, lines) = (self.errand.ask.key.clone(), arriving.lines.clone());
        let object = Arc::new(Object::new(key, stored, lines, body.clone(), tags, arriving.origin_time));
        if shared.store.insert(&object, self.since, &self.exchange.settings.policy) {
            arriving.note_stored();
            arriving.share(&body);
        }
    }
}

impl Drop for Keeper {
    /// A task that is dropped midway, as its thread ends, leaves nobody waiting.
    fn drop(&mut self) {
        self.arriving.end_if_open(BodyError::Truncated);
    }
}
