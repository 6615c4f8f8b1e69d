//! What a client may ask of a connection of HTTP/2, besides the limits of every connection.

use units::Nanos;

/// The settings of HTTP/2; a plain value, replaced as a whole on reload. Connections keep those they began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http2Settings {
    /// Streams that a client may have open at a time; a further one is refused and may be tried again.
    pub streams_max: u32,
    /// Requests that a client may take back before their reply is sent; each that it does not gives one back. One more,
    /// and the connection ends: opening and resetting streams costs a client nothing ("rapid reset").
    pub resets_max: u32,
    /// Bytes of a request's body that may be on their way, per stream; at most 2³¹ − 1.
    pub stream_window_bytes: u32,
    /// The same for all streams of a connection together: what its bodies take of memory.
    pub connection_window_bytes: u32,
    /// Bytes of a reply that wait to be sent, per stream.
    pub send_buffer_bytes: usize,
    /// How often a client from which nothing comes is asked whether it is there, while it waits for replies. One that
    /// has not answered by the next time is gone. `None`: never.
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
