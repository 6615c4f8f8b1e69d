//! Clients of an NFS-Ganesha server: every operation by NFS 4.1, and by NFS 3 in a network of its own.

use std::fs::Permissions;
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use drivers::file::directory::{PopulationCheck, PopulationSummary};
use drivers::file::nfs::{
    NfsContext, NfsDriver, NfsOwner, NfsServerFacts, NfsSessionError, NfsShare, NfsShareError, NfsTarget,
    NfsVersion, NfsWindowDriver, code_name,
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
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, make_private_folder};
use tokio::runtime::{Builder, Runtime};
use units::{Clock, Nanos, RealClock};

/// Time limit for the server to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

const CLIENT: u32 = 0;

/// A running server with an export on disk if this is root, and in its memory otherwise.
struct Ganesha {
    sut: RunningSut,
    _base: TempDir,
}

impl Ganesha {
    fn start() -> Ganesha {
        let is_root = rustix::process::geteuid().is_root();
        let text = if is_root {
            include_str!("../../../recipes/ganesha.toml")
        } else {
            include_str!("../../../recipes/ganesha-memory.toml")
        };
        let recipe = Recipe::parse("ganesha.toml", text).unwrap_or_else(|error| panic!("{error}"));
        // Files in memory have no handles to open them by.
        let base = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = || make_private_folder(&private_folder_in(base.path())).unwrap();
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(recipe)),
            work_dir: folder(),
            data_dir: folder(),
            limits: ResourceLimits::default(),
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        Ganesha { sut, _base: base }
    }

    fn target(&self) -> NfsTarget {
        NfsTarget {
            address: self.sut.addr(),
            mount_port: None,
            path: "plimsoll".to_owned(),
            version: NfsVersion::V4_1,
            owner: NfsOwner::of_process(None),
        }
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn clients(durability: Durability) -> FileClientOptions {
    FileClientOptions {
        times_first_data: false,
        content: FileContent::new(11, 50),
        verify: Verify::Full,
        // Of files that a client before has written, the generation is not known.
        baseline: Baseline::Stamped,
        last_generation: 0,
        durability,
        loadfile: None,
    }
}

fn plan() -> FileSetPlan {
    let workspace = Workspace::new(Workspace::LEAST).unwrap();
    let files = WorkloadFiles::DiskMix(FilePopulation { workspace, n_clients: 1 });
    FileSetPlan::new(files, clients(Durability::Flush).content)
}

fn path(folder: Folder, entry: Entry) -> FilePath {
    FilePath::new(Owner::Client(CLIENT), folder, entry)
}

fn range(offset: u64, length: u64) -> FileRange {
    FileRange { offset, length }
}

/// An operation with the outcome, the code without the name of its version, and the number of exchanges that it must have with
/// version 4.1.
type ExpectedReply = (FileOperation, Outcome, Option<&'static str>, u64);

/// Each operation of the specification, section 5.1, and what must fail. The first on a folder looks it up: of a path of three
/// parts each, and of the one that they have in common once.
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
    let find = |found| Find(listed, FindSize { wanted: 512, found });
    let of = |n_exchanges: u64, action| (FileOperation::of(action), Outcome::Ok, None, n_exchanges);
    let ok = |action| of(1, action);
    let miss = |action| (FileOperation::missing(action), Outcome::Ok, None, 1);
    let fails = |action, outcome, code| (FileOperation::of(action), outcome, Some(code), 1);
    let unsent = |action, outcome, code| (FileOperation::of(action), outcome, Some(code), 0);
    vec![
        of(4, Open(bulk, path(Folder::Bulk, Entry::File(1)))),
        ok(Read(bulk, range(0, 4096))),
        ok(Read(bulk, range(61_440, 65_536))),
        ok(Read(bulk, range(5, 1_000_000))),
        ok(Write(bulk, range(0, 65_536))),
        ok(Write(bulk, range(70_001, 4_097))),
        ok(Read(bulk, range(0, 1_048_576))),
        fails(Read(bulk, range(1_048_000, 4096)), Outcome::Truncated, "NFS_SHORT"),
        fails(Read(bulk, range(1_048_576, 4096)), Outcome::Truncated, "NFS_SHORT"),
        ok(Flush(bulk)),
        ok(FileQuery(bulk, InfoLevel::STANDARD)),
        ok(FileQuery(bulk, InfoLevel::BASIC)),
        ok(Set(bulk, InfoLevel::BASIC)),
        unsent(Unlock(bulk, range(7, 1)), Outcome::Conflict, "NFS_NOT_LOCKED"),
        ok(Lock(bulk, range(2_147_483_538, 1))),
        ok(Unlock(bulk, range(2_147_483_538, 1))),
        ok(Lock(bulk, range(7, 100))),
        ok(Unlock(bulk, range(7, 100))),
        of(2, Create(new, created, ExistingFile::Refuse)),
        fails(Create(other, created, ExistingFile::Refuse), Outcome::Conflict, "EXIST"),
        ok(Write(new, range(9_999, 1))),
        ok(FileQuery(new, InfoLevel::STANDARD)),
        ok(Write(new, range(0, 9_000))),
        ok(Read(new, range(0, 10_000))),
        ok(Close(new)),
        unsent(Close(new), Outcome::ValueMissing, "NFS_NOT_OPEN"),
        ok(PathQuery(created, InfoLevel::ATTRIBUTE_TAG)),
        ok(Rename(created, renamed)),
        miss(PathQuery(created, InfoLevel::BASIC)),
        ok(Open(new, renamed)),
        ok(Read(new, range(0, 10_000))),
        ok(Close(new)),
        ok(Create(new, renamed, ExistingFile::Truncate)),
        // Into a slot in use: what was there is closed.
        of(2, Open(new, path(Folder::Bulk, Entry::File(0)))),
        ok(Close(new)),
        ok(PathQuery(renamed, InfoLevel::ATTRIBUTE_TAG)),
        ok(Unlink(renamed)),
        fails(Unlink(renamed), Outcome::Gone, "NOENT"),
        miss(Open(other, missing)),
        // The folder is not there.
        miss(PathQuery(none_in_none, InfoLevel::BASIC)),
        ok(VolumeQuery(InfoLevel::VOLUME_SIZE)),
        of(3, find(Some(11))),
        ok(find(None)),
        fails(find(Some(12)), Outcome::WrongLength, "NFS_OTHER_LISTING"),
        miss(Find(no_match, FindSize { wanted: 512, found: Some(0) })),
        ok(MakeFolder(folder)),
        fails(MakeFolder(folder), Outcome::Conflict, "EXIST"),
        of(2, CreateFolder(other, folder)),
        of(0, Close(other)),
        ok(Create(other, small, ExistingFile::Keep)),
        ok(Close(other)),
        fails(RemoveFolder(folder), Outcome::Conflict, "NOTEMPTY"),
        // It is listed, its file removed, and then it.
        of(3, RemoveTree(folder)),
        ok(MakeFolder(folder)),
        ok(RemoveFolder(folder)),
        ok(Close(bulk)),
    ]
}

/// Returns a code without the name of its version.
fn code_text(version: NfsVersion, code: u32) -> Option<&'static str> {
    let name = code_name(version, code).filter(|_| code != 0)?;
    Some(name.trim_start_matches("NFS4ERR_").trim_start_matches("NFS3ERR_"))
}

