//! NFS 4.1: sessions, and requests as compounds. Bytes in, bytes out: no socket, no clock.
//!
//! | state | event | next state | note |
//! |---|---|---|---|
//! | ready | [`V4Session::compose`] | awaiting | the first operation names the session, a slot, and the number of the call in it |
//! | awaiting | the reply to the call | ready | the number goes up if the server has taken the call, whatever became of it |
//! | awaiting | anything else | the session ends | [`Violation`](super::failure::Violation) says what it was |
//!
//! Each slot has these states. There is one, unless several requests of a client are to be in flight: then there are as many as
//! the server grants of them.
//!
//! Replies are never to be kept by the server: it would refuse reads that are longer than what it keeps. A call is sent once.
//! Servers that hold data elsewhere are told that the client asks only them, so that no address is used that the target
//! policy has not seen; delegations are not wanted, and nobody could take them back, as there is no way for calls from the
//! server.
//!
//! - `compound`: several operations in a call
//! - `attributes`: what is asked about files
//! - `opening`: the calls that open a session

mod attributes;
mod compound;
mod opening;

use files::{ExistingFile, FileRange};

use self::attributes::{AttributeSet, Attributes};
use self::compound::{CompoundReader, CompoundWriter, Op};
use super::failure::{NfsFailure, Violation};
use super::procedure::{
    Answer, EntryPath, FileSharing, FoundEntry, ListEntry, ListPage, NAME_BYTES_MAX, NfsFile, PAGE_BYTES,
    Procedure, StateId, Written,
};
use super::target::NfsOwner;
use super::xdr::{FileHandle, XdrReader};
use crate::file::frame_buffer::FrameBuffer;

pub(super) use opening::{OpeningStep, V4Opening};

/// The rights of files and folders that are made.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// Access to read and to write, without a delegation.
const READ_WRITE: u32 = 3;
const NO_DELEGATION_WANTED: u32 = 0x400;

const DENY_NONE: u32 = 0;
const DENY_BOTH: u32 = 3;

/// Kinds of opening.
const EXISTING: u32 = 0;
const CREATE: u32 = 1;
const UNCHECKED: u32 = 0;
const GUARDED: u32 = 1;

/// A name in the folder that is the current file.
const CLAIM_NULL: u32 = 0;

/// The kinds of delegations in a reply to `OPEN`: none, and none with the reason.
const NO_DELEGATION: u32 = 0;
const NO_DELEGATION_WITH_REASON: u32 = 3;

/// The reasons for which there is no delegation that have a flag behind them.
const REASONS_WITH_FLAG: std::ops::RangeInclusive<u32> = 1..=2;

/// A lock of one client that fails at once if another has one.
const WRITE_LOCK: u32 = 2;

/// The type of a folder that is made.
const FOLDER: u32 = 2;

/// A time that the server knows, or that the client states.
const SERVER_TIME: u32 = 0;
const CLIENT_TIME: u32 = 1;

/// The durability of writes: whatever the server likes, or on the disk.
const UNSTABLE: u32 = 0;
const DATA_SYNC: u32 = 1;

/// The state of whoever has nothing open.
const ANONYMOUS: StateId = [0; 16];

/// The limits of a server and of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct V4Limits {
    /// The most bytes of a read and of a write.
    pub(super) read_max: u32,
    pub(super) write_max: u32,
    /// The time after which the server forgets a client from whom it hears nothing, in seconds.
    pub(super) lease_seconds: u32,
    /// The name that the server gives itself; empty if it gives none.
    pub(super) server: String,
}

/// A session with its slots.
#[derive(Debug)]
pub(super) struct V4Session {
    client_id: u64,
    session_id: [u8; 16],
    /// The number of the next call in each slot, of which there is at least one.
    sequences: Vec<u32>,
    /// The number of slots that the server wants to be used.
    n_wanted: usize,
    /// The number of the last call.
    call_number: u32,
    pub(super) limits: V4Limits,
}

impl V4Session {
    /// Makes a session that was not opened, to read replies in.
    pub(super) fn for_tests() -> V4Session {
        let limits =
            V4Limits { read_max: 1 << 20, write_max: 1 << 20, lease_seconds: 90, server: String::new() };
        V4Session::new(1, [1; 16], 1, limits)
    }

