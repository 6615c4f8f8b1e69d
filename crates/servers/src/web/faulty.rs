//! The bytes of wrong answers.

use http1::{Framing, HEAD_BYTES_MAX, ResponseHead, Version};

use super::fault::{DRIP_PAUSE, DRIP_PIECES, Fault};
use super::site::{ReadyReply, Site, head_bytes};

use units::Nanos;

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Goes on as the request asked.
    AsAsked,
    /// Is closed in order.
    Close,
    /// Is broken off.
    Reset,
    /// Stays open in silence until the client leaves.
    Hold,
}

/// One wrong answer.
#[derive(Debug)]
pub(super) struct WrongAnswer {
    pub(super) bytes: Vec<u8>,
    /// Sent in pieces of this length; above zero.
    pub(super) piece: usize,
    /// Wait between two pieces.
    pub(super) pause: Nanos,
    pub(super) ending: Ending,
}

/// Spoils the right reply to a GET.
pub(super) fn spoil(
    fault: Fault,
    site: &Site,
    right: &ReadyReply,
    version: Version,
    keep_alive: bool,
) -> WrongAnswer {
    let body = &right.body[..];
    let announced = |length: usize| {
        let framing = Framing::Length(length as u64);
        head_bytes(&ResponseHead { status: 200, version, framing, keep_alive }, &[]).into_vec()
    };
    let whole = || [right.head(version, keep_alive), body].concat();
    // An empty file has no half: one byte is announced that does not come.
    let half = || [&announced(body.len().max(1)), &body[..body.len() / 2]].concat();
    let (bytes, ending) = match fault {
        Fault::WrongLength => ([&announced(body.len() + 1), body, b"?"].concat(), Ending::AsAsked),
        Fault::Truncated => (half(), Ending::Close),
        Fault::WrongBytes => (with_wrong_byte(whole(), body.len()), Ending::AsAsked),
        Fault::WrongStatus => {
            let reply = &site.server_error;
            ([reply.head(version, keep_alive), &reply.body].concat(), Ending::AsAsked)
        }
        Fault::MalformedHead => (b"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n".to_vec(), Ending::Close),
        Fault::OversizedHead => (oversized(announced(0)), Ending::Close),
        Fault::Stall => (Vec::new(), Ending::Hold),
        Fault::Reset => (half(), Ending::Reset),
        Fault::SlowDrip => (whole(), Ending::AsAsked),
        Fault::EarlyClose => (Vec::new(), Ending::Close),
        Fault::DuplicateLengths => {
            let second = format!("Content-Length: {}", body.len() + 1);
            ([with_line(announced(body.len()), &second), body.to_vec()].concat(), Ending::Close)
        }
        Fault::BadChunk => {
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
            ([&head[..], b"many\r\n", body].concat(), Ending::Close)
        }
    };
    let (piece, pause) = match fault {
        Fault::SlowDrip => (bytes.len().div_ceil(DRIP_PIECES), DRIP_PAUSE),
        _ => (bytes.len().max(1), Nanos::ZERO),
    };
    WrongAnswer { bytes, piece, pause, ending }
}

fn with_wrong_byte(mut bytes: Vec<u8>, body_length: usize) -> Vec<u8> {
    if 0 < body_length {
        let middle = bytes.len() - body_length + body_length / 2;
        bytes[middle] ^= 1;
    }
    bytes
}

/// Adds a line at the end of a head.
fn with_line(mut head: Vec<u8>, line: &str) -> Vec<u8> {
    head.truncate(head.len() - 2);
    head.extend_from_slice(line.as_bytes());
    head.extend_from_slice(b"\r\n\r\n");
    head
}

fn oversized(head: Vec<u8>) -> Vec<u8> {
    with_line(head, &format!("X-Padding: {}", "x".repeat(HEAD_BYTES_MAX)))
}
