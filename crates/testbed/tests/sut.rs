//! Real servers, as installed.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::{Content, Family, FileSet, SetFile};
use observe::available_cpus;
use testbed::{
    DiskLimits, MemoryLimitProof, Recipe, ResourceLimits, RunningSut, SutError, SutRequest, SutServer,
    populate,
};
use units::{Clock, Nanos, RealClock};

use crate::fixture::{READY_MAX, directory, files, get, private, processes_with, request, value};

fn named(recipe: &str) -> SutServer {
    SutServer::Recipe(Box::new(Recipe::load(recipe).unwrap()))
}

/// A recipe for a shell that runs `script` with placeholders replaced.
fn shell(script: &str, ready: &str, more: &str) -> SutServer {
    let text = format!(
        "format = 2\nfamily = \"web\"\nname = \"shell\"\ntitle = \"a shell\"\nready = \"{ready}\"\nreset = \"none\"\n\
         [program]\nfind = [\"sh\"]\n[start]\narguments = [\"-c\", '''{script}''']\n{more}"
    );
    SutServer::Recipe(Box::new(Recipe::parse("shell.toml", &text).unwrap()))
}

/// Runs nginx; if it is missing, the failure shows the command that installs it.
#[test]
fn nginx_serves_the_file_set_is_disclosed_restarted_and_cleaned_up() {
    let base = directory();
    let files = files();
    let cpu = available_cpus()[0];
    let request = SutRequest {
        limits: ResourceLimits { cpus: vec![cpu], ..ResourceLimits::default() },
        ..request(named("nginx"), base.path(), &files)
    };
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));

    let content = Content::new(5);
    for file in &files.files {
        let body = get(&sut, &file.path);
        assert_eq!(body.len() as u64, file.bytes);
        assert!(content.matches(file.object, 0, &body));
    }

    let facts = sut.facts();
    assert!(value(&facts, "version").contains("nginx"), "{facts:?}");
    assert_eq!(value(&facts, "access log"), "off");
    assert!(value(&facts, "processors").starts_with(&format!("{cpu} (pinned")), "{facts:?}");
    assert!(value(&facts, "worker processes").starts_with("1,"), "one CPU, one worker");
    let listen = format!("listen 127.0.0.1:{} reuseport", sut.addr().port());
    assert!(value(&facts, "nginx.conf").contains(&listen), "{facts:?}");
    assert!(value(&facts, "file set").starts_with("2 files, 300500 bytes"), "{facts:?}");

    let before = sut.usage().unwrap();
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(get(&sut, "/small.html").len(), 500);
    assert!(before.cpu <= sut.usage().unwrap().cpu, "the accounting continues over a restart");
    sut.check_alive().unwrap();

    sut.stop();
    assert_eq!(processes_with(&base.path().to_string_lossy()), [""; 0]);
    assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
}

