//! NFS 3: a call for each request, without sessions, open files and locks. Bytes in, bytes out: no socket, no clock.
//!
//! The XDR of each procedure is written and read here, as that of version 4 is: decoders that make a list as long as a server
//! claims, before a byte of it has arrived, are not for servers that lie. A test holds calls and replies against those of the
//! crate `nfs3_types`.
//!
//! Source: RFC 1813.

mod mount;

use files::ExistingFile;

use super::failure::{NfsFailure, Violation};
use super::procedure::{
    Answer, EntryPath, FileAttributes, FoundEntry, ListEntry, ListPage, NAME_BYTES_MAX, NfsFile, PAGE_BYTES,
    Procedure, Written,
};
use super::rpc::{self, Program};
use super::status::NfsStatus;
use super::target::NfsOwner;
use super::xdr::{FileHandle, XdrReader};
use crate::file::frame_buffer::FrameBuffer;

pub(super) use mount::{Service, compose_mount, compose_port_query, mounted, port};

/// The program.
const PROGRAM: Program = Program { number: 100_003, version: 3 };

/// A procedure of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Call {
    GetAttr = 1,
    SetAttr = 2,
    Lookup = 3,
    Read = 6,
    Write = 7,
    Create = 8,
    MkDir = 9,
    Remove = 12,
    RmDir = 13,
    Rename = 14,
    ReadDirPlus = 17,
    FsStat = 18,
    FsInfo = 19,
    Commit = 21,
}

/// The rights of files and folders that are made.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// Kinds of creation.
const UNCHECKED: u32 = 0;
const GUARDED: u32 = 1;

/// The durability of writes: whatever the server likes, or on the disk.
const UNSTABLE: u32 = 0;
const DATA_SYNC: u32 = 1;

/// Times that are set: none, those that the server knows, or that the client states.
const TIMES_KEPT: [u32; 1] = [0];
const SERVER_TIME: u32 = 1;
const CLIENT_TIME: u32 = 2;

/// The type of a folder.
const FOLDER: u32 = 2;

/// The size of the attributes of a file, and of those that it had before a change.
const ATTRIBUTE_BYTES: usize = 84;
const FORMER_ATTRIBUTE_BYTES: usize = 24;

/// The most bytes of a read or write.
const IO_BYTES_MAX: u32 = 1 << 20;

/// The calls of a client, one after another.
#[derive(Debug)]
pub(super) struct V3Calls {
    call_number: u32,
    /// The most bytes of a read and of a write.
    pub(super) read_max: u32,
    pub(super) write_max: u32,
}

impl V3Calls {
    /// Makes the calls of a client who does not know the limits of the server.
    pub(super) fn new() -> V3Calls {
        V3Calls { call_number: 0, read_max: 4096, write_max: 4096 }
    }

    /// Returns the number of the last call.
    pub(super) fn call_number(&self) -> u32 {
        self.call_number
    }

    fn begin(&mut self, call: Call, handle: &FileHandle, owner: &NfsOwner, frame: &mut FrameBuffer) {
        self.call_number = self.call_number.wrapping_add(1);
        rpc::begin_call(frame, self.call_number, PROGRAM, call as u32, owner);
        frame.opaque(handle.bytes());
    }

    /// Writes the question about the limits of the server.
    pub(super) fn compose_limits(&mut self, root: &FileHandle, owner: &NfsOwner, frame: &mut FrameBuffer) {
        self.begin(Call::FsInfo, root, owner, frame);
    }

    /// Takes the limits of the server.
    ///
    /// # Errors
    /// The server refused, or it is no reply to the question.
    pub(super) fn take_limits(&mut self, bytes: &[u8]) -> Result<(), NfsFailure> {
        let mut reader = results(bytes, self.call_number)?;
        attributes(&mut reader)?;
        let read_max = reader.number()?;
        reader.bytes(2 * 4)?;
        let write_max = reader.number()?;
        self.read_max = read_max.clamp(1, IO_BYTES_MAX);
        self.write_max = write_max.clamp(1, IO_BYTES_MAX);
        Ok(())
    }

