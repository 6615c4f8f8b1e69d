//! The slow path: answers a request whose head is not remembered.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http1::{HeaderLines, RequestHead, RequestMethod};
use units::{Nanos, wall};

use super::body::IncomingBody;
use super::connection::{AfterResponse, Http1Connection};
use super::head::{expects_continue, has_body, notes, to_client_request, version, write_head, write_upgrade};
use super::send::OutgoingResponse;
use crate::exchange::{BodyStream, Response, ResponseBody};
use crate::frontend::peer::ClientStream;
use crate::frontend::service::Service;
use crate::message::{ClientVersion, ProxyReason, RequestHandling};
use crate::observation::LogEntry;

/// The properties of a request that decide how its response is framed.
#[derive(Debug, Clone, Copy)]
struct ResponseContext {
    version: ClientVersion,
    is_head: bool,
    keep_alive: bool,
}

/// The framing by which a client finds the end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyFraming {
    /// There is no body.
    NoBody,
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The end of the connection: the only way in HTTP/1.0 if the length is not known.
    Connection,
}

/// A request, for the access log.
struct LoggedRequest<'a> {
    bytes: &'a [u8],
    head: Option<&'a RequestHead>,
    began: Nanos,
}

impl<W: ClientStream> Http1Connection<W> {
    /// Answers the request whose head is the first `length` bytes of the input, and remembers the response if the very
    /// same head would be answered the same way.
    pub(super) async fn answer(&mut self, head: RequestHead, length: usize) -> io::Result<AfterResponse> {
        let rest = self.kept.split_off(length);
        let bytes = mem::replace(&mut self.kept, rest);
        let worker = Rc::clone(&self.worker);
        let limits = worker.limits();
        let request = LoggedRequest { bytes: &bytes, head: Some(&head), began: worker.now() };
        self.deadline.clear();
        self.requests_left = self.requests_left.saturating_sub(1);
        let expects_continue = match expects_continue(&bytes, &head, limits.body_bytes_max) {
            Ok(expects_continue) => expects_continue,
            Err((status, reason)) => return self.send_refusal(status, reason, &request).await,
        };
        let _in_flight = worker.track_request();
        let reloads = worker.reloads();
        self.outgoing = OutgoingResponse::new(&limits);
        let client_request = to_client_request(&bytes, &head, &self.peer);
        let mut body = IncomingBody::new(self, head.framing, version(&head), expects_continue);
        let mut response = worker.handle(client_request, &mut body).await;
        let is_broken = body.is_broken();
        let is_read = body.end();
        let keep_alive = head.keep_alive && is_read && !worker.is_draining() && self.requests_left != 0;
        let may_repeat = keep_alive == head.keep_alive && !has_body(&head) && worker.reloads() == reloads;
        if let Some(memo) = response.memo.take().filter(|_| may_repeat) {
            worker.memo.borrow_mut().remember(&bytes, notes(&head, &self.peer), memo);
        }
        let status = response.status;
        let handling = response.handling;
        let is_head = head.method == RequestMethod::Head;
        let context = ResponseContext { version: version(&head), is_head, keep_alive };
        let sent = if is_broken {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            self.send_response(response, context).await
        };
        self.note(&request, status, handling);
        let stays = sent?;
        self.await_head();
        Ok(if stays {
            AfterResponse::Next
        } else if head.keep_alive || !is_read {
            AfterResponse::Linger
        } else {
            AfterResponse::Close
        })
    }

    /// Refuses the input with an error page and ends the connection: the start of the next request is not known.
    pub(super) async fn refuse(&mut self, status: u16, reason: ProxyReason) -> io::Result<AfterResponse> {
        let bytes = mem::take(&mut self.kept);
        let request = LoggedRequest { bytes: &bytes, head: None, began: self.worker.now() };
        self.send_refusal(status, reason, &request).await
    }

