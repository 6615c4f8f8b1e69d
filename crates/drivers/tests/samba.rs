//! Clients of a Samba server: every operation, on both dialects, unsigned, signed and encrypted.

use std::fs::Permissions;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;
use std::time::Duration;

use drivers::file::directory::{PopulationCheck, PopulationSummary};
use drivers::file::smb::{
    SmbAccount, SmbContext, SmbDialect, SmbDriver, SmbOptions, SmbSessionError, SmbShare, SmbShareError,
    SmbTarget, SmbWindowDriver, code_name,
};
use drivers::file::{Durability, FileClientOptions, FileSetPlan, RunFolder, WorkloadFiles};
use engine::Driver;
use files::{
    Baseline, DiskMix, Entry, ExistingFile, FileAction, FileAnswer, FileContent, FileOperation, FilePath,
    FilePopulation, FileRange, FileStep, FindSize, Folder, Handle, InfoLevel, Owner, StreamDirection,
    StreamFiles, StreamShape, Verify, Workspace,
};
use model::{Outcome, Reply, file_measure};
use observe::private_folder::private_folder_in;
use tempfile::TempDir;
use testbed::{Recipe, RunningSut, SutRequest, SutServer, make_private_folder};
use tokio::runtime::{Builder, Runtime};
use units::{Clock, RealClock};

/// Time limit for the server to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

const CLIENT: u32 = 0;

/// The size of a stream: not a whole number of its blocks.
const STREAM_BYTES: u64 = (3 << 20) + 5_000;

const RECIPE: &str = include_str!("../../../recipes/samba.toml");

/// A running server, in memory.
struct Samba {
    sut: RunningSut,
    _base: TempDir,
}