/// Goal: the server gets its quota, not more, and the accounting agrees. 0.2 CPUs for a busy loop of two
/// processes, over one second of real time; works on a busy machine.
#[test]
fn a_quota_limits_all_processes_of_the_server_together() {
    let base = directory();
    let files = files();
    let busy = shell("(while :; do :; done) & while :; do :; done", "connect", "");
    let request = SutRequest {
        limits: ResourceLimits { quota: Some(0.2), ..ResourceLimits::default() },
        ..request(busy, base.path(), &files)
    };
    let sut = RunningSut::start(request).unwrap();
    let clock = RealClock::start();
    let start = clock.now();
    let used = sut.usage().unwrap();
    while clock.now() - start < Nanos::from_secs(1) {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let end = clock.now();
    let used_then = sut.usage().unwrap();
    let cpus = (used_then.cpu - used.cpu).as_secs_f64() / (end - start).as_secs_f64();
    let facts = sut.facts();
    match sut.quota() {
        Some(quota) => {
            assert_eq!(quota, 0.2);
            assert!((0.12..0.28).contains(&cpus), "{cpus} CPUs of 0.2");
            assert!(used.throttled < used_then.throttled, "{used_then:?}");
            assert!(value(&facts, "CPU quota").starts_with("0.2 CPUs, enforced by cgroup"), "{facts:?}");
        }
        // Without the right to create control groups, nothing is enforced, and the disclosure says so.
        None => assert!(value(&facts, "CPU quota").contains("not enforced"), "{facts:?}"),
    }
    sut.stop();
}

/// Goal: a requested limit that is not enforced is reported, and the others are enforced. The kernel has no
/// disk with this number.
#[test]
fn every_requested_limit_is_disclosed_with_its_enforcement() {
    let base = directory();
    let files = files();
    let idle = shell("read forever", "connect", "");
    let disk = DiskLimits { device: "4095:7".into(), reads: Some(5), ..DiskLimits::default() };
    let limits = ResourceLimits { memory: Some(64 << 20), disk: Some(disk), ..ResourceLimits::default() };
    let sut = RunningSut::start(SutRequest { limits, ..request(idle, base.path(), &files) }).unwrap();
    let facts = sut.facts();
    assert!(value(&facts, "disk limit").starts_with("5 reads/s on 4095:7, not enforced: "), "{facts:?}");
    let memory = value(&facts, "memory limit");
    match sut.held() {
        ResourceLimits { memory: Some(held), disk: None, .. } => {
            assert_eq!(held, 64 << 20);
            assert!(memory.starts_with("67108864 bytes (64.0 MiB), enforced by cgroup v"), "{memory}");
        }
        held => {
            assert!(held == ResourceLimits::default() && memory.contains("not enforced"), "{held:?} {memory}")
        }
    }
}

/// Runs nginx with 64 files of 1 MiB on a disk, all in the page cache already, and a limit; returns the
/// result of the warm-up, and its fact. `None` if memory cannot be limited.
fn warm_up_within(limit: u64) -> Option<(MemoryLimitProof, String)> {
    // Not in the folder for temporary files, which may be in memory, where nothing can be evicted.
    let disk =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in("/var/tmp").unwrap();
    let file = |object| SetFile { object, path: format!("/{object}.bin"), bytes: 1 << 20 };
    let files = FileSet { content_seed: 5, files: (0..64).map(file).collect() };
    let root = populate(&disk.path().join("files"), &files, |_| {}).unwrap();
    for file in &files.files {
        assert_eq!(std::fs::read(root.directory.join(&file.path[1..])).unwrap().len(), 1 << 20);
    }
    let mut request = request(named("nginx"), disk.path(), &files);
    request.web.root = Some(root);
    request.limits = ResourceLimits { memory: Some(limit), ..ResourceLimits::default() };
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    let proof = sut.prove_memory_limit(&files, false, &AtomicBool::new(false)).unwrap();
    if sut.held().memory.is_none() {
        assert_eq!(proof, None);
        let error = sut.require_limits().unwrap_err().to_string();
        assert!(error.contains("cannot enforce the memory limit of ") && error.contains("hint: "), "{error}");
        return None;
    }
    sut.require_limits().unwrap();
    Some((proof.unwrap(), value(&sut.facts(), "memory limit in a warm-up").to_owned()))
}

/// Goal: pages that were charged to another group before are charged to the server, so that a limit below the
/// size of the files binds.
#[test]
fn a_memory_limit_binds_even_if_the_files_were_cached_before() {
    let Some((proof, fact)) = warm_up_within(24 << 20) else { return };
    assert!(proof.binds() && 0 < proof.used.limit_hits && 0 < proof.used.refaults, "{proof:?}");
    assert!((20 << 20..=24 << 20).contains(&proof.used.bytes), "{proof:?}");
    assert_eq!(fact, proof.to_string());
}

#[test]
fn a_memory_limit_above_the_file_size_does_not_bind() {
    let Some((proof, fact)) = warm_up_within(256 << 20) else { return };
    assert!(!proof.binds(), "{proof:?}");
    assert!((64 << 20..256 << 20).contains(&proof.used.bytes), "all files are charged: {proof:?}");
    assert!(fact.starts_with("does not bind: "), "{fact}");
}

#[test]
fn stopping_a_server_stops_its_children_and_removes_groups_and_files() {
    let base = directory();
    let files = files();
    let mark = base.path().to_string_lossy().into_owned();
    // Ignores the signal, with a child that has left the process group when it announces itself.
    let stubborn = shell(
        r#"trap '' TERM
           setsid sh -c 'echo "{\"ready\": {\"address\": \"127.0.0.1:1\"}}"; sleep 99; : {work_dir}' & sleep 99; : {work_dir}"#,
        "announced",
        "[stop]\nseconds = 0\n",
    );
    let mut sut = RunningSut::start(request(stubborn, base.path(), &files)).unwrap();
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    assert!(2 <= processes_with(&mark).len());
    drop(sut);
    // The system reaps killed processes in its own time.
    let clock = RealClock::start();
    while !processes_with(&mark).is_empty() && clock.now() < Nanos::from_secs(10) {
        std::thread::yield_now();
    }
    assert_eq!(processes_with(&mark), [""; 0]);
    assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
}

#[test]
fn a_server_that_ends_unexpectedly_is_reported_with_status_and_log() {
    let base = directory();
    let files = files();
    let broken = shell("echo no such module >&2; echo bad line >{error_log}; exit 3", "http-get", "");
    let mut sut = RunningSut::start(request(broken, base.path(), &files)).unwrap();
    let error = sut.wait_ready(READY_MAX).unwrap_err();
    assert!(matches!(error, SutError::Died(_)), "{error}");
    let message = error.to_string();
    for part in ["a shell ended unexpectedly: exit status 3", "\n  no such module", "\n  bad line"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let base = directory();
    let files = files();
    let mute = shell("read forever", "http-get", "");
    let mut sut = RunningSut::start(request(mute, base.path(), &files)).unwrap();
    let error = sut.wait_ready(Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, SutError::NotReady { .. }), "{error}");
}

#[test]
fn a_missing_program_is_reported_with_the_install_command() {
    let base = directory();
    let files = files();
    let text = "format = 2\nfamily = \"web\"\nname = \"x\"\ntitle = \"X\"\nready = \"connect\"\nreset = \"none\"\n\
                [program]\nfind = [\"no-such-server\", \"/no/such\"]\ninstall = \"apt-get install x\"\n\
                [start]\narguments = []\n";
    let recipe = Recipe::parse("x.toml", text).unwrap();
    let error =
        RunningSut::start(request(SutServer::Recipe(Box::new(recipe)), base.path(), &files)).unwrap_err();
    let expected = "X is not installed; searched for `no-such-server`, `/no/such`\n\
                    hint: install it with `apt-get install x`";
    assert_eq!(error.to_string(), expected);
    assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
}

#[test]
fn a_port_in_use_is_refused_before_the_server_starts() {
    let base = directory();
    let files = files();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let request = SutRequest { port: Some(port), ..request(named("nginx"), base.path(), &files) };
    let error = RunningSut::start(request).unwrap_err();
    assert!(matches!(error, SutError::PortTaken { port: refused, .. } if refused == port), "{error}");
}

/// A server that changes its data before it is ready.
const WITH_DATA: &str = r#"
format = 2
family = "order-entry"
name = "keeper"
title = "a keeper of data"
ready = "log"
ready-log = "ready at "
reset = "restore"
alone = true
ports = ["second"]
program = { find = ["sh"] }
start = { arguments = ["-c", "echo changed >>{data}/events; echo ready at {second_port}; exec sleep 99"] }
data = { directory = "data" }

[[steps]]
when = "made"
run = ["sh", "-c", "cat >{data}/events"]
input = "made\n"

[[steps]]
when = "started"
run = ["sh", "-c", "cat >>{data}/events"]
input = "started at {second_port} with {password}\n"
"#;

/// Goal: the data are made once, restored before each start, and filled after each; the log of an earlier start does
/// not count as readiness. A server that must be alone is gone while it rests.
#[test]
fn data_are_made_once_and_restored_and_filled_at_each_start() {
    let base = directory();
    let files = files();
    let recipe = Recipe::parse("keeper.toml", WITH_DATA).unwrap();
    let request = request(SutServer::Recipe(Box::new(recipe)), base.path(), &files);
    let data = request.data_dir.clone();
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    let events = || {
        let entries =
            std::fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path().join("data/events"));
        std::fs::read_to_string(entries.into_iter().find(|path| path.is_file()).unwrap()).unwrap()
    };
    let expected =
        format!("made\nchanged\nstarted at {} with {}\n", sut.port("second").unwrap(), sut.password());
    assert_eq!(events(), expected);
    let first = sut.watched().leaders;
    assert!(sut.rest() && sut.rest());
    assert!(first.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists()));
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(events(), expected);
    assert_ne!(sut.watched().leaders, first);
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(events(), expected);
}