    async fn send_refusal(
        &mut self,
        status: u16,
        reason: ProxyReason,
        request: &LoggedRequest<'_>,
    ) -> io::Result<AfterResponse> {
        let version = request.head.map_or(ClientVersion::Http11, version);
        let is_head = request.head.is_some_and(|head| head.method == RequestMethod::Head);
        self.outgoing = OutgoingResponse::new(&self.worker.limits());
        let page = self.worker.refuse(status, reason, is_head);
        let handling = page.handling;
        let sent = self.send_response(page, ResponseContext { version, is_head, keep_alive: false }).await;
        self.note(request, status, handling);
        sent.map(|_| AfterResponse::Linger)
    }

    /// Sends a response. Returns whether the connection can take another request.
    async fn send_response(&mut self, response: Response, context: ResponseContext) -> io::Result<bool> {
        let Response { status, mut lines, body, .. } = response;
        if let ResponseBody::Tunnel(tunnel) = body {
            let mut out = Vec::new();
            write_upgrade(&mut out, status, &lines);
            self.send(&out, &[]).await?;
            return self.tunnel(tunnel).await.map(|()| false);
        }
        let framing = body_framing(status, &mut lines, &body, context);
        let keep_alive = context.keep_alive && framing != BodyFraming::Connection;
        let mut out = Vec::with_capacity(lines.as_bytes().len() + 128);
        write_head(&mut out, status, &lines, context.version, keep_alive);
        if framing == BodyFraming::Chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        out.extend_from_slice(b"\r\n");
        match body {
            _ if framing == BodyFraming::NoBody => self.send(&out, &[]).await?,
            ResponseBody::Stream(stream) => self.send_stream(out, stream, framing).await?,
            ResponseBody::Pieces(pieces) => self.send_pieces(out, &pieces).await?,
            ResponseBody::Empty | ResponseBody::Tunnel(_) => self.send(&out, &[]).await?,
        }
        Ok(keep_alive)
    }

    async fn send_pieces(&mut self, mut out: Vec<u8>, pieces: &[Bytes]) -> io::Result<()> {
        for piece in pieces {
            self.send(&out, piece).await?;
            out.clear();
        }
        self.send(&out, &[]).await
    }

    /// Sends a body as it arrives. The head goes with its first piece if that has arrived, and by itself if not.
    ///
    /// A body that fails, or is not as long as announced, ends the connection without its end, so that the client
    /// notices.
    async fn send_stream(
        &mut self,
        mut out: Vec<u8>,
        mut stream: BodyStream,
        framing: BodyFraming,
    ) -> io::Result<()> {
        let mut bytes = 0;
        let mut line_end = &b""[..];
        loop {
            let piece = {
                let mut next = pin!(stream.next());
                let at_once = poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await;
                match at_once {
                    Poll::Ready(piece) => piece,
                    Poll::Pending => {
                        self.send(&out, &[]).await?;
                        out.clear();
                        next.await
                    }
                }
            };
            let Some(piece) = piece.map_err(io::Error::other)? else { break };
            bytes += piece.len() as u64;
            match framing {
                BodyFraming::Length(length) if length < bytes => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                BodyFraming::Chunked => {
                    out.extend_from_slice(line_end);
                    push_chunk_size(&mut out, piece.len());
                    line_end = b"\r\n";
                }
                _ => {}
            }
            self.send(&out, &piece).await?;
            out.clear();
        }
        match framing {
            BodyFraming::Length(length) if bytes < length => return Err(io::ErrorKind::UnexpectedEof.into()),
            BodyFraming::Chunked => {
                out.extend_from_slice(line_end);
                out.extend_from_slice(http1::LAST_CHUNK);
            }
            _ => {}
        }
        self.send(&out, &[]).await
    }

