//! Small tests of one kind of operation each. Names follow the NetBench family, definitions are ours.
//!
//! Sequential streams are in [`crate::StreamShape`]. Messages without files are those of a Disk Mix, with the sizes of
//! [`crate::MessageSizes`].

use units::{Rng, StreamPurpose};

use crate::operation::HANDLE;
use crate::{
    Entry, ExistingFile, FileAction, FileAnswer, FileOperation, FilePath, FileRange, FileStep, FindSize,
    Folder, InfoLevel, Owner, PopulatedFile,
};

/// A kind of micro-test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MicroTest {
    /// Aligned reads at random places of a large file.
    RandomRead,
    /// Aligned writes at random places of a large file.
    RandomWrite,
    /// Searches of folders of 10 to 10,000 entries, without and with a match in turns.
    DirectorySearch,
    /// Small files are opened and closed.
    OpenClose,
    /// Small files are created, and when all are there, deleted.
    CreateDelete,
    /// Paths of small files are asked about.
    Stat,
    /// Small files are renamed, and in the next pass named back.
    Rename,
    /// A byte of a file that all clients share is locked and unlocked.
    Lock,
}

/// The entries of the folders that are searched.
pub const SEARCHED_ENTRIES: [u32; 4] = [10, 100, 1_000, 10_000];

/// The number of the folder of each client's small files, among those of small files.
const SMALL_FOLDER: Folder = Folder::Small(0);

/// The range that is locked.
const LOCKED: FileRange = FileRange { offset: 0, length: 1 };

impl MicroTest {
    /// All tests.
    pub const ALL: [MicroTest; 8] = [
        MicroTest::RandomRead,
        MicroTest::RandomWrite,
        MicroTest::DirectorySearch,
        MicroTest::OpenClose,
        MicroTest::CreateDelete,
        MicroTest::Stat,
        MicroTest::Rename,
        MicroTest::Lock,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            MicroTest::RandomRead => "rand-read",
            MicroTest::RandomWrite => "rand-write",
            MicroTest::DirectorySearch => "dir-search",
            MicroTest::OpenClose => "open-close",
            MicroTest::CreateDelete => "create-delete",
            MicroTest::Stat => "stat",
            MicroTest::Rename => "rename",
            MicroTest::Lock => "lock",
        }
    }
}

/// The settings of a micro-test. Sizes are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroSettings {
    /// The test.
    pub test: MicroTest,
    /// The seed of the run.
    pub seed: u64,
    /// The size of the large file, in bytes; at least that of a request.
    pub file_bytes: u64,
    /// The size of a request, in bytes.
    pub request_bytes: u64,
    /// The number of a client's small files.
    pub n_files: u32,
    /// The size of a small file, in bytes.
    pub small_file_bytes: u64,
}

impl MicroSettings {
    /// Makes the standard settings of a test: 64 MiB in requests of 4 KiB, 1,000 empty files.
    pub fn new(test: MicroTest, seed: u64) -> MicroSettings {
        let file_bytes = 64 << 20;
        let request_bytes = 4096;
        MicroSettings { test, seed, file_bytes, request_bytes, n_files: 1000, small_file_bytes: 0 }
    }

    /// Returns the files that are there before a client begins; those of all clients are the same for each.
    pub fn files(&self, client: u32) -> impl Iterator<Item = PopulatedFile> {
        let settings = *self;
        let small = (0..self.n_small_files()).map(move |number| PopulatedFile {
            path: small_file(client, Entry::File(number)),
            bytes: settings.small_file_bytes,
        });
        let large = self.large_file(client).map(|path| PopulatedFile { path, bytes: settings.file_bytes });
        let is_searched = self.test == MicroTest::DirectorySearch;
        let searched = (0..SEARCHED_ENTRIES.len()).filter(move |_| is_searched).flat_map(|folder| {
            (0..SEARCHED_ENTRIES[folder]).map(move |number| PopulatedFile {
                path: FilePath::new(Owner::Shared, searched_folder(folder), Entry::File(number)),
                bytes: 0,
            })
        });
        small.chain(large).chain(searched)
    }

    /// Returns the folders of the files that a client uses, each after the one that it is in.
    pub fn folders(&self, client: u32) -> impl Iterator<Item = FilePath> + use<> {
        let private = Owner::Client(client);
        let (owner, folders) = match self.test {
            MicroTest::RandomRead | MicroTest::RandomWrite => (private, vec![Folder::Stream]),
            MicroTest::Lock => (Owner::Shared, vec![Folder::Stream]),
            MicroTest::DirectorySearch => {
                (Owner::Shared, (0..SEARCHED_ENTRIES.len()).map(searched_folder).collect())
            }
            MicroTest::OpenClose | MicroTest::CreateDelete | MicroTest::Stat | MicroTest::Rename => {
                (private, vec![SMALL_FOLDER])
            }
        };
        let folders = std::iter::once(Folder::Root).chain(folders);
        folders.map(move |folder| FilePath::new(owner, folder, Entry::Folder))
    }

