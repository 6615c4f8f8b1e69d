//! Answering a request that is not remembered: the long way.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http1::{Framing, RequestHead, RequestMethod};
use units::{Nanos, wall};

use super::body::IncomingBody;
use super::connection::{After, Connection};
use super::head::{Expectation, expectation, has_body, inbound, notes, version, write_head, write_upgrade};
use crate::exchange::BodyStream;
use crate::front::patience::Patience;
use crate::front::peer::Wire;
use crate::front::service::Service;
use crate::message::{ClientVersion, Handling, HeaderLines, Reply, ReplyBody};
use crate::operation::LogEntry;

/// What a reply has to fit.
#[derive(Debug, Clone, Copy)]
struct Fit {
    version: ClientVersion,
    is_head: bool,
    keep_alive: bool,
}

/// How the client learns where the body of a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is none.
    NoBody,
    /// By its length.
    Length(u64),
    /// By its last chunk.
    Chunked,
    /// By the end of the connection: HTTP/1.0 knows nothing else for a length that we do not know.
    Connection,
}

/// A request, for the log.
struct Asked<'a> {
    bytes: &'a [u8],
    head: Option<&'a RequestHead>,
    began: Nanos,
}

impl<W: Wire> Connection<W> {
    /// Answers the request whose head is the first `length` bytes of what is kept.
    pub(super) async fn answer(&mut self, head: RequestHead, length: usize) -> io::Result<After> {
        let rest = self.kept.split_off(length);
        let bytes = mem::replace(&mut self.kept, rest);
        let asked = Asked { bytes: &bytes, head: Some(&head), began: self.begin() };
        let expectation = expectation(&bytes, &head);
        if expectation == Expectation::Unknown {
            return self.send_refusal(417, "unknown-expectation", &asked).await;
        }
        let limits = self.worker.limits();
        if matches!(head.framing, Framing::Length(length) if limits.body_bytes_max < length) {
            return self.send_refusal(413, "body-too-large", &asked).await;
        }
        let worker = Rc::clone(&self.worker);
        let _engagement = worker.engage();
        let inbound = inbound(&bytes, &head, &self.peer);
        let mut body = IncomingBody::new(self, head.framing, version(&head), expectation);
        let exchange = worker.exchange();
        let mut reply = exchange.handle(inbound, &mut body).await;
        let is_broken = body.is_broken();
        let is_read = body.end();
        if is_broken {
            self.note(&asked, reply.status, reply.handling);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let keep_alive = head.keep_alive && is_read && !worker.is_draining() && self.requests_left != 0;
        let memo = reply.memo.take();
        let fit = Fit { version: version(&head), is_head: head.method == RequestMethod::Head, keep_alive };
        let (status, handling) = (reply.status, reply.handling);
        let sent = self.send_reply(reply, fit).await;
        self.note(&asked, status, handling);
        let stays = sent?;
        if let Some(memo) = memo.filter(|_| keep_alive == head.keep_alive && !has_body(&head)) {
            worker.remember(&exchange, &bytes, notes(&head, &self.peer), memo);
        }
        self.await_head();
        Ok(match stays {
            true => After::Next,
            false if head.keep_alive || !is_read => After::Linger,
            false => After::Close,
        })
    }

    /// Refuses what is kept; where the next request begins is not known, so this was the last.
    pub(super) async fn refuse(&mut self, status: u16, reason: &'static str) -> io::Result<After> {
        let bytes = mem::take(&mut self.kept);
        let asked = Asked { bytes: &bytes, head: None, began: self.begin() };
        self.send_refusal(status, reason, &asked).await
    }

    /// Counts a request and returns when it began.
    fn begin(&mut self) -> Nanos {
        let limits = self.worker.limits();
        self.requests_left = self.requests_left.saturating_sub(1);
        self.patience = Patience::new(limits.write_timeout, limits.rate_min);
        (self.bytes_out, self.body_out) = (0, 0);
        self.watch.unlimited();
        self.worker.now()
    }

    async fn send_refusal(
        &mut self,
        status: u16,
        reason: &'static str,
        asked: &Asked<'_>,
    ) -> io::Result<After> {
        let version = asked.head.map_or(ClientVersion::Http11, version);
        let is_head = asked.head.is_some_and(|head| head.method == RequestMethod::Head);
        let page = self.worker.refuse(status, reason, is_head);
        let handling = page.handling;
        let sent = self.send_reply(page, Fit { version, is_head, keep_alive: false }).await;
        self.note(asked, status, handling);
        sent.map(|_| After::Linger)
    }

    /// Sends a reply. Returns whether the connection can take another request.
    async fn send_reply(&mut self, reply: Reply, fit: Fit) -> io::Result<bool> {
        let Reply { status, mut lines, body, .. } = reply;
        if let ReplyBody::Tunnel(tunnel) = body {
            let mut out = Vec::new();
            write_upgrade(&mut out, status, &lines);
            self.send(&out, &[]).await?;
            return self.tunnel(tunnel).await.map(|()| false);
        }
        let end = end_of(status, &mut lines, &body, fit);
        let keep_alive = fit.keep_alive && end != End::Connection;
        let mut out = Vec::with_capacity(lines.as_bytes().len() + 128);
        write_head(&mut out, status, &lines, fit.version, keep_alive);
        if end == End::Chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        out.extend_from_slice(b"\r\n");
        match body {
            _ if end == End::NoBody => self.send(&out, &[]).await?,
            ReplyBody::Stream(stream) => self.send_stream(out, stream, end).await?,
            ReplyBody::Pieces(pieces) => self.send_pieces(out, &pieces).await?,
            ReplyBody::Empty | ReplyBody::Tunnel(_) => self.send(&out, &[]).await?,
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

    /// Sends a body as it comes. The head goes with its first piece if that is there already, and by itself if not.
    ///
    /// A body that fails, or is not as long as was said, ends the connection without its end: the client notices.
    async fn send_stream(&mut self, mut out: Vec<u8>, mut stream: BodyStream, end: End) -> io::Result<()> {
        let (mut bytes, mut line_end) = (0, &b""[..]);
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
            match end {
                End::Length(length) if length < bytes => return Err(io::ErrorKind::InvalidData.into()),
                End::Chunked => {
                    out.extend_from_slice(line_end);
                    push_chunk_size(&mut out, piece.len());
                    line_end = b"\r\n";
                }
                _ => {}
            }
            self.send(&out, &piece).await?;
            out.clear();
        }
        match end {
            End::Length(length) if bytes < length => return Err(io::ErrorKind::UnexpectedEof.into()),
            End::Chunked => {
                out.extend_from_slice(line_end);
                out.extend_from_slice(http1::LAST_CHUNK);
            }
            _ => {}
        }
        self.send(&out, &[]).await
    }

    /// Counts a reply, and logs it.
    fn note(&self, asked: &Asked<'_>, status: u16, handling: Handling) {
        self.worker.note(&handling, status, self.bytes_out);
        if !self.worker.is_logged() {
            return;
        }
        let part = |range: Option<Range<usize>>| range.map_or(&b"-"[..], |range| &asked.bytes[range]);
        let known = asked.head;
        let line = |name| known.and_then(|_| http1::header(asked.bytes, name));
        self.worker.log(&LogEntry {
            client: self.peer.client,
            time: wall(),
            method: part(known.map(|head| head.method_name.clone())),
            authority: known.and_then(|head| head.host.clone()).map_or(&[], |host| &asked.bytes[host]),
            target: part(known.map(|head| head.target.clone())),
            version: known.map_or(ClientVersion::Http11, version),
            referer: line("referer"),
            user_agent: line("user-agent"),
            status,
            body_bytes: self.body_out,
            duration: self.worker.now().saturating_sub(asked.began),
            handling,
        });
    }
}

/// Decides how the client learns where the body ends, and says so in the lines if a length is not there yet.
fn end_of(status: u16, lines: &mut HeaderLines, body: &ReplyBody, fit: Fit) -> End {
    if fit.is_head || matches!(status, 100..=199 | 204 | 304) {
        return End::NoBody;
    }
    if let Some(length) = lines.get("content-length").and_then(length_in) {
        return if length == 0 { End::NoBody } else { End::Length(length) };
    }
    let length = match body {
        ReplyBody::Stream(_) if fit.version == ClientVersion::Http11 => return End::Chunked,
        ReplyBody::Stream(_) => return End::Connection,
        ReplyBody::Pieces(pieces) => pieces.iter().map(|piece| piece.len() as u64).sum(),
        ReplyBody::Empty | ReplyBody::Tunnel(_) => 0,
    };
    lines.push_number(b"Content-Length", length);
    if length == 0 { End::NoBody } else { End::Length(length) }
}

/// Reads a length that this program has checked.
fn length_in(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends the line before a chunk's content.
fn push_chunk_size(out: &mut Vec<u8>, size: usize) {
    // Writing to memory does not fail.
    let _ = io::Write::write_fmt(out, format_args!("{size:x}\r\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: u16, length: Option<u64>, body: &ReplyBody, fit: Fit) -> (End, String) {
        let mut lines = HeaderLines::new();
        if let Some(length) = length {
            lines.push_number(b"Content-Length", length);
        }
        let end = end_of(status, &mut lines, body, fit);
        (end, String::from_utf8(lines.as_bytes().to_vec()).unwrap())
    }

    const GET: Fit = Fit { version: ClientVersion::Http11, is_head: false, keep_alive: true };

    #[test]
    fn what_has_no_body_gets_none_whatever_its_length_says() {
        let pieces = ReplyBody::Pieces(vec![Bytes::from_static(b"abc")]);
        assert_eq!(end(200, Some(3), &ReplyBody::Empty, Fit { is_head: true, ..GET }).0, End::NoBody);
        assert_eq!(end(304, None, &ReplyBody::Empty, GET), (End::NoBody, String::new()));
        assert_eq!(end(204, None, &pieces, GET), (End::NoBody, String::new()));
    }

    #[test]
    fn a_length_that_is_known_is_said() {
        let pieces = ReplyBody::Pieces(vec![Bytes::from_static(b"abc"), Bytes::from_static(b"de")]);
        assert_eq!(end(200, None, &pieces, GET), (End::Length(5), "Content-Length: 5\r\n".to_owned()));
        assert_eq!(end(200, Some(5), &pieces, GET), (End::Length(5), "Content-Length: 5\r\n".to_owned()));
        assert_eq!(end(404, None, &ReplyBody::Empty, GET), (End::NoBody, "Content-Length: 0\r\n".to_owned()));
    }
}
