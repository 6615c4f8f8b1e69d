//! The file family on a directory: operations, faults, and whole clients.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use drivers::file::directory::{DirectoryDriver, FileRoot, PopulationCheck};
use drivers::file::{Durability, FileClientOptions, FileSetPlan, WorkloadFiles};
use engine::BlockingDriver;
use files::{
    Baseline, DiskMix, Entry, ExistingFile, Expectation, FileAction, FileAnswer, FileContent, FileKind,
    FileOperation, FilePath, FilePopulation, FileRange, FileStep, FindSize, Folder, Handle, InfoLevel,
    LoadFile, MicroSettings, MicroTest, Owner, ReplayClient, StreamDirection, StreamFiles, StreamShape,
    Verify, Workspace,
};
use model::{Outcome, Reply, file_measure};
use units::{Clock, RealClock};

/// The seed of all runs here.
const SEED: u64 = 7;

/// The file of most tests: 320 KiB.
const BULK: FilePath = FilePath::Populated(files::PopulatedPath {
    owner: Owner::Client(0),
    folder: Folder::Bulk,
    entry: Entry::File(0),
});

/// A directory with the files of a workload, for clients of some settings.
struct Fixture {
    directory: tempfile::TempDir,
    root: Arc<FileRoot>,
    plan: FileSetPlan,
    options: FileClientOptions,
    clock: RealClock,
}

impl Fixture {
    fn new(set: WorkloadFiles) -> Fixture {
        Fixture::within(tempfile::tempdir().unwrap(), set)
    }

    fn within(directory: tempfile::TempDir, set: WorkloadFiles) -> Fixture {
        let root = FileRoot::open(directory.path()).unwrap();
        let content = FileContent::new(SEED, 50);
        let plan = FileSetPlan::new(set, content);
        root.populate(&plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let options = FileClientOptions {
            content,
            verify: Verify::Full,
            baseline: Baseline::Populated,
            last_generation: 0,
            durability: Durability::Relaxed,
            times_first_data: false,
            loadfile: None,
        };
        Fixture { directory, root: Arc::new(root), plan, options, clock: RealClock::start() }
    }

    /// The files of a Disk Mix with the smallest workspaces.
    fn disk_mix(n_clients: u32) -> Fixture {
        Fixture::new(WorkloadFiles::DiskMix(FilePopulation { workspace: least(), n_clients }))
    }

    fn captured(text: &str, n_clients: u32) -> Fixture {
        let load = Arc::new(LoadFile::read(text.as_bytes()).unwrap());
        let mut fixture = Fixture::new(WorkloadFiles::Captured(Arc::clone(&load), n_clients));
        fixture.options.loadfile = Some(load);
        fixture
    }

    fn driver(&self, client: u32) -> DirectoryDriver {
        DirectoryDriver::new(Arc::clone(&self.root), client, &self.options, self.clock)
    }

    /// A path below the folder of the run.
    fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(below)
    }

    fn path_of(&self, path: FilePath) -> PathBuf {
        self.path(path.to_string())
    }
}

fn least() -> Workspace {
    Workspace::new(Workspace::LEAST).unwrap()
}

/// A driver with the clock that it is called with.
struct Client<'a> {
    driver: DirectoryDriver,
    fixture: &'a Fixture,
}

impl Client<'_> {
    fn of(fixture: &Fixture, client: u32) -> Client<'_> {
        Client { driver: fixture.driver(client), fixture }
    }

    fn perform(&mut self, operation: FileOperation) -> Reply {
        self.driver.perform(&operation, self.fixture.clock.now())
    }

    /// Performs an action that must succeed; returns its outcome, answer and exchanges.
    fn act(&mut self, action: FileAction) -> (Outcome, FileAnswer, u64) {
        let reply = self.perform(FileOperation::of(action));
        (
            reply.outcome,
            FileAnswer::from_u64(reply.answer),
            reply.measured.get(file_measure::EXCHANGES).unwrap(),
        )
    }

    /// Performs an action that must succeed, and does not; returns its outcome and the failure in words.
    fn fail(&mut self, action: FileAction) -> (Outcome, String) {
        let operation = FileOperation::of(action);
        let reply = self.perform(operation);
        assert_ne!(reply.answer, FileAnswer::Done.to_u64(), "{operation}");
        (reply.outcome, self.driver.describe(&operation, &reply))
    }
}

