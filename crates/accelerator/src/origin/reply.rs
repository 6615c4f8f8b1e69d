//! A reply as it begins.

use http1::Version;
use units::Nanos;

use super::body::OriginBody;
use crate::message::HeaderLines;
use crate::policy::Times;

/// A reply of a server: its head, and its body as it comes.
#[derive(Debug)]
pub struct OriginReply {
    /// The status; never an interim one but 101.
    pub status: u16,
    /// What the server speaks.
    pub version: Version,
    /// All lines of the head, those of framing and connection too.
    pub lines: HeaderLines,
    /// How long the body is, if that is known; in a reply to HEAD and in a 304 what the head announces.
    pub content_length: Option<u64>,
    /// When it was asked for, the last time if several, and when its head was there.
    pub times: Times,
    /// How long it took until its head was there, all attempts and waiting included.
    pub waited: Nanos,
    /// The body; ended already if there is none.
    pub body: OriginBody,
}
