//! The files that are there before load: a workspace per client, and files that all clients share.

use thiserror::Error;

use crate::application::{APPLICATION_FILES, ApplicationFolder};
use crate::{Entry, FilePath, Folder, Owner};

/// The size of a file of an application: 254 KiB.
pub const APPLICATION_FILE_BYTES: u64 = 260_096;

/// The sizes of the files of the bulk rounds: 320, 1,024 and 1,824 KiB.
pub const BULK_FILE_BYTES: [u64; 3] = [327_680, 1_048_576, 1_867_776];

/// The size of a file that fills up a workspace, and the unit of workspaces: 1 MiB.
pub const PAD_FILE_BYTES: u64 = 1 << 20;

/// The size of an entry of the shared folder that is listed. Ours: the specification names no size.
pub const LISTED_FILE_BYTES: u64 = 4096;

/// The number of entries of the shared folder that is listed, and of the private one.
pub const LISTED_ENTRIES: u32 = 11;

/// The size of a client's workspace, in MiB, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workspace {
    mebibytes: u32,
}

/// A size that a workspace cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a workspace has {least} to {most} MiB, not {0}", least = Workspace::LEAST, most = Workspace::MOST)]
pub struct WorkspaceError(pub u32);

impl Workspace {
    /// The smallest: the files of the applications and the bulk rounds have exactly this size.
    pub const LEAST: u32 = 15;

    /// The largest: 64 GiB.
    pub const MOST: u32 = 65_536;

    /// Makes a workspace.
    ///
    /// # Errors
    ///
    /// When it would be smaller than [`Workspace::LEAST`] or larger than [`Workspace::MOST`].
    pub fn new(mebibytes: u32) -> Result<Workspace, WorkspaceError> {
        if !(Workspace::LEAST..=Workspace::MOST).contains(&mebibytes) {
            return Err(WorkspaceError(mebibytes));
        }
        Ok(Workspace { mebibytes })
    }

    /// Returns the size in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.mebibytes) * PAD_FILE_BYTES
    }

    /// Returns the number of files that fill it up.
    pub fn n_pads(self) -> u32 {
        self.mebibytes - Workspace::LEAST
    }

    /// Returns the number of its files.
    pub fn n_files(self) -> u32 {
        APPLICATION_FILES + BULK_FILE_BYTES.len() as u32 + self.n_pads()
    }
}

impl Default for Workspace {
    /// 20 MiB.
    fn default() -> Workspace {
        Workspace { mebibytes: 20 }
    }
}

/// A file of a population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PopulatedFile {
    /// The path.
    pub path: FilePath,
    /// The size in bytes.
    pub bytes: u64,
}

/// The files of a Disk Mix: workspaces of so many clients, and the shared files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePopulation {
    /// The workspace of each client.
    pub workspace: Workspace,
    /// The number of clients.
    pub n_clients: u32,
}

impl FilePopulation {
    /// Returns the size of all workspaces, in bytes, without the shared files. It depends on the number of clients and
    /// nothing else: not on threads, nor on machines.
    pub fn private_bytes(&self) -> u64 {
        u64::from(self.n_clients) * self.workspace.bytes()
    }

    /// Returns the size of the shared files, in bytes.
    pub fn shared_bytes() -> u64 {
        shared_files().map(|file| file.bytes).sum()
    }

    /// Returns the folders that are made before the files, each after the one that it is in.
    pub fn folders(&self) -> impl Iterator<Item = FilePath> {
        let shared = shared_folders().map(|folder| FilePath::new(Owner::Shared, folder, Entry::Folder));
        shared.chain((0..self.n_clients).flat_map(private_folders))
    }

    /// Returns all files, the shared ones first.
    pub fn files(&self) -> impl Iterator<Item = PopulatedFile> {
        let workspace = self.workspace;
        shared_files().chain((0..self.n_clients).flat_map(move |client| workspace_files(workspace, client)))
    }
}

/// Returns the folders of a client's workspace, its own first.
pub fn private_folders(client: u32) -> impl Iterator<Item = FilePath> {
    let others = [Folder::Bulk, Folder::Pad, Folder::Created];
    let folders = std::iter::once(Folder::Root).chain(application_folders()).chain(others);
    folders.map(move |folder| FilePath::new(Owner::Client(client), folder, Entry::Folder))
}

