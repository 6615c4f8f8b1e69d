//! The readers of what the other side of a link to a load agent sends, for tests with arbitrary bytes.

use super::message::{FromAgent, ToAgent};

/// Reads the bytes of a message of an agent to its end; returns whether it is one.
///
/// # Panics
/// A message that was read is written as one that cannot be read, or that is written otherwise: a mistake of ours.
pub fn message_of_agent(bytes: &[u8]) -> bool {
    let Ok(message) = FromAgent::decode(bytes) else { return false };
    let written = message.encode();
    assert!(FromAgent::decode(&written).is_ok_and(|again| again.encode() == written));
    true
}

/// Reads the bytes of a message to an agent, as [`message_of_agent`] does those of one from it.
///
/// # Panics
/// As there.
pub fn message_to_agent(bytes: &[u8]) -> bool {
    let Ok(message) = ToAgent::decode(bytes) else { return false };
    let written = message.encode();
    assert!(ToAgent::decode(&written).is_ok_and(|again| again.encode() == written));
    true
}
