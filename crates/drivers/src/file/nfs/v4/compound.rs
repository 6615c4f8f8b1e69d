//! Compounds: several operations in a call, each about the file that those before it have left as the current one.
//!
//! Source: RFC 8881 sections 16.2 and 18.

use crate::file::frame_buffer::FrameBuffer;
use crate::file::nfs::failure::{NfsFailure, Violation};
use crate::file::nfs::rpc::{self, Program};
use crate::file::nfs::status::NfsStatus;
use crate::file::nfs::target::NfsOwner;
use crate::file::nfs::xdr::{FileHandle, XdrReader};

/// The program, and its only version with compounds.
const PROGRAM: Program = Program { number: 100_003, version: 4 };

/// The procedure that performs a compound.
const COMPOUND: u32 = 1;

/// The minor version: 4.1.
const MINOR_VERSION: u32 = 1;

/// The most bytes of the tag of a reply. Calls have none, and servers return it.
const TAG_BYTES_MAX: usize = 256;

/// An operation of a compound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Op {
    Close = 4,
    Commit = 5,
    Create = 6,
    GetAttr = 9,
    GetFh = 10,
    Lock = 12,
    LockU = 14,
    Lookup = 15,
    Open = 18,
    PutFh = 22,
    PutRootFh = 24,
    Read = 25,
    ReadDir = 26,
    Remove = 28,
    Rename = 29,
    SaveFh = 32,
    SetAttr = 34,
    Write = 38,
    ExchangeId = 42,
    CreateSession = 43,
    DestroySession = 44,
    Sequence = 53,
    DestroyClientId = 57,
    ReclaimComplete = 58,
}

/// A compound that is being written.
pub(super) struct CompoundWriter<'f> {
    pub(super) frame: &'f mut FrameBuffer,
    /// The offset of the number of operations.
    count_at: usize,
    n_ops: u32,
}

impl<'f> CompoundWriter<'f> {
    /// Begins the record of a call.
    pub(super) fn begin(
        frame: &'f mut FrameBuffer,
        call_number: u32,
        owner: &NfsOwner,
    ) -> CompoundWriter<'f> {
        rpc::begin_call(frame, call_number, PROGRAM, COMPOUND, owner);
        // No tag.
        frame.numbers(&[0, MINOR_VERSION]);
        let count_at = frame.len();
        frame.number(0);
        CompoundWriter { frame, count_at, n_ops: 0 }
    }

    /// Adds an operation, whose arguments follow.
    pub(super) fn op(&mut self, op: Op) -> &mut FrameBuffer {
        self.n_ops += 1;
        let count = self.n_ops.to_be_bytes();
        self.frame.filled_mut()[self.count_at..self.count_at + 4].copy_from_slice(&count);
        self.frame.number(op as u32);
        self.frame
    }

    /// Makes a file the current one.
    pub(super) fn put_handle(&mut self, handle: &FileHandle) {
        self.op(Op::PutFh).opaque(handle.bytes());
    }
}

/// The results of a compound that are being read.
#[derive(Debug)]
pub(super) struct CompoundReader<'r> {
    pub(super) reader: XdrReader<'r>,
    n_left: usize,
    /// The status of the compound, which is that of the last operation.
    status: NfsStatus,
}

impl<'r> CompoundReader<'r> {
    /// Reads the head of the reply to a call.
    ///
    /// # Errors
    /// It is no reply to this call, or the server refused the call.
    pub(super) fn new(bytes: &'r [u8], call_number: u32) -> Result<CompoundReader<'r>, NfsFailure> {
        let mut reader = rpc::reply(bytes, call_number)?;
        let status = NfsStatus(reader.number()?);
        reader.opaque(TAG_BYTES_MAX)?;
        // Of each at least its number and its status.
        let n_left = reader.length(8)?;
        Ok(CompoundReader { reader, n_left, status })
    }

    /// Reads the head of an operation's result, which is a success.
    ///
    /// # Errors
    /// The operation failed, or it is the result of another.
    pub(super) fn result(&mut self, op: Op) -> Result<&mut XdrReader<'r>, NfsFailure> {
        let Some(n_left) = self.n_left.checked_sub(1) else {
            return Err(match self.status {
                // As when the minor version is refused.
                status if status != NfsStatus::OK => NfsFailure::status(status),
                _ => NfsFailure::violation(Violation::OtherReply, 0),
            });
        };
        self.n_left = n_left;
        let found = self.reader.number()?;
        if found != op as u32 {
            return Err(NfsFailure::violation(Violation::OtherReply, found.into()));
        }
        match NfsStatus(self.reader.number()?) {
            NfsStatus::OK => Ok(&mut self.reader),
            status => Err(NfsFailure::status(status)),
        }
    }
}
