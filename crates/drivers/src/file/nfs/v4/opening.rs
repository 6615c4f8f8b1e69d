//! The calls that open a session: `EXCHANGE_ID`, `CREATE_SESSION`, `RECLAIM_COMPLETE`, and a question about the limits.

use super::attributes;
use super::compound::{CompoundReader, CompoundWriter, Op};
use super::{V4Limits, V4Session, ask};
use crate::file::frame_buffer::FrameBuffer;
use crate::file::nfs::failure::{NfsFailure, Violation};
use crate::file::nfs::target::NfsOwner;
use crate::file::nfs::xdr::{FileHandle, XdrReader};

/// The client uses no servers that hold data elsewhere.
const USE_NON_PNFS: u32 = 0x1_0000;

/// The most bytes of a call and of a reply: reads and writes of 1 MiB, and what is around them.
const MESSAGE_BYTES: u32 = (1 << 20) + OVERHEAD_BYTES;

/// The most bytes around those of a read or write.
const OVERHEAD_BYTES: u32 = 4096;

/// The most bytes of a reply that the server keeps: none is to be kept, but servers want room for short ones.
const KEPT_BYTES: u32 = 4096;

/// The most operations of a compound.
const OPS: u32 = 16;

/// The limits of calls from the server, which does not call; servers want them to be possible ones.
const BACK_CHANNEL: [u32; 6] = [0, 4096, 4096, 0, 2, 1];

/// A program of the client's that the server would call.
const CALLBACK_PROGRAM: u32 = 0x4000_0000;

/// The granularity of reads and writes.
const GRAIN_BYTES: u32 = 4096;

/// The most bytes of the names that a server gives itself.
const SERVER_NAME_BYTES_MAX: usize = 1024;

/// The opening of a session.
#[derive(Debug)]
pub(in crate::file::nfs) struct V4Opening {
    /// The name of the client, which no other has.
    name: String,
    /// A number by which the server tells whether the client was restarted.
    verifier: [u8; 8],
    /// The number of slots that the session is to have.
    n_slots: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    Naming,
    Creating { client_id: u64, sequence: u32, server: String },
    Reclaiming(Box<V4Session>),
    Asking(Box<V4Session>),
    Open,
}

/// The step that follows a reply.
#[derive(Debug)]
pub(in crate::file::nfs) enum OpeningStep {
    /// Another call is to be sent.
    Send,
    /// The session is open; the handle is that of the root of all exports.
    Open(Box<V4Session>, FileHandle),
}

impl V4Opening {
    /// Begins to open the session of a client of this name, for so many requests in flight.
    pub(in crate::file::nfs) fn new(name: String, verifier: u64, n_slots: u32) -> V4Opening {
        V4Opening { name, verifier: verifier.to_be_bytes(), n_slots, state: State::Naming }
    }

    /// Writes the next call.
    pub(in crate::file::nfs) fn compose(&mut self, owner: &NfsOwner, frame: &mut FrameBuffer) {
        match &mut self.state {
            State::Naming => {
                let mut compound = CompoundWriter::begin(frame, 1, owner);
                let frame = compound.op(Op::ExchangeId);
                frame.put(&self.verifier);
                frame.opaque(self.name.as_bytes());
                // The flags, no protection of state, no description of the client.
                frame.numbers(&[USE_NON_PNFS, 0, 0]);
            }
            State::Creating { client_id, sequence, .. } => {
                let mut compound = CompoundWriter::begin(frame, 2, owner);
                let frame = compound.op(Op::CreateSession);
                frame.long(*client_id);
                // The flags: the session is not kept, and has no channel for calls from the server.
                frame.numbers(&[*sequence, 0]);
                frame.numbers(&[0, MESSAGE_BYTES, MESSAGE_BYTES, KEPT_BYTES, OPS, self.n_slots, 0]);
                frame.numbers(&BACK_CHANNEL);
                frame.number(0);
                // Calls from the server would have no credential.
                frame.numbers(&[CALLBACK_PROGRAM, 1, 0]);
            }
            State::Reclaiming(session) => {
                let mut compound = session.begin(0, owner, frame);
                compound.op(Op::ReclaimComplete).number(0);
            }
            State::Asking(session) => {
                let mut compound = session.begin(0, owner, frame);
                compound.op(Op::PutRootFh);
                compound.op(Op::GetFh);
                ask(&mut compound, attributes::OF_SERVER);
            }
            State::Open => {}
        }
    }