    /// Makes the client of this number.
    pub fn client(&self, client: u32) -> MicroClient {
        let n_files = self.n_files as usize;
        let remembers = matches!(self.test, MicroTest::CreateDelete | MicroTest::Rename);
        MicroClient {
            settings: *self,
            client,
            rng: Rng::new(self.seed, StreamPurpose::Cycle, u64::from(client) << 32 | u64::from(u32::MAX)),
            is_marked: vec![false; if remembers { n_files } else { 0 }],
            number: 0,
            state: State::Between,
            last: None,
        }
    }

    fn n_small_files(&self) -> u32 {
        match self.test {
            MicroTest::OpenClose | MicroTest::Stat | MicroTest::Rename => self.n_files,
            MicroTest::RandomRead
            | MicroTest::RandomWrite
            | MicroTest::DirectorySearch
            | MicroTest::CreateDelete
            | MicroTest::Lock => 0,
        }
    }

    fn large_file(&self, client: u32) -> Option<FilePath> {
        let of = |owner| Some(FilePath::new(owner, Folder::Stream, Entry::File(0)));
        match self.test {
            MicroTest::RandomRead | MicroTest::RandomWrite => of(Owner::Client(client)),
            MicroTest::Lock => of(Owner::Shared),
            MicroTest::DirectorySearch
            | MicroTest::OpenClose
            | MicroTest::CreateDelete
            | MicroTest::Stat
            | MicroTest::Rename => None,
        }
    }
}

/// A client of a micro-test.
///
/// | state | next | then |
/// |---|---|---|
/// | between files | an operation on a path | between files |
/// | | open or create | open |
/// | open | a transfer, or a lock | open, or locked |
/// | open, where the test closes files | write what the file is to have, then close | between files |
/// | locked | unlock | open |
/// | any | wrong bytes: leave; session lost: between files | |
///
/// A pass, the unit, is one turn over all small files; tests without them have none.
#[derive(Debug, Clone)]
pub struct MicroClient {
    settings: MicroSettings,
    client: u32,
    rng: Rng,
    /// By small file: whether it is there, where files are created; whether it has its other name, where they are
    /// renamed.
    is_marked: Vec<bool>,
    /// The number of the next small file or search of the turn. Where files are created, the second half deletes.
    number: u32,
    state: State,
    last: Option<FileOperation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Open,
    Written,
    Locked,
    Left,
}

impl MicroClient {
    /// Returns the next step. `last` is the answer to the operation performed just before, if any.
    pub fn next(&mut self, last: Option<FileAnswer>) -> FileStep {
        if let (Some(operation), Some(answer)) = (self.last.take(), last) {
            self.heed(operation, answer);
        }
        let operation = match self.state {
            State::Between => self.begin(),
            State::Open => Some(self.on_open_file()),
            State::Written => Some(FileOperation::of(FileAction::Close(HANDLE))),
            State::Locked => Some(FileOperation::of(FileAction::Unlock(HANDLE, LOCKED))),
            State::Left => return FileStep::Leave,
        };
        let Some(operation) = operation else {
            self.number = 0;
            return FileStep::UnitEnd;
        };
        self.last = Some(operation);
        FileStep::Perform(operation)
    }

    /// Follows what is open, locked, created and renamed.
    fn heed(&mut self, operation: FileOperation, answer: FileAnswer) {
        if answer == FileAnswer::WrongBytes {
            self.state = State::Left;
            return;
        }
        if answer == FileAnswer::SessionLost {
            self.state = State::Between;
            return;
        }
        let is_done = answer == FileAnswer::Done;
        match operation.action {
            FileAction::Open(..) | FileAction::Create(..) if is_done => self.state = State::Open,
            FileAction::Close(_) => self.state = State::Between,
            FileAction::Lock(..) if is_done => self.state = State::Locked,
            FileAction::Unlock(..) => self.state = State::Open,
            FileAction::Write(..) if self.settings.test == MicroTest::CreateDelete => {
                self.state = State::Written
            }
            _ => {}
        }
        match operation.action {
            FileAction::Create(..) | FileAction::Rename(..) | FileAction::Unlink(_) if is_done => {
                let index = (self.number - 1) % self.settings.n_files.max(1);
                if let Some(mark) = self.is_marked.get_mut(index as usize) {
                    *mark = !*mark;
                }
            }
            _ => {}
        }
    }

