//! The requests of clients and the answers of servers, whatever the version.

use files::{ExistingFile, FileRange};

use super::failure::NfsFailure;
use super::xdr::{FileHandle, XdrReader};

/// The state of an open file or of its locks on a server of version 4.
pub(super) type StateId = [u8; 16];

/// A number by which a server tells whether it was restarted since a write, or a folder changed since a page of it.
pub(super) type Verifier = [u8; 8];

/// A file as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NfsFile {
    pub(super) handle: FileHandle,
    /// The state of the open file; `None` with version 3, and for a folder.
    pub(super) open: Option<StateId>,
    /// The state of its locks, once it has had one.
    pub(super) locks: Option<StateId>,
}

/// The path of an entry: the handle of its folder, and its name.
pub(super) type EntryPath<'a> = (&'a FileHandle, &'a str);

/// A position in a listing: the cookie of the last name, and the verifier of its page. Zeros at the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ListPosition {
    pub(super) cookie: u64,
    pub(super) verifier: Verifier,
}

/// The use of a file by others while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSharing {
    All,
    /// Nobody else may have it open. Only version 4 knows that.
    None,
}

/// A request of a client.
#[derive(Debug, Clone, Copy)]
pub(super) enum Procedure<'a> {
    /// Asks about a name in a folder.
    Lookup(EntryPath<'a>),
    /// Opens a file that is there.
    Open(EntryPath<'a>, FileSharing),
    /// Creates a file and opens it.
    Create(EntryPath<'a>, ExistingFile, FileSharing),
    /// Closes a file.
    Close(&'a NfsFile),
    /// Reads so many bytes from an offset on.
    Read(&'a NfsFile, u64, u32),
    /// Writes so many bytes from an offset on, which follow, and may want them durable.
    Write(&'a NfsFile, u64, u32, bool),
    /// Makes all that was written to a file durable.
    Commit(&'a FileHandle),
    /// Asks about a file.
    Query(&'a FileHandle),
    /// Sets the times of a file, in seconds since 1970, or to those of the server.
    SetTimes(&'a FileHandle, Option<u64>),
    /// Asks about the space of the volume that a file is on.
    Volume(&'a FileHandle),
    /// Lists names of a folder behind a position.
    List(&'a FileHandle, ListPosition),
    /// Gives what is at the first place the second.
    Rename(EntryPath<'a>, EntryPath<'a>),
    /// Deletes a file.
    Remove(EntryPath<'a>),
    /// Removes an empty folder.
    RemoveFolder(EntryPath<'a>),
    /// Makes a folder.
    MakeFolder(EntryPath<'a>),
    /// Locks a range for this client alone, or fails. Only version 4.
    Lock(&'a NfsFile, FileRange),
    /// Unlocks a range. Only version 4.
    Unlock(&'a NfsFile, FileRange),
    /// Keeps the session alive. Only version 4 has sessions.
    Renew,
}

/// A file or folder that was found, made or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundEntry {
    pub(super) file: NfsFile,
    /// Its attributes, if the server said them.
    pub(super) attributes: Option<FileAttributes>,
}

/// The attributes of a file that have a meaning here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileAttributes {
    pub(super) is_folder: bool,
    /// The length, in bytes.
    pub(super) n_bytes: u64,
    /// The time of the last change, in seconds since 1970; 0 if it is not known.
    pub(super) modified_seconds: u64,
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) n_bytes: u32,
    pub(super) is_durable: bool,
    pub(super) verifier: Verifier,
}

/// A page of a listing, whose names are read one after another.
#[derive(Debug, Clone)]
pub(super) struct ListPage<'r> {
    reader: XdrReader<'r>,
    pub(super) verifier: Verifier,
    read_entry: ReadEntry,
    is_over: bool,
}

/// A function that reads a name of a listing, with what a version says about it.
type ReadEntry = for<'r> fn(&mut XdrReader<'r>) -> Result<ListEntry<'r>, NfsFailure>;

impl<'r> ListPage<'r> {
    /// Begins to read a page, at its verifier.
    pub(super) fn new(reader: &XdrReader<'r>, read_entry: ReadEntry) -> Result<ListPage<'r>, NfsFailure> {
        let mut reader = reader.clone();
        let verifier = reader.fixed()?;
        Ok(ListPage { reader, verifier, read_entry, is_over: false })
    }

    /// Returns the next name; `None` after the last one of the page.
    pub(super) fn next(&mut self) -> Result<Option<ListEntry<'r>>, NfsFailure> {
        self.is_over = self.is_over || !self.reader.flag()?;
        if self.is_over { Ok(None) } else { (self.read_entry)(&mut self.reader).map(Some) }
    }

    /// Returns whether no page follows, behind the last name.
    pub(super) fn is_last(&mut self) -> Result<bool, NfsFailure> {
        self.reader.flag()
    }
}

/// A name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListEntry<'r> {
    pub(super) name: &'r [u8],
    pub(super) cookie: u64,
    /// Whether it is a folder, if the server said.
    pub(super) is_folder: Option<bool>,
}

/// The success of a request.
#[derive(Debug, Clone)]
pub(super) enum Answer<'r> {
    /// There is nothing to say.
    Done,
    /// Of [`Procedure::Lookup`], [`Procedure::Open`], [`Procedure::Create`]; a server of version 3 may create a file without
    /// saying its handle.
    Found(FoundEntry),
    /// Of [`Procedure::Query`].
    Attributes(FileAttributes),
    /// Of [`Procedure::Read`]: the bytes, and whether the file ends behind them.
    Data(&'r [u8], bool),
    /// Of [`Procedure::Write`].
    Written(Written),
    /// Of [`Procedure::Commit`].
    Committed(Verifier),
    /// Of [`Procedure::List`].
    Page(ListPage<'r>),
    /// Of [`Procedure::Lock`] and [`Procedure::Unlock`].
    Locked(StateId),
}

/// The most bytes of a page of a listing.
pub(super) const PAGE_BYTES: u32 = 64 * 1024;

/// The most bytes of a name.
pub(super) const NAME_BYTES_MAX: usize = 255;

/// The most bytes of handles, attributes and states, several times.
const SMALL: usize = 2048;

/// Returns the most bytes that a server answers to a read of so many, without the head of the reply.
pub(super) fn data_answer_bytes(n_bytes: u32) -> usize {
    SMALL + n_bytes as usize
}

impl Procedure<'_> {
    /// Returns the most bytes that a server answers, without the head of the reply.
    pub(super) fn answer_bytes_max(&self) -> usize {
        match self {
            Procedure::Read(_, _, n_bytes) => data_answer_bytes(*n_bytes),
            Procedure::List(..) => SMALL + PAGE_BYTES as usize,
            _ => SMALL,
        }
    }
}
