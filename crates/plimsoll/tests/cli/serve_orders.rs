//! The built-in order-entry server as a program: its data, its end, and mistakes in its arguments.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use orders::wire::{DataDescription, MAGIC, OrderEntryOperation, VERSION};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{Fixture, RunningCommand};

const GOLDEN: &str = "order-entry-1-100-7.golden";

/// Lengths of the headers of requests and replies.
const REQUEST_BYTES: usize = 32;
const REPLY_BYTES: usize = 56;

fn on_disk() -> TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// Starts a server with a small warehouse; returns it with the data that it describes.
fn serve(fixture: &Fixture, directory: &Path, more: &[&str]) -> (RunningCommand, DataDescription) {
    let directory = directory.to_str().unwrap();
    let arguments = ["serve", "orders", "--warehouses", "1", "--seed", "7", "--directory", directory];
    let server = fixture.start(&[&arguments[..], more].concat());
    let address = server.address();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(address).unwrap();
    let mut hello = [0; REQUEST_BYTES];
    hello[..4].copy_from_slice(&MAGIC.to_le_bytes());
    hello[4..6].copy_from_slice(&[VERSION, OrderEntryOperation::Hello as u8]);
    stream.write_all(&hello).unwrap();
    let mut header = [0; REPLY_BYTES];
    stream.read_exact(&mut header).unwrap();
    assert_eq!(header[6..8], [0, 0], "the status");
    let mut payload = vec![0; usize::from(header[24]) + 256 * usize::from(header[25])];
    stream.read_exact(&mut payload).unwrap();
    (server, DataDescription::read(&payload).unwrap())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The golden copy stays, and everything else is removed: at the end, by a signal, and by the next server after a kill.
#[test]
fn data_are_made_once_and_copies_are_removed() {
    let fixture = Fixture::new();
    let directory = on_disk();
    let (server, first) = serve(&fixture, directory.path(), &["--synchronous", "full", "--readers", "3"]);
    assert_eq!((first.warehouses, first.divisor, first.seed, first.readers), (1, 100, 7, 3));
    assert!(first.database.as_str().ends_with("synchronous full"), "{}", first.database);
    server.end().expect(0);
    assert_eq!(names(directory.path()), [GOLDEN]);

    let (server, second) = serve(&fixture, directory.path(), &[]);
    assert_eq!((second.loaded_at, second.rows), (first.loaded_at, first.rows));
    server.signal(Signal::TERM);
    server.end().expect(0);
    assert_eq!(names(directory.path()), [GOLDEN]);

    let (server, _) = serve(&fixture, directory.path(), &[]);
    server.signal(Signal::KILL);
    assert_eq!(server.end().code, None);
    assert_eq!(names(directory.path()).len(), 2, "{:?}", names(directory.path()));
    let (server, _) = serve(&fixture, directory.path(), &[]);
    server.end().expect(0);
    assert_eq!(names(directory.path()), [GOLDEN]);
}

#[test]
fn mistakes_have_a_remedy() {
    let fixture = Fixture::new();
    let directory = on_disk();
    let path = directory.path().to_str().unwrap();
    let serve = |arguments: &[&str]| {
        fixture.run(&[&["serve", "orders", "--directory", path][..], arguments].concat())
    };
    serve(&["--divisor", "3"]).expect(2).expect_stderr("expected a divisor of [1, 2, 4, 5, ");
    serve(&["--warehouses", "0"]).expect(2).expect_stderr("expected 1 to 100000 warehouses, found 0");
    serve(&["--fault", "gabage"]).expect(2).expect_stderr("hint: did you mean `garbage`?");
    serve(&["--warehouses", "100000", "--divisor", "1"])
        .expect(4)
        .expect_stderr("more than nine tenths of the free space");
    serve(&["--listen", "192.0.2.1:1", "--warehouses", "1"]).expect(4).expect_stderr("order-entry server at");
    assert_eq!(names(directory.path()), ["order-entry-1-100-1.golden"]);
}
