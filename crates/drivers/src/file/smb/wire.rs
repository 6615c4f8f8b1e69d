//! Requests and replies as bytes: those of the operations of a file client. What opens a session is written and read by
//! the crate `smb2`, and tests hold these against it.
//!
//! They are written where they are sent from, and read where they were received, without a copy: to go through structs of
//! owned bytes costs more than all the rest for reads and writes of 64 KiB.
//!
//! Source: MS-SMB2 sections 2.2.1 to 2.2.40.

use smb2::types::{Command, FileId};

use super::failure::{SmbFailure, Violation};
use super::frame::FrameBuffer;
use super::status::NtStatus;

/// Length of the header of a message.
pub(super) const HEADER_BYTES: usize = 64;

/// The signature in the header.
pub(super) const SIGNATURE: std::ops::Range<usize> = 48..64;

// Flags of a header.
const FLAG_REPLY: u32 = 1;
const FLAG_ASYNC: u32 = 2;
const FLAG_RELATED: u32 = 4;
const FLAG_SIGNED: u32 = 8;

/// The handle of a related request: that of the request before.
pub(super) const SAME_FILE: FileId = FileId { persistent: u64::MAX, volatile: u64::MAX };

/// The bytes of a request or reply that cost one credit.
const CREDIT_BYTES: usize = 64 * 1024;

/// The place of a message in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) command: Command,
    /// The credits that it costs; 0 where they are not counted by bytes.
    pub(super) charge: u16,
    /// The credits that are asked for.
    pub(super) credits: u16,
    pub(super) is_related: bool,
    pub(super) is_signed: bool,
    pub(super) number: u64,
    pub(super) tree_id: u32,
    pub(super) session_id: u64,
}

impl Header {
    pub(super) fn write(&self, frame: &mut FrameBuffer) {
        let related = if self.is_related { FLAG_RELATED } else { 0 };
        let signed = if self.is_signed { FLAG_SIGNED } else { 0 };
        frame.put(&smb2::msg::header::PROTOCOL_ID);
        frame.put_u16(HEADER_BYTES as u16);
        frame.put_u16(self.charge);
        frame.put_u32(0);
        frame.put_u16(self.command.into());
        frame.put_u16(self.credits);
        frame.put_u32(related | signed);
        // The offset of the next message is written when there is one.
        frame.put_u32(0);
        frame.put_u64(self.number);
        frame.put_u32(0);
        frame.put_u32(self.tree_id);
        frame.put_u64(self.session_id);
        frame.put_zeros(16);
    }
}

/// Writes into a message where the next one of its frame begins.
pub(super) fn set_next(message: &mut [u8], offset: usize) {
    message[20..24].copy_from_slice(&(offset as u32).to_le_bytes());
}

/// The purpose for which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenMode {
    pub(super) access: u32,
    pub(super) disposition: u32,
    pub(super) options: u32,
    /// Whether others may open it at the same time.
    pub(super) is_shared: bool,
}

// Rights to a file.
const READ_DATA: u32 = 0x0000_0001;
const READ_ATTRIBUTES: u32 = 0x0000_0080;
const DELETE: u32 = 0x0001_0000;
const SYNCHRONIZE: u32 = 0x0010_0000;

/// All that a program needs of a file that it works with: its data, attributes and extended attributes, to be read and
/// written, and the security descriptor, to be read.
const READ_WRITE: u32 = 0x0012_019F;

// What is done with a file that is there, or is not.
const OPEN: u32 = 1;
const CREATE: u32 = 2;
const OPEN_OR_CREATE: u32 = 3;
const OVERWRITE_OR_CREATE: u32 = 5;

// Options: it must be a folder, or must be none; writes are durable when they are answered.
const FOLDER: u32 = 0x01;
const WRITE_THROUGH: u32 = 0x02;
const NO_FOLDER: u32 = 0x40;

/// Others may read, write and delete at the same time.
const SHARE_ALL: u32 = 7;

/// All that is needed of the marker, which is deleted through its own handle.
const READ_WRITE_DELETE: u32 = READ_WRITE | DELETE;

