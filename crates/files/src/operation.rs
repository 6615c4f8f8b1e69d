//! The abstract operations of a file client, as a file server sees them.
//!
//! An operation is what a response time is reported for. A driver may need several exchanges on the wire for it, or
//! none.

use std::fmt;

use crate::FilePath;

/// A slot of a client's table of open files.
///
/// Users and drivers keep the same table: a slot is filled by [`FileAction::Open`] or [`FileAction::Create`] and
/// emptied by [`FileAction::Close`]. Opening into a slot in use closes what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u16);

/// The slot of clients that have at most one file open.
pub(crate) const HANDLE: Handle = Handle(0);

/// A level of information that queries ask for, by its number in SMB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InfoLevel(pub u16);

impl InfoLevel {
    /// Times and attributes.
    pub const BASIC: InfoLevel = InfoLevel(1004);
    /// Attributes and reparse tag, which are asked for before a file is renamed or deleted.
    pub const ATTRIBUTE_TAG: InfoLevel = InfoLevel(1035);
    /// Size and allocation, as a client asks after it has extended a file.
    pub const STANDARD: InfoLevel = InfoLevel(258);
    /// The size of the volume.
    pub const VOLUME_SIZE: InfoLevel = InfoLevel(259);
}

/// The treatment of a file that is there already, when it is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExistingFile {
    /// The operation fails.
    Refuse,
    /// The file is opened as it is.
    Keep,
    /// The file is opened and cut to no bytes.
    Truncate,
}

/// A range of bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
}

impl FileRange {
    /// Returns the offset behind the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// The size of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FindSize {
    /// The most names that are wanted.
    pub wanted: u32,
    /// The number of names that there are, where it is known.
    pub found: Option<u32>,
}

/// An action on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// Opens a file or folder that is there.
    Open(Handle, FilePath),
    /// Creates a file and opens it.
    Create(Handle, FilePath, ExistingFile),
    /// Creates a folder if there is none, and opens it.
    CreateFolder(Handle, FilePath),
    /// Closes a file.
    Close(Handle),
    /// Reads bytes, all of which are there.
    Read(Handle, FileRange),
    /// Writes bytes.
    Write(Handle, FileRange),
    /// Makes what was written durable.
    Flush(Handle),
    /// Asks about a path.
    PathQuery(FilePath, InfoLevel),
    /// Asks about an open file.
    FileQuery(Handle, InfoLevel),
    /// Sets times of an open file.
    Set(Handle, InfoLevel),
    /// Asks about the volume.
    VolumeQuery(InfoLevel),
    /// Searches a folder for names that match the pattern in the last part of the path.
    Find(FilePath, FindSize),
    /// Gives the file at the first path the second path.
    Rename(FilePath, FilePath),
    /// Deletes a file.
    Unlink(FilePath),
    /// Makes a folder.
    MakeFolder(FilePath),
    /// Removes an empty folder.
    RemoveFolder(FilePath),
    /// Removes a folder with all that is in it.
    RemoveTree(FilePath),
    /// Locks a range of bytes for this client alone.
    Lock(Handle, FileRange),
    /// Unlocks a range of bytes.
    Unlock(Handle, FileRange),
}

/// The result that an operation must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expectation {
    /// It succeeds.
    Success,
    /// It fails: for a name that is not there, the right answer.
    Failure,
    /// It may do either.
    Any,
}

/// An operation: an action and the result that it must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileOperation {
    /// The action.
    pub action: FileAction,
    /// The result that is right.
    pub expected: Expectation,
}

impl FileOperation {
    /// Makes an operation that must succeed.
    pub fn of(action: FileAction) -> FileOperation {
        FileOperation { action, expected: Expectation::Success }
    }

    /// Makes an operation that must fail, on a name that is not there.
    pub fn missing(action: FileAction) -> FileOperation {
        FileOperation { action, expected: Expectation::Failure }
    }

