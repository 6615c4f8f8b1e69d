//! The disk tier: found after a restart, or never again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cache_policy::Settings;
use cache_store::disk::{DiskError, DiskSettings};
use cache_store::{Pattern, Purge, Removal, Store, StoreSettings};

use crate::fixture::{NOW, ResponseSpec, bodies, fetch, insert, key, make, object, replace};

/// Opens a store with a tier on disk.
pub(crate) fn open(directory: &Path, disk_bytes: u64) -> Store {
    let disk = DiskSettings { directory: directory.to_owned(), bytes: disk_bytes };
    let settings = StoreSettings { bytes: 4 << 20, disk: Some(disk), ..StoreSettings::default() };
    Store::open(&settings).unwrap()
}

const DISK: u64 = 64 << 20;

/// Returns the segments of a directory.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut segments: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "segment")).collect();
    segments.sort();
    segments
}

fn fetched(store: &Store, path: &str) -> Vec<Vec<u8>> {
    fetch(store, path).iter().map(|object| object.body.to_vec()).collect()
}

#[test]
fn objects_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    let lines = ["Cache-Control: max-age=60", "ETag: \"1\"", "Surrogate-Key: t", "Age: 7"];
    let written = make(&store, ResponseSpec { path: "/a", lines: &lines, request: &[] }, &[5; 100_000]);
    insert(&store, &written);
    insert(&store, &object(&store, "/empty", b""));
    drop(store);
    let store = open(directory.path(), DISK);
    assert!(store.is_on_disk(key("/a").as_str()) && !store.is_on_disk(key("/b").as_str()));
    let found = fetch(&store, "/a");
    assert_eq!(found.len(), 1);
    let again = &found[0];
    assert_eq!((&again.stored, &again.lines, &again.body), (&written.stored, &written.lines, &written.body));
    assert_eq!((&again.tags, again.origin_time), (&written.tags, written.origin_time));
    assert_eq!(fetched(&store, "/empty"), [b""]);
    assert_eq!(store.usage().disk.unwrap().torn, 0);
    assert_eq!(bodies(&store, "/a").len(), 1, "it is in memory again");
}

#[test]
fn objects_evicted_from_memory_come_from_disk() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for number in 0..100_u8 {
        insert(&store, &object(&store, &format!("/{number}"), &[number; 100_000]));
        store.flush();
    }
    assert!(60 < store.usage().evicted);
    for number in 0..100_u8 {
        let path = format!("/{number}");
        let found = if bodies(&store, &path).is_empty() { fetched(&store, &path) } else { continue };
        assert_eq!(found, [vec![number; 100_000]]);
    }
    let usage = store.usage();
    assert!(usage.bytes <= usage.bytes_max);
    assert_eq!(usage.disk.unwrap().dropped, 0);
}

#[test]
fn objects_are_found_while_queued() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for number in 0..20_u8 {
        insert(&store, &object(&store, "/a", &[number; 1000]));
        assert_eq!(fetched(&store, "/a"), [[number; 1000]]);
    }
}

#[test]
fn an_update_writes_only_a_head() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    let old = object(&store, "/a", &[1; 200_000]);
    insert(&store, &old);
    store.flush();
    let before = store.usage().disk.unwrap().bytes;
    let mut stored = old.stored.clone();
    stored.expire(NOW);
    let new = std::sync::Arc::new(old.updated(stored.clone(), old.lines.clone()));
    assert!(replace(&store, &old, &new));
    store.flush();
    assert!(store.usage().disk.unwrap().bytes < before + 2000);
    drop(store);
    let found = fetch(&open(directory.path(), DISK), "/a");
    assert_eq!((found.len(), &found[0].stored, &found[0].body), (1, &stored, &new.body));
}

#[test]
fn a_new_response_replaces_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    insert(&store, &object(&store, "/a", b"old"));
    insert(&store, &object(&store, "/a", b"new"));
    for language in ["de", "en", "de"] {
        let request = [&*format!("X: {language}")];
        let spec =
            ResponseSpec { path: "/v", lines: &["Vary: X", "Cache-Control: max-age=9"], request: &request };
        insert(&store, &make(&store, spec, language.as_bytes()));
    }
    store.flush();
    assert_eq!(fetched(&store, "/a"), [b"new"]);
    drop(store);
    let store = open(directory.path(), DISK);
    assert_eq!(fetched(&store, "/a"), [b"new"]);
    assert_eq!(fetched(&store, "/v"), [b"en", b"de"]);
}

