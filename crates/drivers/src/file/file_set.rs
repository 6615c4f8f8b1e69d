//! The files and folders that are there before load, and the content that the files have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use files::{
    CapturedPath, Entry, Expectation, FileAction, FileContent, FileOperation, FilePath, FilePopulation,
    Folder, LoadFile, MicroSettings, Owner, PopulatedFile, StreamShape,
};

use super::path_text::{CAPTURED_FOLDER, PathText};

/// The files of a workload.
#[derive(Debug, Clone)]
pub enum WorkloadFiles {
    /// The workspaces and the shared files of a Disk Mix.
    DiskMix(FilePopulation),
    /// The files of a micro-test, of so many clients.
    Micro(MicroSettings, u32),
    /// The files of streams, of so many clients.
    Stream(StreamShape, u32),
    /// The folders that a captured mix takes for granted, of so many clients, and one in which the first client can make a
    /// file before. The mix makes its files itself.
    Captured(Arc<LoadFile>, u32),
}

/// A plan of the files and folders that are there before load.
#[derive(Debug, Clone)]
pub struct FileSetPlan {
    set: WorkloadFiles,
    content: FileContent,
}

impl FileSetPlan {
    /// Makes the plan of a workload's files, with the content of the run.
    pub fn new(set: WorkloadFiles, content: FileContent) -> FileSetPlan {
        FileSetPlan { set, content }
    }

    /// Returns the number of files.
    pub fn n_files(&self) -> u64 {
        self.files().count() as u64
    }

    /// Returns the size of all files, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }

    /// Returns the content of the files.
    pub(crate) fn content(&self) -> FileContent {
        self.content
    }

    /// Returns a writer of the paths of the files.
    pub(crate) fn path_text(&self) -> PathText {
        match &self.set {
            WorkloadFiles::Captured(load, _) => PathText::new(Some(Arc::clone(load))),
            WorkloadFiles::DiskMix(_) | WorkloadFiles::Micro(..) | WorkloadFiles::Stream(..) => {
                PathText::new(None)
            }
        }
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> Box<dyn Iterator<Item = PopulatedFile> + '_> {
        match &self.set {
            WorkloadFiles::DiskMix(population) => Box::new(population.files()),
            WorkloadFiles::Micro(settings, n_clients) => {
                let of_client =
                    move |client| settings.files(client).filter(move |file| is_own(&file.path, client));
                Box::new((0..*n_clients).flat_map(of_client))
            }
            WorkloadFiles::Stream(shape, n_clients) => {
                let of_client =
                    move |client| shape.files(client).filter(move |file| is_own(&file.path, client));
                Box::new((0..*n_clients).flat_map(of_client))
            }
            WorkloadFiles::Captured(..) => Box::new(std::iter::empty()),
        }
    }

    /// Returns the paths of the folders as text, each after the one that it is in.
    pub(crate) fn folders(&self) -> BTreeSet<String> {
        let mut folders = BTreeSet::new();
        let mut add = |folder: FilePath| add_with_parents(&mut folders, &folder.to_string());
        match &self.set {
            WorkloadFiles::DiskMix(population) => population.folders().for_each(add),
            WorkloadFiles::Micro(settings, n_clients) => {
                (0..*n_clients).flat_map(|client| settings.folders(client)).for_each(&mut add);
            }
            WorkloadFiles::Stream(shape, n_clients) => {
                (0..*n_clients).flat_map(|client| shape.folders(client)).for_each(&mut add);
            }
            WorkloadFiles::Captured(load, n_clients) => {
                folders.insert(CAPTURED_FOLDER.to_owned());
                let probed = FilePath::new(Owner::Client(0), Folder::Created, Entry::Folder);
                add_with_parents(&mut folders, &probed.to_string());
                add_captured(&mut folders, load, *n_clients);
            }
        }
        folders
    }
}

