//! HTTP/1 over TLS: rustls over the crate's own sockets.
//!
//! rustls without its own buffers: records are decrypted in the buffer that all connections of the thread
//! read into, and outgoing bytes are written to one that they all share. Only an incomplete record is kept
//! per connection. The last message of the client's handshake and the first request are sent together. The
//! client just closes connections, without `close_notify`, as browsers do. A connection that the peer ends by
//! `close_notify` has ended, whether its socket is closed or not (RFC 8446 section 6.1).

use std::sync::Arc;

use model::Outcome;
use rustix::io::Errno;
use rustls::ClientConfig;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic};
use units::{Clock, Nanos};

use super::context::WebContext;
use super::tls::HandshakeCounts;
use super::transport::{Http1Transport, RequestBytes};
use crate::net::{OperationFailure, ReadOutcome, TcpTransport};

/// The most bytes of content in a record (RFC 8446 §5.1), and an upper bound on its overhead.
const RECORD_BYTES: usize = 16 * 1024;
const RECORD_FRAME_BYTES: usize = 64;

/// An established TLS connection.
pub struct TlsTransport {
    link: TcpTransport,
    session: Box<UnbufferedClientConnection>,
    /// The start of an incomplete record.
    rest: Vec<u8>,
    /// Whether the peer has announced the end (`close_notify`).
    has_ended: bool,
}

/// The state of a session that needs input.
enum SessionState {
    /// The handshake needs more bytes from the peer.
    Waits,
    /// Requests can be sent.
    Open,
}

/// The result of a handshake step.
struct HandshakeStep {
    /// Bytes that could not be sent without waiting.
    unsent: Option<Box<[u8]>>,
    /// Time at which the handshake completed, if it did; the request has then been sent as well.
    connected: Option<Nanos>,
}

impl Http1Transport for TlsTransport {
    type UserState = Arc<ClientConfig>;

    fn user_state(web: &WebContext) -> Arc<ClientConfig> {
        web.tls.as_ref().expect("a context for TLS has settings for it").for_user()
    }

    async fn open(
        web: &WebContext,
        config: &Arc<ClientConfig>,
        request: &impl RequestBytes,
    ) -> Result<(TlsTransport, Nanos), OperationFailure> {
        Box::pin(connect_and_handshake(web, Arc::clone(config), request)).await
    }

    async fn send(
        mut self,
        web: &WebContext,
        request: &impl RequestBytes,
    ) -> Result<TlsTransport, OperationFailure> {
        let left = {
            let mut out = web.sealed.borrow_mut();
            out.clear();
            self.encrypt_request(web, request, &mut out)?;
            self.link.send_now(&out)?
        };
        if let Some(left) = left {
            self.link = Box::pin(self.link.send_rest(left)).await?;
        }
        Ok(self)
    }

