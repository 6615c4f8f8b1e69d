//! A request on its way, and the beginning of its reply.
//!
//! | while sending | then |
//! |---|---|
//! | the body of the request is complete | the head of the reply is waited for, within the time limit |
//! | a refusal (400 and above) comes | no more is sent; the connection is closed after the reply |
//! | another reply comes | the rest is sent first, nothing more is read until then |
//! | an interim reply (1xx) comes | it is kept until all is sent, as the client is just being read |
//! | the server takes no more | what it may have said before is waited for, a moment |
//! | the server closes without a word | the request has failed, which says little about the server |
//! | the client's body breaks off | the request has failed |

use std::pin::pin;

use bytes::BytesMut;
use http1::{LAST_CHUNK, RequestMethod, write_chunk};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use units::Nanos;

use super::deadline::within;
use super::failure::OriginFailure;
use super::head::{Head, Heads, Heard};
use super::outgoing::Outgoing;
use super::settings::OriginSettings;
use crate::message::{BodyError, RequestBody};

/// How long the reply is waited for of a server that has stopped to read the request.
const LAST_WORD: Nanos = Nanos::from_secs(1);

/// A request, ready to be sent.
#[derive(Debug)]
pub(super) struct Question {
    /// Its head as it goes over the wire.
    head: Vec<u8>,
    method: RequestMethod,
    /// How its body is framed, if there is one that is not empty.
    body: Option<BodyLength>,
    allows_upgrade: bool,
}

#[derive(Debug, Clone, Copy)]
enum BodyLength {
    Known(u64),
    Chunked,
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) first_byte: Nanos,
    pub(super) between_bytes: Nanos,
}

/// What came of a question.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: Head,
    /// Whether all of the request was sent; the connection is of no use for others if not.
    pub(super) is_sent: bool,
}

impl Question {
    /// Makes the question for the server that is known as `host`.
    ///
    /// # Errors
    /// [`OriginFailure::Unsendable`], see [`Outgoing::head`].
    pub(super) fn new(request: &Outgoing, host: &[u8]) -> Result<Question, OriginFailure> {
        let body = match request.content_length {
            _ if !request.has_body => None,
            Some(0) => None,
            Some(length) => Some(BodyLength::Known(length)),
            None => Some(BodyLength::Chunked),
        };
        let (method, allows_upgrade) = (request.method(), request.upgrade.is_some());
        Ok(Question { head: request.head(host)?, method, body, allows_upgrade })
    }
}

impl From<&OriginSettings> for Limits {
    fn from(settings: &OriginSettings) -> Limits {
        Limits { first_byte: settings.first_byte_timeout, between_bytes: settings.between_bytes_timeout }
    }
}

/// Sends a request and waits for the head of its reply. What comes after that stays in the buffer.
pub(super) async fn ask<S, B>(
    stream: &mut S,
    buffer: &mut BytesMut,
    question: &Question,
    body: &mut B,
    limits: Limits,
) -> Result<Answer, OriginFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    B: RequestBody,
{
    let answer = match question.body {
        None => ask_briefly(stream, buffer, question, body, limits).await?,
        Some(length) => ask_at_length(stream, buffer, question, length, body, limits).await?,
    };
    if answer.head.head.status == 101 && !question.allows_upgrade {
        return Err(OriginFailure::UnwantedUpgrade);
    }
    Ok(answer)
}

/// Asks without a body; `client` gets what comes before the reply.
async fn ask_briefly<S: AsyncRead + AsyncWrite + Unpin, B: RequestBody>(
    stream: &mut S,
    buffer: &mut BytesMut,
    question: &Question,
    client: &mut B,
    limits: Limits,
) -> Result<Answer, OriginFailure> {
    write(stream, &question.head, limits.between_bytes).await?;
    let head = hear(stream, buffer, Heads::new(question.method), client, limits.first_byte).await?;
    Ok(Answer { head, is_sent: true })
}

/// Waits for the reply; the client gets what comes before it.
///
/// The limit is for all that the server sends. How long the client takes for its part does not make the server late.
async fn hear<S: AsyncRead + Unpin, B: RequestBody>(
    stream: &mut S,
    buffer: &mut BytesMut,
    mut heads: Heads,
    client: &mut B,
    limit: Nanos,
) -> Result<Head, OriginFailure> {
    let began = Instant::now();
    loop {
        let left = limit.saturating_sub(Nanos::from_secs_f64(began.elapsed().as_secs_f64()));
        match within(left, heads.next(stream, buffer), || OriginFailure::TimedOut).await? {
            Heard::Reply(head) => return Ok(head),
            Heard::Interim(interim) => client.send_interim(interim).await?,
        }
    }
}