const HANDLE: Handle = Handle(0);

fn range(offset: u64, length: u64) -> FileRange {
    FileRange { offset, length }
}

fn private(folder: Folder, entry: Entry) -> FilePath {
    FilePath::new(Owner::Client(0), folder, entry)
}

/// The last column is the calls to the kernel: `openat2` and the like, `close` included.
#[test]
fn every_kind_of_operation_succeeds() {
    let fixture = Fixture::disk_mix(1);
    let created = |entry| private(Folder::Created, entry);
    let file = created(Entry::File(3));
    let renamed = created(Entry::Renamed(3));
    let folder = private(Folder::Small(1), Entry::Folder);
    let moved = private(Folder::Small(1), Entry::File(3));
    let listed = FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile);
    let find = |wanted| FindSize { wanted, found: Some(11) };
    let success = [
        (FileAction::Create(HANDLE, file, ExistingFile::Refuse), 1),
        (FileAction::Write(HANDLE, range(9999, 1)), 1),
        (FileAction::Write(HANDLE, range(0, 10_000)), 1),
        (FileAction::Read(HANDLE, range(5000, 5000)), 1),
        (FileAction::FileQuery(HANDLE, InfoLevel::STANDARD), 1),
        (FileAction::Set(HANDLE, InfoLevel::BASIC), 1),
        (FileAction::Flush(HANDLE), 0),
        (FileAction::Lock(HANDLE, range((1 << 31) - 110, 1)), 1),
        (FileAction::Unlock(HANDLE, range((1 << 31) - 110, 1)), 1),
        (FileAction::Close(HANDLE), 1),
        (FileAction::PathQuery(file, InfoLevel::BASIC), 3),
        (FileAction::Rename(file, renamed), 3),
        (FileAction::PathQuery(renamed, InfoLevel::ATTRIBUTE_TAG), 3),
        (FileAction::MakeFolder(folder), 3),
        (FileAction::Rename(renamed, moved), 5),
        (FileAction::Open(HANDLE, moved), 1),
        (FileAction::Read(HANDLE, range(0, 10_000)), 1),
        // Into a slot in use: what was open there is closed.
        (FileAction::Open(HANDLE, BULK), 2),
        (FileAction::Read(HANDLE, range(0, 65_536)), 1),
        (FileAction::Create(HANDLE, file, ExistingFile::Keep), 3),
        (FileAction::Create(HANDLE, file, ExistingFile::Truncate), 2),
        (FileAction::CreateFolder(Handle(1), folder), 4),
        (FileAction::Close(Handle(1)), 1),
        (FileAction::Unlink(moved), 3),
        (FileAction::RemoveFolder(folder), 3),
        (FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE), 1),
        (FileAction::Find(listed, find(1366)), 4),
        (FileAction::Find(listed, find(5)), 3),
        (FileAction::Find(FilePath::new(Owner::Shared, Folder::Listed, Entry::File(2)), find(1)), 3),
    ];
    let mut client = Client::of(&fixture, 0);
    for (action, n_calls) in success {
        assert_eq!(client.act(action), (Outcome::Ok, FileAnswer::Done, n_calls), "{action}");
    }
    let tree = private(Folder::Bulk, Entry::Folder);
    assert_eq!(client.act(FileAction::RemoveTree(tree)).0, Outcome::Ok);
    assert!(!fixture.path("private/c0/bulk").exists() && fixture.path("private/c0/new").exists());
    assert_eq!(client.act(FileAction::RemoveTree(tree)).0, Outcome::Ok, "nothing is left to remove");
    let bytes = client.perform(FileOperation::of(FileAction::Write(HANDLE, range(0, 77)))).measured;
    assert_eq!(bytes.get(file_measure::WRITTEN_BYTES), Some(77));
    let bytes = client.perform(FileOperation::of(FileAction::Read(HANDLE, range(7, 70)))).measured;
    assert_eq!(bytes.get(file_measure::READ_BYTES), Some(70));
}