#[test]
fn purged_objects_stay_purged() {
    for (what, how) in [
        (Purge::Key(key("/a/1").as_str().into()), Removal::Delete),
        (Purge::Key(key("/a/1").as_str().into()), Removal::Expire),
        (Purge::Key(key("/a/1").as_str().into()), Removal::Invalidate),
        (Purge::Prefix(key("/a/").as_str().into()), Removal::Delete),
        (Purge::Pattern(Pattern::new("*/1")), Removal::Expire),
        (Purge::Tag("t".into()), Removal::Delete),
        (Purge::All, Removal::Delete),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path(), DISK);
        let tagged = ["Surrogate-Key: t", "Cache-Control: max-age=60"];
        insert(&store, &make(&store, ResponseSpec { path: "/a/1", lines: &tagged, request: &[] }, b"old"));
        insert(&store, &object(&store, "/b/2", b"other"));
        store.purge(&what, how, NOW);
        assert!(fetched(&store, "/a/1").is_empty(), "{what:?} at once");
        store.flush();
        drop(store);
        let store = open(directory.path(), DISK);
        assert!(fetched(&store, "/a/1").is_empty(), "{what:?} after a restart");
        assert_eq!(fetched(&store, "/b/2").len(), usize::from(what != Purge::All), "{what:?}");
        // Objects stored after the purge count.
        insert(&store, &object(&store, "/a/1", b"new"));
        drop(store);
        assert_eq!(fetched(&open(directory.path(), DISK), "/a/1"), [b"new"], "{what:?}");
    }
}

/// Goal: an object that was superseded does not come back when the newer one is purged by a tag of its own.
#[test]
fn a_purge_by_tag_restores_no_superseded_object() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    insert(&store, &object(&store, "/a", b"old"));
    store.flush();
    let tagged = ["Surrogate-Key: t", "Cache-Control: max-age=60"];
    insert(&store, &make(&store, ResponseSpec { path: "/a", lines: &tagged, request: &[] }, b"new"));
    store.flush();
    store.purge(&Purge::Tag("t".into()), Removal::Delete, NOW);
    assert!(fetched(&store, "/a").is_empty());
    drop(store);
    assert!(fetched(&open(directory.path(), DISK), "/a").is_empty());
}

/// Goal: with less memory than before the newest objects are found, not the oldest. Method: more objects than the
/// table of the second process has room for.
#[test]
fn with_less_memory_the_newest_objects_are_found() {
    const OBJECTS: usize = 3000;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for number in 0..OBJECTS {
        insert(&store, &object(&store, &format!("/{number}"), &[7; 3000]));
        store.flush();
    }
    assert_eq!(store.usage().disk.unwrap().objects, OBJECTS as u64);
    drop(store);
    let disk = DiskSettings { directory: directory.path().to_owned(), bytes: DISK };
    let settings = StoreSettings { bytes: 1 << 20, disk: Some(disk), ..StoreSettings::default() };
    let store = Store::open(&settings).unwrap();
    let found = store.usage().disk.unwrap().objects;
    assert!(500 < found && found < OBJECTS as u64, "{found}");
    assert_eq!(fetched(&store, &format!("/{}", OBJECTS - 1)).len(), 1);
    assert!(fetched(&store, "/0").is_empty());
}

/// Goal: a purge that comes while an object is being stored, updated or read leaves nothing of it, neither in memory
/// nor on disk. Method: both at once, many times, the one more or less ahead of the other.
#[test]
fn a_concurrent_purge_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let disk = DiskSettings { directory: directory.path().to_owned(), bytes: DISK };
    let settings = StoreSettings { bytes: 1 << 18, disk: Some(disk), ..StoreSettings::default() };
    let store = Store::open(&settings).unwrap();
    let key = key("/a");
    let policy = Settings::default();
    let purge = |what: &Purge| store.purge(what, Removal::Delete, NOW);
    let evict = || {
        (0..20).for_each(|number| {
            insert(&store, &object(&store, &format!("/{number}"), &[0; 20_000]));
        });
    };
    for round in 0..600 {
        let old = object(&store, "/a", b"old");
        let new = object(&store, "/a", b"new");
        let what =
            if round % 2 == 0 { Purge::Key(key.as_str().into()) } else { Purge::Prefix(key.as_str().into()) };
        let since = store.since(key.as_str());
        if 0 < round % 3 {
            store.insert(&old, since, &policy);
        }
        if round % 3 == 2 {
            evict();
        }
        let is_purging = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                is_purging.store(true, Ordering::Release);
                purge(&what)
            });
            while !is_purging.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            (0..round).for_each(|_| std::hint::spin_loop());
            match round % 3 {
                0 => store.insert(&old, since, &policy),
                1 => store.replace(&old, &new, since),
                _ => fetch(&store, "/a").is_empty(),
            }
        });
        assert!(bodies(&store, "/a").is_empty(), "in memory, round {round}");
        assert!(fetched(&store, "/a").is_empty(), "on disk, round {round}");
    }
}

