//! Checks of the system under test and named counts: the rows of a load point beside its records.

use languages::names;
use serde::{Deserialize, Serialize};

names! {
    /// The moment of a consistency check.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum CheckMoment {
        /// Before the load point.
        Before = "before",
        /// After it.
        After = "after",
    }
}

/// The name of the count of kept connections that had ended when a request was sent on them, or that ended before any
/// byte of its reply; idempotent requests were made again, once.
pub const CONNECTIONS_LOST: &str = "connections lost between requests";

/// The name of the count of streams that the server refused, so that their requests were made again, once.
pub const STREAMS_REFUSED: &str = "refused streams requested again";

/// The first words of checks of replies that nobody has described: one that holds was not the same all the time.
pub const REPLIES_OF: &str = "replies of ";

/// A check whether the system under test is as the benchmark requires, beside what each operation checks itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyCheck {
    /// Index of the load point.
    pub load_point: u32,
    /// The moment of the check.
    pub moment: CheckMoment,
    /// The condition: `sessions opened`.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// The finding of the check: a clause without a full stop.
    pub found: String,
}

/// A count of a load point, ramps and all, that its records do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCount {
    /// Index of the load point.
    pub load_point: u32,
    /// Name of the counted events: `full TLS handshakes`.
    pub name: String,
    /// Number of events.
    pub n: u64,
}