/// Goal: what a system says of durability is not believed without the call that asks for it.
#[test]
fn flushes_are_calls_unless_durability_is_relaxed() {
    let mut fixture = Fixture::disk_mix(1);
    for (durability, n_calls) in [(Durability::Relaxed, 0), (Durability::Flush, 1), (Durability::Write, 1)] {
        fixture.options.durability = durability;
        let mut client = Client::of(&fixture, 0);
        client.act(FileAction::Open(HANDLE, BULK));
        assert_eq!(client.act(FileAction::Write(HANDLE, range(0, 4096))).0, Outcome::Ok);
        assert_eq!(client.act(FileAction::Flush(HANDLE)), (Outcome::Ok, FileAnswer::Done, n_calls));
    }
}

#[test]
fn misses_are_right_where_they_are_expected() {
    let fixture = Fixture::disk_mix(1);
    let missing = private(Folder::Bulk, Entry::Missing(1));
    let none = FindSize { wanted: 1366, found: None };
    let misses = [
        FileAction::Open(HANDLE, missing),
        FileAction::PathQuery(missing, InfoLevel::BASIC),
        FileAction::Find(private(Folder::Bulk, Entry::NoFile), none),
        FileAction::Find(missing, none),
    ];
    let mut client = Client::of(&fixture, 0);
    for action in misses {
        let reply = client.perform(FileOperation::missing(action));
        assert_eq!((reply.outcome, reply.answer), (Outcome::Ok, FileAnswer::Done.to_u64()), "{action}");
        assert_eq!(client.fail(action).0, Outcome::Gone, "{action}");
    }
    // What should be missing is there: it is not kept open.
    let hits = [
        FileAction::Open(HANDLE, BULK),
        FileAction::PathQuery(BULK, InfoLevel::BASIC),
        FileAction::Find(private(Folder::Bulk, Entry::EveryFile), none),
    ];
    for action in hits {
        let operation = FileOperation::missing(action);
        let reply = client.perform(operation);
        assert_eq!((reply.outcome, reply.answer), (Outcome::WrongStatus, FileAnswer::Failed.to_u64()));
        let text = client.driver.describe(&operation, &reply);
        assert!(text.ends_with(": should have failed"), "{text}");
    }
    assert_eq!(client.fail(FileAction::Close(HANDLE)).0, Outcome::ValueMissing);
}

#[test]
fn failures_have_outcomes_by_their_meaning_and_are_told_with_paths() {
    let fixture = Fixture::disk_mix(1);
    let mut client = Client::of(&fixture, 0);
    let missing = private(Folder::Bulk, Entry::Missing(1));
    let text = "client 0: unlink `private/c0/bulk/none00001.tmp`: No such file or directory (ENOENT)";
    assert_eq!(client.fail(FileAction::Unlink(missing)), (Outcome::Gone, text.to_owned()));
    let taken = FileAction::Create(HANDLE, BULK, ExistingFile::Refuse);
    let text = "client 0: create `private/c0/bulk/f00000.bin`: File exists (EEXIST)";
    assert_eq!(client.fail(taken), (Outcome::Conflict, text.to_owned()));
    let bulk = private(Folder::Bulk, Entry::Folder);
    assert_eq!(client.fail(FileAction::RemoveFolder(bulk)).0, Outcome::Conflict);
    assert_eq!(client.fail(FileAction::MakeFolder(bulk)).0, Outcome::Conflict);
    assert_eq!(client.fail(FileAction::Unlink(bulk)).0, Outcome::WrongStatus);
    let text = "client 0: read `a file that is not open`, 10 at 0: the file is not open";
    let read = FileAction::Read(HANDLE, range(0, 10));
    assert_eq!(client.fail(read), (Outcome::ValueMissing, text.to_owned()));
    client.act(FileAction::Open(HANDLE, BULK));
    let short = FileAction::Read(HANDLE, range(327_600, 100));
    let text = "client 0: read `private/c0/bulk/f00000.bin`, 100 at 327600: only 80 bytes are there";
    assert_eq!(client.fail(short), (Outcome::Truncated, text.to_owned()));
    let listed = FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile);
    fs::remove_file(fixture.path("shared/listed/f00010.bin")).unwrap();
    let find = FileAction::Find(listed, FindSize { wanted: 1366, found: Some(11) });
    let text = "client 0: find `shared/listed/*.bin`: 10 names match";
    assert_eq!(client.fail(find), (Outcome::WrongLength, text.to_owned()));
}