    /// Makes a session that two calls have opened.
    fn new(client_id: u64, session_id: [u8; 16], n_slots: usize, limits: V4Limits) -> V4Session {
        let sequences = vec![1; n_slots.max(1)];
        let n_wanted = sequences.len();
        V4Session { client_id, session_id, sequences, n_wanted, call_number: 2, limits }
    }

    /// Returns the number of slots that can be used at the same time.
    pub(super) fn n_slots(&self) -> usize {
        self.n_wanted
    }

    /// Returns the number of the last call.
    pub(super) fn call_number(&self) -> u32 {
        self.call_number
    }

    /// Writes a request in the first slot. The bytes of a write follow.
    pub(super) fn compose(&mut self, procedure: &Procedure<'_>, owner: &NfsOwner, frame: &mut FrameBuffer) {
        self.compose_in(0, procedure, owner, frame);
    }

    /// Writes a request in a slot in which none is in flight.
    pub(super) fn compose_in(
        &mut self,
        slot: usize,
        procedure: &Procedure<'_>,
        owner: &NfsOwner,
        frame: &mut FrameBuffer,
    ) {
        let mut compound = self.begin(slot, owner, frame);
        match *procedure {
            Procedure::Lookup((folder, name)) => {
                compound.put_handle(folder);
                compound.op(Op::Lookup).opaque(name.as_bytes());
                compound.op(Op::GetFh);
                ask(&mut compound, attributes::OF_FILE);
            }
            Procedure::Open(place, sharing) => {
                self.open(&mut compound, place, sharing, None);
            }
            Procedure::Create(place, existing, sharing) => {
                self.open(&mut compound, place, sharing, Some(existing));
            }
            Procedure::Close(file) => {
                compound.put_handle(&file.handle);
                let frame = compound.op(Op::Close);
                frame.number(0);
                frame.put(&state(file.open));
            }
            Procedure::Read(file, offset, n_bytes) => {
                compound.put_handle(&file.handle);
                let frame = compound.op(Op::Read);
                frame.put(&state(file.open));
                frame.long(offset);
                frame.number(n_bytes);
            }
            Procedure::Write(file, offset, n_bytes, is_durable) => {
                compound.put_handle(&file.handle);
                let frame = compound.op(Op::Write);
                frame.put(&state(file.open));
                frame.long(offset);
                frame.numbers(&[if is_durable { DATA_SYNC } else { UNSTABLE }, n_bytes]);
            }
            Procedure::Commit(handle) => {
                compound.put_handle(handle);
                let frame = compound.op(Op::Commit);
                // All of the file.
                frame.long(0);
                frame.number(0);
            }
            Procedure::Query(handle) => {
                compound.put_handle(handle);
                ask(&mut compound, attributes::OF_FILE);
            }
            Procedure::SetTimes(handle, seconds) => {
                compound.put_handle(handle);
                let frame = compound.op(Op::SetAttr);
                frame.put(&ANONYMOUS);
                put_set(frame, attributes::TIMES);
                match seconds {
                    Some(seconds) => {
                        frame.number(2 * 16);
                        for _ in 0..2 {
                            frame.number(CLIENT_TIME);
                            frame.long(seconds);
                            frame.number(0);
                        }
                    }
                    None => frame.numbers(&[2 * 4, SERVER_TIME, SERVER_TIME]),
                }
            }
            Procedure::Volume(handle) => {
                compound.put_handle(handle);
                ask(&mut compound, attributes::OF_VOLUME);
            }
            Procedure::List(handle, position) => {
                compound.put_handle(handle);
                let frame = compound.op(Op::ReadDir);
                frame.long(position.cookie);
                frame.put(&position.verifier);
                frame.numbers(&[PAGE_BYTES, PAGE_BYTES]);
                put_set(frame, attributes::OF_LISTED);
            }
            Procedure::Rename((from_folder, from), (to_folder, to)) => {
                compound.put_handle(from_folder);
                compound.op(Op::SaveFh);
                compound.put_handle(to_folder);
                let frame = compound.op(Op::Rename);
                frame.opaque(from.as_bytes());
                frame.opaque(to.as_bytes());
            }
            Procedure::Remove((folder, name)) | Procedure::RemoveFolder((folder, name)) => {
                compound.put_handle(folder);
                compound.op(Op::Remove).opaque(name.as_bytes());
            }
            Procedure::MakeFolder((folder, name)) => {
                compound.put_handle(folder);
                let frame = compound.op(Op::Create);
                frame.number(FOLDER);
                frame.opaque(name.as_bytes());
                put_set(frame, attributes::RIGHTS);
                frame.numbers(&[4, FOLDER_MODE]);
            }
            Procedure::Lock(file, range) => self.lock(&mut compound, file, range),
            Procedure::Unlock(file, range) => {
                compound.put_handle(&file.handle);
                let frame = compound.op(Op::LockU);
                frame.numbers(&[WRITE_LOCK, 0]);
                frame.put(&state(file.locks));
                put_range(frame, range);
            }
            Procedure::Renew => {}
        }
    }

