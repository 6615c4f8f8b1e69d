//! The recipes of database servers, with the servers of Debian's packages and their own clients.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use observe::process::family_of;
use testbed::{DataContents, Recipe, RunningSut, SutError, SutServer};
use units::{Clock, Nanos, RealClock};

use crate::fixture::{READY_MAX, directory_in, files, request, value};

/// Data in memory: the tests are not about disks, and write gigabytes.
const MEMORY: &str = "/dev/shm";

/// Runs a statement as the user `plimsoll`; returns the printed rows.
type Query = fn(&RunningSut, &str) -> String;

fn postgresql(sut: &RunningSut, statement: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args([
        "-XAtq",
        "--host=127.0.0.1",
        "--username=plimsoll",
        "--dbname=plimsoll",
        "-v",
        "ON_ERROR_STOP=1",
    ]);
    psql.arg(format!("--port={}", sut.addr().port()))
        .args(["-c", statement])
        .env("PGPASSWORD", sut.password());
    printed(psql)
}

fn mariadb(sut: &RunningSut, statement: &str) -> String {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--user=plimsoll", "-BN"]);
    client.arg(format!("--port={}", sut.addr().port())).args(["plimsoll", "-e", statement]);
    client.env("MYSQL_PWD", sut.password());
    printed(client)
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Returns the processes that work in a folder.
fn working_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let works_here =
        |process: &PathBuf| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    entries.filter(works_here).collect()
}

/// Returns the number of shared memory segments on this machine that belong to an account.
fn segments_of(account: &str) -> usize {
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with(&format!("{account}:"))).unwrap();
    let uid = line.split(':').nth(2).unwrap();
    let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
    segments.lines().filter(|line| line.split_whitespace().nth(7) == Some(uid)).count()
}

/// Waits until no other test runs PostgreSQL, whose shared memory is counted by account.
fn alone_with_postgresql() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts, changes, restores and stops a server in every profile; checks account, watch and leftovers.
fn check(name: &str, account: &str, query: Query) {
    let recipe = Recipe::load(name).unwrap();
    let segments = segments_of(account);
    for profile in recipe.profile_names() {
        let base = directory_in(MEMORY);
        let files = files();
        let server = SutServer::Recipe(Box::new(recipe.clone()));
        let request =
            testbed::SutRequest { profile: Some(profile.to_owned()), ..request(server, base.path(), &files) };
        let folder = request.work_dir.clone();
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));

        query(&sut, "CREATE TABLE kept (v INT)");
        query(&sut, "INSERT INTO kept VALUES (1), (2), (3)");
        assert_eq!(query(&sut, "SELECT SUM(v) FROM kept"), "6", "{profile}");
        let watched = family_of(&sut.watched().leaders);
        assert!(!watched.is_empty() && !working_in(base.path()).is_empty(), "{profile}");
        if rustix::process::geteuid().is_root() {
            assert_eq!(value(&sut.facts(), "user"), account);
            // The process that served a client may have ended meanwhile.
            let status = |pid| std::fs::read_to_string(format!("/proc/{pid}/status")).ok();
            let statuses: Vec<_> = watched.iter().filter_map(|process| status(process.pid)).collect();
            assert!(!statuses.is_empty());
            for status in statuses {
                let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap().trim();
                assert!(!uid.starts_with('0'), "{name} runs as root: {uid}");
            }
        }
        let used = sut.usage().expect("its use of the processor is known");
        assert!(Nanos::ZERO < used.cpu, "{profile}");
        let facts = format!("{:?}", sut.facts());
        assert!(!facts.contains(sut.password()), "the password is disclosed");

        sut.reset().unwrap_or_else(|error| panic!("{error}"));
        let tables = query(&sut, "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'kept'");
        assert_eq!(tables, "0", "{profile}: the table is still there");

        let clock = RealClock::start();
        sut.stop();
        assert!(clock.now() < Nanos::from_secs(20), "{}", clock.now());
        let left = working_in(base.path());
        assert!(left.is_empty(), "{profile}: {left:?}");
        assert_eq!(segments_of(account), segments, "{profile}");
        assert_nothing_is_left(&folder);
    }
}

#[test]
fn postgresql_is_made_restored_and_stopped() {
    let _alone = alone_with_postgresql();
    check("postgresql", "postgres", postgresql);
}