    /// Returns the kind by which it is counted.
    pub fn kind(&self) -> FileKind {
        let misses = self.expected == Expectation::Failure;
        match self.action {
            FileAction::Open(..) if misses => FileKind::OpenMissing,
            FileAction::Open(..) => FileKind::Open,
            FileAction::Create(..) | FileAction::CreateFolder(..) => FileKind::Create,
            FileAction::Close(..) => FileKind::Close,
            FileAction::Read(..) => FileKind::Read,
            FileAction::Write(..) => FileKind::Write,
            FileAction::Flush(..) => FileKind::Flush,
            FileAction::PathQuery(..) if misses => FileKind::PathMiss,
            FileAction::PathQuery(..) => FileKind::PathHit,
            FileAction::FileQuery(..) => FileKind::FileQuery,
            FileAction::Set(..) => FileKind::Set,
            FileAction::VolumeQuery(..) => FileKind::VolumeQuery,
            FileAction::Find(..) if misses => FileKind::FindMiss,
            FileAction::Find(..) => FileKind::FindHit,
            FileAction::Rename(..) => FileKind::Rename,
            FileAction::Unlink(..) => FileKind::Unlink,
            FileAction::MakeFolder(..) => FileKind::MakeFolder,
            FileAction::RemoveFolder(..) => FileKind::RemoveFolder,
            FileAction::RemoveTree(..) => FileKind::RemoveTree,
            FileAction::Lock(..) => FileKind::Lock,
            FileAction::Unlock(..) => FileKind::Unlock,
        }
    }

    /// Returns the paths that the operation is about: two where a file gets another path, none where it is about an open
    /// file or the volume.
    pub fn paths(&self) -> [Option<FilePath>; 2] {
        match self.action {
            FileAction::Open(_, path)
            | FileAction::Create(_, path, _)
            | FileAction::CreateFolder(_, path)
            | FileAction::PathQuery(path, _)
            | FileAction::Find(path, _)
            | FileAction::Unlink(path)
            | FileAction::MakeFolder(path)
            | FileAction::RemoveFolder(path)
            | FileAction::RemoveTree(path) => [Some(path), None],
            FileAction::Rename(from, to) => [Some(from), Some(to)],
            FileAction::Close(_)
            | FileAction::Read(..)
            | FileAction::Write(..)
            | FileAction::Flush(_)
            | FileAction::FileQuery(..)
            | FileAction::Set(..)
            | FileAction::VolumeQuery(_)
            | FileAction::Lock(..)
            | FileAction::Unlock(..) => [None, None],
        }
    }

    /// Returns the slot that the operation fills if it succeeds.
    pub fn opens(&self) -> Option<Handle> {
        match self.action {
            FileAction::Open(handle, _)
            | FileAction::Create(handle, ..)
            | FileAction::CreateFolder(handle, _) => {
                (self.expected != Expectation::Failure).then_some(handle)
            }
            _ => None,
        }
    }

    /// Returns the slot that the operation needs filled.
    pub fn uses(&self) -> Option<Handle> {
        match self.action {
            FileAction::Close(handle)
            | FileAction::Read(handle, _)
            | FileAction::Write(handle, _)
            | FileAction::Flush(handle)
            | FileAction::FileQuery(handle, _)
            | FileAction::Set(handle, _)
            | FileAction::Lock(handle, _)
            | FileAction::Unlock(handle, _) => Some(handle),
            _ => None,
        }
    }

    /// Returns the slot that the operation empties, whatever its result.
    pub fn closes(&self) -> Option<Handle> {
        match self.action {
            FileAction::Close(handle) => Some(handle),
            _ => None,
        }
    }

    /// Returns the number of bytes that it reads.
    pub fn read_bytes(&self) -> u64 {
        match self.action {
            FileAction::Read(_, range) => range.length,
            _ => 0,
        }
    }

    /// Returns the number of bytes that it writes.
    pub fn written_bytes(&self) -> u64 {
        match self.action {
            FileAction::Write(_, range) => range.length,
            _ => 0,
        }
    }
}

