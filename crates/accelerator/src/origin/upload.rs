//! Sending of a request and reading of the head of its response.
//!
//! | while sending | action |
//! |---|---|
//! | the body of the request is complete | waits for the head of the response, within the time limit |
//! | an error response (400 and above) arrives | sends no more; the connection is closed after the response |
//! | another response arrives | sends the rest first, and reads nothing more until then |
//! | an interim response (1xx) arrives | keeps it until all is sent, because the client is being read |
//! | the server takes no more | waits a moment for the response that it may have sent before |
//! | the server closes without a response | fails, which says little about the server |
//! | the client's body breaks off | fails |

use std::pin::pin;

use bytes::BytesMut;
use http1::{LAST_CHUNK, RequestMethod, write_chunk};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use units::Nanos;

use super::deadline::within;
use super::failure::OriginFailure;
use super::head::{HeadReader, ReceivedHead, UpstreamHead};
use super::settings::OriginSettings;
use super::upstream_request::UpstreamRequest;
use crate::message::{BodyError, RequestBody};

/// The time to wait for the response of a server that has stopped reading the request.
const EARLY_RESPONSE_WAIT: Nanos = Nanos::from_secs(1);

/// A request, encoded for sending.
#[derive(Debug)]
pub(super) struct EncodedRequest {
    /// Its head as sent.
    head: Vec<u8>,
    method: RequestMethod,
    /// The framing of its body, if it has one that is not empty.
    body: Option<BodyLength>,
    allows_upgrade: bool,
}

#[derive(Debug, Clone, Copy)]
enum BodyLength {
    Known(u64),
    Chunked,
}

/// The time limits of an upload.
#[derive(Debug, Clone, Copy)]
pub(super) struct UploadTimeouts {
    pub(super) first_byte: Nanos,
    pub(super) between_bytes: Nanos,
}

/// The outcome of an upload.
#[derive(Debug)]
pub(super) struct UploadOutcome {
    pub(super) head: UpstreamHead,
    /// Whether all of the request was sent; if not, the connection cannot be reused.
    pub(super) is_sent: bool,
}

impl EncodedRequest {
    /// Encodes the request for the server whose `Host` is `host`.
    ///
    /// # Errors
    /// [`OriginFailure::Unsendable`], see [`UpstreamRequest::head`].
    pub(super) fn new(request: &UpstreamRequest, host: &[u8]) -> Result<EncodedRequest, OriginFailure> {
        let body = match request.content_length {
            _ if !request.has_body => None,
            Some(0) => None,
            Some(length) => Some(BodyLength::Known(length)),
            None => Some(BodyLength::Chunked),
        };
        let method = request.method();
        let allows_upgrade = request.upgrade.is_some();
        Ok(EncodedRequest { head: request.head(host)?, method, body, allows_upgrade })
    }
}

impl From<&OriginSettings> for UploadTimeouts {
    fn from(settings: &OriginSettings) -> UploadTimeouts {
        UploadTimeouts {
            first_byte: settings.first_byte_timeout,
            between_bytes: settings.between_bytes_timeout,
        }
    }
}

/// Sends a request and waits for the head of its response. Bytes after the head stay in the buffer.
pub(super) async fn send_request<S, B>(
    stream: &mut S,
    buffer: &mut BytesMut,
    encoded: &EncodedRequest,
    body: &mut B,
    limits: UploadTimeouts,
) -> Result<UploadOutcome, OriginFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    B: RequestBody,
{
    let outcome = match encoded.body {
        None => send_without_body(stream, buffer, encoded, body, limits).await?,
        Some(length) => send_with_body(stream, buffer, encoded, length, body, limits).await?,
    };
    if outcome.head.head.status == 101 && !encoded.allows_upgrade {
        return Err(OriginFailure::UnwantedUpgrade);
    }
    Ok(outcome)
}

/// Sends a request without a body; `client` gets the interim responses.
async fn send_without_body<S: AsyncRead + AsyncWrite + Unpin, B: RequestBody>(
    stream: &mut S,
    buffer: &mut BytesMut,
    encoded: &EncodedRequest,
    client: &mut B,
    limits: UploadTimeouts,
) -> Result<UploadOutcome, OriginFailure> {
    write(stream, &encoded.head, limits.between_bytes).await?;
    let head =
        read_response(stream, buffer, HeadReader::new(encoded.method), client, limits.first_byte).await?;
    Ok(UploadOutcome { head, is_sent: true })
}

