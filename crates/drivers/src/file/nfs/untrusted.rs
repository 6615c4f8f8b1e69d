//! Parsers of the replies of servers, without a socket: for tests with arbitrary bytes.

use files::{ExistingFile, FileRange};

use super::procedure::{Answer, FileSharing, ListPosition, NfsFile, Procedure};
use super::rpc::ArrivingRecord;
use super::target::{NfsOwner, NfsVersion};
use super::v3::{self, V3Calls};
use super::v4::{OpeningStep, V4Opening, V4Session};
use super::xdr::FileHandle;
use crate::file::frame_buffer::FrameBuffer;

/// The number of kinds of requests that [`reply`] answers.
pub const REQUEST_KINDS: usize = 10;

/// The bytes that a read asks for.
const ASKED: u32 = 4096;

/// The result of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UntrustedReply {
    /// The bytes read from a file.
    pub n_data: usize,
    /// The names of a listing.
    pub n_names: usize,
    /// Whether it is a success.
    pub is_right: bool,
}

fn owner() -> NfsOwner {
    NfsOwner { uid: 0, gid: 0, machine: "m".to_owned() }
}

/// Takes the record of a reply to a request of this kind, which is the first one of a client.
pub fn reply(version: NfsVersion, kind: usize, bytes: &[u8]) -> UntrustedReply {
    let Some(handle) = FileHandle::new(b"handle") else { return UntrustedReply::default() };
    let file = NfsFile { handle, open: None, locks: None };
    let place = (&handle, "name");
    let range = FileRange { offset: 0, length: 1 };
    let procedures: [Procedure<'_>; REQUEST_KINDS] = [
        Procedure::Lookup(place),
        Procedure::Open(place, FileSharing::All),
        Procedure::Create(place, ExistingFile::Truncate, FileSharing::None),
        Procedure::Read(&file, 0, ASKED),
        Procedure::Write(&file, 0, ASKED, true),
        Procedure::Commit(&handle),
        Procedure::Query(&handle),
        Procedure::Volume(&handle),
        Procedure::List(&handle, ListPosition::default()),
        Procedure::Lock(&file, range),
    ];
    let procedure = procedures[kind % REQUEST_KINDS];
    let frame = &mut FrameBuffer::default();
    match version {
        NfsVersion::V3 => {
            let mut calls = V3Calls::new();
            calls.compose(&procedure, &owner(), frame);
            found(calls.answer(&procedure, bytes).ok())
        }
        NfsVersion::V4_1 => {
            let mut session = V4Session::for_tests();
            session.compose(&procedure, &owner(), frame);
            found(session.answer(&procedure, bytes).ok())
        }
    }
}

fn found(answer: Option<Answer<'_>>) -> UntrustedReply {
    let is_right = answer.is_some();
    let (mut n_data, mut n_names) = (0, 0);
    match answer {
        Some(Answer::Data(bytes, _)) => n_data = bytes.len(),
        Some(Answer::Page(mut page)) => {
            while let Ok(Some(_)) = page.next() {
                n_names += 1;
            }
        }
        _ => {}
    }
    UntrustedReply { n_data, n_names, is_right }
}

/// Takes records, one after another, as the replies that open a session of version 4.1, and as those of the services of
/// version 3. Returns whether the session is open.
pub fn opening(records: &[&[u8]]) -> bool {
    let mut opening = V4Opening::new("name".to_owned(), 1, 4);
    records.iter().any(|bytes| {
        let _ = (v3::port(bytes, 1), v3::mounted(bytes, 1), V3Calls::new().take_limits(bytes));
        opening.compose(&owner(), &mut FrameBuffer::default());
        matches!(opening.take(bytes), Ok(OpeningStep::Open(..)))
    })
}

/// Puts the fragments of a stream together, which arrives in pieces of so many bytes. Returns the record, if it is complete.
pub fn record(stream: &[u8], n_piece: usize, bytes_max: usize) -> Option<Vec<u8>> {
    let mut record = ArrivingRecord::new(FrameBuffer::default());
    for piece in stream.chunks(n_piece.max(1)) {
        record.buffer.put(piece);
        if record.missing(bytes_max).ok()? == 0 {
            return Some(record.bytes().to_vec());
        }
    }
    None
}