/// The kind of a file operation, by which results are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A file or folder that is there is opened.
    Open,
    /// A file that is not there is opened, in vain.
    OpenMissing,
    /// A file or folder is created.
    Create,
    /// A file is closed.
    Close,
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// Written bytes are made durable.
    Flush,
    /// A path that is there is asked about.
    PathHit,
    /// A path that is not there is asked about.
    PathMiss,
    /// An open file is asked about.
    FileQuery,
    /// Times of an open file are set.
    Set,
    /// The volume is asked about.
    VolumeQuery,
    /// A folder is searched, and there are names that match.
    FindHit,
    /// A folder is searched, and no name matches.
    FindMiss,
    /// A file gets another path.
    Rename,
    /// A file is deleted.
    Unlink,
    /// A range of bytes is locked.
    Lock,
    /// A range of bytes is unlocked.
    Unlock,
    /// A folder is made; only in captured mixes, as are the two below.
    MakeFolder,
    /// An empty folder is removed.
    RemoveFolder,
    /// A folder is removed with all that is in it.
    RemoveTree,
}

impl FileKind {
    /// The number of kinds.
    pub const COUNT: usize = FileKind::ALL.len();

    /// All kinds, with the name of each; the last three occur only in captured mixes.
    const NAMES: [(FileKind, &'static str); 21] = [
        (FileKind::Open, "open"),
        (FileKind::OpenMissing, "open missing"),
        (FileKind::Create, "create"),
        (FileKind::Close, "close"),
        (FileKind::Read, "read"),
        (FileKind::Write, "write"),
        (FileKind::Flush, "flush"),
        (FileKind::PathHit, "path query"),
        (FileKind::PathMiss, "path query missing"),
        (FileKind::FileQuery, "file query"),
        (FileKind::Set, "set"),
        (FileKind::VolumeQuery, "volume query"),
        (FileKind::FindHit, "find"),
        (FileKind::FindMiss, "find missing"),
        (FileKind::Rename, "rename"),
        (FileKind::Unlink, "unlink"),
        (FileKind::Lock, "lock"),
        (FileKind::Unlock, "unlock"),
        (FileKind::MakeFolder, "make folder"),
        (FileKind::RemoveFolder, "remove folder"),
        (FileKind::RemoveTree, "remove tree"),
    ];

    /// All kinds, in the order of their declaration.
    pub const ALL: [FileKind; 21] = {
        let mut all = [FileKind::Open; 21];
        let mut index = 0;
        while index < all.len() {
            all[index] = FileKind::NAMES[index].0;
            index += 1;
        }
        all
    };

    /// Returns its index in [`FileKind::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        FileKind::NAMES[self.index()].1
    }
}

/// The part of a reply that the client sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAnswer {
    /// The result is the expected one.
    Done,
    /// The result is another than expected.
    Failed,
    /// Bytes were read that had not been written: the client stops.
    WrongBytes,
    /// The session ended, and with it all open files.
    SessionLost,
}

impl FileAnswer {
    /// Returns the number that stands for it in the value of a reply.
    ///
    /// 0, the value of replies to operations that were cut off, is [`FileAnswer::SessionLost`]: with such an operation
    /// the session ends.
    pub fn to_u64(self) -> u64 {
        match self {
            FileAnswer::SessionLost => 0,
            FileAnswer::Done => 1,
            FileAnswer::Failed => 2,
            FileAnswer::WrongBytes => 3,
        }
    }

    /// Returns the answer of a number; a number that is none's is a session that ended.
    pub fn from_u64(number: u64) -> FileAnswer {
        match number {
            1 => FileAnswer::Done,
            2 => FileAnswer::Failed,
            3 => FileAnswer::WrongBytes,
            _ => FileAnswer::SessionLost,
        }
    }
}

/// The next step of a file client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStep {
    /// Perform an operation and come back with its answer.
    Perform(FileOperation),
    /// Count a unit: a cycle of the Disk Mix, a pass of a stream, a loop over a captured mix.
    UnitEnd,
    /// Pause for so long.
    Pause(units::Nanos),
    /// Pause until so long after the begin of the loop over a captured mix; go on at once if that is past.
    PauseUntil(units::Nanos),
    /// Come back with the answer to one of the operations in flight. Only streams with several in flight say this.
    Await,
    /// Stop permanently.
    Leave,
}

