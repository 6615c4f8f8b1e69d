//! The data of a server: made once, restored, removed.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use orders::wire::{ExpectedData, LOAD_ANEW, LOAD_RESTORE, OrderEntryOperation, OrderEntryStatus};
use orders::{DataScale, TransactionType};
use orderstore::StoreError;
use servers::orders::{OrderOptions, OrderServer, OrderServerError};

use super::client::{Client, User, on_disk, options, start};

const GOLDEN: &str = "order-entry-2-100-1.golden";

fn names(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the file that transactions change; there is no other.
pub(crate) fn only_file(parent: &Path) -> PathBuf {
    let is_server = |name: &String| name.starts_with("order-server-");
    let directory = parent.join(names(parent).into_iter().find(is_server).unwrap());
    let files: Vec<String> = names(&directory).into_iter().filter(|name| name.ends_with(".db")).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    directory.join(file)
}

/// Starts a server that must find a golden copy.
fn start_again(options: OrderOptions) -> OrderServer {
    OrderServer::start(options, |n_rows| panic!("{n_rows} rows are loaded again")).unwrap()
}

fn change(server: &OrderServer) {
    let mut client = Client::open(server, 0);
    let mut user = User::new(0, &client.hello());
    for kind in [TransactionType::NewOrder, TransactionType::Payment, TransactionType::Delivery] {
        client.transact(&user.input_of(kind)).unwrap();
    }
    assert_eq!(client.violated(), [11]);
}

#[test]
fn a_golden_copy_is_made_once_and_everything_else_is_removed() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let first = Client::open(&server, 0).hello();
    let totals = Client::open(&server, 0).totals();
    change(&server);
    server.stop().unwrap();
    assert_eq!(names(parent.path()), [GOLDEN]);
    let golden = parent.path().join(GOLDEN);
    let before = fs::metadata(&golden).unwrap();
    // The directory that a killed server has left.
    let left = parent.path().join("order-server-1-0");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("data-1.db"), "data").unwrap();

    let server = start_again(options(parent.path()));
    let mut client = Client::open(&server, 0);
    let again = client.hello();
    assert_eq!((again.loaded_at, again.rows, again.is_untouched), (first.loaded_at, first.rows, true));
    assert_eq!(client.totals(), totals);
    assert_eq!(client.violated(), [0; 0]);
    assert!(!left.exists());
    drop(server);
    let after = fs::metadata(&golden).unwrap();
    assert_eq!((after.ino(), after.len(), after.mtime()), (before.ino(), before.len(), before.mtime()));
    assert_eq!(names(parent.path()), [GOLDEN]);
}

/// A copy that is cut off, one that is something else, and one of other data under this name are replaced.
#[test]
fn a_golden_copy_that_is_not_right_is_made_again() {
    let parent = on_disk();
    start(options(parent.path())).stop().unwrap();
    let golden = parent.path().join(GOLDEN);
    let whole = fs::metadata(&golden).unwrap().len();
    start(OrderOptions { seed: 2, ..options(parent.path()) }).stop().unwrap();
    let other = parent.path().join("order-entry-2-100-2.golden");
    let damages: [&dyn Fn(); 3] = [
        &|| fs::OpenOptions::new().write(true).open(&golden).unwrap().set_len(whole / 2).unwrap(),
        &|| fs::write(&golden, "no database").unwrap(),
        &|| assert_ne!(fs::copy(&other, &golden).unwrap(), 0),
    ];
    for damage in damages {
        damage();
        let mut n_rows = 0;
        let loaded = |rows| {
            n_rows = rows;
            ControlFlow::Continue(())
        };
        let server = OrderServer::start(options(parent.path()), loaded).unwrap();
        let mut client = Client::open(&server, 0);
        assert_eq!((client.hello().seed, client.violated()), (1, vec![]));
        drop(server);
        assert!(0 < n_rows);
        assert_eq!(fs::metadata(&golden).unwrap().len(), whole);
    }
}

#[test]
fn data_come_back_to_their_first_state() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::open(&server, 0);
    let mut other = Client::open(&server, 1);
    let first = client.hello();
    let totals = client.totals();
    let golden = parent.path().join(GOLDEN);
    let inode = || fs::metadata(&golden).unwrap().ino();
    let made = inode();
    for (way, is_anew) in [(LOAD_RESTORE, false), (LOAD_RESTORE, false), (LOAD_ANEW, true)] {
        change(&server);
        assert_ne!(other.totals(), totals);
        let loaded = client.load(way);
        assert_eq!((loaded.rows, loaded.is_untouched), (first.rows, true));
        // Threads with the former data open notice, and so do sessions of before.
        for client in [&mut client, &mut other] {
            assert_eq!((client.totals(), client.violated()), (totals, vec![]));
        }
        assert_eq!(inode() != made, is_anew);
        only_file(parent.path());
    }
}

/// While there are no data, everything that needs them says so; the next load may succeed, and then all threads have them.
#[test]
fn a_load_that_fails_leaves_no_data_until_the_next_one() {
    let parent = on_disk();
    let server = start(OrderOptions { readers: 1, ..options(parent.path()) });
    let mut client = Client::open(&server, 0);
    let mut user = User::new(0, &client.hello());
    let golden = parent.path().join(GOLDEN);
    fs::remove_file(&golden).unwrap();
    fs::create_dir_all(golden.join("not-empty")).unwrap();
    assert_eq!(client.status(OrderEntryOperation::Load, LOAD_RESTORE, &[]), OrderEntryStatus::StorageFailed);
    for kind in TransactionType::ALL {
        assert_eq!(client.transact(&user.input_of(kind)), Err(OrderEntryStatus::NoData));
    }
    assert_eq!(client.status(OrderEntryOperation::Check, 1, &[]), OrderEntryStatus::NoData);
    assert_eq!(client.status(OrderEntryOperation::Hello, 0, &[]), OrderEntryStatus::NoData);
    fs::remove_dir_all(&golden).unwrap();
    assert!(client.load(LOAD_RESTORE).is_untouched);
    for kind in TransactionType::ALL {
        client.transact(&user.input_of(kind)).unwrap();
    }
}

#[test]
fn other_data_than_expected_are_told() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::connect(server.address());
    let mut hello = |warehouses, divisor| {
        let mut payload = Vec::new();
        ExpectedData { warehouses, divisor }.write(&mut payload);
        client.status(OrderEntryOperation::Hello, 0, &payload)
    };
    assert_eq!(hello(3, 100), OrderEntryStatus::OtherData);
    assert_eq!(hello(2, 50), OrderEntryStatus::OtherData);
    assert_eq!(hello(2, 100), OrderEntryStatus::Ok);
}

fn refused(options: OrderOptions) -> OrderServerError {
    OrderServer::start(options, |_| ControlFlow::Break(())).unwrap_err()
}

/// A server that does not start, for whatever reason, leaves nothing behind.
#[test]
fn servers_that_cannot_have_their_data_do_not_start() {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let error = refused(options(memory.path())).to_string();
    assert!(error.contains("is on tmpfs"), "{error}");
    let parent = on_disk();
    let scale = DataScale::new(100_000, 1).unwrap();
    let error = refused(OrderOptions { scale, ..options(parent.path()) }).to_string();
    assert!(error.starts_with("the data needs 16") && error.contains("hint: free some space"), "{error}");
    let stopped = refused(options(parent.path()));
    assert!(matches!(stopped, OrderServerError::Store(StoreError::Stopped)), "{stopped:?}");
    for folder in [memory.path(), parent.path()] {
        assert_eq!(names(folder), [""; 0]);
    }
}