impl OpenMode {
    /// To read and write what is there: a file or a folder.
    pub(super) const EXISTING: OpenMode =
        OpenMode { access: READ_WRITE, disposition: OPEN, options: 0, is_shared: true };
    /// To create a file that must not be there.
    pub(super) const NEW: OpenMode =
        OpenMode { access: READ_WRITE, disposition: CREATE, options: NO_FOLDER, is_shared: true };
    /// To create a file, or open it as it is.
    pub(super) const NEW_OR_EXISTING: OpenMode =
        OpenMode { access: READ_WRITE, disposition: OPEN_OR_CREATE, options: NO_FOLDER, is_shared: true };
    /// To create a file, or cut it to no bytes.
    pub(super) const NEW_OR_EMPTY: OpenMode = OpenMode {
        access: READ_WRITE,
        disposition: OVERWRITE_OR_CREATE,
        options: NO_FOLDER,
        is_shared: true,
    };
    /// To create a folder, or open it.
    pub(super) const FOLDER: OpenMode =
        OpenMode { access: LIST, disposition: OPEN_OR_CREATE, options: FOLDER, is_shared: true };
    /// To create a folder that must not be there.
    pub(super) const NEW_FOLDER: OpenMode =
        OpenMode { access: LIST, disposition: CREATE, options: FOLDER, is_shared: true };
    /// To list a folder.
    pub(super) const LISTING: OpenMode =
        OpenMode { access: LIST, disposition: OPEN, options: FOLDER, is_shared: true };
    /// To ask about a file or folder.
    pub(super) const QUERY: OpenMode =
        OpenMode { access: READ_ATTRIBUTES | SYNCHRONIZE, disposition: OPEN, options: 0, is_shared: true };
    /// To delete a file, or give it another path.
    pub(super) const DELETION: OpenMode = OpenMode {
        access: DELETE | READ_ATTRIBUTES | SYNCHRONIZE,
        disposition: OPEN,
        options: NO_FOLDER,
        is_shared: true,
    };
    /// To remove a folder.
    pub(super) const FOLDER_DELETION: OpenMode = OpenMode {
        access: DELETE | READ_ATTRIBUTES | SYNCHRONIZE,
        disposition: OPEN,
        options: FOLDER,
        is_shared: true,
    };
    /// To give a file or folder another path.
    pub(super) const RENAMING: OpenMode = OpenMode {
        access: DELETE | READ_ATTRIBUTES | SYNCHRONIZE,
        disposition: OPEN,
        options: 0,
        is_shared: true,
    };

    /// To hold the marker of a folder, so that no other run does.
    pub(super) const MARKER: OpenMode =
        OpenMode { access: READ_WRITE_DELETE, disposition: OPEN, options: NO_FOLDER, is_shared: false };
    /// To make the marker of a folder, and hold it.
    pub(super) const NEW_MARKER: OpenMode = OpenMode { disposition: CREATE, ..OpenMode::MARKER };

    /// The same, and writes are durable when they are answered.
    pub(super) fn durable(self) -> OpenMode {
        OpenMode { options: self.options | WRITE_THROUGH, ..self }
    }
}

/// The right to list a folder, and to ask about it.
const LIST: u32 = READ_DATA | READ_ATTRIBUTES | SYNCHRONIZE;

/// The lock of a range: for this client alone, and refused at once if it cannot be had; or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockUse {
    Lock,
    Unlock,
}

/// Information that is asked about: of a file or of the volume, by its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InfoClass {
    File(u8),
    Volume(u8),
}

impl InfoClass {
    /// Times and attributes of a file.
    pub(super) const BASIC: InfoClass = InfoClass::File(4);

    fn kind_and_class(self) -> (u8, u8) {
        match self {
            InfoClass::File(class) => (1, class),
            InfoClass::Volume(class) => (2, class),
        }
    }
}