    fn read<'a>(&'a mut self, web: &'a WebContext) -> impl Future<Output = Result<ReadOutcome, Errno>> {
        self.link.read(&web.buffer, &self.rest)
    }

    fn decode(
        &mut self,
        web: &WebContext,
        received: ReadOutcome,
        take: impl FnMut(&[u8]),
    ) -> Result<(), OperationFailure> {
        let mut out = web.sealed.borrow_mut();
        out.clear();
        let mut buffer = web.buffer.borrow_mut();
        let all = self.rest.len() + received.bytes;
        self.process(web, &mut buffer[..all], &mut out, take)?;
        // Messages during the connection, such as key updates, are short: there is room for the answer.
        if !out.is_empty() && self.link.send_now(&out)?.is_some() {
            return Err(web.explain(Outcome::TlsFailed, "no room for the answer to a message of the server"));
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn may_be_truncated(&self) -> bool {
        !self.has_ended
    }

    fn tcp(&mut self) -> &mut TcpTransport {
        &mut self.link
    }
}

/// Connects, performs the handshake, and sends a request together with its last message.
async fn connect_and_handshake(
    web: &WebContext,
    config: Arc<ClientConfig>,
    request: &impl RequestBytes,
) -> Result<(TlsTransport, Nanos), OperationFailure> {
    let settings = web.tls.as_ref().expect("a context for TLS has settings for it");
    let session = UnbufferedClientConnection::new(config, settings.client.name.clone())
        .map_err(|error| web.tls_failure(&error))?;
    let socket = web.endpoint.connect().await?;
    let mut tls = TlsTransport {
        link: TcpTransport::new(socket)?,
        session: Box::new(session),
        rest: Vec::new(),
        has_ended: false,
    };
    let mut received = ReadOutcome { bytes: 0, is_end: false };
    loop {
        let step = tls.step(web, received, request)?;
        if let Some(unsent) = step.unsent {
            tls.link = tls.link.send_rest(unsent).await?;
        }
        if let Some(connected) = step.connected {
            return Ok((tls, connected));
        }
        received = tls.read(web).await?;
        if received.bytes == 0 {
            return Err(web.ended_in_handshake());
        }
    }
}

impl TlsTransport {
    /// Performs one step of the handshake with the received bytes.
    fn step(
        &mut self,
        web: &WebContext,
        received: ReadOutcome,
        request: &impl RequestBytes,
    ) -> Result<HandshakeStep, OperationFailure> {
        let mut out = web.sealed.borrow_mut();
        out.clear();
        let standing = {
            let mut buffer = web.buffer.borrow_mut();
            let all = self.rest.len() + received.bytes;
            // A server must not answer before a request.
            self.process(web, &mut buffer[..all], &mut out, |_| {})?
        };
        let mut connected = None;
        if let SessionState::Open = standing {
            connected = Some(web.clock.now());
            HandshakeCounts::count(&web.handshakes, self.session.handshake_kind());
            self.encrypt_request(web, request, &mut out)?;
        }
        let unsent = if out.is_empty() { None } else { self.link.send_now(&out)? };
        Ok(HandshakeStep { unsent, connected })
    }

    /// Processes the records in `input`: content goes to `take`, answers are appended to `out`, and an
    /// incomplete record is kept.
    fn process(
        &mut self,
        web: &WebContext,
        input: &mut [u8],
        out: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<SessionState, OperationFailure> {
        let mut at = 0;
        loop {
            let UnbufferedStatus { mut discard, state } = self.session.process_tls_records(&mut input[at..]);
            let state = state.map_err(|error| web.tls_failure(&error))?;
            let standing = match state {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(|error| web.tls_failure(&error))?;
                        discard += record.discard;
                        take(record.payload);
                    }
                    None
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(out, 0, |room| data.encode(room).map_err(needed));
                    None
                }
                // It is sent with the next bytes.
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    None
                }
                ConnectionState::PeerClosed => {
                    self.has_ended = true;
                    None
                }
                ConnectionState::BlockedHandshake => Some(SessionState::Waits),
                _ => Some(SessionState::Open),
            };
            at += discard;
            if let Some(standing) = standing {
                self.rest.clear();
                self.rest.extend_from_slice(&input[at..]);
                return Ok(standing);
            }
        }
    }

    /// Appends the encrypted request.
    fn encrypt_request(
        &mut self,
        web: &WebContext,
        request: &impl RequestBytes,
        out: &mut Vec<u8>,
    ) -> Result<(), OperationFailure> {
        let mut rest = std::mem::take(&mut self.rest);
        let sealed = loop {
            let UnbufferedStatus { discard, state } = self.session.process_tls_records(&mut rest);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let is_sealed = request.with_bytes(web, |request| encrypt(&mut traffic, request, out));
                    break if is_sealed { Ok(()) } else { Err("its keys are exhausted".to_owned()) };
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(out, 0, |room| data.encode(room).map_err(needed));
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.has_ended = true,
                Ok(other) => break Err(format!("cannot send a request: {other:?}")),
                Err(error) => break Err(web.handshake_problem_text(&error)),
            }
            rest.drain(..discard);
        };
        self.rest = rest;
        sealed.map_err(|words| web.explain(Outcome::TlsFailed, words))
    }
}

/// Appends an encrypted request; returns whether it did, as keys encrypt only so much.
fn encrypt<D>(traffic: &mut WriteTraffic<'_, D>, request: &[u8], out: &mut Vec<u8>) -> bool {
    let n_records = request.len().div_ceil(RECORD_BYTES);
    let mut is_exhausted = false;
    append(out, request.len() + n_records * RECORD_FRAME_BYTES, |room| {
        match traffic.encrypt(request, room) {
            Ok(n) => Ok(n),
            Err(EncryptError::InsufficientSize(size)) => Err(size.required_size),
            Err(EncryptError::EncryptExhausted) => {
                is_exhausted = true;
                Ok(0)
            }
        }
    });
    !is_exhausted
}

fn needed(error: EncodeError) -> usize {
    match error {
        EncodeError::InsufficientSize(size) => size.required_size,
        EncodeError::AlreadyEncoded => 0,
    }
}

/// Lets `write` append to `out`: first into space for `guess` bytes, then into as much as it asks for.
fn append(out: &mut Vec<u8>, guess: usize, mut write: impl FnMut(&mut [u8]) -> Result<usize, usize>) {
    let start = out.len();
    out.resize(start + guess, 0);
    let written = write(&mut out[start..]).unwrap_or_else(|needed| {
        out.resize(start + needed, 0);
        write(&mut out[start..]).unwrap_or(0)
    });
    out.truncate(start + written);
}