/// Returns whether a file is a client's own, or the client is the first: the files that all share come once.
fn is_own(path: &FilePath, client: u32) -> bool {
    client == 0 || !path.is_shared()
}

/// Adds a folder and those that it is in.
fn add_with_parents(folders: &mut BTreeSet<String>, folder: &str) {
    let parents = folder.match_indices('/').map(|(at, _)| &folder[..at]);
    for path in parents.chain([folder]) {
        if !folders.contains(path) {
            folders.insert(path.to_owned());
        }
    }
}

/// Adds the folders that a captured mix takes for granted.
fn add_captured(folders: &mut BTreeSet<String>, load: &Arc<LoadFile>, n_clients: u32) {
    let needed = needed_folders(load);
    let mut text = PathText::new(Some(Arc::clone(load)));
    for client in 0..n_clients {
        for (path, n_parts) in &needed {
            let path = text.write(FilePath::Captured(CapturedPath { client, text: *path }));
            let end = path.match_indices('/').nth(*n_parts).map_or(path.len(), |(at, _)| at);
            add_with_parents(folders, &path[..end]);
        }
    }
}

/// Returns the folders that a captured mix takes for granted: those in which it uses something before it has made them.
/// Each is the index of a path with the number of the parts that count, without the folder of all captured paths.
fn needed_folders(load: &Arc<LoadFile>) -> Vec<(u32, usize)> {
    let mut text = PathText::new(Some(Arc::clone(load)));
    let mut made: BTreeSet<String> = BTreeSet::new();
    let mut needed: BTreeMap<String, (u32, usize)> = BTreeMap::new();
    let mut used: BTreeSet<u32> = BTreeSet::new();
    // Of client 1, whose paths are those of the file.
    let operations = (0..load.n_lines()).filter_map(|line| load.operation(line, 1));
    for operation in operations.filter(|operation| operation.expected != Expectation::Failure) {
        for path in used_paths(&operation).into_iter().flatten() {
            let FilePath::Captured(captured) = path else { continue };
            if !used.insert(captured.text) {
                continue;
            }
            let path = text.write(path);
            let parents = path.match_indices('/').map(|(at, _)| &path[..at]).enumerate().skip(1);
            for (n_parts, parent) in parents {
                if !made.contains(parent) && !needed.contains_key(parent) {
                    needed.insert(parent.to_owned(), (captured.text, n_parts));
                }
            }
        }
        match operation.action {
            FileAction::MakeFolder(path) | FileAction::CreateFolder(_, path) => {
                made.insert(text.write(path).to_owned());
            }
            FileAction::RemoveTree(path) | FileAction::RemoveFolder(path) => {
                let removed = text.write(path);
                let is_below =
                    |path: &str| path.strip_prefix(removed).is_some_and(|rest| rest.starts_with('/'));
                made.retain(|path| path != removed && !is_below(path));
                // Paths that are used from here on may need to be made again.
                used.clear();
            }
            _ => {}
        }
    }
    needed.into_values().collect()
}

/// Returns the paths that must be in a folder that is there.
fn used_paths(operation: &FileOperation) -> [Option<FilePath>; 2] {
    match operation.action {
        FileAction::RemoveTree(_) => [None, None],
        _ => operation.paths(),
    }
}

#[cfg(test)]
mod tests {
    use files::{MicroTest, SEARCHED_ENTRIES, StreamDirection, StreamFiles, Workspace};

    use super::*;

    fn plan(set: WorkloadFiles) -> FileSetPlan {
        FileSetPlan::new(set, FileContent::new(1, 50))
    }