impl Samba {
    /// Starts a server with further lines among its global settings.
    fn start(settings: &str) -> Samba {
        let marker = "map to guest = never\n";
        let text = RECIPE.replacen(marker, &format!("{marker}{settings}\n"), 1);
        assert!(text.len() > RECIPE.len());
        let recipe = Recipe::parse("samba.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = || make_private_folder(&private_folder_in(base.path())).unwrap();
        let request = SutRequest::new(SutServer::Recipe(Box::new(recipe)), folder(), folder());
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        Samba { sut, _base: base }
    }

    fn target(&self, options: SmbOptions) -> SmbTarget {
        SmbTarget {
            address: self.sut.addr(),
            host: "127.0.0.1".to_owned(),
            share: "plimsoll".to_owned(),
            folder: String::new(),
            account: SmbAccount {
                user: "plimsoll".to_owned(),
                domain: String::new(),
                password: self.sut.password().to_owned(),
            },
            options,
        }
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// All options that do not contradict each other.
fn all_options() -> [SmbOptions; 5] {
    let of = |dialect, signing, encryption| SmbOptions::new(dialect, signing, encryption).unwrap();
    [
        of(SmbDialect::V2_1, false, false),
        of(SmbDialect::V2_1, true, false),
        of(SmbDialect::V3_1_1, false, false),
        of(SmbDialect::V3_1_1, true, false),
        of(SmbDialect::V3_1_1, false, true),
    ]
}

fn clients() -> FileClientOptions {
    FileClientOptions {
        content: FileContent::new(11, 50),
        verify: Verify::Full,
        baseline: Baseline::Populated,
        last_generation: 0,
        durability: Durability::Flush,
        times_first_data: false,
        loadfile: None,
    }
}

fn plan() -> FileSetPlan {
    let workspace = Workspace::new(Workspace::LEAST).unwrap();
    FileSetPlan::new(WorkloadFiles::DiskMix(FilePopulation { workspace, n_clients: 1 }), clients().content)
}

fn path(folder: Folder, entry: Entry) -> FilePath {
    FilePath::new(Owner::Client(CLIENT), folder, entry)
}

fn range(offset: u64, length: u64) -> FileRange {
    FileRange { offset, length }
}

/// An operation with the outcome, the code and the number of exchanges that it must have.
type ExpectedReply = (FileOperation, Outcome, Option<&'static str>, u64);

/// Each operation of the specification, section 5.1, and what must fail.
fn operations() -> Vec<ExpectedReply> {
    use FileAction::{
        Close, Create, CreateFolder, FileQuery, Find, Flush, Lock, MakeFolder, Open, PathQuery, Read,
        RemoveFolder, RemoveTree, Rename, Set, Unlink, Unlock, VolumeQuery, Write,
    };
    let [bulk, new, other] = [Handle(0), Handle(1), Handle(9)];
    let created = path(Folder::Created, Entry::File(1));
    let renamed = path(Folder::Created, Entry::Renamed(1));
    let missing = path(Folder::Created, Entry::Missing(1));
    let none_in_none = FilePath::new(Owner::Client(77), Folder::Bulk, Entry::File(0));
    let listed = FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile);
    let no_match = FilePath::new(Owner::Shared, Folder::Listed, Entry::NoFile);
    let folder = path(Folder::Small(1), Entry::Folder);
    let small = path(Folder::Small(1), Entry::File(0));
    let eleven = FindSize { wanted: 512, found: Some(11) };
    let ok = |action| (FileOperation::of(action), Outcome::Ok, None, 1);
    let miss = |action| (FileOperation::missing(action), Outcome::Ok, None, 1);
    let fails = |action, outcome, code| (FileOperation::of(action), outcome, Some(code), 1);
    vec![
        ok(Open(bulk, path(Folder::Bulk, Entry::File(1)))),
        ok(Read(bulk, range(0, 4096))),
        ok(Read(bulk, range(61_440, 65_536))),
        ok(Read(bulk, range(5, 1_000_000))),
        ok(Write(bulk, range(0, 65_536))),
        ok(Write(bulk, range(70_001, 4_097))),
        ok(Read(bulk, range(0, 1_048_576))),
        fails(Read(bulk, range(1_048_000, 4096)), Outcome::Truncated, "SMB_SHORT"),
        fails(Read(bulk, range(1_048_576, 4096)), Outcome::Truncated, "STATUS_END_OF_FILE"),
        ok(Flush(bulk)),
        ok(FileQuery(bulk, InfoLevel::STANDARD)),
        ok(FileQuery(bulk, InfoLevel::BASIC)),
        ok(Set(bulk, InfoLevel::BASIC)),
        ok(Lock(bulk, range(2_147_483_538, 1))),
        ok(Unlock(bulk, range(2_147_483_538, 1))),
        fails(Unlock(bulk, range(2_147_483_538, 1)), Outcome::Conflict, "STATUS_RANGE_NOT_LOCKED"),
        ok(Create(new, created, ExistingFile::Refuse)),
        fails(
            Create(other, created, ExistingFile::Refuse),
            Outcome::Conflict,
            "STATUS_OBJECT_NAME_COLLISION",
        ),
        ok(Write(new, range(9_999, 1))),
        ok(FileQuery(new, InfoLevel::STANDARD)),
        ok(Write(new, range(0, 9_000))),
        ok(Read(new, range(0, 10_000))),
        ok(Close(new)),
        fails(Close(new), Outcome::ValueMissing, "SMB_NOT_OPEN"),
        ok(PathQuery(created, InfoLevel::ATTRIBUTE_TAG)),
        ok(Rename(created, renamed)),
        miss(PathQuery(created, InfoLevel::BASIC)),
        ok(Open(new, renamed)),
        ok(Read(new, range(0, 10_000))),
        ok(Close(new)),
        ok(Create(new, renamed, ExistingFile::Truncate)),
        // Into a slot in use: what was there is closed.
        (FileOperation::of(Open(new, path(Folder::Bulk, Entry::File(0)))), Outcome::Ok, None, 2),
        ok(Close(new)),
        ok(PathQuery(renamed, InfoLevel::ATTRIBUTE_TAG)),
        ok(Unlink(renamed)),
        fails(Unlink(renamed), Outcome::Gone, "STATUS_OBJECT_NAME_NOT_FOUND"),
        miss(Open(other, missing)),
        miss(PathQuery(none_in_none, InfoLevel::BASIC)),
        ok(VolumeQuery(InfoLevel::VOLUME_SIZE)),
        ok(Find(listed, eleven)),
        // Page by page: as many names as there are, and the end of the listing.
        (FileOperation::of(Find(listed, FindSize { wanted: 512, found: None })), Outcome::Ok, None, 3),
        fails(
            Find(listed, FindSize { wanted: 512, found: Some(12) }),
            Outcome::WrongLength,
            "SMB_OTHER_LISTING",
        ),
        miss(Find(no_match, FindSize { wanted: 512, found: Some(0) })),
        ok(MakeFolder(folder)),
        fails(MakeFolder(folder), Outcome::Conflict, "STATUS_OBJECT_NAME_COLLISION"),
        ok(CreateFolder(other, folder)),
        ok(Close(other)),
        ok(Create(other, small, ExistingFile::Keep)),
        ok(Close(other)),
        fails(RemoveFolder(folder), Outcome::Conflict, "STATUS_DIRECTORY_NOT_EMPTY"),
        (FileOperation::of(RemoveTree(folder)), Outcome::Ok, None, 4),
        ok(MakeFolder(folder)),
        ok(RemoveFolder(folder)),
        ok(Close(bulk)),
    ]
}

async fn perform_all(driver: &mut SmbDriver, clock: RealClock, options: SmbOptions) {
    for (operation, outcome, code, n_exchanges) in operations() {
        let reply = driver.perform(&operation, clock.now()).await;
        let found = (reply.outcome, code_name(reply.code).filter(|_| reply.code != 0));
        let text = driver.describe(&operation, &reply);
        assert_eq!(found, (outcome, code), "{options:?}: {text}");
        let measured = reply.measured.get(file_measure::EXCHANGES);
        if code != Some("SMB_NOT_OPEN") {
            assert_eq!(measured, Some(n_exchanges), "{options:?}: {operation}");
        }
    }
}

/// Performs a cycle of the Disk Mix, in which every operation must succeed.
async fn perform_cycle(driver: &mut SmbDriver, clock: RealClock, options: SmbOptions) -> u64 {
    let mut client = DiskMix::new(11).client(CLIENT);
    let mut answer = None;
    let mut n_operations = 0;
    loop {
        match client.next(answer) {
            FileStep::Perform(operation) => {
                let reply: Reply = driver.perform(&operation, clock.now()).await;
                assert_eq!(
                    reply.outcome,
                    Outcome::Ok,
                    "{options:?}: {}",
                    driver.describe(&operation, &reply)
                );
                answer = Some(FileAnswer::from_u64(reply.answer));
                n_operations += 1;
            }
            FileStep::UnitEnd => return n_operations,
            step => panic!("{step:?}"),
        }
    }
}

/// Writes and then reads a stream with so many requests in flight, each of 64 KiB; returns the replies to reads.
async fn stream(context: &Rc<SmbContext>, clock: RealClock, in_flight: u8) -> Vec<Reply> {
    let mut driver = SmbWindowDriver::new(Rc::clone(context), CLIENT, in_flight.into(), 64 << 10);
    driver.open().await.unwrap();
    let mut reads = Vec::new();
    for direction in [StreamDirection::WriteAndFlush, StreamDirection::Read] {
        let shape = StreamShape::new(STREAM_BYTES, 64 << 10, in_flight, StreamFiles::Private, direction);
        let mut client = shape.unwrap().client(CLIENT);
        let mut places = vec![None; in_flight.into()];
        let mut answer = None;
        loop {
            match client.next(answer.take()) {
                FileStep::Perform(operation) => {
                    let place = places.iter().position(Option::is_none).unwrap();
                    places[place] = Some(operation);
                    driver.begin(place, &operation, clock.now());
                }
                FileStep::Await => {
                    let (place, reply) = driver.end().await;
                    let operation = places[place].take().unwrap();
                    let text = driver.describe(&operation, &reply);
                    assert_eq!(reply.outcome, Outcome::Ok, "{in_flight} in flight: {text}");
                    assert_eq!(reply.measured.get(file_measure::EXCHANGES), Some(1));
                    reads.extend(matches!(operation.action, FileAction::Read(..)).then_some(reply));
                    answer = Some(FileAnswer::from_u64(reply.answer));
                }
                FileStep::UnitEnd => break,
                step => panic!("{step:?}"),
            }
        }
    }
    reads
}

/// Opens the folder of a run, once the server has noticed that the session that held it before has ended.
async fn open_share(target: &SmbTarget) -> SmbShare {
    for _ in 0..READY_MAX.as_millis() / 50 {
        match SmbShare::open(target, &[], READY_MAX).await {
            Err(SmbShareError::InUse(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
            opened => return opened.unwrap(),
        }
    }
    panic!("the session before has not ended within {READY_MAX:?}")
}

/// Goal: streams with one and with several requests in flight move the same bytes, verified byte by byte, however messages are
/// protected; the first data of a stream are timed once.
async fn perform_streams(samba: &Samba, clock: RealClock, options: SmbOptions) {
    let target = samba.target(options);
    let mut share = open_share(&target).await;
    let shape =
        StreamShape::new(STREAM_BYTES, 64 << 10, 1, StreamFiles::Private, StreamDirection::Read).unwrap();
    let plan = FileSetPlan::new(WorkloadFiles::Stream(shape, 1), clients().content);
    let mut go_on = |_, _| ControlFlow::Continue(());
    share.populate(&plan, &mut go_on).await.unwrap();
    assert_eq!(share.read(&plan, 0, STREAM_BYTES).await.unwrap(), 1);
    let clients = FileClientOptions { times_first_data: true, ..clients() };
    let context = SmbContext::new(target, &[], clients, clock).unwrap();
    for in_flight in [1, 8, 16] {
        let reads = stream(&context, clock, in_flight).await;
        let bytes: u64 = reads.iter().filter_map(|read| read.measured.get(file_measure::READ_BYTES)).sum();
        let n_first = reads.iter().filter(|read| read.measured.get(file_measure::FIRST_DATA).is_some());
        assert_eq!((bytes, n_first.count()), (STREAM_BYTES, 1), "{options:?}, {in_flight} in flight");
    }
    share.remove().await.unwrap();
}

/// Goal: every operation does what it is meant to on a real server, with the code that the server has for what fails, in as
/// few exchanges as possible; contents are verified byte by byte; signatures are verified, all of them, by the session.
/// The files of a run are made once and kept, held against other runs, and removed with all that was left.
#[test]
fn every_operation_works_on_samba() {
    let samba = Samba::start("");
    let clock = RealClock::start();
    let mut is_first = true;
    for options in all_options() {
        runtime().block_on(async {
            let target = samba.target(options);
            let mut share = open_share(&target).await;
            let facts = share.facts().clone();
            assert_eq!((facts.dialect, facts.signing.is_some()), (options.dialect(), options.signs()));
            assert_eq!(facts.encryption.is_some(), options.encrypts());
            let in_use = SmbShare::open(&target, &[], READY_MAX).await.unwrap_err();
            assert!(matches!(in_use, SmbShareError::InUse(_)), "{in_use}");

            let plan = plan();
            let mut n_progress = 0;
            let mut progress = |done: u64, total: u64| {
                assert!(done <= total);
                n_progress += 1;
                ControlFlow::Continue(())
            };
            let made = share.populate(&plan, &mut progress).await.unwrap();
            let (n_files, bytes) = (plan.n_files(), plan.bytes());
            let expected = if is_first {
                PopulationSummary { n_made: n_files, made_bytes: bytes, ..PopulationSummary::default() }
            } else {
                // One was written by the options before, and is as long as it was.
                PopulationSummary { n_kept: n_files, kept_bytes: bytes, ..PopulationSummary::default() }
            };
            assert_eq!(made, expected, "{options:?}");
            is_first = false;
            assert_eq!(share.check(&plan).await.unwrap(), PopulationCheck::Complete { n_files });

            // Of files that the options before have written, the generation is not known.
            let clients = FileClientOptions { baseline: Baseline::Stamped, ..clients() };
            let context = SmbContext::new(target, &[], clients, clock).unwrap();
            let mut driver = SmbDriver::new(Rc::clone(&context), CLIENT);
            driver.open().await.unwrap();
            perform_all(&mut driver, clock, options).await;
            let n_operations = perform_cycle(&mut driver, clock, options).await;
            assert!(3_000 < n_operations, "{n_operations}");
        });
    }
    runtime().block_on(async {
        let options = SmbOptions::new(SmbDialect::V3_1_1, false, false).unwrap();
        let target = samba.target(options);
        let share = open_share(&target).await;
        share.remove().await.unwrap();
        for options in all_options() {
            perform_streams(&samba, clock, options).await;
        }
        let context = SmbContext::new(target.clone(), &[], clients(), clock).unwrap();
        let gone = SmbDriver::new(context, CLIENT).open().await.unwrap_err().to_string();
        assert!(gone.contains("no folder `plimsoll-files`"), "{gone}");

        let error = |target: SmbTarget| async move {
            match SmbShare::open(&target, &[], READY_MAX).await {
                Err(SmbShareError::Session(error)) => error,
                other => panic!("{other:?}"),
            }
        };
        let no_share = SmbTarget { share: "none".to_owned(), ..target.clone() };
        assert_eq!(error(no_share).await, SmbSessionError::NoShare("none".to_owned()));
        let account = SmbAccount { password: "wrong".to_owned(), ..target.account.clone() };
        let denied = error(SmbTarget { account, ..target.clone() }).await;
        assert!(denied.to_string().contains("STATUS_LOGON_FAILURE"), "{denied}");
        let no_folder = SmbTarget { folder: "a/b".to_owned(), ..target };
        assert_eq!(error(no_folder).await, SmbSessionError::NoFolder("a/b".to_owned()));
    });
}

/// Settings of a server, options, and the error of a session; `None` if there is one.
type Contradiction = (&'static str, SmbOptions, Option<SmbSessionError>);

/// Goal: options that contradict the server are named before a run, by what a real server says.
#[test]
fn options_that_contradict_samba_are_named() {
    let [v2, v2_signed, v3, v3_signed, v3_encrypted] = all_options();
    let signing = "server signing = mandatory";
    let encrypting = "server smb encrypt = required";
    let plain = "server smb encrypt = off";
    let old = "server max protocol = SMB2_10";
    let table: [Contradiction; 10] = [
        (signing, v2, Some(SmbSessionError::SigningRequired)),
        (signing, v3, Some(SmbSessionError::SigningRequired)),
        (signing, v2_signed, None),
        (signing, v3_encrypted, None),
        (encrypting, v3, Some(SmbSessionError::EncryptionRequired)),
        (encrypting, v3_signed, Some(SmbSessionError::EncryptionRequired)),
        (encrypting, v3_encrypted, None),
        (plain, v3_encrypted, Some(SmbSessionError::NoEncryption)),
        (old, v3, Some(SmbSessionError::DialectRefused(SmbDialect::V3_1_1))),
        (old, v2, None),
    ];
    let mut running: Option<(&str, Samba)> = None;
    for (settings, options, error) in table {
        let samba = match running.take() {
            Some((same, samba)) if same == settings => samba,
            other => {
                drop(other);
                Samba::start(settings)
            }
        };
        let target = samba.target(options);
        let found = runtime().block_on(SmbShare::open(&target, &[], READY_MAX));
        let found = match found {
            Ok(_) => None,
            Err(SmbShareError::Session(error)) => Some(error),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, error, "`{settings}`, {options:?}");
        running = Some((settings, samba));
    }
}

/// Goal: an account that the server does not know is no guest here, even if the server lets it in as one.
#[test]
fn guests_of_samba_are_refused() {
    let samba = Samba::start("map to guest = Bad User");
    let [v2, .., v3_signed, _] = all_options();
    for options in [v2, v3_signed] {
        let target = samba.target(options);
        let account = SmbAccount { user: "nobody-here".to_owned(), ..target.account.clone() };
        let target = SmbTarget { account, ..target };
        let opened = runtime().block_on(SmbShare::open(&target, &[], READY_MAX));
        let Err(SmbShareError::Session(error)) = opened else { panic!("{opened:?}") };
        assert_eq!(error, SmbSessionError::Guest("nobody-here".to_owned()), "{options:?}");
    }
}