/// Golden check 20: one flipped byte is found with its position, in the middle of a block only if all bytes are verified.
#[test]
fn a_flipped_byte_is_found_with_its_position() {
    for (position, verify, is_found) in [
        (4096 + 3, Verify::Stamp, true),
        (4096 + 1000, Verify::Stamp, false),
        (4096 + 1000, Verify::Full, true),
        (4096 + 1000, Verify::Off, false),
    ] {
        let mut fixture = Fixture::disk_mix(1);
        fixture.options.verify = verify;
        let file = fs::File::options().read(true).write(true).open(fixture.path_of(BULK)).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, position).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], position).unwrap();
        let mut client = Client::of(&fixture, 0);
        client.act(FileAction::Open(HANDLE, BULK));
        let operation = FileOperation::of(FileAction::Read(HANDLE, range(0, 65_536)));
        let reply = client.perform(operation);
        if is_found {
            assert_eq!((reply.outcome, reply.detail), (Outcome::WrongBytes, position), "{verify:?}");
            assert_eq!(reply.answer, FileAnswer::WrongBytes.to_u64());
            let text = format!(": the byte at {position} is not the one that was written");
            assert!(client.driver.describe(&operation, &reply).ends_with(&text));
        } else {
            assert_eq!(reply.outcome, Outcome::Ok, "{verify:?}");
        }
    }
}