/// A request of a session. Texts are paths and names as the server reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Create(&'a str, OpenMode),
    Close(FileId),
    /// So many bytes from an offset on.
    Read(FileId, u64, u32),
    /// So many bytes from an offset on, which follow.
    Write(FileId, u64, u32),
    Flush(FileId),
    /// A range: offset and length.
    Lock(FileId, u64, u64, LockUse),
    Query(FileId, InfoClass),
    /// The time of the last write, in units of 100 ns since 1601.
    SetTimes(FileId, u64),
    /// The file is deleted when it is closed.
    DeleteOnClose(FileId),
    Rename(FileId, &'a str),
    /// The next names that match; the first ones if it is the first request.
    Search(FileId, &'a str, bool),
}

// Classes of information.
const SET_RENAME: u8 = 10;
const SET_DISPOSITION: u8 = 13;
const SEARCH_BOTH: u8 = 3;

/// The most bytes of an answer to a question about a file or volume.
const INFO_BYTES_MAX: u32 = 4096;

/// The most bytes of a page of a listing.
const PAGE_BYTES_MAX: u32 = 64 * 1024;

/// The flag of a search that begins again.
const RESTART: u8 = 1;

impl Request<'_> {
    pub(super) fn command(&self) -> Command {
        match self {
            Request::Create(..) => Command::Create,
            Request::Close(_) => Command::Close,
            Request::Read(..) => Command::Read,
            Request::Write(..) => Command::Write,
            Request::Flush(_) => Command::Flush,
            Request::Lock(..) => Command::Lock,
            Request::Query(..) => Command::QueryInfo,
            Request::SetTimes(..) | Request::DeleteOnClose(_) | Request::Rename(..) => Command::SetInfo,
            Request::Search(..) => Command::QueryDirectory,
        }
    }

    /// Returns the credits that it costs: one for each 64 KiB that go either way.
    pub(super) fn charge(&self) -> u16 {
        match self {
            Request::Read(_, _, length) | Request::Write(_, _, length) => {
                (*length as usize).div_ceil(CREDIT_BYTES).max(1) as u16
            }
            _ => 1,
        }
    }

    /// Returns the most bytes of its reply, but for the header.
    pub(super) fn reply_bytes_max(&self) -> usize {
        // What a reply has before its data, and errors with their contexts.
        const OTHER_BYTES: usize = 4096;
        OTHER_BYTES
            + match self {
                Request::Read(_, _, length) => *length as usize,
                Request::Search(..) => PAGE_BYTES_MAX as usize,
                Request::Query(..) => INFO_BYTES_MAX as usize,
                _ => 0,
            }
    }

    /// Writes it, without its header, and without the bytes of a write.
    pub(super) fn write(&self, frame: &mut FrameBuffer) {
        match *self {
            Request::Create(path, opening) => write_create(path, opening, frame),
            Request::Close(file) | Request::Flush(file) => {
                frame.put_u16(24);
                frame.put_zeros(6);
                put_file(file, frame);
            }
            Request::Read(file, offset, length) => {
                frame.put_u16(49);
                // Where its data are wanted in the reply: right behind its fixed part.
                frame.put(&[80, 0]);
                frame.put_u32(length);
                frame.put_u64(offset);
                put_file(file, frame);
                frame.put_zeros(4 + 4 + 4 + 2 + 2 + 1);
            }
            Request::Write(file, offset, length) => {
                frame.put_u16(49);
                frame.put_u16(HEADER_BYTES as u16 + 48);
                frame.put_u32(length);
                frame.put_u64(offset);
                put_file(file, frame);
                frame.put_zeros(4 + 4 + 2 + 2 + 4);
            }
            Request::Lock(file, offset, length, lock) => {
                frame.put_u16(48);
                frame.put_u16(1);
                frame.put_u32(0);
                put_file(file, frame);
                frame.put_u64(offset);
                frame.put_u64(length);
                frame.put_u32(match lock {
                    LockUse::Lock => 0x12,
                    LockUse::Unlock => 0x04,
                });
                frame.put_u32(0);
            }
            Request::Query(file, class) => {
                let (kind, class) = class.kind_and_class();
                frame.put_u16(41);
                frame.put(&[kind, class]);
                frame.put_u32(INFO_BYTES_MAX);
                frame.put_zeros(2 + 2 + 4 + 4 + 4);
                put_file(file, frame);
            }
            Request::SetTimes(file, time) => {
                write_set(file, InfoClass::BASIC.kind_and_class().1, 40, frame);
                frame.put_zeros(8 + 8);
                frame.put_u64(time);
                frame.put_zeros(8 + 4 + 4);
            }
            Request::DeleteOnClose(file) => {
                write_set(file, SET_DISPOSITION, 1, frame);
                frame.put(&[1]);
            }
            Request::Rename(file, path) => {
                let n_bytes = utf16_bytes(path);
                write_set(file, SET_RENAME, 20 + n_bytes, frame);
                // What is there is not replaced.
                frame.put_zeros(8 + 8);
                frame.put_u32(n_bytes as u32);
                frame.put_text(path);
            }
            Request::Search(file, pattern, is_first) => {
                frame.put_u16(33);
                frame.put(&[SEARCH_BOTH, if is_first { RESTART } else { 0 }]);
                frame.put_u32(0);
                put_file(file, frame);
                frame.put_u16(HEADER_BYTES as u16 + 32);
                frame.put_u16(utf16_bytes(pattern) as u16);
                frame.put_u32(PAGE_BYTES_MAX);
                frame.put_text(pattern);
            }
        }
    }
}

