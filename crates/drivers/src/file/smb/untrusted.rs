//! Parsers of the messages of servers, without a socket: for tests with arbitrary bytes.

use smb2::types::FileId;

use super::frame::FrameBuffer;
use super::login::{LoginStep, SmbLogin};
use super::protection::Protection;
use super::session::{CHAIN_MAX, ServerLimits, SessionStart, SmbSession};
use super::target::SmbTarget;
use super::wire::{InfoClass, OpenMode, Request, SAME_FILE, SmbReply};

/// The number of kinds of requests that [`replies`] answers.
pub const REQUEST_KINDS: usize = 4;

/// The result of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UntrustedReplies {
    /// The replies that were taken.
    pub n_replies: usize,
    /// The bytes read from a file.
    pub n_data: usize,
    /// The names of a listing.
    pub n_names: usize,
    /// Whether the session goes on.
    pub is_right: bool,
}

/// Takes a frame, without the length before it, in an unsigned session that awaits the replies to a request, or to a chain,
/// of this kind.
pub fn replies(kind: usize, bytes: &[u8]) -> UntrustedReplies {
    let mut session = SmbSession::new(SessionStart {
        session_id: 1,
        tree_id: 1,
        next_number: 4,
        credits: 100,
        limits: ServerLimits { has_large_requests: true, read_max: 1 << 20, write_max: 1 << 20 },
        protection: Protection::None,
    });
    let file = FileId { persistent: 1, volatile: 1 };
    let chain = [
        Request::Create("a", OpenMode::LISTING),
        Request::Search(SAME_FILE, "*", true),
        Request::Close(SAME_FILE),
    ];
    let single = [Request::Read(file, 0, 4096), Request::Query(file, InfoClass::BASIC), Request::Flush(file)];
    let requests = single.get(kind).map_or(&chain[..], std::slice::from_ref);
    let mut found = UntrustedReplies::default();
    if session.compose(requests, &mut FrameBuffer::default()).is_err() {
        return found;
    }
    let mut frame = bytes.to_vec();
    let taken = session.take(&mut frame, &mut |_, reply: SmbReply<'_>| {
        found.n_replies += 1;
        if kind == 0 {
            found.n_data += reply.data(4096).map_or(0, <[u8]>::len);
        }
        let _ = (reply.opened(), reply.n_written(4096), reply.output());
        if let Ok(entries) = reply.entries() {
            found.n_names +=
                entries.map_while(Result::ok).map(|entry| entry.text().len().min(1)).sum::<usize>();
        }
        Ok(())
    });
    found.is_right = taken.is_ok();
    assert!(found.n_replies <= CHAIN_MAX, "more replies than requests");
    found
}

/// Takes frames, one after another, as the replies that open a session. Returns whether it is open.
pub fn opening(target: &SmbTarget, frames: &[&[u8]]) -> bool {
    let mut login = SmbLogin::new(target);
    let mut frame = FrameBuffer::default();
    if login.begin(&mut frame).is_err() {
        return false;
    }
    frames.iter().any(|bytes| {
        let taken = login.take(&mut bytes.to_vec(), &mut frame);
        matches!(taken, Ok(LoginStep::Open(_)))
    })
}