    /// Returns the first operation on the next file; `None` at the end of a pass.
    fn begin(&mut self) -> Option<FileOperation> {
        let settings = self.settings;
        if let Some(path) = settings.large_file(self.client) {
            return Some(FileOperation::of(FileAction::Open(HANDLE, path)));
        }
        if settings.test == MicroTest::DirectorySearch {
            return self.search();
        }
        if settings.test == MicroTest::CreateDelete {
            return self.create_or_delete();
        }
        let number = self.next_number(settings.n_files)?;
        let drawn = self.rng.below(settings.n_files.into()) as u32;
        let path = |number| small_file(self.client, Entry::File(number));
        Some(FileOperation::of(match settings.test {
            MicroTest::Stat => FileAction::PathQuery(path(drawn), InfoLevel::BASIC),
            MicroTest::Rename => {
                let other = small_file(self.client, Entry::Renamed(number));
                if self.is_marked[number as usize] {
                    FileAction::Rename(other, path(number))
                } else {
                    FileAction::Rename(path(number), other)
                }
            }
            _ => FileAction::Open(HANDLE, path(drawn)),
        }))
    }

    fn search(&mut self) -> Option<FileOperation> {
        let number = self.next_number(2 * SEARCHED_ENTRIES.len() as u32)?;
        let folder = number as usize / 2;
        let n_entries = SEARCHED_ENTRIES[folder];
        let pattern = |entry| FilePath::new(Owner::Shared, searched_folder(folder), entry);
        let size = |found| FindSize { wanted: n_entries, found: Some(found) };
        Some(match number % 2 {
            0 => FileOperation::missing(FileAction::Find(pattern(Entry::NoFile), size(0))),
            _ => FileOperation::of(FileAction::Find(pattern(Entry::EveryFile), size(n_entries))),
        })
    }

    fn create_or_delete(&mut self) -> Option<FileOperation> {
        let n_files = self.settings.n_files;
        loop {
            let number = self.next_number(2 * n_files)?;
            let path = small_file(self.client, Entry::File(number % n_files));
            if number < n_files {
                return Some(FileOperation::of(FileAction::Create(HANDLE, path, ExistingFile::Refuse)));
            }
            // A file that could not be created is not there to be deleted.
            if self.is_marked[(number % n_files) as usize] {
                return Some(FileOperation::of(FileAction::Unlink(path)));
            }
        }
    }

    fn on_open_file(&mut self) -> FileOperation {
        let settings = self.settings;
        FileOperation::of(match settings.test {
            MicroTest::RandomRead => FileAction::Read(HANDLE, self.random_range()),
            MicroTest::RandomWrite => FileAction::Write(HANDLE, self.random_range()),
            MicroTest::Lock => FileAction::Lock(HANDLE, LOCKED),
            MicroTest::CreateDelete if 0 < settings.small_file_bytes => {
                FileAction::Write(HANDLE, FileRange { offset: 0, length: settings.small_file_bytes })
            }
            MicroTest::CreateDelete
            | MicroTest::OpenClose
            | MicroTest::DirectorySearch
            | MicroTest::Stat
            | MicroTest::Rename => FileAction::Close(HANDLE),
        })
    }

    fn random_range(&mut self) -> FileRange {
        let length = self.settings.request_bytes;
        let n_requests = self.settings.file_bytes / length.max(1);
        FileRange { offset: self.rng.below(n_requests) * length, length }
    }

    /// Returns the next number of a turn of so many; `None` at its end.
    fn next_number(&mut self, n_numbers: u32) -> Option<u32> {
        let number = (self.number < n_numbers).then_some(self.number)?;
        self.number += 1;
        Some(number)
    }
}

fn small_file(client: u32, entry: Entry) -> FilePath {
    FilePath::new(Owner::Client(client), SMALL_FOLDER, entry)
}