fn utf16_bytes(text: &str) -> usize {
    2 * text.encode_utf16().count()
}

fn put_file(file: FileId, frame: &mut FrameBuffer) {
    frame.put_u64(file.persistent);
    frame.put_u64(file.volatile);
}

fn write_create(path: &str, opening: OpenMode, frame: &mut FrameBuffer) {
    frame.put_u16(57);
    // No oplock: what a client keeps is the workload's affair.
    frame.put(&[0, 0]);
    // Impersonation.
    frame.put_u32(2);
    frame.put_zeros(16);
    frame.put_u32(opening.access);
    frame.put_u32(0);
    frame.put_u32(if opening.is_shared { SHARE_ALL } else { 0 });
    frame.put_u32(opening.disposition);
    frame.put_u32(opening.options);
    frame.put_u16(HEADER_BYTES as u16 + 56);
    frame.put_u16(utf16_bytes(path) as u16);
    frame.put_zeros(8);
    if path.is_empty() {
        frame.put_zeros(1);
    } else {
        frame.put_text(path);
    }
}

fn write_set(file: FileId, class: u8, n_bytes: usize, frame: &mut FrameBuffer) {
    frame.put_u16(33);
    frame.put(&[1, class]);
    frame.put_u32(n_bytes as u32);
    frame.put_u16(HEADER_BYTES as u16 + 32);
    frame.put_zeros(2 + 4);
    put_file(file, frame);
}

/// The header of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplyHead {
    pub(super) status: NtStatus,
    pub(super) command: u16,
    /// The credits that are granted.
    pub(super) credits: u16,
    pub(super) is_async: bool,
    pub(super) is_signed: bool,
    /// The offset of the next message; 0 if there is none.
    pub(super) next: usize,
    pub(super) number: u64,
    /// The tree; of the reply to its connection, the one that it is given.
    pub(super) tree_id: u32,
    pub(super) session_id: u64,
}

impl ReplyHead {
    /// Reads the header at the beginning of a message.
    ///
    /// # Errors
    /// There is none, or it is that of a request.
    pub(super) fn read(message: &[u8]) -> Result<ReplyHead, SmbFailure> {
        let head = message.first_chunk::<HEADER_BYTES>().filter(|head| {
            head.starts_with(&smb2::msg::header::PROTOCOL_ID) && u16_at(*head, 4) == HEADER_BYTES as u16
        });
        let not_smb = || SmbFailure::violation(Violation::NotSmb, message.len() as u64);
        let head = head.ok_or_else(not_smb)?;
        let flags = u32_at(head, 16);
        if flags & FLAG_REPLY == 0 {
            return Err(not_smb());
        }
        Ok(ReplyHead {
            status: NtStatus(u32_at(head, 8)),
            command: u16_at(head, 12),
            credits: u16_at(head, 14),
            is_async: flags & FLAG_ASYNC != 0,
            is_signed: flags & FLAG_SIGNED != 0,
            next: u32_at(head, 20) as usize,
            number: u64_at(head, 24),
            tree_id: u32_at(head, 36),
            session_id: u64_at(head, 40),
        })
    }

    /// Returns whether it only says that the reply comes later.
    pub(super) fn is_interim(&self) -> bool {
        self.status == NtStatus::PENDING && self.is_async
    }
}

/// A reply, verified: its status, and the message from its header on, by which its offsets count.
#[derive(Debug, Clone, Copy)]
pub(super) struct SmbReply<'a> {
    pub(super) status: NtStatus,
    pub(super) message: &'a [u8],
}

/// A file that a reply says is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenedFile {
    pub(super) id: FileId,
    /// Whether it was created, or cut to no bytes.
    pub(super) is_new: bool,
    /// Its length in bytes.
    pub(super) length: u64,
    pub(super) is_folder: bool,
}

/// The attribute of a folder.
const ATTRIBUTE_FOLDER: u32 = 0x10;

