//! A file server in memory, which insists that every operation is right.

use std::collections::{BTreeMap, BTreeSet};

use files::{
    Baseline, ContentLedger, Entry, ExistingFile, Expectation, FileAction, FileContent, FileOperation,
    FilePath, FileRange, FileVersion, Folder, Handle, Owner, PopulatedFile, PopulatedPath, Verify,
};

/// A share in memory, as one client sees it.
pub(crate) struct Share {
    /// The size of each file.
    pub(crate) sizes: BTreeMap<FilePath, u64>,
    open: BTreeMap<Handle, FilePath>,
    locks: BTreeSet<FilePath>,
    /// The operation at which a created file came, by path; and the lifetimes of those that are gone.
    born: BTreeMap<FilePath, u64>,
    pub(crate) lifetimes: Vec<u64>,
    pub(crate) n_operations: u64,
    bytes: Option<SharedBytes>,
}

/// The bytes of files, and what the client knows of them.
struct SharedBytes {
    files: BTreeMap<FilePath, Vec<u8>>,
    ledger: ContentLedger,
}

impl Share {
    /// Makes a share with these files.
    pub(crate) fn new(files: impl Iterator<Item = PopulatedFile>) -> Share {
        Share {
            sizes: files.map(|file| (file.path, file.bytes)).collect(),
            open: BTreeMap::new(),
            locks: BTreeSet::new(),
            born: BTreeMap::new(),
            lifetimes: Vec::new(),
            n_operations: 0,
            bytes: None,
        }
    }

    /// Gives the files their content, and the client a ledger that verifies all that it reads.
    pub(crate) fn with_content(mut self, content: FileContent) -> Share {
        let bytes = |path: &FilePath, size: u64| {
            let mut bytes = vec![0; size as usize];
            content.fill(FileVersion { file: path.file_id(), generation: 0 }, 0, &mut bytes);
            bytes
        };
        let files = self.sizes.iter().map(|(path, size)| (*path, bytes(path, *size))).collect();
        let ledger = ContentLedger::new(content, Verify::Full, Baseline::Populated, 0);
        self.bytes = Some(SharedBytes { files, ledger });
        self
    }

    /// Returns the number of extents in the ledger.
    pub(crate) fn n_extents(&self) -> usize {
        self.bytes.as_ref().map_or(0, |bytes| bytes.ledger.n_extents())
    }

    pub(crate) fn is_anything_open(&self) -> bool {
        !self.open.is_empty() || !self.locks.is_empty()
    }

    /// The session ends: what is open is closed, and no longer locked.
    pub(crate) fn lose_session(&mut self) {
        self.open.clear();
        self.locks.clear();
    }

