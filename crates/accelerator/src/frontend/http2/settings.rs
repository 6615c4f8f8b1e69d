//! The settings of HTTP/2 connections, besides the limits of every connection.

use units::Nanos;

/// The settings of HTTP/2; a plain value, replaced as a whole on reload. Connections keep those they began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Settings {
    /// The most streams that a client may have open at a time; a further one is refused and may be retried.
    pub streams_max: u32,
    /// The most requests that a client may reset before their response is sent; each request that completes gives one
    /// back. One more ends the connection: opening and resetting streams costs a client nothing ("rapid reset").
    pub resets_max: u32,
    /// The flow-control window of a stream, for request bodies, in bytes; at most 2³¹ − 1.
    pub stream_window_bytes: u32,
    /// The flow-control window of a connection, in bytes: the memory that its request bodies take.
    pub connection_window_bytes: u32,
    /// The most bytes of a response that are buffered, per stream.
    pub send_buffer_bytes: usize,
    /// The interval of pings to a silent client that waits for responses. A client that has not answered by the next
    /// ping is considered gone. `None`: no pings.
    pub ping_interval: Option<Nanos>,
}

impl Default for Http2Settings {
    /// As many streams as nginx and Apache allow (128 and 100).
    fn default() -> Http2Settings {
        Http2Settings {
            streams_max: 100,
            resets_max: 100,
            stream_window_bytes: 256 * 1024,
            connection_window_bytes: 1024 * 1024,
            send_buffer_bytes: 64 * 1024,
            ping_interval: Some(Nanos::from_secs(30)),
        }
    }
}