/// Goal: many purges by tag remove what they match, and nothing else. Method: more of them than are remembered.
#[test]
fn many_unkeyed_purges_leave_other_objects() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for path in ["/1", "/2", "/3"] {
        let tag = format!("Surrogate-Key: {path}");
        let lines = [&*tag, "Cache-Control: max-age=60"];
        insert(&store, &make(&store, ResponseSpec { path, lines: &lines, request: &[] }, path.as_bytes()));
    }
    for number in 0..3000 {
        let tag = if number == 77 { "/2".into() } else { format!("none{number}") };
        store.purge(&Purge::Tag(tag), Removal::Delete, NOW);
        if number % 100 == 0 {
            // Gives the writer time to compare everything; without it, everything is removed in doubt.
            store.flush();
        }
    }
    let found = |store: &Store| ["/1", "/2", "/3"].map(|path| fetched(store, path).len());
    assert_eq!(found(&store), [1, 0, 1]);
    drop(store);
    assert_eq!(found(&open(directory.path(), DISK)), [1, 0, 1]);
}

#[test]
fn the_disk_limit_holds_and_the_newest_stay() {
    const SMALL: u64 = 16 << 20;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), SMALL);
    for number in 0..300_u32 {
        insert(&store, &object(&store, &format!("/{number}"), &number.to_le_bytes().repeat(25_000)));
        store.flush();
        let usage = store.usage().disk.unwrap();
        assert!(usage.bytes <= SMALL, "{number}");
    }
    let on_disk: u64 = segments(directory.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(SMALL / 10 * 8 < on_disk && on_disk <= SMALL, "{on_disk}");
    drop(store);
    let store = open(directory.path(), SMALL);
    assert!(fetched(&store, "/0").is_empty());
    for number in 200..300_u32 {
        assert_eq!(fetched(&store, &format!("/{number}")), [number.to_le_bytes().repeat(25_000)], "{number}");
    }
}

/// Goal: never a wrong body, wherever a file ends. Method: cut a small segment after every byte.
#[test]
fn a_truncated_segment_gives_intact_objects_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for path in ["/1", "/2", "/3"] {
        insert(&store, &object(&store, path, path.repeat(20).as_bytes()));
    }
    store.flush();
    drop(store);
    let [file] = &segments(directory.path())[..] else { panic!("one segment") };
    let whole = fs::read(file).unwrap();
    let mut found_before = 0;
    for end in 0..=whole.len() {
        fs::write(file, &whole[..end]).unwrap();
        let store = open(directory.path(), DISK);
        let mut n_found = 0;
        for path in ["/1", "/2", "/3"] {
            for body in fetched(&store, path) {
                assert_eq!(body, path.repeat(20).as_bytes(), "{end}");
                n_found += 1;
            }
        }
        assert!(found_before <= n_found, "{end}");
        assert_eq!(store.usage().disk.unwrap().torn, 0, "{end}: what is cut is known from the start");
        found_before = n_found;
    }
    assert_eq!(found_before, 3);
}

/// Goal: never a wrong body, whatever byte changed. Method: flip every byte of a small segment in turn.
#[test]
fn a_corrupt_segment_gives_intact_objects_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    for path in ["/1", "/2"] {
        insert(&store, &object(&store, path, path.repeat(20).as_bytes()));
    }
    store.flush();
    drop(store);
    let [file] = &segments(directory.path())[..] else { panic!("one segment") };
    let whole = fs::read(file).unwrap();
    let mut n_found = 0;
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        fs::write(file, &changed).unwrap();
        let store = open(directory.path(), DISK);
        for path in ["/1", "/2"] {
            for object in fetch(&store, path) {
                assert_eq!(object.body, path.repeat(20).as_bytes(), "{place}");
                assert!(object.stored.is_fresh(NOW), "{place}");
                n_found += 1;
            }
        }
    }
    // A change in the second record leaves the first; one in a body leaves the record after it.
    assert!(whole.len() / 2 <= n_found && n_found < whole.len() * 2, "{n_found} of {}", whole.len());
}

#[test]
fn a_corrupt_body_is_detected_on_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    insert(&store, &object(&store, "/a", &[1; 1000]));
    store.flush();
    let [file] = &segments(directory.path())[..] else { panic!("one segment") };
    let mut bytes = fs::read(file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(file, &bytes).unwrap();
    assert!(fetched(&store, "/a").is_empty());
    assert_eq!(store.usage().disk.unwrap().torn, 1);
    assert!(!store.is_on_disk(key("/a").as_str()), "it is not tried again");
}

#[test]
fn a_directory_serves_one_process_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    let settings = |bytes| {
        let disk = DiskSettings { directory: directory.path().to_owned(), bytes };
        StoreSettings { disk: Some(disk), ..StoreSettings::default() }
    };
    assert!(matches!(Store::open(&settings(DISK)), Err(DiskError::InUse(_))));
    drop(store);
    assert!(matches!(Store::open(&settings(1)), Err(DiskError::TooSmall { found: 1, .. })));
    assert!(Store::open(&settings(DISK)).is_ok());
}

#[test]
fn fetches_before_a_removal_are_not_written_to_disk() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), DISK);
    let before = store.since(key("/a").as_str());
    store.invalidate(key("/a").as_str(), NOW);
    let late = object(&store, "/a", b"old");
    assert!(!store.insert(&late, before, &Settings::default()));
    assert!(fetched(&store, "/a").is_empty());
}