    /// Every file is in a folder of the plan, and comes once.
    fn check(set: WorkloadFiles, n_files: u64) -> Vec<String> {
        let plan = plan(set);
        let folders = plan.folders();
        let mut text = plan.path_text();
        let mut seen = BTreeSet::new();
        for file in plan.files() {
            let path = text.write(file.path);
            let parent = path.rsplit_once('/').unwrap().0;
            assert!(folders.contains(parent), "{path}");
            assert!(seen.insert(path.to_owned()), "{path} comes twice");
        }
        assert_eq!(plan.n_files(), n_files);
        for folder in &folders {
            let parent = folder.rsplit_once('/').map(|(parent, _)| parent);
            assert!(parent.is_none_or(|parent| folders.contains(parent)), "{folder}");
        }
        folders.into_iter().collect()
    }

    #[test]
    fn every_file_is_in_a_folder_and_shared_ones_come_once() {
        let population = FilePopulation { workspace: Workspace::default(), n_clients: 3 };
        let folders = check(WorkloadFiles::DiskMix(population), 59 + 3 * 56);
        assert_eq!(folders.len(), 10 + 3 * 12 + 1, "those of the population, and `private`");
        for test in MicroTest::ALL {
            let settings = MicroSettings { n_files: 5, ..MicroSettings::new(test, 1) };
            let searched = SEARCHED_ENTRIES.iter().sum::<u32>();
            let n_files = match test {
                MicroTest::RandomRead | MicroTest::RandomWrite => 3,
                MicroTest::DirectorySearch => searched,
                MicroTest::OpenClose | MicroTest::Stat | MicroTest::Rename => 15,
                MicroTest::CreateDelete => 0,
                MicroTest::Lock => 1,
            };
            check(WorkloadFiles::Micro(settings, 3), n_files.into());
        }
        let shape = |files, direction| StreamShape::new(1 << 20, 65_536, 1, files, direction).unwrap();
        let read = |files| shape(files, StreamDirection::Read);
        check(WorkloadFiles::Stream(read(StreamFiles::Private), 3), 3);
        check(WorkloadFiles::Stream(read(StreamFiles::Many(4)), 3), 12);
        assert_eq!(
            check(WorkloadFiles::Stream(read(StreamFiles::Shared), 3), 1),
            ["shared", "shared/stream"]
        );
        let folders = check(WorkloadFiles::Stream(shape(StreamFiles::Private, StreamDirection::Write), 1), 0);
        assert_eq!(folders, ["private", "private/c0", "private/c0/stream"]);
    }

    /// Folders that the mix makes itself are not made before, nor are those that it makes again after it has removed them.
    #[test]
    fn a_captured_mix_has_the_folders_that_it_takes_for_granted() {
        let load = concat!(
            "Deltree \"\\clients\\client1\" NT_STATUS_OK\n",
            "Mkdir \"\\clients\\client1\" NT_STATUS_OK\n",
            "NTCreateX \"\\clients\\client1\\own\" 0x41 2 1 NT_STATUS_OK\n",
            "NTCreateX \"\\clients\\client1\\own\\file\" 0x40 2 2 NT_STATUS_OK\n",
            "NTCreateX \"\\other\\missing\\file\" 0x40 1 3 NT_STATUS_OBJECT_NAME_NOT_FOUND\n",
            "Rename \"\\clients\\client1\\own\\file\" \"\\old\\client1\\there\\file\" NT_STATUS_OK\n",
            "Deltree \"\\clients\\client1\" NT_STATUS_OK\n",
            "QUERY_PATH_INFORMATION \"\\clients\\client1\\late\\file\" 1004 NT_STATUS_OK\n",
        );
        let load = Arc::new(LoadFile::read(load.as_bytes()).unwrap());
        let folders = check(WorkloadFiles::Captured(load, 2), 0);
        let expected = [
            "captured",
            "captured/clients",
            "captured/clients/client0",
            "captured/clients/client0/late",
            "captured/clients/client1",
            "captured/clients/client1/late",
            "captured/old",
            "captured/old/client0",
            "captured/old/client0/there",
            "captured/old/client1",
            "captured/old/client1/there",
            "private",
            "private/c0",
            "private/c0/new",
        ];
        assert_eq!(folders, expected);
    }
}