impl<'a> SmbReply<'a> {
    /// Returns the fixed part of the body, of this structure size and of so many bytes.
    fn fixed(&self, size: u16, n_bytes: usize) -> Result<&'a [u8], SmbFailure> {
        let body = self.message.get(HEADER_BYTES..HEADER_BYTES + n_bytes);
        let body = body.filter(|body| u16_at(body, 0) == size);
        body.ok_or_else(|| SmbFailure::violation(Violation::LyingLength, self.message.len() as u64))
    }

    /// Returns the bytes at an offset from the header.
    fn part(&self, offset: usize, length: usize) -> Result<&'a [u8], SmbFailure> {
        let end = offset.saturating_add(length);
        let part = self.message.get(offset..end).filter(|_| length == 0 || HEADER_BYTES <= offset);
        part.ok_or_else(|| SmbFailure::violation(Violation::LyingLength, end as u64))
    }

    /// Reads the file of a `CREATE`.
    pub(super) fn opened(&self) -> Result<OpenedFile, SmbFailure> {
        // Opened as it is, created, superseded, or overwritten.
        const OPENED: u32 = 1;
        let body = self.fixed(89, 88)?;
        let id = FileId { persistent: u64_at(body, 64), volatile: u64_at(body, 72) };
        Ok(OpenedFile {
            id,
            is_new: u32_at(body, 4) != OPENED,
            length: u64_at(body, 48),
            is_folder: u32_at(body, 56) & ATTRIBUTE_FOLDER != 0,
        })
    }

    /// Returns the data of a `READ` of at most so many bytes.
    pub(super) fn data(&self, length_max: u32) -> Result<&'a [u8], SmbFailure> {
        let body = self.fixed(17, 16)?;
        let length = u32_at(body, 4);
        if length_max < length {
            return Err(SmbFailure::violation(Violation::LyingLength, length.into()));
        }
        self.part(body[2].into(), length as usize)
    }

    /// Returns the number of bytes that a `WRITE` has written, of at most so many.
    pub(super) fn n_written(&self, length_max: u32) -> Result<u32, SmbFailure> {
        let n_bytes = u32_at(self.fixed(17, 16)?, 4);
        if length_max < n_bytes {
            return Err(SmbFailure::violation(Violation::LyingLength, n_bytes.into()));
        }
        Ok(n_bytes)
    }

    /// Returns what was asked about, or a page of a listing.
    pub(super) fn output(&self) -> Result<&'a [u8], SmbFailure> {
        let body = self.fixed(9, 8)?;
        self.part(u16_at(body, 2).into(), u32_at(body, 4) as usize)
    }

    /// Returns the names of a page of a listing.
    pub(super) fn entries(&self) -> Result<ListedEntries<'a>, SmbFailure> {
        Ok(ListedEntries { page: self.output()?, next: Some(0) })
    }
}

/// The names of a page of a listing; ends after one that does not fit the page, with an error.
#[derive(Debug)]
pub(super) struct ListedEntries<'a> {
    page: &'a [u8],
    next: Option<usize>,
}

/// A name in a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListedEntry<'a> {
    /// In UTF-16.
    pub(super) name: &'a [u8],
    pub(super) is_folder: bool,
}

impl ListedEntry<'_> {
    /// Returns whether it is the folder itself, or the one that it is in.
    pub(super) fn is_dot(&self) -> bool {
        matches!(self.name, [b'.', 0] | [b'.', 0, b'.', 0])
    }

    /// Returns the name as a text; what is no UTF-16 is replaced.
    pub(super) fn text(&self) -> String {
        let units = self.name.chunks_exact(2).map(|unit| u16_at(unit, 0));
        char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// Length of an entry before its name.
const ENTRY_BYTES: usize = 94;

impl<'a> Iterator for ListedEntries<'a> {
    type Item = Result<ListedEntry<'a>, SmbFailure>;

    /// Each entry begins behind the one before, so that there is an end.
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next.take()?;
        let lying = |at: usize| Some(Err(SmbFailure::violation(Violation::LyingLength, at as u64)));
        let Some(fixed) = self.page.get(start..start.saturating_add(ENTRY_BYTES)) else {
            return lying(start);
        };
        let next = u32_at(fixed, 0) as usize;
        let name_start = start + ENTRY_BYTES;
        let name_end = name_start.saturating_add(u32_at(fixed, 60) as usize);
        let Some(name) = self.page.get(name_start..name_end) else { return lying(name_end) };
        if next != 0 {
            if next < ENTRY_BYTES {
                return lying(next);
            }
            self.next = Some(start.saturating_add(next));
        }
        Some(Ok(ListedEntry { name, is_folder: u32_at(fixed, 56) & ATTRIBUTE_FOLDER != 0 }))
    }
}

fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([bytes[offset], bytes[offset + 1]])
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(number)
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(number)
}
