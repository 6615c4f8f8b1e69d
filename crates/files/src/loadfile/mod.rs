//! Captured mixes: load files of dbench, and their replay.
//!
//! A load file is the recorded sequence of a client's operations, one on each line, with the result that each must
//! have. It is read whole, checked, and kept once for all clients: 32 bytes per line and each path once. Operations on
//! handles that nothing has opened, paths that lead out, and numbers that no file has are found before anything is
//! started.
//!
//! The definitions are those of dbench's back end for files, with these differences: `REPEAT`, `LOOP` and `SLEEP` of
//! version 5 work (loops in each other, too), its other directives and the modifiers of values are refused; a mistake
//! is an error with its line, not a message in passing; names are compared as the server compares them.

mod error;
mod line;
mod parse;
mod print;
mod replay;
mod sizes;

use std::fmt::Write;
use std::io::BufRead;

use units::Nanos;

pub use self::error::{LoadFileError, LoadProblem};
pub use self::replay::ReplayClient;
use self::sizes::FileSizes;
use crate::{
    CapturedPath, ExistingFile, Expectation, FileAction, FileKind, FileOperation, FilePath, FileRange,
    FindSize, Handle, InfoLevel,
};

/// The most lines, with loops written out.
pub const LINES_MAX: usize = 1 << 21;

/// The most different paths.
pub const PATHS_MAX: usize = 1 << 16;

/// The most handles that are open at a time.
pub const HANDLES_MAX: usize = 200;

/// The most bytes of a read or a write.
pub const REQUEST_BYTES_MAX: u64 = 8 << 20;

/// The most loops in each other.
pub const LOOPS_MAX: usize = 16;

/// The text in paths that stands for the client.
const CLIENT: &str = "client1";

/// The option of `NTCreateX` that asks for a folder.
const FOLDER_OPTION: u32 = 1;

/// A load file: the operations of a client, to be replayed by many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadFile {
    lines: Vec<LoadLine>,
    /// Paths with `/` between their parts.
    texts: Vec<Box<str>>,
    /// Whether each path is the same for all clients.
    are_shared: Vec<bool>,
    n_skipped: u64,
}

/// A line: an operation, a pause, or the time of the next operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LoadLine {
    action: LoadAction,
    expected: Expectation,
}

/// An action, in as few bytes as possible: there are hundreds of thousands. Paths are indexes of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadAction {
    Create {
        text: u32,
        options: u32,
        disposition: u8,
        slot: u8,
    },
    Close(u8),
    Read(u8, FileRange),
    Write(u8, FileRange),
    Rename(u32, u32),
    Unlink {
        text: u32,
        attribute: u32,
    },
    RemoveTree(u32),
    MakeFolder(u32),
    RemoveFolder(u32),
    PathQuery(u32, u16),
    FileQuery(u8, u16),
    VolumeQuery(u16),
    Set(u8, u16),
    Find {
        text: u32,
        level: u16,
        wanted: u32,
        found: u32,
    },
    Flush(u8),
    Lock(u8, FileRange),
    Unlock(u8, FileRange),
    Sleep(Nanos),
    /// The next operation is not before this time since the begin of the loop over the file.
    NotBefore(Nanos),
}

/// The size and shape of a load file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadSummary {
    /// The number of operations of each kind, in the order of [`FileKind::ALL`].
    pub counts: [u64; FileKind::COUNT],
    /// The operations that must fail.
    pub n_expected_failures: u64,
    /// The bytes read.
    pub read_bytes: u64,
    /// The bytes written.
    pub written_bytes: u64,
    /// The most handles that are open at a time.
    pub open_max: usize,
    /// The most bytes that the files of a client have together.
    pub file_bytes_max: u64,
    /// Whether clients pause, or wait for the times of operations.
    pub has_pauses: bool,
}

/// The slots that are open while the operations of a file succeed.
struct OpenSlots {
    is_open: [bool; HANDLES_MAX],
    n_open: usize,
}

impl LoadFile {
    /// Reads a load file: text, or text compressed by gzip.
    ///
    /// # Errors
    ///
    /// When a line cannot be replayed, or the file is too large: the first such line.
    pub fn read(source: impl BufRead) -> Result<LoadFile, LoadFileError> {
        parse::read(source)
    }

    /// Returns the number of lines: operations, pauses and times, with loops written out.
    pub fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of lines that have no status, and are skipped, as dbench does.
    pub fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Returns the operation on a line for a client; `None` if it has none, or there is no such line.
    pub fn operation(&self, index: usize, client: u32) -> Option<FileOperation> {
        self.lines.get(index)?.operation(client)
    }

    /// Writes the text of a path: `/` between its parts, and `client7` for client 7 wherever `client1` was.
    pub fn path(&self, path: CapturedPath, text: &mut String) {
        let captured = self.texts.get(path.text as usize).map_or("", |text| &**text);
        for (index, piece) in captured.split(CLIENT).enumerate() {
            if 0 < index {
                // A text grows without an error.
                let _ = write!(text, "client{}", path.client);
            }
            text.push_str(piece);
        }
    }

    /// Returns whether a path is the same for all clients: its text does not name the client.
    pub fn is_shared(&self, path: CapturedPath) -> bool {
        self.are_shared.get(path.text as usize).is_none_or(|is_shared| *is_shared)
    }