    /// Performs an operation. Panics if it is on something that is not there, or is not expected to have this result.
    pub(crate) fn perform(&mut self, operation: &FileOperation) {
        self.n_operations += 1;
        let exists = |path: &FilePath| self.sizes.contains_key(path);
        let must = operation.expected == Expectation::Success;
        let file =
            operation.uses().map(|handle| *self.open.get(&handle).unwrap_or_else(|| panic!("{operation}")));
        match operation.action {
            FileAction::Open(handle, path) => {
                assert_eq!(exists(&path), must, "{operation}");
                if must {
                    assert_eq!(self.open.insert(handle, path), None, "{operation}");
                }
            }
            FileAction::Create(handle, path, existing) => {
                assert!(existing == ExistingFile::Refuse && !exists(&path), "{operation}");
                assert_eq!(self.open.insert(handle, path), None, "{operation}");
                self.sizes.insert(path, 0);
                self.born.insert(path, self.n_operations);
                if let Some(bytes) = &mut self.bytes {
                    bytes.files.insert(path, Vec::new());
                    bytes.ledger.created(path);
                }
            }
            FileAction::Close(handle) => {
                self.locks.remove(&file.unwrap());
                self.open.remove(&handle);
            }
            FileAction::Read(_, range) => {
                let path = file.unwrap();
                assert!(0 < range.length && range.end() <= self.sizes[&path], "{operation} of {path}");
                if let Some(bytes) = &self.bytes {
                    let read = &bytes.files[&path][range.offset as usize..range.end() as usize];
                    assert_eq!(
                        bytes.ledger.verify(path, range.offset, read),
                        Ok(()),
                        "{operation} of {path}"
                    );
                }
            }
            FileAction::Write(_, range) => self.write(file.unwrap(), range),
            FileAction::Flush(_)
            | FileAction::FileQuery(..)
            | FileAction::Set(..)
            | FileAction::VolumeQuery(_) => {}
            FileAction::PathQuery(path, _) => assert_eq!(exists(&path), must, "{operation}"),
            FileAction::Find(pattern, size) => {
                assert_eq!(
                    (Some(self.n_matches(pattern)), must),
                    (size.found, size.found != Some(0)),
                    "{operation}"
                );
            }
            FileAction::Rename(from, to) => {
                assert!(!exists(&to), "{operation}");
                let size = self.sizes.remove(&from).unwrap_or_else(|| panic!("{operation}"));
                self.sizes.insert(to, size);
                let born = self.born.remove(&from).unwrap();
                self.born.insert(to, born);
                if let Some(bytes) = &mut self.bytes {
                    let moved = bytes.files.remove(&from).unwrap();
                    bytes.files.insert(to, moved);
                    bytes.ledger.renamed(from, to);
                }
            }
            FileAction::Unlink(path) => {
                assert!(self.sizes.remove(&path).is_some(), "{operation}");
                assert!(!self.open.values().any(|open| *open == path), "{operation}");
                self.lifetimes.push(self.n_operations - self.born.remove(&path).unwrap());
                if let Some(bytes) = &mut self.bytes {
                    bytes.files.remove(&path);
                    bytes.ledger.deleted(path);
                }
            }
            FileAction::Lock(..) => assert!(self.locks.insert(file.unwrap()), "{operation}"),
            FileAction::Unlock(..) => assert!(self.locks.remove(&file.unwrap()), "{operation}"),
            FileAction::CreateFolder(..)
            | FileAction::MakeFolder(_)
            | FileAction::RemoveFolder(_)
            | FileAction::RemoveTree(_) => panic!("{operation}"),
        }
    }

    /// Writes to a file; to a shared one only under a lock.
    fn write(&mut self, path: FilePath, range: FileRange) {
        assert!(0 < range.length, "{path}");
        assert!(!path.is_shared() || self.locks.contains(&path), "{path} is written without a lock");
        let size = self.sizes.get_mut(&path).unwrap();
        *size = range.end().max(*size);
        if let Some(bytes) = &mut self.bytes {
            let mut buffer = vec![0; range.length as usize];
            let generation = bytes.ledger.fill(path, range.offset, &mut buffer);
            let file = bytes.files.get_mut(&path).unwrap();
            file.resize(*size as usize, 0);
            file[range.offset as usize..range.end() as usize].copy_from_slice(&buffer);
            bytes.ledger.written(path, range, generation);
        }
    }

    fn n_matches(&self, pattern: FilePath) -> u32 {
        let FilePath::Populated(PopulatedPath { owner, folder, entry }) = pattern else {
            panic!("{pattern}")
        };
        let in_folder = |path: &FilePath| -> bool {
            matches!(path, FilePath::Populated(populated)
                if populated.owner == owner && populated.folder == folder && matches!(populated.entry, Entry::File(_)))
        };
        match entry {
            Entry::EveryFile => self.sizes.keys().filter(|path| in_folder(path)).count() as u32,
            Entry::NoFile => 0,
            _ => panic!("{pattern}"),
        }
    }
}

/// Returns whether a path is in the folder of a client's created files.
pub(crate) fn is_created(path: &FilePath, client: u32) -> bool {
    matches!(path, FilePath::Populated(PopulatedPath { owner: Owner::Client(owner), folder: Folder::Created, .. })
        if *owner == client)
}
