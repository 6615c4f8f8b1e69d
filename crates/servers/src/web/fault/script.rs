//! A fault, and the bytes it sends.

use http1::{Framing, Http1Version, ResponseHead};
use model::Outcome;
use units::Nanos;

use super::{http2, replies, tls};
use crate::web::site::{ReadyReply, Site, head_bytes};

/// Pause between two pieces of a drip.
pub(super) const DRIP_PAUSE: Nanos = Nanos::from_millis(20);

/// A misbehavior of a server. Two are equal if their names are.
#[derive(Debug)]
pub struct Fault {
    /// The name that users type.
    pub name: &'static str,
    /// The server's behavior: a clause that begins with a verb.
    pub does: &'static str,
    /// The protocol of the clients that meet it.
    pub protocol: ClientProtocol,
    /// The outcome of an operation that meets it, if the expected reply is known and not empty and the time
    /// limit is shorter than a second.
    pub outcome: Outcome,
    pub(in crate::web) action: FaultAction,
}

/// The protocol that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProtocol {
    /// HTTP/1, without TLS.
    Http1,
    /// HTTP/1 over TLS.
    Tls,
    /// HTTP/2, without TLS, by prior knowledge.
    Http2,
}

/// The moment at which a fault acts. All but the first kind affect whole connections, whatever is requested.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) enum FaultAction {
    /// In place of the correct reply to a GET.
    OnRequest(fn(&CorrectReply<'_>) -> Script),
    /// As soon as a connection is accepted.
    OnConnect(fn() -> Script),
    /// As soon as the first bytes have arrived, whatever they are.
    OnFirstBytes(fn() -> Script),
    /// For each HTTP/2 request, by its stream number.
    OnHttp2Request(fn(u32) -> Script),
    /// Connections are never accepted, but left to the kernel.
    NeverAccept,
}

/// The bytes sent in place of the correct ones, and their timing.
#[derive(Debug)]
pub(in crate::web) struct Script {
    pub(in crate::web) bytes: Vec<u8>,
    /// Sent after `bytes` repeatedly, until the client is gone; empty for nothing.
    pub(in crate::web) endless: Vec<u8>,
    /// Everything is sent in pieces of this length; above zero.
    pub(in crate::web) piece: usize,
    /// Pause before every piece but the first.
    pub(in crate::web) pause: Nanos,
    pub(in crate::web) ending: ConnectionEnding,
}

/// The end of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum ConnectionEnding {
    /// Kept or closed as the request asked.
    AsAsked,
    /// Closed gracefully.
    Close,
    /// Reset.
    Reset,
    /// Kept open in silence until the client leaves.
    Hold,
}

impl Fault {
    /// Returns all faults: those of HTTP/1 first, then those of TLS and of HTTP/2.
    pub fn all() -> impl Iterator<Item = &'static Fault> {
        [replies::FAULTS, tls::FAULTS, http2::FAULTS].into_iter().flatten()
    }

    /// Returns the fault with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<&'static Fault> {
        Fault::all().find(|fault| fault.name == name)
    }

    /// Returns whether it affects whole connections, rather than replies for certain paths.
    pub fn affects_connections(&self) -> bool {
        !matches!(self.action, FaultAction::OnRequest(_))
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        self.name == other.name
    }
}

impl Eq for Fault {}

impl Script {
    /// Sends bytes in one piece, then ends the connection in this way.
    pub(super) fn then(ending: ConnectionEnding, bytes: impl Into<Vec<u8>>) -> Script {
        Script { bytes: bytes.into(), endless: Vec::new(), piece: usize::MAX, pause: Nanos::ZERO, ending }
    }

    /// Sends bytes, then keeps or closes the connection as the request asked.
    pub(super) fn as_asked(bytes: impl Into<Vec<u8>>) -> Script {
        Script::then(ConnectionEnding::AsAsked, bytes)
    }

    /// Sends bytes and closes.
    pub(super) fn close(bytes: impl Into<Vec<u8>>) -> Script {
        Script::then(ConnectionEnding::Close, bytes)
    }

    /// Sends bytes, then others repeatedly.
    pub(super) fn endless(bytes: impl Into<Vec<u8>>, endless: impl Into<Vec<u8>>) -> Script {
        Script { endless: endless.into(), ..Script::close(bytes) }
    }

    /// Sends everything in pieces of this length with these pauses.
    pub(super) fn in_pieces(self, piece: usize, pause: Nanos) -> Script {
        Script { piece: piece.max(1), pause, ..self }
    }
}

/// The correct reply to a request.
#[derive(Debug)]
pub(in crate::web) struct CorrectReply<'a> {
    pub(in crate::web) site: &'a Site,
    pub(in crate::web) reply: &'a ReadyReply,
    pub(in crate::web) version: Http1Version,
    pub(in crate::web) keep_alive: bool,
}

impl CorrectReply<'_> {
    pub(super) fn body(&self) -> &[u8] {
        &self.reply.body
    }

    /// Returns the complete reply.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [self.reply.head(self.version, self.keep_alive), self.body()].concat()
    }

    /// Returns a correct head for a body of this length.
    pub(super) fn head_for_length(&self, length: usize) -> Vec<u8> {
        let framing = Framing::Length(length as u64);
        let CorrectReply { version, keep_alive, .. } = *self;
        head_bytes(&ResponseHead { status: 200, version, framing, keep_alive }, &[]).into_vec()
    }

    /// Returns a head for the whole body, and half of the body.
    pub(super) fn first_half(&self) -> Vec<u8> {
        // An empty file has no half: the head announces one byte that is not sent.
        let length = self.body().len();
        [&self.head_for_length(length.max(1)), &self.body()[..length / 2]].concat()
    }

    /// Returns the body after a head of only these lines; `N` in them stands for its length.
    pub(super) fn with_head_lines(&self, lines: &str) -> Vec<u8> {
        let lines = lines.replace('N', &self.body().len().to_string());
        [format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes(), self.body()].concat()
    }

    /// Returns the body as one chunk without the last chunk, after a chunked head.
    pub(super) fn open_chunk(&self) -> Vec<u8> {
        let start = format!("{CHUNKED_HEAD}{:x}\r\n", self.body().len());
        [start.as_bytes(), self.body(), b"\r\n"].concat()
    }
}

/// The head of a chunked reply.
pub(super) const CHUNKED_HEAD: &str =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