    /// Writes a request. The bytes of a write follow.
    pub(super) fn compose(&mut self, procedure: &Procedure<'_>, owner: &NfsOwner, frame: &mut FrameBuffer) {
        match *procedure {
            Procedure::Lookup(place) | Procedure::Open(place, _) => {
                self.named(Call::Lookup, place, owner, frame);
            }
            Procedure::Create(place, existing, _) => {
                self.named(Call::Create, place, owner, frame);
                frame.number(if existing == ExistingFile::Refuse { GUARDED } else { UNCHECKED });
                put_attributes(frame, Some(FILE_MODE), existing == ExistingFile::Truncate, &TIMES_KEPT);
            }
            Procedure::Read(file, offset, n_bytes) => {
                self.begin(Call::Read, &file.handle, owner, frame);
                frame.long(offset);
                frame.number(n_bytes);
            }
            Procedure::Write(file, offset, n_bytes, is_durable) => {
                self.begin(Call::Write, &file.handle, owner, frame);
                frame.long(offset);
                frame.numbers(&[n_bytes, if is_durable { DATA_SYNC } else { UNSTABLE }, n_bytes]);
            }
            Procedure::Commit(handle) => {
                self.begin(Call::Commit, handle, owner, frame);
                // All of the file.
                frame.long(0);
                frame.number(0);
            }
            Procedure::Query(handle) => self.begin(Call::GetAttr, handle, owner, frame),
            Procedure::SetTimes(handle, seconds) => {
                self.begin(Call::SetAttr, handle, owner, frame);
                match seconds {
                    // 32 bits have room until 2106.
                    Some(seconds) => put_attributes(frame, None, false, &[CLIENT_TIME, seconds as u32, 0]),
                    None => put_attributes(frame, None, false, &[SERVER_TIME]),
                }
                // Whatever the file was before.
                frame.number(0);
            }
            Procedure::Volume(handle) => self.begin(Call::FsStat, handle, owner, frame),
            Procedure::List(handle, position) => {
                self.begin(Call::ReadDirPlus, handle, owner, frame);
                frame.long(position.cookie);
                frame.put(&position.verifier);
                frame.numbers(&[PAGE_BYTES, PAGE_BYTES]);
            }
            Procedure::Rename(from, (to_folder, to)) => {
                self.named(Call::Rename, from, owner, frame);
                frame.opaque(to_folder.bytes());
                frame.opaque(to.as_bytes());
            }
            Procedure::Remove(place) => self.named(Call::Remove, place, owner, frame),
            Procedure::RemoveFolder(place) => self.named(Call::RmDir, place, owner, frame),
            Procedure::MakeFolder(place) => {
                self.named(Call::MkDir, place, owner, frame);
                put_attributes(frame, Some(FOLDER_MODE), false, &TIMES_KEPT);
            }
            // Nothing of a file is open, and nothing can be locked: callers ask about the version before.
            Procedure::Close(file) | Procedure::Lock(file, _) | Procedure::Unlock(file, _) => {
                self.begin(Call::GetAttr, &file.handle, owner, frame);
            }
            Procedure::Renew => {
                self.call_number = self.call_number.wrapping_add(1);
                rpc::begin_call(frame, self.call_number, PROGRAM, 0, owner);
            }
        }
    }

    fn named(
        &mut self,
        call: Call,
        (folder, name): EntryPath<'_>,
        owner: &NfsOwner,
        frame: &mut FrameBuffer,
    ) {
        self.begin(call, folder, owner, frame);
        frame.opaque(name.as_bytes());
    }

