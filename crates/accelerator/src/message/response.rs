//! A response as the frontend gets it.

use bytes::Bytes;
use http1::HeaderLines;
use units::Nanos;

use crate::exchange::{BodyStream, Memo, Tunnel};

/// A response to a client.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// All lines except connection-specific ones: the frontend writes `Connection`, `Keep-Alive`,
    /// `Transfer-Encoding`.
    ///
    /// Includes `Content-Length` if the length is known, for HEAD too.
    pub lines: HeaderLines,
    /// The body.
    pub body: ResponseBody,
    /// The handling, for logs and metrics.
    pub handling: Handling,
    /// The memo with which the frontend may repeat the response to the same head, see [`Memo`].
    pub memo: Option<Memo>,
}

/// The body of a response.
#[derive(Debug)]
pub enum ResponseBody {
    /// No body: HEAD, 204, 304.
    Empty,
    /// The whole body, in pieces that are sent one after the other; usually one.
    Pieces(Vec<Bytes>),
    /// A body that is arriving; its length is that of `Content-Length` if there is one, else it ends when it ends.
    Stream(BodyStream),
    /// No body: the connection is upgraded to another protocol (101), bytes are relayed both ways.
    Tunnel(Tunnel),
}

/// The path by which a response was produced; each is measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HitPath {
    /// A fresh response from memory.
    Memory,
    /// A fresh response from disk.
    Disk,
    /// A stored response that the origin has validated.
    Revalidated,
    /// A stale response.
    Stale,
    /// A stored error.
    Negative,
    /// A response that was fetched for another request.
    Collapsed,
    /// Forwarded, because no stored response matched.
    Miss,
    /// Forwarded, because the request or the response cannot be cached.
    Pass,
    /// Refused or failed here.
    Error,
}

impl HitPath {
    /// All paths, in the order in which they are shown.
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

/// The handling of a request (Varnish's term).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handling {
    /// The path of the response.
    pub path: HitPath,
    /// The name of the reason, from the policy: `no-store` or `uri-miss`, for example.
    pub reason: &'static str,
    /// The time that the origin took, if it was asked; else the time that it was spared: the time that the stored
    /// response took when it was fetched.
    pub origin_time: Option<Nanos>,
}