    /// Begins a compound in a slot of the session.
    fn begin<'f>(&mut self, slot: usize, owner: &NfsOwner, frame: &'f mut FrameBuffer) -> CompoundWriter<'f> {
        self.call_number = self.call_number.wrapping_add(1);
        let mut compound = CompoundWriter::begin(frame, self.call_number, owner);
        let frame = compound.op(Op::Sequence);
        frame.put(&self.session_id);
        // The slot, the highest slot that may be in use, and that the reply need not be kept.
        let highest = self.sequences.len() - 1;
        frame.numbers(&[self.sequences[slot], slot as u32, highest as u32, 0]);
        compound
    }

    fn open(
        &self,
        compound: &mut CompoundWriter<'_>,
        (folder, name): EntryPath<'_>,
        sharing: FileSharing,
        create: Option<ExistingFile>,
    ) {
        let deny = match sharing {
            FileSharing::All => DENY_NONE,
            FileSharing::None => DENY_BOTH,
        };
        compound.put_handle(folder);
        let frame = compound.op(Op::Open);
        frame.numbers(&[0, READ_WRITE | NO_DELEGATION_WANTED, deny]);
        self.put_owner(frame);
        match create {
            None => frame.number(EXISTING),
            Some(ExistingFile::Truncate) => {
                frame.numbers(&[CREATE, UNCHECKED]);
                put_set(frame, attributes::LENGTH_AND_RIGHTS);
                frame.number(12);
                frame.long(0);
                frame.number(FILE_MODE);
            }
            Some(existing) => {
                let how = if existing == ExistingFile::Keep { UNCHECKED } else { GUARDED };
                frame.numbers(&[CREATE, how]);
                put_set(frame, attributes::RIGHTS);
                frame.numbers(&[4, FILE_MODE]);
            }
        }
        frame.number(CLAIM_NULL);
        frame.opaque(name.as_bytes());
        compound.op(Op::GetFh);
        ask(compound, attributes::OF_OPENED);
    }

    fn lock(&self, compound: &mut CompoundWriter<'_>, file: &NfsFile, range: FileRange) {
        compound.put_handle(&file.handle);
        let frame = compound.op(Op::Lock);
        // Not reclaimed after a restart of the server.
        frame.numbers(&[WRITE_LOCK, 0]);
        put_range(frame, range);
        match file.locks {
            Some(locks) => {
                frame.number(0);
                frame.put(&locks);
                frame.number(0);
            }
            None => {
                // The first lock of the file has the state of the open file, and who locks.
                frame.numbers(&[1, 0]);
                frame.put(&state(file.open));
                frame.number(0);
                self.put_owner(frame);
            }
        }
    }

    /// Writes who opens and locks files: there is one in each session.
    fn put_owner(&self, frame: &mut FrameBuffer) {
        frame.long(self.client_id);
        frame.opaque(b"plimsoll");
    }

    /// Reads the reply to the last call, a request in the first slot.
    ///
    /// # Errors
    /// The server refused, or it is no reply to the request.
    pub(super) fn answer<'r>(
        &mut self,
        procedure: &Procedure<'_>,
        bytes: &'r [u8],
    ) -> Result<Answer<'r>, NfsFailure> {
        self.answer_in(0, self.call_number, procedure, bytes)
    }

    /// Reads the reply to the call of this number, a request in a slot.
    ///
    /// # Errors
    /// As for [`V4Session::answer`].
    pub(super) fn answer_in<'r>(
        &mut self,
        slot: usize,
        call_number: u32,
        procedure: &Procedure<'_>,
        bytes: &'r [u8],
    ) -> Result<Answer<'r>, NfsFailure> {
        let mut results = CompoundReader::new(bytes, call_number)?;
        self.take_sequence(slot, &mut results)?;
        match procedure {
            Procedure::Lookup(_) => {
                results.result(Op::PutFh)?;
                results.result(Op::Lookup)?;
                found(&mut results, None, attributes::OF_FILE)
            }
            Procedure::Open(..) | Procedure::Create(..) => {
                results.result(Op::PutFh)?;
                let open = opened(results.result(Op::Open)?)?;
                found(&mut results, Some(open), attributes::OF_OPENED)
            }
            Procedure::Close(_) => done(&mut results, Op::Close),
            Procedure::Read(_, _, n_bytes) => {
                results.result(Op::PutFh)?;
                let reader = results.result(Op::Read)?;
                let is_end = reader.flag()?;
                Ok(Answer::Data(reader.opaque(*n_bytes as usize)?, is_end))
            }
            Procedure::Write(_, _, n_sent, _) => {
                results.result(Op::PutFh)?;
                written(results.result(Op::Write)?, *n_sent)
            }
            Procedure::Commit(_) => {
                results.result(Op::PutFh)?;
                Ok(Answer::Committed(results.result(Op::Commit)?.fixed()?))
            }
            Procedure::Query(_) => {
                let found = queried(&mut results, attributes::OF_FILE)?.of_file();
                found.map(Answer::Attributes).ok_or_else(|| NfsFailure::violation(Violation::OtherReply, 0))
            }
            Procedure::Volume(_) => queried(&mut results, attributes::OF_VOLUME).map(|_| Answer::Done),
            Procedure::SetTimes(..) => done(&mut results, Op::SetAttr),
            Procedure::List(..) => {
                results.result(Op::PutFh)?;
                ListPage::new(results.result(Op::ReadDir)?, entry).map(Answer::Page)
            }
            Procedure::Rename(..) => {
                results.result(Op::PutFh)?;
                results.result(Op::SaveFh)?;
                done(&mut results, Op::Rename)
            }
            Procedure::Remove(_) | Procedure::RemoveFolder(_) => done(&mut results, Op::Remove),
            Procedure::MakeFolder(_) => done(&mut results, Op::Create),
            Procedure::Lock(..) => {
                results.result(Op::PutFh)?;
                Ok(Answer::Locked(current(results.result(Op::Lock)?.fixed()?)))
            }
            Procedure::Unlock(..) => {
                results.result(Op::PutFh)?;
                Ok(Answer::Locked(current(results.result(Op::LockU)?.fixed()?)))
            }
            Procedure::Renew => Ok(Answer::Done),
        }
    }

    /// Reads the result of the operation that names the session and the slot. The number of the next call in it goes up if the
    /// server has taken this one.
    fn take_sequence(&mut self, slot: usize, results: &mut CompoundReader<'_>) -> Result<(), NfsFailure> {
        let sequence = self.sequences[slot];
        let reader = results.result(Op::Sequence)?;
        let is_own = reader.fixed::<16>()? == self.session_id
            && reader.number()? == sequence
            && reader.number()? as usize == slot;
        if !is_own {
            return Err(NfsFailure::violation(Violation::OtherReply, sequence.into()));
        }
        // The highest slot that the server would take, and the highest that it wants to be used.
        let _highest = reader.number()?;
        let wanted = reader.number()? as usize;
        // Flags say what has happened to the client's state; what follows tells, too.
        reader.number()?;
        self.n_wanted = wanted.saturating_add(1).min(self.sequences.len());
        self.sequences[slot] = sequence.wrapping_add(1);
        Ok(())
    }

    /// Writes the calls that end the session, and make the server forget the client: neither is answered.
    pub(super) fn compose_end(&mut self, owner: &NfsOwner, frames: [&mut FrameBuffer; 2]) {
        let [session, client] = frames;
        let number = self.call_number;
        let mut compound = CompoundWriter::begin(session, number.wrapping_add(1), owner);
        compound.op(Op::DestroySession).put(&self.session_id);
        let mut compound = CompoundWriter::begin(client, number.wrapping_add(2), owner);
        compound.op(Op::DestroyClientId).long(self.client_id);
    }
}