    /// Takes the reply to the last call.
    ///
    /// # Errors
    /// The server refused, or it is no reply to the call.
    pub(in crate::file::nfs) fn take(&mut self, bytes: &[u8]) -> Result<OpeningStep, NfsFailure> {
        let (state, step) = match std::mem::replace(&mut self.state, State::Open) {
            State::Naming => (named(bytes)?, OpeningStep::Send),
            State::Creating { client_id, server, .. } => {
                let session = created(bytes, client_id, server, self.n_slots)?;
                (State::Reclaiming(Box::new(session)), OpeningStep::Send)
            }
            State::Reclaiming(mut session) => {
                let mut results = CompoundReader::new(bytes, session.call_number)?;
                session.take_sequence(0, &mut results)?;
                results.result(Op::ReclaimComplete)?;
                (State::Asking(session), OpeningStep::Send)
            }
            State::Asking(mut session) => {
                let mut results = CompoundReader::new(bytes, session.call_number)?;
                session.take_sequence(0, &mut results)?;
                results.result(Op::PutRootFh)?;
                let root = results.result(Op::GetFh)?.handle()?;
                let found = attributes::read(results.result(Op::GetAttr)?, attributes::OF_SERVER)?;
                let limits = &mut session.limits;
                limits.read_max = within(limits.read_max, found.read_max);
                limits.write_max = within(limits.write_max, found.write_max);
                limits.lease_seconds = found.lease_seconds.unwrap_or(0);
                (State::Open, OpeningStep::Open(session, root))
            }
            State::Open => return Err(NfsFailure::violation(Violation::OtherReply, 0)),
        };
        self.state = state;
        Ok(step)
    }
}

/// Reads the result of `EXCHANGE_ID`.
fn named(bytes: &[u8]) -> Result<State, NfsFailure> {
    let mut results = CompoundReader::new(bytes, 1)?;
    let reader = results.result(Op::ExchangeId)?;
    let client_id = reader.long()?;
    let sequence = reader.number()?;
    // Flags; the protection of state, which was not asked for.
    let _flags = reader.number()?;
    let protection = reader.number()?;
    if protection != 0 {
        return Err(NfsFailure::violation(Violation::Unasked, protection.into()));
    }
    // The names of the server: a number and bytes of each that it could share with others.
    reader.long()?;
    reader.opaque(SERVER_NAME_BYTES_MAX)?;
    reader.opaque(SERVER_NAME_BYTES_MAX)?;
    let server = server_name(reader)?;
    Ok(State::Creating { client_id, sequence, server })
}

/// Reads what a server says about its program, which it need not.
fn server_name(reader: &mut XdrReader<'_>) -> Result<String, NfsFailure> {
    if reader.length(20)? == 0 {
        return Ok(String::new());
    }
    reader.opaque(SERVER_NAME_BYTES_MAX)?;
    let name = String::from_utf8_lossy(reader.opaque(SERVER_NAME_BYTES_MAX)?).into_owned();
    Ok(name)
}

/// Reads the result of `CREATE_SESSION`, for a session of at most so many slots.
fn created(bytes: &[u8], client_id: u64, server: String, n_slots_max: u32) -> Result<V4Session, NfsFailure> {
    let mut results = CompoundReader::new(bytes, 2)?;
    let reader = results.result(Op::CreateSession)?;
    let session_id = reader.fixed()?;
    // The number of the call, flags, and bytes before those of messages.
    reader.bytes(3 * 4)?;
    let (call_max, reply_max) = (reader.number()?, reader.number()?);
    let (_kept_max, _ops_max, n_slots) = (reader.number()?, reader.number()?, reader.number()?);
    let limits = V4Limits {
        read_max: data_bytes(reply_max),
        write_max: data_bytes(call_max),
        lease_seconds: 0,
        server,
    };
    Ok(V4Session::new(client_id, session_id, n_slots.min(n_slots_max) as usize, limits))
}

/// Returns how many bytes of a file a message has room for.
fn data_bytes(message_bytes: u32) -> u32 {
    let n_bytes = message_bytes.saturating_sub(OVERHEAD_BYTES).max(GRAIN_BYTES);
    n_bytes / GRAIN_BYTES * GRAIN_BYTES
}

/// Returns a limit within the one that the server stated, if it did.
fn within(limit: u32, stated: Option<u64>) -> u32 {
    let stated = stated.filter(|stated| 0 < *stated).and_then(|stated| u32::try_from(stated).ok());
    stated.map_or(limit, |stated| stated.min(limit))
}