/// Returns the files of a client's workspace: those of the applications, of the bulk rounds, and those that fill it
/// up.
pub fn workspace_files(workspace: Workspace, client: u32) -> impl Iterator<Item = PopulatedFile> {
    let owner = Owner::Client(client);
    let bulk =
        (0..).zip(BULK_FILE_BYTES).map(move |(number, bytes)| file(owner, Folder::Bulk, number, bytes));
    let pads = (0..workspace.n_pads()).map(move |number| file(owner, Folder::Pad, number, PAD_FILE_BYTES));
    application_files(owner).chain(bulk).chain(pads)
}

fn shared_folders() -> impl Iterator<Item = Folder> {
    std::iter::once(Folder::Root).chain(application_folders()).chain([Folder::Listed])
}

fn shared_files() -> impl Iterator<Item = PopulatedFile> {
    let listed =
        (0..LISTED_ENTRIES).map(|number| file(Owner::Shared, Folder::Listed, number, LISTED_FILE_BYTES));
    application_files(Owner::Shared).chain(listed)
}

fn application_folders() -> impl Iterator<Item = Folder> {
    ApplicationFolder::ALL.into_iter().map(Folder::Application)
}

fn application_files(owner: Owner) -> impl Iterator<Item = PopulatedFile> {
    ApplicationFolder::ALL.into_iter().flat_map(move |application| {
        let folder = Folder::Application(application);
        (0..application.n_files()).map(move |number| file(owner, folder, number, APPLICATION_FILE_BYTES))
    })
}

fn file(owner: Owner, folder: Folder, number: u32, bytes: u64) -> PopulatedFile {
    PopulatedFile { path: FilePath::new(owner, folder, Entry::File(number)), bytes }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// 48 · 260,096 + 327,680 + 1,048,576 + 1,867,776 = 15,728,640 = 15 MiB; the rest are pads of 1 MiB.
    #[test]
    fn a_workspace_has_exactly_its_size() {
        for (mebibytes, n_files) in [(15, 51), (20, 56), (80, 116)] {
            let workspace = Workspace::new(mebibytes).unwrap();
            let files: Vec<PopulatedFile> = workspace_files(workspace, 3).collect();
            assert_eq!(files.iter().map(|file| file.bytes).sum::<u64>(), u64::from(mebibytes) * MIB);
            assert_eq!(
                (files.len(), workspace.n_files(), workspace.bytes()),
                (n_files, n_files as u32, u64::from(mebibytes) * MIB)
            );
        }
        assert_eq!(Workspace::default(), Workspace::new(20).unwrap());
    }

    #[test]
    fn workspaces_outside_the_limits_are_refused() {
        assert_eq!(Workspace::new(14), Err(WorkspaceError(14)));
        assert_eq!(
            Workspace::new(65_537).unwrap_err().to_string(),
            "a workspace has 15 to 65536 MiB, not 65537"
        );
        assert_eq!(Workspace::new(65_536).unwrap().n_pads(), 65_521);
    }

    /// 48 · 260,096 + 11 · 4,096 = 12,529,664.
    #[test]
    fn every_file_is_in_a_folder_that_is_made_before_and_no_path_comes_twice() {
        let population = FilePopulation { workspace: Workspace::default(), n_clients: 3 };
        let folders: Vec<String> = population.folders().map(|path| path.to_string()).collect();
        let files: Vec<PopulatedFile> = population.files().collect();
        for file in &files {
            let path = file.path.to_string();
            let parent = path.rsplit_once('/').unwrap().0.to_owned();
            assert!(folders.contains(&parent), "{path}");
        }
        let paths: BTreeSet<FilePath> = files.iter().map(|file| file.path).collect();
        assert_eq!((paths.len(), files.len()), (59 + 3 * 56, 59 + 3 * 56));
        assert_eq!(folders.len(), 10 + 3 * 12);
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        assert_eq!(FilePopulation::shared_bytes(), 12_529_664);
        assert_eq!(bytes, population.private_bytes() + FilePopulation::shared_bytes());
    }
}