/// Asks about the current file.
fn ask(compound: &mut CompoundWriter<'_>, set: AttributeSet) {
    put_set(compound.op(Op::GetAttr), set);
}

fn put_set(frame: &mut FrameBuffer, [first, second]: AttributeSet) {
    frame.numbers(&[2, first, second]);
}

fn put_range(frame: &mut FrameBuffer, range: FileRange) {
    frame.long(range.offset);
    frame.long(range.length);
}

/// Returns a state to be sent: that of whoever has nothing open, where there is none.
fn state(state: Option<StateId>) -> StateId {
    state.unwrap_or(ANONYMOUS)
}

/// Makes a state mean the newest one of its file: the first of its numbers counts the changes.
fn current(mut state: StateId) -> StateId {
    state[..4].fill(0);
    state
}

/// Reads the results of a compound about one file whose last operation says nothing.
fn done<'r>(results: &mut CompoundReader<'_>, op: Op) -> Result<Answer<'r>, NfsFailure> {
    results.result(Op::PutFh)?;
    results.result(op)?;
    Ok(Answer::Done)
}

/// Reads the result of `OPEN`: the state of the file.
fn opened(reader: &mut XdrReader<'_>) -> Result<StateId, NfsFailure> {
    let open = reader.fixed()?;
    // What has changed in the folder: a flag, and two numbers; flags of the open file.
    reader.bytes(4 + 8 + 8 + 4)?;
    attributes::skip_set(reader)?;
    match reader.number()? {
        NO_DELEGATION => {}
        NO_DELEGATION_WITH_REASON => {
            if REASONS_WITH_FLAG.contains(&reader.number()?) {
                reader.flag()?;
            }
        }
        kind => return Err(NfsFailure::violation(Violation::Unasked, kind.into())),
    }
    Ok(current(open))
}

