//! An encrypted connection over a socket of our own.
//!
//! rustls without buffers of its own: records are taken from the buffer that all connections of the thread
//! read into, and what is to be sent is written to one that they all share. Only the beginning of a record whose
//! rest has not arrived is kept per connection. The end of the client's handshake and the first request leave
//! together. A connection that we end is just closed, without a last word (`close_notify`), as browsers do. One that
//! the peer ends by that word is over, whether the end of its socket follows or not (RFC 8446 section 6.1).

use std::sync::Arc;

use model::{Outcome, WebRequest};
use rustix::io::Errno;
use rustls::ClientConfig;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic};
use units::{Clock, Nanos};

use super::settings::HandshakeCounts;
use crate::web::carrier::Carrier;
use crate::web::connection::{self, Arrived, Link};
use crate::web::failure::Failure;
use crate::web::origin::Origin;

/// Most bytes of content in a record (RFC 8446 §5.1), and more than what is around them.
const RECORD_BYTES: usize = 16 * 1024;
const RECORD_FRAME_BYTES: usize = 64;

/// An established connection with encryption.
pub struct TlsLink {
    link: Link,
    session: Box<UnbufferedClientConnection>,
    /// The beginning of a record whose rest has not arrived.
    rest: Vec<u8>,
    /// Whether the peer has said that nothing follows (`close_notify`).
    has_ended: bool,
}

/// Where a session stands when it has nothing more to do by itself.
enum Standing {
    /// The handshake needs more from the peer.
    Waits,
    /// Requests can be sent.
    Open,
}

/// What a step of the handshake came to.
struct Step {
    /// What could not be sent at once.
    unsent: Option<Box<[u8]>>,
    /// When the handshake was complete, if it is; then the request has been sent as well.
    connected: Option<Nanos>,
}

impl Carrier for TlsLink {
    type Memory = Arc<ClientConfig>;

    fn memory(origin: &Origin) -> Arc<ClientConfig> {
        origin.tls.as_ref().expect("an origin for TLS has settings for it").of_user()
    }

    async fn open(
        origin: &Origin,
        config: &Arc<ClientConfig>,
        operation: &WebRequest,
    ) -> Result<(TlsLink, Nanos), Failure> {
        Box::pin(shake_hands(origin, Arc::clone(config), operation)).await
    }

    async fn send(mut self, origin: &Origin, operation: &WebRequest) -> Result<TlsLink, Failure> {
        let left = {
            let mut out = origin.sealed.borrow_mut();
            out.clear();
            self.seal(origin, operation, &mut out)?;
            self.link.send_now(&out)?
        };
        if let Some(left) = left {
            self.link = Box::pin(self.link.send_rest(left)).await?;
        }
        Ok(self)
    }

    async fn read(&mut self, origin: &Origin) -> Result<Arrived, Errno> {
        self.link.read(&origin.buffer, &self.rest).await
    }

