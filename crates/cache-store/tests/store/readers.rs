//! Memory behind readers: a body counts until its last reader has gone, and what is read is not evicted.

use cache_policy::Settings;
use cache_store::{Purge, Removal, Store};

use crate::disk::open;
use crate::fixture::{NOW, bodies, fetch, insert, key, object, replace};

const LIMIT: u64 = 4 << 20;

/// The size of a large body: seven of them fit.
const LARGE: usize = 512 << 10;

/// Returns the bodies in memory under a path, as readers have them.
fn lent(store: &Store, path: &str) -> impl Iterator<Item = bytes::Bytes> {
    store.lookup(key(path).as_str()).objects.into_iter().map(|object| object.lend())
}

fn large(store: &Store, path: &str) -> bool {
    insert(store, &object(store, path, &[1; LARGE]))
}

/// Fills a store, and returns what readers hold of it.
fn fill_with_readers(store: &Store) -> Vec<bytes::Bytes> {
    let mut held = Vec::new();
    for number in 0.. {
        let path = format!("/{number}");
        if !large(store, &path) {
            break;
        }
        // A reader holds a part, not the object: what is left to send.
        held.extend(lent(store, &path).map(|body| body.slice(LARGE / 2..)));
    }
    assert_eq!(held.len(), 7);
    held
}

#[test]
fn what_clients_read_is_not_evicted_and_leaves_no_room_for_more() {
    let store = Store::in_memory(LIMIT);
    assert!(insert(&store, &object(&store, "/small", b"used")));
    let mut held = fill_with_readers(&store);
    assert!(!store.make_room(key("/more").as_str(), LARGE as u64) && !large(&store, "/more"));
    let usage = store.usage();
    assert_eq!((usage.objects, usage.evicted, usage.refused), (8, 0, 2), "nothing goes in vain");
    assert_eq!(bodies(&store, "/small"), ["used"]);
    assert_eq!(bodies(&store, "/0").len(), 1, "what is read can be read by others");
    assert!(7 * LARGE as u64 <= store.held_bytes() && usage.bytes <= LIMIT, "{usage:?}");
    // One reader leaves.
    held.swap_remove(3);
    assert!(store.make_room(key("/more").as_str(), LARGE as u64) && large(&store, "/more"));
    assert!(bodies(&store, "/3").is_empty(), "evicted in its place");
    drop(held);
    assert_eq!(store.held_bytes(), 0);
}

/// Goal: however a body leaves the store, it counts as long as it is read.
#[test]
fn a_body_that_is_stored_no_longer_counts_until_its_last_reader_has_gone() {
    let purged = |store: &Store, _| {
        store.purge(&Purge::All, Removal::Delete, NOW);
    };
    let superseded = |store: &Store, _| assert!(insert(store, &object(store, "/a", b"new")));
    let replaced = |store: &Store, old| assert!(replace(store, &old, &object(store, "/a", b"new")));
    let leave: [fn(&Store, std::sync::Arc<cache_store::StoredResponse>); 3] = [purged, superseded, replaced];
    for leave in leave {
        let store = Store::in_memory(LIMIT);
        let old = object(&store, "/a", &[1; LARGE]);
        assert!(insert(&store, &old));
        let reader = old.lend();
        let other = old.lend().slice(LARGE - 1..);
        let before = store.usage().bytes;
        leave(&store, old);
        assert!(before - 4096 <= store.usage().bytes, "{} of {before}", store.usage().bytes);
        drop(reader);
        assert!(LARGE as u64 <= store.held_bytes(), "the other reads the last byte");
        drop(other);
        // The new response, and what tables have for it, are small.
        assert!(store.usage().bytes < before - LARGE as u64 + 4096);
        assert_eq!(store.held_bytes(), 0);
    }
}

#[test]
fn an_updated_object_shares_its_body_which_counts_once() {
    let store = Store::in_memory(LIMIT);
    let old = object(&store, "/a", &[1; LARGE]);
    assert!(insert(&store, &old));
    let before = store.usage().bytes;
    let reader = old.lend();
    store.purge(&Purge::All, Removal::Expire, NOW);
    drop(old);
    assert_eq!(store.usage().bytes, before);
    drop(reader);
    assert_eq!((store.usage().bytes, store.held_bytes()), (before, 0));
}

/// Goal: nothing that is counted is lost or counted twice. Method: readers of responses that are evicted, purged,
/// superseded and refused, at random, leave in the end.
#[test]
fn memory_is_within_its_limit_with_readers_and_without() {
    let store = Store::in_memory(LIMIT);
    let mut readers = std::collections::VecDeque::new();
    for number in 0..2000_usize {
        let path = format!("/{}", units::mix_bits(number as u64) % 60);
        let object = object(&store, &path, &vec![7; number * 7919 % 200_000]);
        if store.insert(&object, store.since(object.key.as_str()), &Settings::default()) {
            readers.push_back(object.lend());
        }
        drop(object);
        readers.truncate(14);
        if number % 3 == 0 {
            readers.pop_front();
        }
        if number % 100 == 0 {
            store.purge(&Purge::Key(key("/7").as_str().into()), Removal::Delete, NOW);
        }
        assert!(store.usage().bytes <= LIMIT, "{number}");
    }
    readers.clear();
    assert_eq!(store.held_bytes(), 0);
    store.purge(&Purge::All, Removal::Delete, NOW);
    let usage = store.usage();
    let empty = Store::in_memory(LIMIT).usage();
    assert!(usage.bytes < empty.bytes + 100_000, "tables alone: {} and {}", usage.bytes, empty.bytes);
}

/// Goal: hits on disk take no memory beyond the limit either.
#[test]
fn what_clients_read_leaves_no_room_for_objects_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), 64 << 20);
    // Larger ones have no place in the queue for the disk.
    let insert = |path: &str| insert(&store, &object(&store, path, &[1; 200_000]));
    assert!(insert("/on-disk"));
    store.flush();
    let mut held = Vec::new();
    for number in 0..40 {
        let path = format!("/{number}");
        if insert(&path) {
            store.flush();
            held.extend(lent(&store, &path));
        }
    }
    assert!(bodies(&store, "/on-disk").is_empty(), "evicted");
    assert!(fetch(&store, "/on-disk").is_empty());
    assert_eq!(store.usage().disk.unwrap().skipped, 1);
    drop(held);
    assert_eq!(fetch(&store, "/on-disk").len(), 1);
}