/// Waits for the final response; the client gets the interim ones.
///
/// The limit is for all that the server sends. The time that the client takes for its part does not count.
async fn read_response<S: AsyncRead + Unpin, B: RequestBody>(
    stream: &mut S,
    buffer: &mut BytesMut,
    mut head_reader: HeadReader,
    client: &mut B,
    limit: Nanos,
) -> Result<UpstreamHead, OriginFailure> {
    let began = Instant::now();
    loop {
        let left = limit.saturating_sub(Nanos::from_secs_f64(began.elapsed().as_secs_f64()));
        match within(left, head_reader.next(stream, buffer), || OriginFailure::TimedOut).await? {
            ReceivedHead::Final(head) => return Ok(head),
            ReceivedHead::Interim(interim) => client.send_interim(interim).await?,
        }
    }
}

/// The first event while a body is sent.
enum FirstEvent {
    /// All of it is sent, or sending failed.
    Sent(Result<(), OriginFailure>),
    /// A response arrives; with whether all was sent.
    Replied(UpstreamHead, bool),
}

/// Sends a request with a body, and reads meanwhile.
async fn send_with_body<S, B>(
    stream: &mut S,
    buffer: &mut BytesMut,
    encoded: &EncodedRequest,
    length: BodyLength,
    body: &mut B,
    limits: UploadTimeouts,
) -> Result<UploadOutcome, OriginFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    B: RequestBody,
{
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut head_reader = HeadReader::new(encoded.method);
    let mut interims = Vec::new();
    let first = {
        let mut sending = pin!(send(&mut writer, &encoded.head, length, body, limits.between_bytes));
        loop {
            let received = tokio::select! {
                biased;
                received = head_reader.next(&mut reader, buffer) => received.map_err(while_sending)?,
                sent = &mut sending => break FirstEvent::Sent(sent),
            };
            match received {
                ReceivedHead::Interim(interim) => interims.push(interim),
                ReceivedHead::Final(head) if 400 <= head.head.status => {
                    break FirstEvent::Replied(head, false);
                }
                ReceivedHead::Final(head) => match sending.await {
                    Err(failure @ OriginFailure::RequestBody(_)) => return Err(failure),
                    sent => break FirstEvent::Replied(head, sent.is_ok()),
                },
            }
        }
    };
    if let FirstEvent::Sent(Err(failure @ OriginFailure::RequestBody(_))) = first {
        return Err(failure);
    }
    for interim in interims {
        body.send_interim(interim).await?;
    }
    match first {
        FirstEvent::Sent(Ok(())) => {
            let head = read_response(&mut reader, buffer, head_reader, body, limits.first_byte).await?;
            Ok(UploadOutcome { head, is_sent: true })
        }
        FirstEvent::Sent(Err(failure)) => {
            let head = read_response(&mut reader, buffer, head_reader, body, EARLY_RESPONSE_WAIT).await;
            let head = head.map_err(|_| while_sending(failure))?;
            Ok(UploadOutcome { head, is_sent: false })
        }
        FirstEvent::Replied(head, is_sent) => Ok(UploadOutcome { head, is_sent }),
    }
}

/// Tells a connection that ended before all was sent from one that ended after.
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