    /// Counts a response and logs it.
    fn note(&self, request: &LoggedRequest<'_>, status: u16, handling: RequestHandling) {
        self.worker.note(&handling, status, self.outgoing.bytes);
        if !self.worker.is_logged() {
            return;
        }
        let part = |range: Option<Range<usize>>| range.map_or(&b"-"[..], |range| &request.bytes[range]);
        let known = request.head;
        let line = |name| known.and_then(|_| http1::header(request.bytes, name));
        self.worker.log(&LogEntry {
            client: self.peer.client,
            time: wall(),
            method: part(known.map(|head| head.method_name.clone())),
            authority: known.and_then(|head| head.host.clone()).map_or(&[], |host| &request.bytes[host]),
            target: part(known.map(|head| head.target.clone())),
            version: known.map_or(ClientVersion::Http11, version),
            referer: line("referer"),
            user_agent: line("user-agent"),
            status,
            body_bytes: self.outgoing.body_bytes,
            duration: self.worker.now().saturating_sub(request.began),
            handling,
        });
    }
}

/// Chooses the framing of a body, and adds `Content-Length` if it is not there yet.
fn body_framing(
    status: u16,
    lines: &mut HeaderLines,
    body: &ResponseBody,
    context: ResponseContext,
) -> BodyFraming {
    if context.is_head || matches!(status, 100..=199 | 204 | 304) {
        return BodyFraming::NoBody;
    }
    if let Some(length) = lines.get("content-length").and_then(length_in) {
        return if length == 0 { BodyFraming::NoBody } else { BodyFraming::Length(length) };
    }
    let length = match body {
        ResponseBody::Stream(_) if context.version == ClientVersion::Http11 => return BodyFraming::Chunked,
        ResponseBody::Stream(_) => return BodyFraming::Connection,
        ResponseBody::Pieces(pieces) => pieces.iter().map(|piece| piece.len() as u64).sum(),
        ResponseBody::Empty | ResponseBody::Tunnel(_) => 0,
    };
    lines.push_number(b"Content-Length", length);
    if length == 0 { BodyFraming::NoBody } else { BodyFraming::Length(length) }
}

/// Reads a length that this program has checked.
fn length_in(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends the size line of a chunk.
fn push_chunk_size(out: &mut Vec<u8>, size: usize) {
    // Writing to memory does not fail.
    let _ = io::Write::write_fmt(out, format_args!("{size:x}\r\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(
        status: u16,
        length: Option<u64>,
        body: &ResponseBody,
        context: ResponseContext,
    ) -> (BodyFraming, String) {
        let mut lines = HeaderLines::new();
        if let Some(length) = length {
            lines.push_number(b"Content-Length", length);
        }
        let framing = body_framing(status, &mut lines, body, context);
        (framing, String::from_utf8(lines.as_bytes().to_vec()).unwrap())
    }

    const GET: ResponseContext =
        ResponseContext { version: ClientVersion::Http11, is_head: false, keep_alive: true };

    #[test]
    fn bodiless_responses_ignore_content_length() {
        let pieces = ResponseBody::Pieces(vec![Bytes::from_static(b"abc")]);
        assert_eq!(
            end(200, Some(3), &ResponseBody::Empty, ResponseContext { is_head: true, ..GET }).0,
            BodyFraming::NoBody
        );
        assert_eq!(end(304, None, &ResponseBody::Empty, GET), (BodyFraming::NoBody, String::new()));
        assert_eq!(end(204, None, &pieces, GET), (BodyFraming::NoBody, String::new()));
    }

    #[test]
    fn a_known_length_is_announced() {
        let pieces = ResponseBody::Pieces(vec![Bytes::from_static(b"abc"), Bytes::from_static(b"de")]);
        assert_eq!(
            end(200, None, &pieces, GET),
            (BodyFraming::Length(5), "Content-Length: 5\r\n".to_owned())
        );
        assert_eq!(
            end(200, Some(5), &pieces, GET),
            (BodyFraming::Length(5), "Content-Length: 5\r\n".to_owned())
        );
        assert_eq!(
            end(404, None, &ResponseBody::Empty, GET),
            (BodyFraming::NoBody, "Content-Length: 0\r\n".to_owned())
        );
    }
}