impl fmt::Display for FileOperation {
    /// Writes the operation as a line of a log: `read 0: 4096 at 61440`. What must fail ends with an exclamation mark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.action)?;
        match self.expected {
            Expectation::Success => Ok(()),
            Expectation::Failure => write!(f, " !"),
            Expectation::Any => write!(f, " ?"),
        }
    }
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FileAction::Open(handle, path) => write!(f, "open {handle}: {path}"),
            FileAction::Create(handle, path, existing) => write!(f, "{} {handle}: {path}", existing.verb()),
            FileAction::CreateFolder(handle, path) => write!(f, "create folder {handle}: {path}"),
            FileAction::Close(handle) => write!(f, "close {handle}"),
            FileAction::Read(handle, range) => write!(f, "read {handle}: {range}"),
            FileAction::Write(handle, range) => write!(f, "write {handle}: {range}"),
            FileAction::Flush(handle) => write!(f, "flush {handle}"),
            FileAction::PathQuery(path, level) => write!(f, "path query {}: {path}", level.0),
            FileAction::FileQuery(handle, level) => write!(f, "file query {}: {handle}", level.0),
            FileAction::Set(handle, level) => write!(f, "set {}: {handle}", level.0),
            FileAction::VolumeQuery(level) => write!(f, "volume query {}", level.0),
            FileAction::Find(pattern, size) => write!(f, "find {}: {pattern}", size.wanted),
            FileAction::Rename(from, to) => write!(f, "rename {from}: {to}"),
            FileAction::Unlink(path) => write!(f, "unlink {path}"),
            FileAction::MakeFolder(path) => write!(f, "make folder {path}"),
            FileAction::RemoveFolder(path) => write!(f, "remove folder {path}"),
            FileAction::RemoveTree(path) => write!(f, "remove tree {path}"),
            FileAction::Lock(handle, range) => write!(f, "lock {handle}: {range}"),
            FileAction::Unlock(handle, range) => write!(f, "unlock {handle}: {range}"),
        }
    }
}

impl ExistingFile {
    fn verb(self) -> &'static str {
        match self {
            ExistingFile::Refuse => "create",
            ExistingFile::Keep => "create or open",
            ExistingFile::Truncate => "create or truncate",
        }
    }
}

impl fmt::Display for FileRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.length, self.offset)
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_indexes_and_have_names_of_their_own() {
        let indexes: Vec<usize> = FileKind::ALL.into_iter().map(FileKind::index).collect();
        assert_eq!(indexes, (0..FileKind::COUNT).collect::<Vec<_>>());
        let names: std::collections::BTreeSet<&str> = FileKind::ALL.into_iter().map(FileKind::name).collect();
        assert_eq!(names.len(), FileKind::COUNT);
    }

    #[test]
    fn answers_are_read_back_from_their_numbers() {
        for answer in [FileAnswer::Done, FileAnswer::Failed, FileAnswer::WrongBytes, FileAnswer::SessionLost]
        {
            assert_eq!(FileAnswer::from_u64(answer.to_u64()), answer);
        }
        assert_eq!(FileAnswer::from_u64(u64::MAX), FileAnswer::SessionLost);
    }

    #[test]
    fn what_must_fail_is_a_kind_of_its_own() {
        let query = FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE);
        assert_eq!(FileOperation::missing(query).kind(), FileKind::VolumeQuery);
        let path = FilePath::root(crate::Owner::Shared);
        let action = FileAction::PathQuery(path, InfoLevel::BASIC);
        assert_eq!(FileOperation::of(action).kind(), FileKind::PathHit);
        assert_eq!(FileOperation::missing(action).kind(), FileKind::PathMiss);
        let open = FileAction::Open(Handle(3), path);
        assert_eq!(
            (FileOperation::of(open).opens(), FileOperation::missing(open).opens()),
            (Some(Handle(3)), None)
        );
    }
}