    fn pieces(&mut self, origin: &Origin, arrived: Arrived, take: impl FnMut(&[u8])) -> Result<(), Failure> {
        let mut out = origin.sealed.borrow_mut();
        out.clear();
        let mut buffer = origin.buffer.borrow_mut();
        let all = self.rest.len() + arrived.bytes;
        self.process(origin, &mut buffer[..all], &mut out, take)?;
        // What a peer may ask for in the middle (new keys) is short: there is room for it.
        if !out.is_empty() && self.link.send_now(&out)?.is_some() {
            return Err(origin.explain(Outcome::TlsFailed, "no room for what the server asks for"));
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn is_cut(&self) -> bool {
        !self.has_ended
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// Connects, makes the handshake, and sends a request together with the end of it.
async fn shake_hands(
    origin: &Origin,
    config: Arc<ClientConfig>,
    operation: &WebRequest,
) -> Result<(TlsLink, Nanos), Failure> {
    let settings = origin.tls.as_ref().expect("an origin for TLS has settings for it");
    let session = UnbufferedClientConnection::new(config, settings.name.clone())
        .map_err(|error| origin.explain(Outcome::TlsFailed, error))?;
    let (mut socket, is_established) = origin.begin()?;
    if !is_established {
        socket = connection::established(socket).await?;
    }
    let mut tls =
        TlsLink { link: Link::new(socket)?, session: Box::new(session), rest: Vec::new(), has_ended: false };
    let mut arrived = Arrived { bytes: 0, is_end: false };
    loop {
        let step = tls.step(origin, arrived, operation)?;
        if let Some(unsent) = step.unsent {
            tls.link = tls.link.send_rest(unsent).await?;
        }
        if let Some(connected) = step.connected {
            return Ok((tls, connected));
        }
        arrived = tls.read(origin).await?;
        if arrived.bytes == 0 {
            return Err(origin.explain(Outcome::TlsFailed, "connection ended in the handshake"));
        }
    }
}

impl TlsLink {
    /// Makes one step of the handshake with what has arrived.
    fn step(&mut self, origin: &Origin, arrived: Arrived, operation: &WebRequest) -> Result<Step, Failure> {
        let mut out = origin.sealed.borrow_mut();
        out.clear();
        let standing = {
            let mut buffer = origin.buffer.borrow_mut();
            let all = self.rest.len() + arrived.bytes;
            // A server does not answer before it is asked.
            self.process(origin, &mut buffer[..all], &mut out, |_| {})?
        };
        let mut connected = None;
        if let Standing::Open = standing {
            connected = Some(origin.clock.now());
            HandshakeCounts::count(&origin.handshakes, self.session.handshake_kind());
            self.seal(origin, operation, &mut out)?;
        }
        let unsent = if out.is_empty() { None } else { self.link.send_now(&out)? };
        Ok(Step { unsent, connected })
    }

    /// Takes the records in `input`: content goes to `take`, what has to be answered is appended to `out`, and a
    /// record that is not whole is kept.
    fn process(
        &mut self,
        origin: &Origin,
        input: &mut [u8],
        out: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<Standing, Failure> {
        let mut at = 0;
        loop {
            let UnbufferedStatus { mut discard, state } = self.session.process_tls_records(&mut input[at..]);
            let state = state.map_err(|error| origin.explain(Outcome::TlsFailed, error))?;
            let standing = match state {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(|error| origin.explain(Outcome::TlsFailed, error))?;
                        discard += record.discard;
                        take(record.payload);
                    }
                    None
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(out, 0, |room| data.encode(room).map_err(needed));
                    None
                }
                // It leaves with whatever follows.
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    None
                }
                ConnectionState::PeerClosed => {
                    self.has_ended = true;
                    None
                }
                ConnectionState::BlockedHandshake => Some(Standing::Waits),
                _ => Some(Standing::Open),
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
    fn seal(&mut self, origin: &Origin, operation: &WebRequest, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut rest = std::mem::take(&mut self.rest);
        let sealed = loop {
            let UnbufferedStatus { discard, state } = self.session.process_tls_records(&mut rest);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    break origin.with_request(operation, |request| encrypt(&mut traffic, request, out));
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(out, 0, |room| data.encode(room).map_err(needed));
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.has_ended = true,
                Ok(other) => break Err(format!("no request can be sent: {other:?}")),
                Err(error) => break Err(error.to_string()),
            }
            rest.drain(..discard);
        };
        self.rest = rest;
        sealed.map_err(|words| origin.explain(Outcome::TlsFailed, words))
    }
}

fn encrypt<D>(traffic: &mut WriteTraffic<'_, D>, request: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
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
    if is_exhausted { Err("its keys are worn out".to_owned()) } else { Ok(()) }
}

fn needed(error: EncodeError) -> usize {
    match error {
        EncodeError::InsufficientSize(size) => size.required_size,
        EncodeError::AlreadyEncoded => 0,
    }
}

/// Lets `write` append to `out`: first into room for `guess` bytes, then into as much as it says that it needs.
fn append(out: &mut Vec<u8>, guess: usize, mut write: impl FnMut(&mut [u8]) -> Result<usize, usize>) {
    let start = out.len();
    out.resize(start + guess, 0);
    let written = write(&mut out[start..]).unwrap_or_else(|needed| {
        out.resize(start + needed, 0);
        write(&mut out[start..]).unwrap_or(0)
    });
    out.truncate(start + written);
}
