//! What comes before a reply.

use super::lines::HeaderLines;

/// An interim response (RFC 9110 §15.2): 100, 102, 103 and what else may come before the reply; never 101.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interim {
    /// The status, from 100 to 199.
    pub status: u16,
    /// Its lines, without those of connection and framing.
    pub lines: HeaderLines,
}
