//! What a fault is, and what it sends.

use http1::{Framing, Http1Version, ResponseHead};
use model::Outcome;
use units::Nanos;

use super::{http2, replies, tls};
use crate::web::site::{ReadyReply, Site, head_bytes};

/// How long a drip waits between two pieces.
pub(super) const DRIP_PAUSE: Nanos = Nanos::from_millis(20);

/// One way to be a bad server. Two are the same if their names are.
#[derive(Debug)]
pub struct Fault {
    /// What users call it.
    pub name: &'static str,
    /// What the server does: a clause that begins with a verb.
    pub does: &'static str,
    /// What a client has to speak to meet it.
    pub speech: Speech,
    /// What an operation comes to that meets it. The reply to be is known and not empty, and the time limit
    /// shorter than a second.
    pub outcome: Outcome,
    pub(in crate::web) act: Act,
}

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    /// HTTP/1, not encrypted.
    Http1,
    /// HTTP/1 over TLS.
    Tls,
    /// HTTP/2, not encrypted, without asking first.
    Http2,
}

/// When a fault acts. All but the first kind befall whole connections, whatever is asked for.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) enum Act {
    /// Instead of the right reply to a GET.
    Reply(fn(&Right<'_>) -> Script),
    /// As soon as a connection is there.
    Unasked(fn() -> Script),
    /// As soon as the first bytes are there, whatever they are.
    Bytes(fn() -> Script),
    /// For each request of HTTP/2, by the number of its stream.
    Frames(fn(u32) -> Script),
    /// Never: connections are left to the kernel.
    Deaf,
}

/// What is sent in place of what is right.
#[derive(Debug)]
pub(in crate::web) struct Script {
    pub(in crate::web) bytes: Vec<u8>,
    /// Sent behind `bytes` over and over, until the client is gone; empty for nothing.
    pub(in crate::web) endless: Vec<u8>,
    /// All of it is sent in pieces of this length; above zero.
    pub(in crate::web) piece: usize,
    /// Wait before every piece but the first.
    pub(in crate::web) pause: Nanos,
    pub(in crate::web) ending: Ending,
}

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum Ending {
    /// Goes on as the request asked.
    AsAsked,
    /// Is closed in order.
    Close,
    /// Is broken off.
    Reset,
    /// Stays open in silence until the client leaves.
    Hold,
}

impl Fault {
    /// Returns all faults: the ones of HTTP/1 first, then those of TLS and of HTTP/2.
    pub fn all() -> impl Iterator<Item = &'static Fault> {
        [replies::FAULTS, tls::FAULTS, http2::FAULTS].into_iter().flatten()
    }

    /// Returns the fault with a name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<&'static Fault> {
        Fault::all().find(|fault| fault.name == name)
    }

    /// Returns whether it befalls whole connections, and not the answers to certain paths.
    pub fn is_of_connections(&self) -> bool {
        !matches!(self.act, Act::Reply(_))
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        self.name == other.name
    }
}

impl Eq for Fault {}

impl Script {
    /// Sends bytes in one piece, and then this.
    pub(super) fn then(ending: Ending, bytes: impl Into<Vec<u8>>) -> Script {
        Script { bytes: bytes.into(), endless: Vec::new(), piece: usize::MAX, pause: Nanos::ZERO, ending }
    }

    /// Sends bytes and goes on as the request asked.
    pub(super) fn as_asked(bytes: impl Into<Vec<u8>>) -> Script {
        Script::then(Ending::AsAsked, bytes)
    }

    /// Sends bytes and closes.
    pub(super) fn close(bytes: impl Into<Vec<u8>>) -> Script {
        Script::then(Ending::Close, bytes)
    }

    /// Sends bytes, and others over and over behind them.
    pub(super) fn endless(bytes: impl Into<Vec<u8>>, endless: impl Into<Vec<u8>>) -> Script {
        Script { endless: endless.into(), ..Script::close(bytes) }
    }

    /// Sends all of it in pieces of this length with these pauses.
    pub(super) fn in_pieces(self, piece: usize, pause: Nanos) -> Script {
        Script { piece: piece.max(1), pause, ..self }
    }
}

/// The right reply to a request.
#[derive(Debug)]
pub(in crate::web) struct Right<'a> {
    pub(in crate::web) site: &'a Site,
    pub(in crate::web) reply: &'a ReadyReply,
    pub(in crate::web) version: Http1Version,
    pub(in crate::web) keep_alive: bool,
}

impl Right<'_> {
    pub(super) fn body(&self) -> &[u8] {
        &self.reply.body
    }

    /// The reply as a whole.
    pub(super) fn whole(&self) -> Vec<u8> {
        [self.reply.head(self.version, self.keep_alive), self.body()].concat()
    }

    /// A right head for a body of this length.
    pub(super) fn announced(&self, length: usize) -> Vec<u8> {
        let framing = Framing::Length(length as u64);
        let Right { version, keep_alive, .. } = *self;
        head_bytes(&ResponseHead { status: 200, version, framing, keep_alive }, &[]).into_vec()
    }

    /// A head for the whole body, and half of it.
    pub(super) fn half(&self) -> Vec<u8> {
        // An empty file has no half: one byte is announced that does not come.
        let length = self.body().len();
        [&self.announced(length.max(1)), &self.body()[..length / 2]].concat()
    }

    /// The body under a head that says no more than these lines; `N` in them stands for its length.
    pub(super) fn under(&self, lines: &str) -> Vec<u8> {
        let lines = lines.replace('N', &self.body().len().to_string());
        [format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes(), self.body()].concat()
    }

    /// The body as one chunk without its end, under a head that says so.
    pub(super) fn chunk(&self) -> Vec<u8> {
        let start = format!("{CHUNKED_HEAD}{:x}\r\n", self.body().len());
        [start.as_bytes(), self.body(), b"\r\n"].concat()
    }
}

/// The head of a reply in chunks.
pub(super) const CHUNKED_HEAD: &str =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