/// What happens first when a body is sent.
enum First {
    /// All of it is sent, or it cannot be.
    Sent(Result<(), OriginFailure>),
    /// A reply comes; whether all was sent.
    Replied(Head, bool),
}

/// Asks with a body, and listens while it is sent.
async fn ask_at_length<S, B>(
    stream: &mut S,
    buffer: &mut BytesMut,
    question: &Question,
    length: BodyLength,
    body: &mut B,
    limits: Limits,
) -> Result<Answer, OriginFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    B: RequestBody,
{
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (mut heads, mut interims) = (Heads::new(question.method), Vec::new());
    let first = {
        let mut sending = pin!(send(&mut writer, &question.head, length, body, limits.between_bytes));
        loop {
            let heard = tokio::select! {
                biased;
                heard = heads.next(&mut reader, buffer) => heard.map_err(while_sending)?,
                sent = &mut sending => break First::Sent(sent),
            };
            match heard {
                Heard::Interim(interim) => interims.push(interim),
                Heard::Reply(head) if 400 <= head.head.status => break First::Replied(head, false),
                Heard::Reply(head) => match sending.await {
                    Err(failure @ OriginFailure::RequestBody(_)) => return Err(failure),
                    sent => break First::Replied(head, sent.is_ok()),
                },
            }
        }
    };
    if let First::Sent(Err(failure @ OriginFailure::RequestBody(_))) = first {
        return Err(failure);
    }
    for interim in interims {
        body.send_interim(interim).await?;
    }
    match first {
        First::Sent(Ok(())) => {
            let head = hear(&mut reader, buffer, heads, body, limits.first_byte).await?;
            Ok(Answer { head, is_sent: true })
        }
        First::Sent(Err(failure)) => {
            let head = hear(&mut reader, buffer, heads, body, LAST_WORD).await;
            let head = head.map_err(|_| while_sending(failure))?;
            Ok(Answer { head, is_sent: false })
        }
        First::Replied(head, is_sent) => Ok(Answer { head, is_sent }),
    }
}

/// Tells an end of the connection before all was sent from one after.
fn while_sending(failure: OriginFailure) -> OriginFailure {
    if failure == OriginFailure::Closed { OriginFailure::NotTaken } else { failure }
}

async fn send<W: AsyncWrite + Unpin, B: RequestBody>(
    writer: &mut W,
    head: &[u8],
    length: BodyLength,
    body: &mut B,
    limit: Nanos,
) -> Result<(), OriginFailure> {
    write(writer, head, limit).await?;
    match length {
        BodyLength::Known(length) => send_measured(writer, length, body, limit).await,
        BodyLength::Chunked => send_chunked(writer, body, limit).await,
    }
}

/// Sends a body of known length, and no byte more: those would be another request.
async fn send_measured<W: AsyncWrite + Unpin, B: RequestBody>(
    writer: &mut W,
    length: u64,
    body: &mut B,
    limit: Nanos,
) -> Result<(), OriginFailure> {
    let mut missing = length;
    while let Some(piece) = body.next().await? {
        let too_long = || BodyError::Malformed(format!("more than the {length} bytes announced"));
        missing = missing.checked_sub(piece.len() as u64).ok_or_else(too_long)?;
        write(writer, &piece, limit).await?;
    }
    if missing != 0 {
        return Err(BodyError::Truncated.into());
    }
    Ok(())
}

async fn send_chunked<W: AsyncWrite + Unpin, B: RequestBody>(
    writer: &mut W,
    body: &mut B,
    limit: Nanos,
) -> Result<(), OriginFailure> {
    let mut chunk = Vec::new();
    while let Some(piece) = body.next().await? {
        chunk.clear();
        write_chunk(&mut chunk, &piece);
        write(writer, &chunk, limit).await?;
    }
    write(writer, LAST_CHUNK, limit).await
}