/// Performs all operations, and names each that has another reply than it must have.
async fn perform_all(driver: &mut NfsDriver, clock: RealClock, version: NfsVersion) {
    let mut wrong = Vec::new();
    for (operation, outcome, code, n_exchanges) in operations() {
        let is_lock = matches!(operation.action, FileAction::Lock(..) | FileAction::Unlock(..));
        if version == NfsVersion::V3 && is_lock {
            continue;
        }
        let reply = driver.perform(&operation, clock.now()).await;
        let found = (reply.outcome, code_text(version, reply.code));
        let measured = reply.measured.get(file_measure::EXCHANGES);
        let is_as_short = version == NfsVersion::V3 || measured == Some(n_exchanges);
        if found != (outcome, code) || !is_as_short {
            let text = driver.describe(&operation, &reply);
            wrong.push(format!(
                "{operation}: {found:?}, {measured:?} and not {n_exchanges} exchanges: {text}"
            ));
        }
    }
    assert_eq!(wrong, [""; 0], "{version}");
}

/// Performs a cycle of the Disk Mix, in which every operation must succeed.
async fn perform_cycle(driver: &mut NfsDriver, clock: RealClock, version: NfsVersion) -> u64 {
    let mut client = DiskMix::new(11).client(CLIENT);
    let mut answer = None;
    let mut n_operations = 0;
    loop {
        match client.next(answer) {
            FileStep::Perform(operation) => {
                let is_lock = matches!(operation.action, FileAction::Lock(..) | FileAction::Unlock(..));
                if version == NfsVersion::V3 && is_lock {
                    answer = Some(FileAnswer::Done);
                    continue;
                }
                let reply = driver.perform(&operation, clock.now()).await;
                let text = driver.describe(&operation, &reply);
                assert_eq!(reply.outcome, Outcome::Ok, "{version}: {text}");
                answer = Some(FileAnswer::from_u64(reply.answer));
                n_operations += 1;
            }
            FileStep::UnitEnd => return n_operations,
            step => panic!("{step:?}"),
        }
    }
}