/// Sends a body of known length, and not a byte more: more bytes would be another request.
async fn send_measured<W: AsyncWrite + Unpin, B: RequestBody>(
    writer: &mut W,
    length: u64,
    body: &mut B,
    limit: Nanos,
) -> Result<(), OriginFailure> {
    let mut missing = length;
    while let Some(piece) = body.next().await? {
        let too_long = || BodyError::Malformed(format!("longer than the {length} bytes announced"));
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
    use http1::HeaderLines;
    use tokio::io::{AsyncReadExt, DuplexStream, ReadBuf, duplex};

    use super::*;
    use crate::message::Interim;

    const LIMITS: UploadTimeouts =
        UploadTimeouts { first_byte: Nanos::from_secs(60), between_bytes: Nanos::from_secs(60) };

    /// A body of these pieces, each of which is ready at the second poll.
    struct SlowBody(VecDeque<&'static str>);

    impl RequestBody for SlowBody {
        async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
            tokio::task::yield_now().await;
            Ok(self.0.pop_front().map(|piece| Bytes::from_static(piece.as_bytes())))
        }
    }

    fn encoded(content_length: Option<u64>) -> EncodedRequest {
        let target = b"/".to_vec();
        let authority = Vec::new();
        let method_name = b"PUT".to_vec();
        let lines = HeaderLines::new();
        let request = UpstreamRequest {
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
        EncodedRequest::new(&request, b"h").expect("sendable")
    }

    /// Sends a request to a server that has responded already; returns what the server received.
    fn send_to_early_responder(
        response: &str,
        length: Option<u64>,
    ) -> (Result<UploadOutcome, OriginFailure>, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (mut own, mut peer) = duplex(1000);
            peer.write_all(response.as_bytes()).await.expect("room");
            let mut buffer = BytesMut::new();
            let mut body = SlowBody(["who", "le"].into());
            let outcome = send_request(&mut own, &mut buffer, &encoded(length), &mut body, LIMITS).await;
            drop(own);
            (outcome, read_all(peer).await)
        })
    }

    async fn read_all(mut peer: DuplexStream) -> String {
        let mut text = String::new();
        peer.read_to_string(&mut text).await.expect("text");
        text
    }

    /// A server that reads nothing, and sends this response after the first attempt to write.
    struct NonReadingServer {
        response: &'static [u8],
        was_written: bool,
    }

    impl AsyncRead for NonReadingServer {
        fn poll_read(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let this = self.get_mut();
            if !this.was_written {
                return Poll::Pending; // Nobody is woken: it is asked again after it was told.
            }
            buffer.put_slice(std::mem::take(&mut this.response));
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for NonReadingServer {
        fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            self.get_mut().was_written = true;
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
    fn a_server_that_stops_reading_may_still_respond() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ask_deaf = |response| {
            let mut server = NonReadingServer { response, was_written: false };
            let mut buffer = BytesMut::new();
            let mut body = SlowBody(["whole"].into());
            let outcome =
                runtime.block_on(send_request(&mut server, &mut buffer, &encoded(None), &mut body, LIMITS));
            outcome.map(|outcome| (outcome.head.head.status, outcome.is_sent))
        };
        assert_eq!(ask_deaf(b"HTTP/1.1 400 x\r\nContent-Length: 0\r\n\r\n"), Ok((400, false)));
        assert_eq!(ask_deaf(b""), Err(OriginFailure::NotTaken));
    }

    #[test]
    fn an_early_error_response_ends_the_upload() {
        let (outcome, got) = send_to_early_responder("HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n", Some(5));
        let outcome = outcome.expect("a response");
        assert_eq!((outcome.head.head.status, outcome.is_sent), (413, false));
        assert!(!got.contains("who"), "{got}");
    }

    #[test]
    fn other_early_responses_do_not_end_the_upload() {
        let (outcome, got) = send_to_early_responder("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", None);
        let outcome = outcome.expect("a response");
        assert_eq!((outcome.head.head.status, outcome.is_sent), (200, true));
        assert!(got.ends_with("\r\n\r\n3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n"), "{got}");
    }

    /// Goal: interim responses reach the client once its body has been read, and in order.
    #[test]
    fn interim_responses_during_an_upload_are_forwarded_after_it() {
        let interims = "HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nLink: </a>\r\n\r\n";
        let response = format!("{interims}HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (outcome, statuses) = runtime.block_on(async {
            let (mut own, mut peer) = duplex(1000);
            peer.write_all(response.as_bytes()).await.expect("room");
            let mut body = InterimRecorder(SlowBody(["who", "le"].into()), Vec::new());
            let outcome =
                send_request(&mut own, &mut BytesMut::new(), &encoded(None), &mut body, LIMITS).await;
            (outcome, body.1)
        });
        assert_eq!(outcome.expect("a response").head.head.status, 200);
        assert_eq!(statuses, [(0, 100), (0, 103)], "pieces that were left to read, and status");
    }

    /// A body, and the interim responses received, each with the number of pieces left to read.
    struct InterimRecorder(SlowBody, Vec<(usize, u16)>);

    impl RequestBody for InterimRecorder {
        async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
            self.0.next().await
        }

        async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
            self.1.push((self.0.0.len(), interim.status));
            Ok(())
        }
    }

    #[test]
    fn a_truncated_body_after_an_early_response_is_a_failure() {
        let (outcome, got) = send_to_early_responder("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", Some(6));
        assert_eq!(outcome.expect_err("too short"), OriginFailure::RequestBody(BodyError::Truncated));
        assert!(got.ends_with("\r\n\r\nwhole"), "{got}");
    }
}