async fn write<W: AsyncWrite + Unpin>(
    writer: &mut W,
    bytes: &[u8],
    limit: Nanos,
) -> Result<(), OriginFailure> {
    let writing = async {
        writer.write_all(bytes).await.map_err(|_| OriginFailure::Closed)?;
        writer.flush().await.map_err(|_| OriginFailure::Closed)
    };
    within(limit, writing, || OriginFailure::SendTimedOut).await
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use tokio::io::{AsyncReadExt, DuplexStream, ReadBuf, duplex};

    use super::*;
    use crate::message::{HeaderLines, Interim};

    const LIMITS: Limits = Limits { first_byte: Nanos::from_secs(60), between_bytes: Nanos::from_secs(60) };

    /// A body of these pieces, each of which has to be asked for twice.
    struct Slow(VecDeque<&'static str>);

    impl RequestBody for Slow {
        async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
            tokio::task::yield_now().await;
            Ok(self.0.pop_front().map(|piece| Bytes::from_static(piece.as_bytes())))
        }
    }

    fn question(content_length: Option<u64>) -> Question {
        let (target, authority) = (b"/".to_vec(), Vec::new());
        let (method_name, lines) = (b"PUT".to_vec(), HeaderLines::new());
        let request = Outgoing {
            method_name,
            target,
            authority,
            lines,
            content_length,
            has_body: true,
            is_safe: false,
            upgrade: None,
            key_hash: 0,
        };
        Question::new(&request, b"h").expect("sendable")
    }

    /// Asks a server that has replied before it was asked; returns what it got.
    fn ask_early(reply: &str, length: Option<u64>) -> (Result<Answer, OriginFailure>, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (mut own, mut peer) = duplex(1000);
            peer.write_all(reply.as_bytes()).await.expect("room");
            let (mut buffer, mut body) = (BytesMut::new(), Slow(["who", "le"].into()));
            let answer = ask(&mut own, &mut buffer, &question(length), &mut body, LIMITS).await;
            drop(own);
            (answer, read_all(peer).await)
        })
    }

    async fn read_all(mut peer: DuplexStream) -> String {
        let mut text = String::new();
        peer.read_to_string(&mut text).await.expect("text");
        text
    }

    /// A server that takes nothing, and says this once it was told something.
    struct Deaf {
        reply: &'static [u8],
        was_told: bool,
    }

    impl AsyncRead for Deaf {
        fn poll_read(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let this = self.get_mut();
            if !this.was_told {
                return Poll::Pending; // Nobody is woken: it is asked again after it was told.
            }
            buffer.put_slice(std::mem::take(&mut this.reply));
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Deaf {
        fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            self.get_mut().was_told = true;
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_server_that_takes_no_more_may_still_say_why() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ask_deaf = |reply| {
            let (mut server, mut buffer) = (Deaf { reply, was_told: false }, BytesMut::new());
            let mut body = Slow(["whole"].into());
            let answer = runtime.block_on(ask(&mut server, &mut buffer, &question(None), &mut body, LIMITS));
            answer.map(|answer| (answer.head.head.status, answer.is_sent))
        };
        assert_eq!(ask_deaf(b"HTTP/1.1 400 x\r\nContent-Length: 0\r\n\r\n"), Ok((400, false)));
        assert_eq!(ask_deaf(b""), Err(OriginFailure::NotTaken));
    }

    #[test]
    fn an_early_refusal_ends_the_upload() {
        let (answer, got) = ask_early("HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n", Some(5));
        let answer = answer.expect("a reply");
        assert_eq!((answer.head.head.status, answer.is_sent), (413, false));
        assert!(!got.contains("who"), "{got}");
    }

    #[test]
    fn after_any_other_early_reply_the_upload_is_completed() {
        let (answer, got) = ask_early("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", None);
        let answer = answer.expect("a reply");
        assert_eq!((answer.head.head.status, answer.is_sent), (200, true));
        assert!(got.ends_with("\r\n\r\n3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n"), "{got}");
    }

    /// Goal: what comes before the reply reaches the client once its body has been read, and in order.
    #[test]
    fn interim_replies_during_an_upload_go_on_after_it() {
        let interims = "HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nLink: </a>\r\n\r\n";
        let reply = format!("{interims}HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (answer, statuses) = runtime.block_on(async {
            let (mut own, mut peer) = duplex(1000);
            peer.write_all(reply.as_bytes()).await.expect("room");
            let mut body = Told(Slow(["who", "le"].into()), Vec::new());
            let answer = ask(&mut own, &mut BytesMut::new(), &question(None), &mut body, LIMITS).await;
            (answer, body.1)
        });
        assert_eq!(answer.expect("a reply").head.head.status, 200);
        assert_eq!(statuses, [(0, 100), (0, 103)], "pieces that were left to read, and status");
    }

    /// A body, and the interim replies that came, each with how many pieces were left to read.
    struct Told(Slow, Vec<(usize, u16)>);

    impl RequestBody for Told {
        async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
            self.0.next().await
        }

        async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
            self.1.push((self.0.0.len(), interim.status));
            Ok(())
        }
    }

    #[test]
    fn a_body_that_breaks_off_after_an_early_reply_is_a_failure() {
        let (answer, got) = ask_early("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", Some(6));
        assert_eq!(answer.expect_err("too short"), OriginFailure::RequestBody(BodyError::Truncated));
        assert!(got.ends_with("\r\n\r\nwhole"), "{got}");
    }
}