/// Somebody has put links and other things in the way: nothing outside is read, written or removed.
#[test]
fn planted_links_are_refused() {
    let fixture = Fixture::disk_mix(1);
    let theirs = tempfile::tempdir().unwrap();
    fs::write(theirs.path().join("f00000.bin"), "theirs").unwrap();
    let bulk = fixture.path("private/c0/bulk");
    fs::remove_file(bulk.join("f00000.bin")).unwrap();
    symlink(theirs.path().join("f00000.bin"), bulk.join("f00000.bin")).unwrap();
    let new = fixture.path("private/c0/new");
    fs::remove_dir(&new).unwrap();
    symlink(theirs.path(), &new).unwrap();
    let mut client = Client::of(&fixture, 0);
    let within = |number| private(Folder::Created, Entry::File(number));
    for action in [
        FileAction::Open(HANDLE, BULK),
        FileAction::Create(HANDLE, BULK, ExistingFile::Truncate),
        FileAction::PathQuery(BULK, InfoLevel::BASIC),
        FileAction::Open(HANDLE, within(0)),
        FileAction::Create(HANDLE, within(1), ExistingFile::Refuse),
        FileAction::PathQuery(within(0), InfoLevel::BASIC),
        FileAction::Find(private(Folder::Created, Entry::EveryFile), FindSize { wanted: 9, found: None }),
        FileAction::Rename(within(0), within(2)),
        FileAction::Rename(private(Folder::Bulk, Entry::File(1)), within(2)),
        FileAction::Unlink(within(0)),
        FileAction::RemoveTree(private(Folder::Created, Entry::Folder)),
    ] {
        let (outcome, text) = client.fail(action);
        assert_eq!(outcome, Outcome::Forbidden, "{text}");
    }
    // The links themselves can be removed.
    assert_eq!(client.act(FileAction::Unlink(BULK)).0, Outcome::Ok);
    drop(client);
    let root = Arc::into_inner(fixture.root).unwrap();
    root.remove().unwrap();
    assert_eq!(fs::read_to_string(theirs.path().join("f00000.bin")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(theirs.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_is_removed_during_a_run_is_a_failure_of_each_operation() {
    let fixture = Fixture::disk_mix(1);
    let mut client = Client::of(&fixture, 0);
    client.act(FileAction::Open(Handle(1), BULK));
    fs::remove_dir_all(fixture.root.path()).unwrap();
    for action in [
        FileAction::Open(HANDLE, BULK),
        FileAction::Create(HANDLE, private(Folder::Created, Entry::File(0)), ExistingFile::Refuse),
        FileAction::PathQuery(BULK, InfoLevel::BASIC),
        FileAction::MakeFolder(private(Folder::Small(0), Entry::Folder)),
    ] {
        assert_eq!(client.fail(action).0, Outcome::Gone, "{action}");
    }
    // That there is no match is no answer of a folder that is not there.
    let find = FileAction::Find(private(Folder::Bulk, Entry::NoFile), FindSize { wanted: 9, found: Some(0) });
    let reply = client.perform(FileOperation::missing(find));
    assert_eq!((reply.outcome, reply.code), (Outcome::Gone, 2));
    // What is open is still there.
    assert_eq!(client.act(FileAction::Read(Handle(1), range(0, 4096))).0, Outcome::Ok);
    drop(client);
    Arc::into_inner(fixture.root).unwrap().remove().unwrap();
}

/// A file system in memory with 2 MiB, which is unmounted when it is dropped.
struct SmallFileSystem(PathBuf);

impl SmallFileSystem {
    /// Mounts it; `None` if this user may not.
    fn mount(at: &Path) -> Option<SmallFileSystem> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(at);
        let status = mount.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        status.success().then(|| SmallFileSystem(at.to_owned()))
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_file_system_is_an_outcome_and_of_what_was_not_written_nothing_is_known() {
    let outer = tempfile::tempdir().unwrap();
    let Some(mounted) = SmallFileSystem::mount(outer.path()) else {
        eprintln!("left out: only root can mount a small file system");
        return;
    };
    let micro = MicroSettings { n_files: 1, ..MicroSettings::new(MicroTest::CreateDelete, SEED) };
    let fixture = Fixture::within(tempfile::tempdir_in(&mounted.0).unwrap(), WorkloadFiles::Micro(micro, 1));
    let mut client = Client::of(&fixture, 0);
    let path = private(Folder::Small(0), Entry::File(0));
    assert_eq!(client.act(FileAction::Create(HANDLE, path, ExistingFile::Refuse)).0, Outcome::Ok);
    let mut offset = 0;
    let (outcome, text) = loop {
        let write = FileOperation::of(FileAction::Write(HANDLE, range(offset, 300_000)));
        let reply = client.perform(write);
        if reply.outcome != Outcome::Ok {
            break (reply.outcome, client.driver.describe(&write, &reply));
        }
        offset += 300_000;
    };
    assert_eq!(outcome, Outcome::Full);
    assert!(text.ends_with("No space left on device (ENOSPC)"), "{text}");
    assert!((1_000_000..2_100_000).contains(&offset), "{offset}");
    assert_eq!(client.act(FileAction::Read(HANDLE, range(0, offset))).0, Outcome::Ok);
    // There is room for a part of the last write: whatever it is, it is not wrong.
    let read = client.perform(FileOperation::of(FileAction::Read(HANDLE, range(offset, 300_000))));
    assert_eq!(read.outcome, Outcome::Truncated);
    drop(client);
    Arc::into_inner(fixture.root).unwrap().remove().unwrap();
}

/// A client whose steps are asked for, and what they are about.
trait Steps {
    fn next_step(&mut self, last: Option<FileAnswer>) -> FileStep;
}

impl Steps for files::DiskMixClient {
    fn next_step(&mut self, last: Option<FileAnswer>) -> FileStep {
        self.next(last)
    }
}

impl Steps for files::MicroClient {
    fn next_step(&mut self, last: Option<FileAnswer>) -> FileStep {
        self.next(last)
    }
}

impl Steps for files::StreamClient {
    fn next_step(&mut self, last: Option<FileAnswer>) -> FileStep {
        self.next(last)
    }
}

impl Steps for ReplayClient {
    fn next_step(&mut self, last: Option<FileAnswer>) -> FileStep {
        self.next(last)
    }
}

/// The operations of a client by kind.
type Counts = [u64; FileKind::COUNT];

/// Runs a client until it has ended so many units or performed so many operations. Every operation must succeed.
fn run(client: &mut Client, user: &mut impl Steps, n_units: u32, n_operations: u64) -> Counts {
    let mut counts = [0; FileKind::COUNT];
    let mut last = None;
    let mut ended = 0;
    while ended < n_units && counts.iter().sum::<u64>() < n_operations {
        match user.next_step(last.take()) {
            FileStep::Perform(operation) => {
                let reply = client.perform(operation);
                let text = || client.driver.describe(&operation, &reply);
                assert_eq!(reply.outcome, Outcome::Ok, "{}", text());
                counts[operation.kind().index()] += 1;
                last = Some(FileAnswer::from_u64(reply.answer));
            }
            FileStep::UnitEnd => ended += 1,
            // The one in flight has been answered.
            FileStep::Await => {}
            step => panic!("{step:?}"),
        }
    }
    counts
}

/// The files of clients and their names, as they must be at the end of each cycle.
fn check_population(fixture: &Fixture) {
    let n_files = fixture.plan.n_files();
    assert_eq!(fixture.root.check(&fixture.plan).unwrap(), PopulationCheck::Complete { n_files });
    for client in fs::read_dir(fixture.path("private")).unwrap() {
        let created = client.unwrap().path().join("new");
        assert_eq!(fs::read_dir(created).unwrap().count(), 0, "what a cycle creates, it deletes");
    }
}

/// Goal: every byte of everything read is what it must be, and each cycle leaves the files as it found them.
#[test]
fn cycles_of_the_disk_mix_succeed_with_every_byte_verified() {
    let fixture = Fixture::disk_mix(1);
    let mix = DiskMix { workspace: least(), ..DiskMix::new(SEED) };
    let mut user = mix.client(0);
    let mut client = Client::of(&fixture, 0);
    let counts = run(&mut client, &mut user, 3, u64::MAX);
    check_population(&fixture);
    let of = |kind: FileKind| counts[kind.index()];
    assert_eq!((of(FileKind::Create), of(FileKind::Unlink)), (3 * 124, 3 * 124));
    assert_eq!((of(FileKind::Rename), of(FileKind::VolumeQuery)), (3 * 26, 3 * 102));
    // A second population keeps all that the cycles have written into files of its own.
    let kept = fixture.root.populate(&fixture.plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!((kept.n_kept, kept.n_made, kept.n_removed), (fixture.plan.n_files(), 0, 0));
    // A later load point knows the files by their stamps.
    let mut later = Fixture {
        options: FileClientOptions { last_generation: 1 << 20, ..fixture.options.clone() },
        ..fixture
    };
    later.options.baseline = Baseline::Stamped;
    run(&mut Client::of(&later, 0), &mut DiskMix { seed: 8, ..mix }.client(0), 1, u64::MAX);
    check_population(&later);
}

/// Clients at the same time, with files and locks that they share, at every depth of verification and durability.
#[test]
fn clients_run_at_the_same_time_on_shared_files() {
    for (verify, durability) in [
        (Verify::Full, Durability::Relaxed),
        (Verify::Stamp, Durability::Flush),
        (Verify::Off, Durability::Write),
    ] {
        let mut fixture = Fixture::disk_mix(3);
        fixture.options.verify = verify;
        fixture.options.durability = durability;
        let mix = DiskMix { workspace: least(), shared_updates: units::Ratio(0.5), ..DiskMix::new(SEED) };
        thread::scope(|scope| {
            for number in 0..3 {
                let fixture = &fixture;
                scope.spawn(move || {
                    run(&mut Client::of(fixture, number), &mut mix.client(number), 1, u64::MAX);
                });
            }
        });
        check_population(&fixture);
    }
}

#[test]
fn a_cycle_that_is_cut_off_leaves_nothing_to_the_next_run() {
    let fixture = Fixture::disk_mix(1);
    let mix = DiskMix { workspace: least(), ..DiskMix::new(SEED) };
    let mut client = Client::of(&fixture, 0);
    let created = fixture.path("private/c0/new");
    // Until some file is left: a cycle has them most of the time.
    let mut user = mix.client(0);
    while fs::read_dir(&created).unwrap().count() < 3 {
        run(&mut client, &mut user, u32::MAX, 100);
    }
    // The process ends here: its locks end with it.
    drop(client);
    let Fixture { directory, root, plan, .. } = fixture;
    drop(Arc::into_inner(root).unwrap());
    let root = FileRoot::open(directory.path()).unwrap();
    let summary = root.populate(&plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(3 <= summary.n_removed, "{summary:?}");
    assert_eq!((summary.n_made, summary.n_kept), (0, plan.n_files()));
    assert_eq!(fs::read_dir(&created).unwrap().count(), 0);
}

#[test]
fn micro_tests_run_without_a_failure() {
    for test in MicroTest::ALL {
        let small = MicroSettings {
            n_files: 20,
            file_bytes: 1 << 20,
            small_file_bytes: 4096,
            ..MicroSettings::new(test, SEED)
        };
        let fixture = Fixture::new(WorkloadFiles::Micro(small, 2));
        thread::scope(|scope| {
            for number in 0..2 {
                let fixture = &fixture;
                scope.spawn(move || {
                    run(&mut Client::of(fixture, number), &mut small.client(number), u32::MAX, 100);
                });
            }
        });
    }
}

#[test]
fn streams_are_read_and_written() {
    for (files, direction) in [
        (StreamFiles::Private, StreamDirection::Read),
        (StreamFiles::Shared, StreamDirection::Read),
        (StreamFiles::Many(3), StreamDirection::Read),
        (StreamFiles::Private, StreamDirection::Write),
        (StreamFiles::Many(2), StreamDirection::WriteAndFlush),
    ] {
        let shape = StreamShape::new(3_000_000, 1 << 20, 1, files, direction).unwrap();
        let mut fixture = Fixture::new(WorkloadFiles::Stream(shape, 2));
        fixture.options.durability = Durability::Flush;
        for number in 0..2 {
            let counts = run(&mut Client::of(&fixture, number), &mut shape.client(number), 4, u64::MAX);
            let flushes = if direction == StreamDirection::WriteAndFlush { 4 } else { 0 };
            assert_eq!(counts[FileKind::Flush.index()], flushes);
            assert_eq!(counts[FileKind::Read.index()] + counts[FileKind::Write.index()], 4 * 3);
        }
    }
}

/// A captured mix with every operation of load files, misses of all sorts, and a pattern of an old client.
const LOAD: &str = r#"
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients\client1" NT_STATUS_OK
NTCreateX "\clients\client1\~dm" 0x41 2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\~dm\A B.DOC" 0x40 2 9938 NT_STATUS_OK
WriteX 9938 4999 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 9938 258 NT_STATUS_OK
WriteX 9938 0 5000 5000 NT_STATUS_OK
ReadX 9938 1000 4000 4000 NT_STATUS_OK
Flush 9938 NT_STATUS_OK
LockX 9938 2147483538 1 NT_STATUS_OK
UnlockX 9938 2147483538 1 NT_STATUS_OK
SET_FILE_INFORMATION 9938 1004 NT_STATUS_OK
Rename "\clients\client1\~dm\A B.DOC" "\clients\client1\~dm\A.TMP" NT_STATUS_OK
ReadX 9938 0 5000 5000 NT_STATUS_OK
Close 9938 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\~dm\A.TMP" 1035 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\~dm\A B.DOC" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\none\A" 1004 NT_STATUS_OBJECT_PATH_NOT_FOUND
NTCreateX "\clients\client1\~dm\B" 0x40 1 7 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_FS_INFORMATION 259 NT_STATUS_OK
FIND_FIRST "\clients\client1\~dm\<.tmp" 260 1366 1 NT_STATUS_OK
FIND_FIRST "\clients\client1\~dm\*" 260 1366 3 NT_STATUS_OK
FIND_FIRST "\clients\client1\~dm\*.jnk" 260 1366 0 NT_STATUS_NO_SUCH_FILE
NTCreateX "\shared.dat" 0x40 2 8 NT_STATUS_OK
WriteX 8 0 8192 8192 NT_STATUS_OK
ReadX 8 0 8192 8192 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\maybe" 1004 *
Close 8 NT_STATUS_OK
Rmdir "\clients\client1\~dm" NT_STATUS_DIRECTORY_NOT_EMPTY
Unlink "\clients\client1\~dm\A.TMP" 0x6 NT_STATUS_OK
Rmdir "\clients\client1\~dm" NT_STATUS_OK
"#;

#[test]
fn a_captured_mix_is_replayed_by_several_clients() {
    let fixture = Fixture::captured(LOAD, 3);
    let load = fixture.options.loadfile.clone().unwrap();
    let summary = load.summary();
    thread::scope(|scope| {
        for number in 0..3 {
            let (fixture, load) = (&fixture, Arc::clone(&load));
            scope.spawn(move || {
                let mut user = ReplayClient::new(load, number);
                let counts = run(&mut Client::of(fixture, number), &mut user, 3, u64::MAX);
                assert_eq!(counts, summary.counts.map(|count| 3 * count));
            });
        }
    });
    let left: Vec<_> = fs::read_dir(fixture.path("captured/clients")).unwrap().collect();
    assert_eq!(left.len(), 3);
    assert!(fixture.path("captured/shared.dat").exists());
    // A tree that begins at the share's own folder leaves that.
    let deltree = Fixture::captured("Deltree \"\\\" NT_STATUS_OK\n", 1);
    fs::write(deltree.path("captured/file"), "x").unwrap();
    let mut user = ReplayClient::new(deltree.options.loadfile.clone().unwrap(), 0);
    run(&mut Client::of(&deltree, 0), &mut user, 1, u64::MAX);
    assert_eq!(fs::read_dir(deltree.path("captured")).unwrap().count(), 0);
}

/// The reads of a process and those that it has waited for, and their bytes, as the kernel counts them. Its number of writes
/// would include those of what it prints.
#[derive(Debug, PartialEq, Eq)]
struct Transfers {
    n_reads: u64,
    read_bytes: u64,
    written_bytes: u64,
}

/// Performs a loop of dbench in a directory: it ends at a handle that nothing has opened.
fn loop_of_dbench(load: &Path, directory: &Path, option: &str) -> Transfers {
    let output = directory.with_extension(format!("output{option}"));
    let line = r#"dbench $4 -D "$2" -t 5 -c "$1" 1 > "$3"; cat /proc/$$/io"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "sh"]).args([load, directory, &output]).arg(option);
    let counted = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let printed = fs::read_to_string(&output).unwrap();
    assert!(printed.contains("handle 199 was not found"), "{printed}\nhint: apt-get install dbench");
    let number = |name: &str| -> u64 {
        let line = counted.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap().parse().unwrap()
    };
    Transfers {
        n_reads: number("syscr"),
        read_bytes: number("rchar"),
        written_bytes: number("wchar") - printed.len() as u64,
    }
}

/// Golden check 25. The reads of the load file itself are those of a loop whose reads and writes dbench leaves out.
#[test]
fn a_loop_of_dbench_reads_and_writes_as_much_as_one_of_ours() {
    let fixture = Fixture::captured(LOAD, 1);
    let load = fixture.directory.path().join("one-loop.txt");
    fs::write(&load, format!("{LOAD}Close 199 NT_STATUS_OK\n")).unwrap();
    let directory = fixture.path("captured");
    let [all, without] = ["--sync-dir", "--fake-io"].map(|option| loop_of_dbench(&load, &directory, option));
    let of_dbench = Transfers {
        n_reads: all.n_reads - without.n_reads,
        read_bytes: all.read_bytes - without.read_bytes,
        written_bytes: all.written_bytes - without.written_bytes,
    };

    let mut user = ReplayClient::new(fixture.options.loadfile.clone().unwrap(), 0);
    let mut client = Client::of(&fixture, 0);
    let mut ours = Transfers { n_reads: 0, read_bytes: 0, written_bytes: 0 };
    let mut last = None;
    while let FileStep::Perform(operation) = user.next(last.take()) {
        let reply = client.perform(operation);
        assert_eq!(reply.outcome, Outcome::Ok, "{}", client.driver.describe(&operation, &reply));
        if let Some(bytes) = reply.measured.get(file_measure::READ_BYTES) {
            ours.n_reads += 1;
            ours.read_bytes += bytes;
        }
        ours.written_bytes += reply.measured.get(file_measure::WRITTEN_BYTES).unwrap_or(0);
        last = Some(FileAnswer::from_u64(reply.answer));
    }
    assert_eq!(ours, of_dbench);
    assert_eq!((ours.n_reads, ours.read_bytes, ours.written_bytes), (3, 17_192, 13_193));
}

/// In a captured mix a client must know whether a file is open, also where both are right.
#[test]
fn where_any_result_is_right_the_answer_still_says_which_it_was() {
    let fixture = Fixture::disk_mix(1);
    let mut client = Client::of(&fixture, 0);
    let open = |entry| FileOperation {
        action: FileAction::Open(HANDLE, private(Folder::Bulk, entry)),
        expected: Expectation::Any,
    };
    let answers = [Entry::File(0), Entry::Missing(0)].map(|entry| {
        let reply = client.perform(open(entry));
        (reply.outcome, FileAnswer::from_u64(reply.answer))
    });
    assert_eq!(answers, [(Outcome::Ok, FileAnswer::Done), (Outcome::Ok, FileAnswer::Failed)]);
}