    /// Counts what the file has.
    pub fn summary(&self) -> LoadSummary {
        let mut summary = LoadSummary {
            counts: [0; FileKind::COUNT],
            n_expected_failures: 0,
            read_bytes: 0,
            written_bytes: 0,
            open_max: 0,
            file_bytes_max: 0,
            has_pauses: self.lines.iter().any(|line| line.operation(0).is_none()),
        };
        let mut open = OpenSlots::new();
        let mut sizes = FileSizes::new(&self.texts);
        for operation in self.lines.iter().filter_map(|line| line.operation(0)) {
            sizes.follow(&operation);
            summary.counts[operation.kind().index()] += 1;
            summary.n_expected_failures += u64::from(operation.expected == Expectation::Failure);
            summary.read_bytes += operation.read_bytes();
            summary.written_bytes += operation.written_bytes();
            open.follow(&operation);
            summary.open_max = summary.open_max.max(open.n_open);
        }
        summary.file_bytes_max = sizes.most;
        summary
    }
}

impl LoadLine {
    fn pause(action: LoadAction) -> LoadLine {
        LoadLine { action, expected: Expectation::Success }
    }

    fn operation(&self, client: u32) -> Option<FileOperation> {
        let path = |text: u32| FilePath::Captured(CapturedPath { client, text });
        let handle = |slot: u8| Handle(slot.into());
        let action = match self.action {
            LoadAction::Create { text, options, disposition, slot } => {
                create(handle(slot), path(text), options, disposition)
            }
            LoadAction::Close(slot) => FileAction::Close(handle(slot)),
            LoadAction::Read(slot, range) => FileAction::Read(handle(slot), range),
            LoadAction::Write(slot, range) => FileAction::Write(handle(slot), range),
            LoadAction::Rename(from, to) => FileAction::Rename(path(from), path(to)),
            LoadAction::Unlink { text, .. } => FileAction::Unlink(path(text)),
            LoadAction::RemoveTree(text) => FileAction::RemoveTree(path(text)),
            LoadAction::MakeFolder(text) => FileAction::MakeFolder(path(text)),
            LoadAction::RemoveFolder(text) => FileAction::RemoveFolder(path(text)),
            LoadAction::PathQuery(text, level) => FileAction::PathQuery(path(text), InfoLevel(level)),
            LoadAction::FileQuery(slot, level) => FileAction::FileQuery(handle(slot), InfoLevel(level)),
            LoadAction::VolumeQuery(level) => FileAction::VolumeQuery(InfoLevel(level)),
            LoadAction::Set(slot, level) => FileAction::Set(handle(slot), InfoLevel(level)),
            LoadAction::Find { text, wanted, found, .. } => {
                FileAction::Find(path(text), FindSize { wanted, found: Some(found) })
            }
            LoadAction::Flush(slot) => FileAction::Flush(handle(slot)),
            LoadAction::Lock(slot, range) => FileAction::Lock(handle(slot), range),
            LoadAction::Unlock(slot, range) => FileAction::Unlock(handle(slot), range),
            LoadAction::Sleep(_) | LoadAction::NotBefore(_) => return None,
        };
        Some(FileOperation { action, expected: self.expected })
    }
}

impl OpenSlots {
    fn new() -> OpenSlots {
        OpenSlots { is_open: [false; HANDLES_MAX], n_open: 0 }
    }

    fn contains(&self, Handle(slot): Handle) -> bool {
        self.is_open[usize::from(slot)]
    }

    fn set(&mut self, Handle(slot): Handle, is_open: bool) {
        let was_open = std::mem::replace(&mut self.is_open[usize::from(slot)], is_open);
        self.n_open = self.n_open + usize::from(is_open) - usize::from(was_open);
    }

    fn follow(&mut self, operation: &FileOperation) {
        if let Some(handle) = operation.opens() {
            self.set(handle, true);
        }
        if let Some(handle) = operation.closes() {
            self.set(handle, false);
        }
    }
}

/// Returns the action of an `NTCreateX`. Disposition 2 creates what is not there; 4 and 5 also cut what is there.
fn create(handle: Handle, path: FilePath, options: u32, disposition: u8) -> FileAction {
    let is_folder = options & FOLDER_OPTION != 0;
    match disposition {
        2 | 4 | 5 if is_folder => FileAction::CreateFolder(handle, path),
        2 => FileAction::Create(handle, path, ExistingFile::Keep),
        4 | 5 => FileAction::Create(handle, path, ExistingFile::Truncate),
        _ => FileAction::Open(handle, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_small() {
        assert_eq!(size_of::<LoadLine>(), 32);
    }

    /// Dispositions as dbench has them: 2 creates, 4 and 5 also cut, 1 and 3 only open; bit 0 of the options is a folder.
    #[test]
    fn dispositions_say_what_is_done() {
        let handle = Handle(1);
        let path = FilePath::Captured(CapturedPath { client: 0, text: 0 });
        let of = |options, disposition| create(handle, path, options, disposition);
        assert_eq!([of(0x40, 1), of(1, 1), of(0, 3)], [FileAction::Open(handle, path); 3]);
        assert_eq!(of(0x40, 2), FileAction::Create(handle, path, ExistingFile::Keep));
        assert_eq!([of(0x40, 4), of(0, 5)], [FileAction::Create(handle, path, ExistingFile::Truncate); 2]);
        assert_eq!(of(0x41, 2), FileAction::CreateFolder(handle, path));
    }
}
