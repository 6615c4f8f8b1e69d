//! Storing of a response while it arrives, and delivery to all requests that wait for it.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use cache_policy::{
    ByteRange, NotStored, Ranges, ResponseContent, ResponseMeta, StoredMeta, Variant, body_is_complete,
    content_range,
};
use cache_store::{RemovalSnapshot, StoredResponse, tags_of};
use http1::HeaderLines;
use tokio::task::spawn_local;
use units::wall;

use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::fetch::{FetchOutcome, settle};
use super::fill_memory::FillReservation;
use super::flight::{FlightOutcome, Leader};
use super::handle::Exchange;
use super::lines::{self, is_without_body, of_not_modified, of_range_refused, push_length};
use super::origin_fetch::OriginFetch;
use super::response::{Response, ResponseBody};
use super::stream::BodyStream;
use super::streaming::{StreamingReader, StreamingResponse};
use crate::message::BodyError;
use crate::origin::{OriginBody, UpstreamResponse};

/// A task that moves the body of a response from the origin to its readers and into the store.
#[derive(Debug)]
struct StoreFill {
    exchange: Rc<Exchange>,
    fetch: Rc<OriginFetch>,
    streaming: Arc<StreamingResponse>,
    since: RemovalSnapshot,
    leader: Option<Leader>,
    is_kept: bool,
}

impl Exchange {
    /// Starts to store a response, and lets all waiting requests read along.
    pub(super) fn start_fill(
        self: &Rc<Self>,
        fetch: &Rc<OriginFetch>,
        response: UpstreamResponse,
        meta: ResponseMeta,
        variant: Variant,
        since: RemovalSnapshot,
        leader: Option<Leader>,
    ) -> FetchOutcome {
        let settings = &self.settings;
        let lines = lines::forwarded(&response.lines, response.version, response.times.received, settings);
        let kept = lines::kept(&response.lines, &meta, response.version, settings);
        let length = response.content_length;
        let stored = StoredMeta::new(meta, variant, length.unwrap_or(0), &settings.policy);
        let reservation = FillReservation::new(self.shared.flights.filling());
        let (streaming, reader) =
            StreamingResponse::begin(kept, stored, length, response.waited, reservation);
        settle(leader.as_ref(), FlightOutcome::Streaming(Arc::clone(&streaming)));
        let fill = StoreFill {
            exchange: Rc::clone(self),
            fetch: Rc::clone(fetch),
            streaming,
            since,
            leader,
            is_kept: true,
        };
        spawn_local(fill.run(response.body));
        FetchOutcome::Storing { reader, lines }
    }

    /// Makes the response that gives a client its part of a response in progress.
    ///
    /// A single range is cut out as it passes; several ranges, or a range of unknown length, get the whole response,
    /// for which a client must be ready (RFC 9110 §14.2).
    pub(super) fn streaming_response(
        &self,
        request: &CacheRequest,
        reader: StreamingReader,
        mut lines: HeaderLines,
        content: &ResponseContent,
        cache_status: CacheStatus,
    ) -> Response {
        let streaming = Arc::clone(reader.streaming());
        let stored = &streaming.stored;
        let (status, body) = match (content, streaming.content_length) {
            (ResponseContent::NotModified(_), _) => {
                lines = of_not_modified(&lines);
                (304, ResponseBody::Empty)
            }
            (ResponseContent::Response(Ranges::One(range)), Some(length)) => {
                lines.push(b"Content-Range", content_range(Some(*range), length).as_bytes());
                (206, part(reader, *range, &mut lines))
            }
            (ResponseContent::Response(Ranges::Refused(_)), Some(length)) => {
                lines = of_range_refused(&lines);
                lines.push(b"Content-Range", content_range(None, length).as_bytes());
                lines.push_number(b"Content-Length", 0);
                (416, ResponseBody::Empty)
            }
            (ResponseContent::Response(_), length) => {
                let status = stored.response.status;
                (status, whole(reader, status, length, &mut lines))
            }
        };
        cache_status.write(&mut lines, Some((stored, wall())), &request.key, &self.settings);
        Response { status, lines, body, handling: cache_status.handling(), memo: None }
    }
}

fn part(reader: StreamingReader, range: ByteRange, lines: &mut HeaderLines) -> ResponseBody {
    let length = (range.last - range.first).saturating_add(1);
    lines.push_number(b"Content-Length", length);
    ResponseBody::Stream(BodyStream::of_streaming(reader.limited(range.first, length)))
}

/// Returns the whole body: at once if all of it has arrived, so that its length is known and it is sent in one go.
fn whole(
    mut reader: StreamingReader,
    status: u16,
    length: Option<u64>,
    lines: &mut HeaderLines,
) -> ResponseBody {
    if is_without_body(status) {
        return ResponseBody::Empty;
    }
    let Some(pieces) = reader.rest() else {
        push_length(lines, status, length);
        return ResponseBody::Stream(BodyStream::of_streaming(reader));
    };
    let length = pieces.iter().map(Bytes::len).sum::<usize>();
    push_length(lines, status, Some(length as u64));
    ResponseBody::Pieces(pieces)
}

impl StoreFill {
    async fn run(mut self, mut body: OriginBody) {
        let outcome = self.fill(&mut body).await;
        if outcome.is_ok() && self.is_kept {
            self.store();
        }
        // New requests find the store now, or lead a flight of their own.
        drop(self.leader.take());
        self.streaming.end(outcome);
    }

    /// Moves the body, piece by piece.
    async fn fill(&mut self, body: &mut OriginBody) -> Result<(), BodyError> {
        let mut received = 0_u64;
        while self.streaming.room().await {
            let Some(piece) = body.next().await? else {
                let is_complete = body_is_complete(self.streaming.content_length, received, true);
                return is_complete.map_err(|_| BodyError::Truncated);
            };
            received += piece.len() as u64;
            let has_memory = self.streaming.push(piece);
            self.check_room(received, has_memory);
        }
        // No reader is left and it is not stored.
        Err(BodyError::Truncated)
    }

    /// Stops storing a response that is too large, or for which there is no room: in the store, or, as `has_memory`
    /// says, together with all others in progress.
    fn check_room(&mut self, received: u64, has_memory: bool) {
        if !self.is_kept {
            return;
        }
        let store = &self.exchange.shared.store;
        if (store.object_bytes_max() as u64) < received {
            let status = self.streaming.stored.response.status;
            self.exchange.note_not_stored(&self.fetch, NotStored::TooLarge, status);
            self.discard();
        } else if !has_memory || !store.make_room(self.fetch.request.key.as_str(), received) {
            self.discard();
        }
    }

    fn discard(&mut self) {
        self.is_kept = false;
        drop(self.leader.take());
        self.streaming.discard();
    }

    fn store(&self) {
        let streaming = &self.streaming;
        let shared = &self.exchange.shared;
        let key = self.fetch.request.key.clone();
        let lines = streaming.lines.clone();
        let body = shared.store.pack(key.as_str(), &streaming.pieces());
        let mut stored = streaming.stored.clone();
        stored.body_bytes = body.len() as u64;
        let tags = tags_of(lines.iter());
        let object = Arc::new(StoredResponse::new(key, stored, lines, body, tags, streaming.origin_time));
        if shared.store.insert(&object, self.since, &self.exchange.settings.policy) {
            streaming.note_stored();
            streaming.share(&object.lend());
        } else {
            streaming.discard();
        }
    }
}

impl Drop for StoreFill {
    /// A task that is dropped midway, as its thread ends, must not leave readers waiting.
    fn drop(&mut self) {
        self.streaming.end_if_open(BodyError::Truncated);
    }
}