/// Goal: what was loaded into the running server is in its golden copy, and in that of the next server alone which asks
/// for the same contents.
#[test]
fn contents_are_loaded_once_and_restored() {
    let _alone = alone_with_postgresql();
    let base = directory_in(MEMORY);
    let files = files();
    let start = |contents: &str| {
        let server = SutServer::Recipe(Box::new(Recipe::load("postgresql").unwrap()));
        let contents = DataContents { identity: contents.to_owned(), bytes: None };
        let started = RunningSut::start_with(request(server, base.path(), &files), Some(&contents));
        let mut sut = started.unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        sut
    };
    let rows = |sut: &RunningSut| postgresql(sut, "SELECT SUM(v) FROM contents");
    let mut first = start("one to three");
    assert!(first.database() == Some(model::DatabaseProduct::PostgreSql) && first.lacks_contents());
    postgresql(&first, "CREATE TABLE contents (v INT)");
    postgresql(&first, "INSERT INTO contents VALUES (1), (2), (3)");
    first.keep_contents().unwrap_or_else(|error| panic!("{error}"));
    assert!(!first.lacks_contents());
    assert_eq!((rows(&first).as_str(), first.has_kept_data()), ("6", Some(false)));
    postgresql(&first, "DELETE FROM contents");
    first.reset().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rows(&first), "6", "they are restored");
    first.stop();

    let same = start("one to three");
    assert!(!same.lacks_contents());
    assert_eq!((rows(&same).as_str(), same.has_kept_data()), ("6", Some(true)));
    same.stop();
    assert!(start("others").lacks_contents());
}

/// A variant of a family other than the web's: the recipe names it, and clients verify the certificate of the run.
#[test]
fn postgresql_speaks_tls_in_its_variant_only() {
    let _alone = alone_with_postgresql();
    let recipe = Recipe::load("postgresql").unwrap();
    assert_eq!(recipe.variant_names(), ["tls"]);
    let is_encrypted = "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    for profile in recipe.profile_names() {
        for (variant, mode, expected) in [(Some("tls"), "verify-full", "t|TLSv1.3"), (None, "prefer", "f|")] {
            let base = directory_in(MEMORY);
            let files = files();
            let server = SutServer::Recipe(Box::new(recipe.clone()));
            let request = testbed::SutRequest {
                profile: Some(profile.to_owned()),
                variant: variant.map(str::to_owned),
                ..request(server, base.path(), &files)
            };
            let folder = request.work_dir.clone();
            let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
            sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(value(&sut.facts(), "variant"), variant.unwrap_or("none"));
            let mut psql = Command::new("psql");
            let address = format!("host=127.0.0.1 port={} user=plimsoll dbname=plimsoll", sut.addr().port());
            let certificate = working_directory(&folder).join("certificate.pem");
            let trust = format!("sslmode={mode} sslrootcert={}", certificate.display());
            psql.args(["-XAtq", "-d", &format!("{address} {trust}"), "-c", is_encrypted]);
            psql.env("PGPASSWORD", sut.password());
            assert_eq!(printed(psql), expected, "{profile} {variant:?}");
            // The variant stays when the data are restored.
            sut.reset().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(certificate.exists(), variant.is_some(), "{profile}");
            sut.stop();
            assert_nothing_is_left(&folder);
        }
    }
}

/// Returns the directory of the only run in a folder.
fn working_directory(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.find(|path| path.is_dir()).expect("the server has a directory")
}

#[test]
fn an_unknown_variant_is_refused_with_those_of_the_recipe() {
    let base = directory_in(MEMORY);
    let files = files();
    let server = SutServer::Recipe(Box::new(Recipe::load("postgresql").unwrap()));
    let request = testbed::SutRequest { variant: Some("tsl".into()), ..request(server, base.path(), &files) };
    let error = RunningSut::start(request).unwrap_err().to_string();
    assert_eq!(error, "PostgreSQL has no variant `tsl`; expected one of `tls`");
}

#[test]
fn mariadb_is_made_restored_and_stopped() {
    check("mariadb", "mysql", mariadb);
}

/// Goal: a step that fails ends the start with its command and the end of its output, and nothing is left.
#[test]
fn a_failed_step_is_reported_with_its_output() {
    let mut recipe = Recipe::load("postgresql").unwrap();
    recipe.steps[0].run = ["sh", "-c", "echo no space for {data}; exit 7"].map(str::to_owned).to_vec();
    let base = directory_in(MEMORY);
    let files = files();
    let request = request(SutServer::Recipe(Box::new(recipe)), base.path(), &files);
    let folder = request.work_dir.clone();
    let error = RunningSut::start(request).unwrap_err();
    assert!(matches!(error, SutError::Step { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("PostgreSQL: `/usr/bin/sh -c") && message.contains("exit status 7"),
        "{message}"
    );
    assert!(message.contains("\n  no space for /"), "{message}");
    assert_nothing_is_left(&folder);
}

fn assert_nothing_is_left(folder: &Path) {
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Goal: an account that does not exist is an error before anything is made.
#[test]
fn a_missing_account_is_reported() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut recipe = Recipe::load("mariadb").unwrap();
    recipe.start.account = Some("nobody-of-this-name".to_owned());
    let base = directory_in(MEMORY);
    let files = files();
    let error =
        RunningSut::start(request(SutServer::Recipe(Box::new(recipe)), base.path(), &files)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("under the account `nobody-of-this-name`, which does not exist"), "{message}");
    assert!(message.contains("apt-get install mariadb-server"), "{message}");
}