/// The size of the file of a stream: some blocks, and a rest.
const STREAM_BYTES: u64 = (3 << 20) + 5_000;

/// Writes and then reads a stream with so many requests in flight, each of 64 KiB; returns the replies to reads.
async fn stream(context: &Rc<NfsContext>, clock: RealClock, in_flight: u8) -> Vec<Reply> {
    let mut driver = NfsWindowDriver::new(Rc::clone(context), CLIENT, in_flight.into(), 64 << 10);
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

/// Goal: streams with one and with several requests in flight move the same bytes, verified byte by byte, each block in one
/// exchange; the first data of a stream are timed once.
async fn perform_streams(target: &NfsTarget) {
    let clock = RealClock::start();
    let mut share = NfsShare::open(target, &[], READY_MAX).await.unwrap();
    let shape =
        StreamShape::new(STREAM_BYTES, 64 << 10, 1, StreamFiles::Private, StreamDirection::Read).unwrap();
    let content = clients(Durability::Flush).content;
    let plan = FileSetPlan::new(WorkloadFiles::Stream(shape, 1), content);
    share.populate(&plan, &mut |_, _| ControlFlow::Continue(())).await.unwrap();
    for (durability, in_flight) in
        [(Durability::Flush, 1), (Durability::Flush, 4), (Durability::Write, 16), (Durability::Flush, 16)]
    {
        let clients = FileClientOptions { times_first_data: true, ..clients(durability) };
        let context = NfsContext::new(target.clone(), &[], clients, clock).unwrap();
        let reads = stream(&context, clock, in_flight).await;
        let of = |measure| reads.iter().filter_map(|reply| reply.measured.get(measure)).collect::<Vec<u64>>();
        let sum = |measure| of(measure).iter().sum::<u64>();
        let found = (sum(file_measure::EXCHANGES), sum(file_measure::READ_BYTES));
        assert_eq!(found, (STREAM_BYTES.div_ceil(64 << 10), STREAM_BYTES), "{in_flight} in flight");
        assert_eq!(of(file_measure::FIRST_DATA).len(), 1, "{in_flight} in flight");
    }
    share.remove().await.unwrap();
}

async fn use_everything(target: NfsTarget) {
    let clock = RealClock::start();
    let version = target.version;
    let facts = NfsServerFacts::find(&target, &[], READY_MAX).await.unwrap();
    assert_eq!((facts.version, facts.lease_seconds.is_some()), (version, version == NfsVersion::V4_1));
    assert!(1_000_000 < facts.read_bytes_max && 1_000_000 < facts.write_bytes_max, "{facts:?}");
    perform_streams(&target).await;

    let mut share = NfsShare::open(&target, &[], READY_MAX).await.unwrap();
    assert_eq!(share.facts(), facts);
    let in_use = NfsShare::open(&target, &[], READY_MAX).await.unwrap_err();
    assert!(matches!(in_use, NfsShareError::InUse { .. }), "{in_use}");
    let plan = plan();
    let (n_files, bytes) = (plan.n_files(), plan.bytes());
    let progress = &mut |done: u64, total: u64| {
        assert!(done <= total);
        ControlFlow::Continue(())
    };
    let made = share.populate(&plan, progress).await.unwrap();
    let expected = PopulationSummary { n_made: n_files, made_bytes: bytes, ..PopulationSummary::default() };
    assert_eq!(made, expected);
    assert_eq!(share.check(&plan).await.unwrap(), PopulationCheck::Complete { n_files });

    for durability in [Durability::Flush, Durability::Write] {
        let context = NfsContext::new(target.clone(), &[], clients(durability), clock).unwrap();
        let mut driver = NfsDriver::new(Rc::clone(&context), CLIENT);
        driver.open().await.unwrap();
        perform_all(&mut driver, clock, version).await;
        if durability == Durability::Flush {
            let n_operations = perform_cycle(&mut driver, clock, version).await;
            assert!(3_000 < n_operations, "{n_operations}");
        }
    }
    share.renew().await.unwrap();
    let kept = share.populate(&plan, progress).await.unwrap();
    let expected = PopulationSummary { n_kept: n_files, kept_bytes: bytes, ..PopulationSummary::default() };
    assert_eq!(kept, expected);

    share.remove().await.unwrap();
    let context = NfsContext::new(target.clone(), &[], clients(Durability::Flush), clock).unwrap();
    let gone = NfsDriver::new(context, CLIENT).open().await.unwrap_err().to_string();
    assert!(gone.contains("plimsoll-files` to work in"), "{gone}");
    let no_folder = NfsTarget { path: format!("{}/none", target.path), ..target };
    let path = no_folder.path.clone();
    let found = match NfsShare::open(&no_folder, &[], READY_MAX).await {
        Err(NfsShareError::Session(error)) => error,
        other => panic!("{other:?}"),
    };
    // What may not be mounted is refused, there or not.
    let expected = match version {
        NfsVersion::V4_1 => NfsSessionError::NoFolder(path),
        NfsVersion::V3 => NfsSessionError::Denied { path, uid: 0, status: "NFS3ERR_ACCES".to_owned() },
    };
    assert_eq!(found, expected);
}

/// Goal: every operation does what it is meant to on a real server, with the code that the server has for what fails, in as
/// few exchanges as possible; contents are verified byte by byte. The files of a run are made once and kept, held against
/// other runs, and removed with all that was left.
#[test]
fn every_operation_works_on_ganesha() {
    let ganesha = Ganesha::start();
    runtime().block_on(use_everything(ganesha.target()));
}

/// The variable that tells a test that it is in a network of its own.
const INSIDE: &str = "PLIMSOLL_TEST_IN_NETWORK";

/// The configuration of a server of version 3, which must register with a port mapper.
fn v3_configuration(base: &Path) -> String {
    let base = base.display();
    format!(
        "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 12049; MNT_Port = 12050; Enable_NLM = false;
  Enable_RQUOTA = false; Enable_UDP = false; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 1; Path = {base}/export; Pseudo = /plimsoll; Protocols = 3; Transports = TCP;
  Access_Type = RW; Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}\n"
    )
}