fn searched_folder(index: usize) -> Folder {
    Folder::Small(index as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(test: MicroTest) -> MicroSettings {
        MicroSettings { n_files: 2, file_bytes: 16_384, ..MicroSettings::new(test, 1) }
    }

    /// The log of a client, with these answers and then only successes.
    fn log(settings: MicroSettings, answers: &[FileAnswer], n_steps: usize) -> Vec<String> {
        let mut client = settings.client(0);
        let mut answers = answers.iter().copied();
        let mut answer = None;
        (0..n_steps)
            .map(|_| match client.next(answer.take()) {
                FileStep::Perform(operation) => {
                    answer = Some(answers.next().unwrap_or(FileAnswer::Done));
                    operation.to_string()
                }
                step => format!("{step:?}"),
            })
            .collect()
    }

    #[test]
    fn random_requests_are_aligned_and_within_the_file() {
        for test in [MicroTest::RandomRead, MicroTest::RandomWrite] {
            let mut client = settings(test).client(3);
            let mut seen = std::collections::BTreeSet::new();
            client.next(None);
            for _ in 0..200 {
                let FileStep::Perform(operation) = client.next(Some(FileAnswer::Done)) else { panic!() };
                let (FileAction::Read(_, range) | FileAction::Write(_, range)) = operation.action else {
                    panic!()
                };
                assert_eq!((range.offset % 4096, range.length), (0, 4096));
                seen.insert(range.offset);
            }
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 4096, 8192, 12_288]);
        }
    }

    #[test]
    fn files_are_created_written_and_deleted() {
        let settings = MicroSettings { small_file_bytes: 4096, ..settings(MicroTest::CreateDelete) };
        let expected = [
            "create 0: private/c0/small0/f00000.bin",
            "write 0: 4096 at 0",
            "close 0",
            "create 0: private/c0/small0/f00001.bin",
            "write 0: 4096 at 0",
            "close 0",
            "unlink private/c0/small0/f00000.bin",
            "unlink private/c0/small0/f00001.bin",
            "UnitEnd",
            "create 0: private/c0/small0/f00000.bin",
        ];
        assert_eq!(log(settings, &[], 10), expected);
    }

    #[test]
    fn what_could_not_be_created_is_not_deleted() {
        let expected = [
            "create 0: private/c0/small0/f00000.bin",
            "create 0: private/c0/small0/f00001.bin",
            "close 0",
            "unlink private/c0/small0/f00001.bin",
            "UnitEnd",
        ];
        assert_eq!(log(settings(MicroTest::CreateDelete), &[FileAnswer::Failed], 5), expected);
    }

    #[test]
    fn files_are_renamed_and_named_back() {
        let first = "private/c0/small0/f00000";
        let second = "private/c0/small0/f00001";
        let expected = [
            format!("rename {first}.bin: {first}.old"),
            format!("rename {second}.bin: {second}.old"),
            "UnitEnd".to_owned(),
            format!("rename {first}.bin: {first}.old"),
            format!("rename {second}.old: {second}.bin"),
        ];
        assert_eq!(log(settings(MicroTest::Rename), &[FileAnswer::Failed], 5), expected);
    }

    #[test]
    fn what_is_not_locked_is_not_unlocked() {
        let answers = [FileAnswer::Done, FileAnswer::Failed];
        let expected =
            ["open 0: shared/stream/f00000.bin", "lock 0: 1 at 0", "lock 0: 1 at 0", "unlock 0: 1 at 0"];
        assert_eq!(log(settings(MicroTest::Lock), &answers, 4), expected);
        assert_eq!(
            log(settings(MicroTest::Lock), &[FileAnswer::Done, FileAnswer::SessionLost], 3)[2],
            expected[0]
        );
        assert_eq!(log(settings(MicroTest::Lock), &[FileAnswer::WrongBytes], 2)[1], "Leave");
    }

    #[test]
    fn each_folder_is_searched_without_and_with_a_match() {
        let log = log(settings(MicroTest::DirectorySearch), &[], 9);
        assert_eq!(log[..2], ["find 10: shared/small0/*.jnk !", "find 10: shared/small0/*.bin"]);
        assert_eq!(log[7..], ["find 10000: shared/small3/*.bin", "UnitEnd"]);
    }

    /// Every path that is opened, asked about, searched or renamed is there.
    #[test]
    fn files_are_there_before() {
        for test in MicroTest::ALL {
            let settings = settings(test);
            let there: Vec<String> = settings.files(0).map(|file| file.path.to_string()).collect();
            for line in log(settings, &[], 40) {
                if let Some((_, path)) = line.split_once("open 0: ") {
                    assert!(there.contains(&path.to_owned()), "{line}");
                }
            }
            assert_eq!(there.is_empty(), test == MicroTest::CreateDelete, "{}", test.name());
        }
    }

    /// Every path that is used is in a folder of the test.
    #[test]
    fn folders_are_there_before() {
        for test in MicroTest::ALL {
            let settings = settings(test);
            let folders: Vec<String> = settings.folders(0).map(|folder| folder.to_string()).collect();
            for line in log(settings, &[], 40).iter().filter(|line| line.contains(": ") && line.contains('/'))
            {
                let path = line.rsplit_once(": ").unwrap().1;
                let parent = path.rsplit_once('/').unwrap().0.to_owned();
                assert!(folders.contains(&parent), "{}: {line}", test.name());
            }
        }
    }
}
