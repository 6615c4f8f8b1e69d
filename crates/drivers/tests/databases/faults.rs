//! Servers that lack something while transactions are under way: room on their disk, the right to change their data, a
//! disk that is fast enough for their log.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use drivers::orders::{DatabaseControl, SessionCounts};
use model::{DatabaseProduct, OrderSql, Outcome};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::process::geteuid;
use tempfile::TempDir;
use testbed::{DiskLimits, ResourceLimits};

use super::fixture::{Database, PRODUCTS, fresh, passable_folder};
use super::terminals::{Failure, TERMINALS, Terminals, check_orders};
use crate::common::block_on;

/// The forms of SQL of all products.
const FORMS: [OrderSql; 2] = [OrderSql::Client, OrderSql::Stored];

/// Checks that all transactions that failed did so in one way.
fn check_failures(what: &str, failures: &[Failure], outcome: Outcome, code: u32, text: &str) {
    assert!(!failures.is_empty(), "{what}: nobody noticed");
    for failure in failures {
        assert_eq!((failure.outcome, failure.code), (outcome, code), "{what}: {failure:?}");
        assert!(failure.text.contains(text), "{what}: {failure:?}");
    }
}

/// A file system of its own on a loop device, whose file is in memory. Unmounted when dropped.
struct LoopDisk {
    folder: TempDir,
}

impl LoopDisk {
    /// The size: two copies of the data of a server, and its log.
    const BYTES: u64 = 768 << 20;

    /// Makes one and mounts it.
    ///
    /// # Errors
    /// The reason why this machine has none.
    fn mount() -> Result<LoopDisk, String> {
        if !geteuid().is_root() {
            return Err("only root may mount a file system".to_owned());
        }
        let folder = passable_folder(Path::new("/dev/shm"));
        let image = folder.path().join("image");
        let disk = folder.path().join("disk");
        File::create(&image).and_then(|file| file.set_len(LoopDisk::BYTES)).unwrap();
        fs::create_dir(&disk).unwrap();
        // No blocks are reserved for root.
        run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(&image))?;
        run(Command::new("mount").args(["-t", "ext4", "-o", "loop"]).args([&image, &disk]))?;
        Ok(LoopDisk { folder })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// Fills it, but for so many bytes.
    fn fill(&self, left: u64) {
        let filler = File::create(self.filler()).unwrap();
        let free = observe::free_bytes(&self.path()).unwrap();
        fallocate(&filler, FallocateFlags::empty(), 0, free - left).unwrap();
    }