/// Waits until something holds.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = RealClock::start();
    while !holds() {
        assert!(clock.now() < Nanos::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a port mapper and a server, and uses them. They end with the process that has the namespace.
fn use_v3_here() {
    let run = |command: &[&str]| {
        let status = Command::new(command[0]).args(&command[1..]).status().unwrap();
        assert!(status.success(), "{command:?}");
    };
    run(&["ip", "link", "set", "lo", "up"]);
    // The socket of the machine's own port mapper stays as it is.
    run(&["mount", "-t", "tmpfs", "none", "/run"]);
    let base = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::create_dir(base.path().join("export")).unwrap();
    let [configuration, log] = ["ganesha.conf", "log"].map(|name| base.path().join(name));
    std::fs::write(&configuration, v3_configuration(base.path())).unwrap();
    let mut port_mapper = Command::new("rpcbind").args(["-f", "-i"]).spawn().unwrap();
    wait_for("the port mapper", || TcpStream::connect("127.0.0.1:111").is_ok());
    let mut server = Command::new("ganesha.nfsd")
        .args(["-F", "-N", "NIV_EVENT", "-f"])
        .arg(&configuration)
        .arg("-L")
        .arg(&log)
        .arg("-p")
        .arg(base.path().join("pid"))
        .spawn()
        .unwrap();
    wait_for("the server", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains("NFS SERVER INITIALIZED"))
    });
    let target = NfsTarget {
        address: "127.0.0.1:2049".parse().unwrap(),
        mount_port: None,
        path: format!("{}/export", base.path().display()).trim_start_matches('/').to_owned(),
        version: NfsVersion::V3,
        owner: NfsOwner::of_process(None),
    };
    runtime().block_on(use_everything(target));
    for process in [&mut server, &mut port_mapper] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

/// Goal: the same by NFS 3, whose ports are asked for; golden check 24. A server of version 3 must register with the port
/// mapper of its network, so that both have one of their own, which only root can make.
#[test]
fn nfs_3_works_in_a_network_of_its_own() {
    if std::env::var_os(INSIDE).is_some() {
        return use_v3_here();
    }
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut inside = Command::new("unshare");
    inside.args(["--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"]);
    inside.arg(std::env::current_exe().unwrap());
    inside
        .args(["--exact", "ganesha::nfs_3_works_in_a_network_of_its_own", "--nocapture"])
        .env(INSIDE, "yes");
    let output = inside.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
}
