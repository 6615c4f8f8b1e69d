//! The handling of a request, for logs and metrics.

use units::Nanos;

use super::reason::HandlingReason;

/// The path by which a response was produced; each is measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponsePath {
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

impl ResponsePath {
    /// All paths, in the order in which they are shown.
    pub const ALL: [ResponsePath; 9] = [
        ResponsePath::Memory,
        ResponsePath::Disk,
        ResponsePath::Revalidated,
        ResponsePath::Stale,
        ResponsePath::Negative,
        ResponsePath::Collapsed,
        ResponsePath::Miss,
        ResponsePath::Pass,
        ResponsePath::Error,
    ];

    /// Returns its name, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            ResponsePath::Memory => "memory",
            ResponsePath::Disk => "disk",
            ResponsePath::Revalidated => "revalidated",
            ResponsePath::Stale => "stale",
            ResponsePath::Negative => "negative",
            ResponsePath::Collapsed => "collapsed",
            ResponsePath::Miss => "miss",
            ResponsePath::Pass => "pass",
            ResponsePath::Error => "error",
        }
    }
}

/// The handling of a request (Varnish's term).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHandling {
    /// The path of the response.
    pub path: ResponsePath,
    /// The reason.
    pub reason: HandlingReason,
    /// The time that the origin took, if it was asked; else the time that it was spared: the time that the stored
    /// response took when it was fetched.
    pub origin_time: Option<Nanos>,
}
