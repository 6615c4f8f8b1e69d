//! The moments of one request, and the measures that follow from them.

use model::{MeasuredValues, web_measure};
use units::Nanos;

/// The moments of one request, on the clock of the run.
///
/// Invariant of a success: sent ≤ connected ≤ first_byte ≤ last_byte. One that does not apply (connected, on a kept
/// connection) equals the one before it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestTimestamps {
    /// Before the first byte is written, or before the socket is made where a connection belongs to the operation.
    pub(super) sent: Nanos,
    /// After the connection is known to be established, with TLS after its handshake; HTTP/2: equal to `sent` for
    /// all but the operation that made the connection.
    pub(super) connected: Nanos,
    /// After the first byte of the reply was read; zero before.
    pub(super) first_byte: Nanos,
    /// After the last byte of the reply was read.
    pub(super) last_byte: Nanos,
}

impl RequestTimestamps {
    /// Returns the measures of a reply with a head and a body of these lengths. The head has none where heads are
    /// compressed over a whole connection (HTTP/2).
    pub(super) fn measured(&self, head_bytes: u64, body_bytes: u64) -> MeasuredValues {
        let since_sent = |moment: Nanos| moment.saturating_sub(self.sent);
        web_measure::measured(since_sent(self.connected), since_sent(self.first_byte), head_bytes, body_bytes)
    }
}
