//! Interim responses.

use http1::HeaderLines;

/// An interim response (RFC 9110 §15.2): 100, 102, 103 and others that may precede the final response; never 101.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interim {
    /// The status, from 100 to 199.
    pub status: u16,
    /// Its lines, without connection-specific ones and framing.
    pub lines: HeaderLines,
}
