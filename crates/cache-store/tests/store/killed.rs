//! A process that is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cache_store::{Purge, Removal, Store};

use crate::disk::open;
use crate::fixture::{NOW, fetch, insert, key, object};

/// The variable that tells a child process where to write.
const DIRECTORY: &str = "PLIMSOLL_TEST_STORE_TO_BE_KILLED";

/// The number of paths that are written, over and over.
const PATHS: u64 = 40;

const DISK: u64 = 32 << 20;

/// Returns a body that identifies itself: path and version, then bytes that follow from both.
fn body(path: u64, version: u64) -> Vec<u8> {
    let seed = units::mix_bits(path << 32 | version);
    let length = 1000 + seed % 150_000;
    let mut body = [path.to_le_bytes(), version.to_le_bytes()].concat();
    body.extend((0..length / 8).flat_map(|at| units::mix_bits(seed ^ at).to_le_bytes()));
    body
}

/// Returns the version of a body found under a path, after comparing it byte by byte.
fn version_of(path: u64, found: &[u8]) -> u64 {
    let version = u64::from_le_bytes(found[8..16].try_into().unwrap());
    assert!(found == body(path, version), "path {path}, version {version}: wrong bytes");
    version
}

/// Not a test of its own: the child's work until it is killed. Every third version is purged, and reported.
#[test]
fn write_until_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    let store = open(&directory, DISK);
    let first = std::env::var("FIRST").unwrap().parse().unwrap();
    let mut out = std::io::stdout().lock();
    for version in first.. {
        for path in 0..PATHS {
            let name = format!("/{path}");
            insert(&store, &object(&store, &name, &body(path, version)));
            if (path + version) % 3 == 0 {
                store.purge(&Purge::Key(key(&name).as_str().into()), Removal::Delete, NOW);
                writeln!(out, "purged {path} {version}").unwrap();
            }
        }
    }
}

fn child(directory: &Path, first: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::write_until_killed", "--nocapture"]);
    command.env(DIRECTORY, directory).env("FIRST", first.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Runs a child until it has reported so many lines, kills it, and returns the last purged version of each path.
fn purged_until_killed(directory: &Path, first: u64, n_lines: usize) -> Vec<Option<u64>> {
    let mut child = child(directory, first);
    let mut purged = vec![None; PATHS as usize];
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut n_left = n_lines;
    for line in lines {
        if let Some((path, version)) = line.split_once("purged ").and_then(|(_, rest)| rest.split_once(' ')) {
            let path: usize = path.parse().unwrap();
            purged[path] = version.parse().ok().max(purged[path]);
        }
        n_left = n_left.saturating_sub(1);
        if n_left == 0 {
            // On Linux this is `kill -9`; the child's earlier output is read to its end.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    purged
}

/// Goal: after `kill -9` no wrong body is found, and no purged one. Method: kill a child that writes and purges at
/// different moments, open its directory, compare all bodies, and go on from there.
#[test]
fn a_killed_process_leaves_a_consistent_store() {
    let directory = tempfile::tempdir().unwrap();
    let mut n_found = 0;
    let mut purged = vec![None; PATHS as usize];
    for round in 0..6_u64 {
        let latest = purged_until_killed(directory.path(), 1 + round * 100_000, 1 + 37 * round as usize);
        for (known, latest) in purged.iter_mut().zip(latest) {
            *known = latest.max(*known);
        }
        let store: Store = open(directory.path(), DISK);
        for path in 0..PATHS {
            for object in fetch(&store, &format!("/{path}")) {
                let version = version_of(path, &object.body);
                assert!(purged[path as usize] < Some(version), "path {path}: version {version} was purged");
                n_found += 1;
            }
        }
        assert_eq!(store.usage().disk.unwrap().torn, 0, "what was cut is known from the start");
    }
    assert!(0 < n_found, "nothing was found in any round");
}