/// Reads the handle and the attributes of what was found.
fn found<'r>(
    results: &mut CompoundReader<'_>,
    open: Option<StateId>,
    set: AttributeSet,
) -> Result<Answer<'r>, NfsFailure> {
    let handle: FileHandle = results.result(Op::GetFh)?.handle()?;
    let attributes = attributes::read(results.result(Op::GetAttr)?, set)?;
    Ok(Answer::Found(FoundEntry {
        file: NfsFile { handle, open, locks: None },
        attributes: attributes.of_file(),
    }))
}

fn queried(results: &mut CompoundReader<'_>, set: AttributeSet) -> Result<Attributes, NfsFailure> {
    results.result(Op::PutFh)?;
    attributes::read(results.result(Op::GetAttr)?, set)
}

fn written<'r>(reader: &mut XdrReader<'_>, n_sent: u32) -> Result<Answer<'r>, NfsFailure> {
    let n_bytes = reader.number()?;
    let is_durable = reader.number()? != UNSTABLE;
    let verifier = reader.fixed()?;
    if n_sent < n_bytes {
        return Err(NfsFailure::violation(Violation::LyingLength, n_bytes.into()));
    }
    Ok(Answer::Written(Written { n_bytes, is_durable, verifier }))
}

fn entry<'r>(reader: &mut XdrReader<'r>) -> Result<ListEntry<'r>, NfsFailure> {
    let cookie = reader.long()?;
    let name = reader.opaque(NAME_BYTES_MAX)?;
    let attributes = attributes::read(reader, attributes::OF_LISTED)?;
    Ok(ListEntry { name, cookie, is_folder: attributes.is_folder })
}
