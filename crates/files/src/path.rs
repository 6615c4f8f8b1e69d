//! Paths of files as small values, which become text only where a server needs it.

use std::fmt;

use units::mix_bits;

use crate::ApplicationFolder;

/// A path, relative to the folder of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilePath {
    /// A path of a population.
    Populated(PopulatedPath),
    /// A path of a captured mix, which has its text.
    Captured(CapturedPath),
}

/// The owner of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The client of this number, from 0: no other uses them.
    Client(u32),
    /// All clients together.
    Shared,
}

/// A folder of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Folder {
    /// The owner's own folder, in which the others are.
    Root,
    /// The files of an application.
    Application(ApplicationFolder),
    /// The folder of eleven entries that all clients list.
    Listed,
    /// The large files of the bulk rounds.
    Bulk,
    /// The files that fill a workspace up to its size.
    Pad,
    /// The files that a client creates and deletes.
    Created,
    /// The files of streams and of random access.
    Stream,
    /// The small files of micro-tests, of the test with this number.
    Small(u8),
}

/// An entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// The folder itself.
    Folder,
    /// The file of this number, from 0.
    File(u32),
    /// The same file with its other name.
    Renamed(u32),
    /// A name that no file has.
    Missing(u32),
    /// The pattern that matches each file's first name.
    EveryFile,
    /// A pattern that no name matches.
    NoFile,
}

/// A path of a population: owner, folder, and entry there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PopulatedPath {
    /// The owner.
    pub owner: Owner,
    /// The folder.
    pub folder: Folder,
    /// The entry.
    pub entry: Entry,
}

/// A path of a captured mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapturedPath {
    /// The client, which replaces `client1` in the text.
    pub client: u32,
    /// The index of the text in the captured mix.
    pub text: u32,
}

/// The identity of a file, whatever its name: of the same owner, folder and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

impl FilePath {
    /// Makes a path of a population.
    pub fn new(owner: Owner, folder: Folder, entry: Entry) -> FilePath {
        FilePath::Populated(PopulatedPath { owner, folder, entry })
    }

    /// Makes the path of an owner's own folder.
    pub fn root(owner: Owner) -> FilePath {
        FilePath::new(owner, Folder::Root, Entry::Folder)
    }

    /// Returns the identity of the file. A file that is renamed keeps it in a population, not in a captured mix, of
    /// which names are all that is known.
    pub fn file_id(&self) -> FileId {
        match self {
            FilePath::Populated(path) => path.file_id(),
            FilePath::Captured(path) => FileId(mix_bits(u64::from(path.client) << 32 | u64::from(path.text))),
        }
    }

    /// Returns whether other clients may write to the file.
    pub fn is_shared(&self) -> bool {
        matches!(self, FilePath::Populated(PopulatedPath { owner: Owner::Shared, .. }))
    }
}

impl PopulatedPath {
    fn file_id(&self) -> FileId {
        let owner = match self.owner {
            Owner::Shared => 0,
            Owner::Client(client) => 1 + u64::from(client),
        };
        let number = match self.entry {
            Entry::File(number) | Entry::Renamed(number) | Entry::Missing(number) => u64::from(number),
            Entry::Folder | Entry::EveryFile | Entry::NoFile => u64::from(u32::MAX),
        };
        FileId(mix_bits(mix_bits(owner << 16 | self.folder.number()) ^ number))
    }
}

impl Folder {
    /// Returns a number of its own for each folder of an owner, below 2¹⁶.
    fn number(self) -> u64 {
        match self {
            Folder::Root => 0,
            Folder::Listed => 1,
            Folder::Bulk => 2,
            Folder::Pad => 3,
            Folder::Created => 4,
            Folder::Stream => 5,
            Folder::Application(application) => 0x100 + application.index() as u64,
            Folder::Small(test) => 0x200 + u64::from(test),
        }
    }
}

impl fmt::Display for FilePath {
    /// Writes the path with `/` between its parts. Of a captured path this is only its index:
    /// [`crate::LoadFile::path`] has its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePath::Populated(path) => path.fmt(f),
            FilePath::Captured(path) => write!(f, "captured/c{}/{}", path.client, path.text),
        }
    }
}

impl fmt::Display for PopulatedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.owner {
            Owner::Client(client) => write!(f, "private/c{client}")?,
            Owner::Shared => f.write_str("shared")?,
        }
        match self.folder {
            Folder::Root => {}
            Folder::Application(application) => write!(f, "/{}", application.name())?,
            Folder::Listed => f.write_str("/listed")?,
            Folder::Bulk => f.write_str("/bulk")?,
            Folder::Pad => f.write_str("/pad")?,
            Folder::Created => f.write_str("/new")?,
            Folder::Stream => f.write_str("/stream")?,
            Folder::Small(test) => write!(f, "/small{test}")?,
        }
        match self.entry {
            Entry::Folder => Ok(()),
            Entry::File(number) => write!(f, "/f{number:05}.bin"),
            Entry::Renamed(number) => write!(f, "/f{number:05}.old"),
            Entry::Missing(number) => write!(f, "/none{number:05}.tmp"),
            Entry::EveryFile => f.write_str("/*.bin"),
            Entry::NoFile => f.write_str("/*.jnk"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn paths_are_written_when_they_are_needed() {
        let client = Owner::Client(7);
        let application = Folder::Application(ApplicationFolder::ALL[2]);
        let texts = [
            (FilePath::root(client), "private/c7"),
            (FilePath::new(client, application, Entry::File(4)), "private/c7/database/f00004.bin"),
            (FilePath::new(client, Folder::Created, Entry::Renamed(123)), "private/c7/new/f00123.old"),
            (FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile), "shared/listed/*.bin"),
            (FilePath::new(client, Folder::Bulk, Entry::Missing(1)), "private/c7/bulk/none00001.tmp"),
        ];
        for (path, text) in texts {
            assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn a_path_is_small() {
        assert!(size_of::<FilePath>() <= 24);
    }

    #[test]
    fn a_file_keeps_its_identity_when_it_is_renamed() {
        let path = |entry| FilePath::new(Owner::Client(1), Folder::Created, entry).file_id();
        assert_eq!(path(Entry::File(5)), path(Entry::Renamed(5)));
        assert_ne!(path(Entry::File(5)), path(Entry::File(6)));
    }

    #[test]
    fn files_of_different_owners_folders_and_numbers_have_different_identities() {
        let owners = [Owner::Shared, Owner::Client(0), Owner::Client(1), Owner::Client(u32::MAX)];
        let folders =
            [Folder::Bulk, Folder::Pad, Folder::Created, Folder::Stream, Folder::Small(0), Folder::Small(9)];
        let ids: BTreeSet<FileId> = owners
            .into_iter()
            .flat_map(|owner| folders.map(|folder| (owner, folder)))
            .flat_map(|(owner, folder)| {
                (0..100).map(move |n| FilePath::new(owner, folder, Entry::File(n)).file_id())
            })
            .collect();
        assert_eq!(ids.len(), 4 * 6 * 100);
    }
}
