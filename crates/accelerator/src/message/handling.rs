//! The handling of a request, for logs and metrics.

use units::Nanos;

use super::reason::HandlingReason;

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
    /// The reason.
    pub reason: HandlingReason,
    /// The time that the origin took, if it was asked; else the time that it was spared: the time that the stored
    /// response took when it was fetched.
    pub origin_time: Option<Nanos>,
}
