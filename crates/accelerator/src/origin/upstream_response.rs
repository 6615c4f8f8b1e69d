//! A response of an origin server.

use cache_policy::ExchangeTimes;
use http1::{HeaderLines, Http1Version};
use units::Nanos;

use super::body::OriginBody;

/// A response of an origin server: its head, and its body as it arrives.
#[derive(Debug)]
pub struct UpstreamResponse {
    /// The status; never an interim one other than 101.
    pub status: u16,
    /// The version of the server.
    pub version: Http1Version,
    /// All lines of the head, framing and connection-specific ones too.
    pub lines: HeaderLines,
    /// The length of the body, if known; in a response to HEAD and in a 304 the announced length.
    pub content_length: Option<u64>,
    /// The time of the request, the last one if there were several, and the time at which the head was complete.
    pub times: ExchangeTimes,
    /// The time until the head was complete, all attempts and waiting included.
    pub waited: Nanos,
    /// The body; already ended if there is none.
    pub body: OriginBody,
}