    /// Reads the reply to the last call, a request.
    ///
    /// # Errors
    /// The server refused, or it is no reply to the request.
    pub(super) fn answer<'r>(
        &self,
        procedure: &Procedure<'_>,
        bytes: &'r [u8],
    ) -> Result<Answer<'r>, NfsFailure> {
        V3Calls::answer_to(self.call_number, procedure, bytes)
    }

    /// Reads the reply to the call of this number, a request.
    ///
    /// # Errors
    /// As for [`V3Calls::answer`].
    pub(super) fn answer_to<'r>(
        call_number: u32,
        procedure: &Procedure<'_>,
        bytes: &'r [u8],
    ) -> Result<Answer<'r>, NfsFailure> {
        if matches!(procedure, Procedure::Renew) {
            rpc::reply(bytes, call_number)?;
            return Ok(Answer::Done);
        }
        let mut reader = results(bytes, call_number)?;
        match procedure {
            Procedure::Lookup(_) | Procedure::Open(..) => {
                let handle = reader.handle()?;
                Ok(found(handle, attributes(&mut reader)?))
            }
            Procedure::Create(..) => {
                let handle = if reader.flag()? { Some(reader.handle()?) } else { None };
                let attributes = attributes(&mut reader)?;
                Ok(handle.map_or(Answer::Done, |handle| found(handle, attributes)))
            }
            Procedure::Read(_, _, n_asked) => {
                attributes(&mut reader)?;
                let n_bytes = reader.number()?;
                let is_end = reader.flag()?;
                let data = reader.opaque(*n_asked as usize)?;
                if data.len() != n_bytes as usize {
                    return Err(NfsFailure::violation(Violation::LyingLength, n_bytes.into()));
                }
                Ok(Answer::Data(data, is_end))
            }
            Procedure::Write(_, _, n_sent, _) => {
                skip_change(&mut reader)?;
                let n_bytes = reader.number()?;
                let is_durable = reader.number()? != UNSTABLE;
                let verifier = reader.fixed()?;
                if *n_sent < n_bytes {
                    return Err(NfsFailure::violation(Violation::LyingLength, n_bytes.into()));
                }
                Ok(Answer::Written(Written { n_bytes, is_durable, verifier }))
            }
            Procedure::Commit(_) => {
                skip_change(&mut reader)?;
                Ok(Answer::Committed(reader.fixed()?))
            }
            Procedure::Query(_) => Ok(Answer::Attributes(present_attributes(&mut reader)?)),
            Procedure::Volume(_) => {
                attributes(&mut reader)?;
                // The space and the files that there are, that are free, and that are free for this user.
                reader.bytes(6 * 8)?;
                Ok(Answer::Done)
            }
            Procedure::List(..) => {
                attributes(&mut reader)?;
                ListPage::new(&reader, entry).map(Answer::Page)
            }
            Procedure::SetTimes(..)
            | Procedure::Rename(..)
            | Procedure::Remove(_)
            | Procedure::RemoveFolder(_)
            | Procedure::MakeFolder(_)
            | Procedure::Close(_)
            | Procedure::Lock(..)
            | Procedure::Unlock(..)
            | Procedure::Renew => Ok(Answer::Done),
        }
    }
}

/// Begins to read the reply to a call.
fn results(bytes: &[u8], call_number: u32) -> Result<XdrReader<'_>, NfsFailure> {
    let mut reader = rpc::reply(bytes, call_number)?;
    match NfsStatus(reader.number()?) {
        NfsStatus::OK => Ok(reader),
        status => Err(NfsFailure::status(status)),
    }
}

/// Writes attributes that are to be set: rights, no bytes, each of two times as numbers. Owner and group stay.
fn put_attributes(frame: &mut FrameBuffer, mode: Option<u32>, is_cut: bool, times: &[u32]) {
    match mode {
        Some(mode) => frame.numbers(&[1, mode]),
        None => frame.number(0),
    }
    frame.numbers(&[0, 0, is_cut.into()]);
    if is_cut {
        frame.long(0);
    }
    for _ in 0..2 {
        frame.numbers(times);
    }
}

fn found<'r>(handle: FileHandle, attributes: Option<FileAttributes>) -> Answer<'r> {
    Answer::Found(FoundEntry { file: NfsFile { handle, open: None, locks: None }, attributes })
}

/// Reads attributes that may be there.
fn attributes(reader: &mut XdrReader<'_>) -> Result<Option<FileAttributes>, NfsFailure> {
    if reader.flag()? { present_attributes(reader).map(Some) } else { Ok(None) }
}

fn present_attributes(reader: &mut XdrReader<'_>) -> Result<FileAttributes, NfsFailure> {
    let mut attributes = XdrReader::new(reader.bytes(ATTRIBUTE_BYTES)?);
    let is_folder = attributes.number()? == FOLDER;
    // Rights, links, owner, group.
    attributes.bytes(4 * 4)?;
    let n_bytes = attributes.long()?;
    // The space used, the device, the volume, the number of the file, the time of the last access.
    attributes.bytes(5 * 8)?;
    Ok(FileAttributes { is_folder, n_bytes, modified_seconds: attributes.number()?.into() })
}

/// Skips what a file was before and after a change, as far as it is there.
fn skip_change(reader: &mut XdrReader<'_>) -> Result<(), NfsFailure> {
    if reader.flag()? {
        reader.bytes(FORMER_ATTRIBUTE_BYTES)?;
    }
    attributes(reader).map(drop)
}

fn entry<'r>(reader: &mut XdrReader<'r>) -> Result<ListEntry<'r>, NfsFailure> {
    let _number = reader.long()?;
    let name = reader.opaque(NAME_BYTES_MAX)?;
    let cookie = reader.long()?;
    let is_folder = attributes(reader)?.map(|attributes| attributes.is_folder);
    if reader.flag()? {
        reader.handle()?;
    }
    Ok(ListEntry { name, cookie, is_folder })
}