    /// Makes room again.
    fn clear(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        // The loop device goes with it. A server that a failed test left behind may still have files there.
        let _ = run(Command::new("umount").arg("--lazy").arg(self.path()));
    }
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// The bytes that are left to a server whose disk fills up.
const LEFT_BYTES: u64 = 128 << 10;

/// Counts the files of 16 MiB that PostgreSQL has for its log beyond the one it writes.
const LOG_FILES_AHEAD: &str = "SELECT COUNT(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' \
    AND name > pg_walfile_name(pg_current_wal_insert_lsn())";

/// Has PostgreSQL keep files for its log in advance, more than the terminals fill while the disk is full: a server that
/// cannot write its log ends. A checkpoint makes them of those that are no longer needed. MariaDB's log has its whole size
/// from the beginning.
async fn make_room_for_the_log(database: &Database) {
    for _ in 0..10 {
        for _ in 0..4 {
            database.query_meanwhile("SELECT pg_switch_wal()").await;
        }
        database.query_meanwhile("CHECKPOINT").await;
        if database.query_meanwhile(LOG_FILES_AHEAD).await.parse::<u32>().unwrap() >= 2 {
            return;
        }
    }
    panic!("PostgreSQL has no files for its log in advance");
}

/// The longest that MariaDB has no room after the first failure. It needs room to roll back some transactions: it asks for it
/// for 5 s, during which others wait for the rows, and then it ends.
const NO_ROOM_MAX: Duration = Duration::from_secs(2);

/// Fills the disk while terminals work, and makes room again; returns the transactions that failed.
async fn work_on_a_full_disk(database: &Database, disk: &LoopDisk, terminals: Terminals) -> Vec<Failure> {
    terminals.wait_for_successes(5).await;
    match database.product {
        DatabaseProduct::PostgreSql => {
            make_room_for_the_log(database).await;
            disk.fill(LEFT_BYTES);
            terminals.wait_for_failures(3).await;
        }
        DatabaseProduct::MariaDb => {
            disk.fill(LEFT_BYTES);
            terminals.wait_for_a_failure().await;
            // A terminal that rolls back, or waits for one that does, fails only when there is room again.
            let _ = tokio::time::timeout(NO_ROOM_MAX, terminals.wait_for_failures(3)).await;
        }
    }
    disk.clear();
    terminals.wait_for_successes(20).await;
    terminals.end().await
}

/// Goal: a full disk has a name, nothing waits for room, what was committed is there, what failed is not, and terminals go
/// on in their sessions. A procedure of MariaDB's that the disk ends leaves its transaction open, which the next one would
/// commit.
#[test]
fn a_full_disk_fails_transactions_and_loses_nothing_that_was_committed() {
    let disk = match LoopDisk::mount() {
        Ok(disk) => disk,
        Err(why) => return println!("skipped: {why}"),
    };
    for product in PRODUCTS {
        let database = Database::start_within(&disk.path(), ResourceLimits::default(), product, None);
        database.load().unwrap_or_else(|error| panic!("{error}"));
        let mut before = fresh();
        for form in FORMS {
            let context = database.context(form);
            let (failures, after) = block_on(async {
                let failures = work_on_a_full_disk(&database, &disk, Terminals::start(&context)).await;
                (failures, database.consistent_totals(form).await)
            });
            let what = format!("{product} {form}");
            check_failures(&what, &failures, Outcome::Busy, 53, "SQLSTATE 53100: ");
            check_orders(&before, &after, &context.counts());
            before = after;
        }
    }
}

/// Has the server refuse changes, as one does that is no longer the first of several, or has it accept them.
async fn set_read_only(database: &Database, is_read_only: bool) {
    let value = u8::from(is_read_only);
    match database.product {
        DatabaseProduct::PostgreSql => {
            let set = format!("ALTER SYSTEM SET default_transaction_read_only = {value}");
            database.query_meanwhile(&set).await;
            database.query_meanwhile("SELECT pg_reload_conf()").await;
        }
        DatabaseProduct::MariaDb => {
            database.execute_as_root_meanwhile(&format!("SET GLOBAL read_only = {value}")).await;
        }
    }
}

/// Takes from MariaDB's user the right to change data that are read only, which it has by the recipe, and lets statements wait
/// for locks as briefly as possible: `SET GLOBAL read_only` waits for them, and holds up the transactions that have the locks.
fn obey_read_only(database: &Database) {
    if database.product == DatabaseProduct::MariaDb {
        database.execute_as_root("REVOKE READ_ONLY ADMIN ON *.* FROM 'plimsoll'@'127.0.0.1'");
        database.execute_as_root("SET GLOBAL innodb_lock_wait_timeout = 1");
    }
}

/// Goal: changes are refused by a name and not retried, what only reads goes on, and terminals go on in their sessions when
/// the server accepts changes again.
#[test]
fn a_server_that_becomes_read_only_refuses_changes_until_it_is_no_longer() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        obey_read_only(&database);
        let mut before = fresh();
        for form in FORMS {
            let context = database.context(form);
            let (failures, after) = block_on(async {
                let terminals = Terminals::start(&context);
                terminals.wait_for_successes(5).await;
                set_read_only(&database, true).await;
                terminals.wait_for_failures(3).await;
                // They ask for orders and for stocks.
                terminals.wait_for_successes(2).await;
                set_read_only(&database, false).await;
                terminals.wait_for_successes(20).await;
                (terminals.end().await, database.consistent_totals(form).await)
            });
            let what = format!("{product} {form}");
            // Those that waited for a lock when MariaDB was told.
            let is_timeout = |failure: &Failure| failure.text.contains("Lock wait timeout exceeded");
            let (late, refused): (Vec<Failure>, Vec<Failure>) = failures.into_iter().partition(is_timeout);
            assert!(late.len() <= TERMINALS as usize, "{what}: {late:?}");
            check_failures(&what, &refused, Outcome::WrongStatus, 25, "SQLSTATE 25006: ");
            check_orders(&before, &after, &context.counts());
            before = after;
        }
    }
}

/// The writes per second of a slow disk.
const SLOW_WRITES: u64 = 100;

/// The interval at which the server is asked what its sessions wait for.
const ACCOUNTS: usize = 40;

/// Goal: sessions that wait for the log are seen, of PostgreSQL with those that they hold back, and nothing else happens
/// to them.
#[test]
fn sessions_on_a_slow_disk_wait_for_the_log() {
    let folder = Path::new("/var/tmp");
    let Some(device) = observe::disk_of(folder) else {
        return println!("skipped: `{}` is on no disk whose traffic can be limited", folder.display());
    };
    let disk = DiskLimits { device, writes: Some(SLOW_WRITES), ..DiskLimits::default() };
    let limits = ResourceLimits { disk: Some(disk), ..ResourceLimits::default() };
    for product in PRODUCTS {
        let database = Database::start_within(folder, limits.clone(), product, None);
        if database.sut.held() != limits {
            return println!("skipped: this user may not limit the traffic of a server with its disk");
        }
        database.load().unwrap_or_else(|error| panic!("{error}"));
        let context = database.context(OrderSql::Stored);
        let (accounts, failures, after) = block_on(async {
            let terminals = Terminals::start(&context);
            terminals.wait_for_successes(2).await;
            let mut control = DatabaseControl::connect(&database.server).await.unwrap();
            let mut accounts = Vec::new();
            for _ in 0..ACCOUNTS {
                accounts.push(control.sessions().await.unwrap());
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
            let failures = terminals.end().await;
            (accounts, failures, database.consistent_totals(OrderSql::Stored).await)
        });
        assert!(failures.is_empty(), "{product}: {failures:?}");
        let sum = |of: fn(&SessionCounts) -> u64| accounts.iter().map(of).sum::<u64>();
        let [active, at_lock, at_log] =
            [sum(|one| one.active), sum(|one| one.at_lock), sum(|one| one.at_log)];
        let text = format!("{product}: of {active} sessions {at_log} at the log, {at_lock} at locks");
        // One of them at least on average.
        assert!(ACCOUNTS as u64 <= at_log, "{text}");
        // MariaDB shows only a part of them as committing.
        if product == DatabaseProduct::PostgreSql {
            assert!(active <= 2 * (at_log + at_lock), "{text}");
        }
        check_orders(&fresh(), &after, &context.counts());
    }
}
