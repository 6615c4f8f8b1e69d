//! A reply as a front gets it.

use bytes::Bytes;
use units::Nanos;

use super::lines::HeaderLines;
use crate::exchange::{BodyStream, Memo, Tunnel};

/// What a client gets.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// All lines but those of the connection: `Connection`, `Keep-Alive`, `Transfer-Encoding` are the front's.
    ///
    /// `Content-Length` is among them if the length is known, for HEAD too.
    pub lines: HeaderLines,
    /// The body.
    pub body: ReplyBody,
    /// What was done, for logs and metrics.
    pub handling: Handling,
    /// If there is one, the front may give the same answer to the same head without asking again, see [`Memo`].
    pub memo: Option<Memo>,
}

/// The body of a reply.
#[derive(Debug)]
pub enum ReplyBody {
    /// None: HEAD, 204, 304.
    Empty,
    /// All of it, in pieces that are sent one after the other; usually one.
    Pieces(Vec<Bytes>),
    /// As it comes; its length is that of `Content-Length` if there is one, else it ends when it ends.
    Stream(BodyStream),
    /// No body: the connection goes over to another protocol (101), bytes are passed both ways.
    Tunnel(Tunnel),
}

/// The way that a request went, each measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HitPath {
    /// A fresh response from memory.
    Memory,
    /// A fresh response from disk.
    Disk,
    /// A stored response that the origin has said is still good.
    Revalidated,
    /// A stale response.
    Stale,
    /// A stored error.
    Negative,
    /// A response that another request had asked for.
    Collapsed,
    /// Forwarded, because nothing stored would do.
    Miss,
    /// Forwarded, because it is none for the cache.
    Pass,
    /// Refused or failed here.
    Error,
}

impl HitPath {
    /// All of them, in the order in which they are shown.
    pub const ALL: [HitPath; 9] = [
        HitPath::Memory,
        HitPath::Disk,
        HitPath::Revalidated,
        HitPath::Stale,
        HitPath::Negative,
        HitPath::Collapsed,
        HitPath::Miss,
        HitPath::Pass,
        HitPath::Error,
    ];

    /// Returns its name, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            HitPath::Memory => "memory",
            HitPath::Disk => "disk",
            HitPath::Revalidated => "revalidated",
            HitPath::Stale => "stale",
            HitPath::Negative => "negative",
            HitPath::Collapsed => "collapsed",
            HitPath::Miss => "miss",
            HitPath::Pass => "pass",
            HitPath::Error => "error",
        }
    }
}

/// What was done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handling {
    /// The way it went.
    pub path: HitPath,
    /// The name of the reason, as policy has it; such as `no-store` or `uri-miss`.
    pub reason: &'static str,
    /// How long the origin took to answer, if it was asked, and what it saved if it was not: the time that the stored
    /// response took.
    pub origin_time: Option<Nanos>,
}