#[test]
fn a_recipe_file_is_loaded_by_its_path() {
    let base = directory();
    let path = base.path().join("my-server.toml");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/nginx.toml"), &path).unwrap();
    let recipe = Recipe::load(&path.to_string_lossy()).unwrap();
    assert_eq!(recipe, Recipe::load("nginx").unwrap());
}

/// Goal: the contract of a built-in server. A shell stands in for it: it announces an address and ends with
/// its input.
#[test]
fn a_built_in_server_announces_its_address_and_ends_with_its_input() {
    let base = directory();
    let files = files();
    let script = r#"echo starting; echo '{"ready": {"address": "127.0.0.1:4711"}}'; read end; exit 4"#;
    let program = "/bin/sh".into();
    let args = vec!["-c".into(), script.into()];
    let environment = Default::default();
    let server = SutServer::BuiltIn { family: Family::Web, status: None, program, args, environment };
    let mut sut = RunningSut::start(request(server, base.path(), &files)).unwrap();
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sut.url(), "http://127.0.0.1:4711/");
    sut.reset().unwrap();
    sut.check_alive().unwrap();
    assert!(!sut.facts()[0].facts.iter().any(|fact| fact.name == "file set"), "no file set was requested");
}

/// Goal: a server that drops root's rights reaches its files in a folder that nobody else can enter.
#[test]
fn only_a_server_with_dropped_rights_passes_the_private_folder() {
    use std::os::unix::fs::MetadataExt;
    let base = directory();
    let files = files();
    let folder = private(base.path());
    let mode = || std::fs::metadata(&folder).unwrap().mode() & 0o7777;
    let run = |server| {
        let mut sut = RunningSut::start(request(server, base.path(), &files)).unwrap();
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(get(&sut, "/small.html").len(), 500);
    };
    // Its workers keep this process's rights.
    run(named("nginx"));
    assert_eq!(mode(), 0o700);
    run(named("apache"));
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(mode(), if is_root { 0o710 } else { 0o700 });
}

/// Goal: leftovers planted by another user neither kill processes nor are used.
#[test]
fn a_folder_writable_by_others_is_refused_and_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let base = directory();
    let files = files();
    let folder = private(base.path());
    let trap = folder.join("plimsoll-sut-1-0");
    std::fs::create_dir(&trap).unwrap();
    std::fs::write(trap.join("lock"), "").unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(
        observe::leftovers::find_stale(&folder).iter().filter(|path| path.starts_with(&folder)).count(),
        0
    );
    testbed::clean_stale(&folder);
    assert!(trap.exists());
    let asked =
        SutRequest { work_dir: folder.clone(), ..request(named("nginx"), directory().path(), &files) };
    let error = RunningSut::start(asked).unwrap_err().to_string();
    assert!(error.contains("others can write to `") && error.contains("hint: remove it"), "{error}");
}
