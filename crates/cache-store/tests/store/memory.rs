//! The memory tier: insertion, replacement, purges and limits.

use std::sync::Arc;

use cache_policy::{HitForMiss, NotStored, Settings};
use cache_store::{Pattern, Purge, Removal, Store};
use units::WallTime;

use crate::fixture::{NOW, ResponseSpec, bodies, insert, key, make, object, replace};

const LIMIT: u64 = 4 << 20;

#[test]
fn inserted_objects_are_found_under_their_key_only() {
    let store = Store::in_memory(LIMIT);
    assert!(insert(&store, &object(&store, "/a", b"1")) && insert(&store, &object(&store, "/b", b"2")));
    assert_eq!((bodies(&store, "/a"), bodies(&store, "/b")), (vec!["1".into()], vec!["2".into()]));
    assert!(bodies(&store, "/c").is_empty());
}

#[test]
fn a_superseding_response_inherits_hits() {
    let store = Store::in_memory(LIMIT);
    let old = object(&store, "/a", b"old");
    let new = object(&store, "/a", b"new");
    insert(&store, &old);
    old.note_hit();
    insert(&store, &new);
    assert_eq!((bodies(&store, "/a"), new.hits()), (vec!["new".into()], 1));
    let usage = store.usage();
    assert_eq!((usage.objects, usage.inserted, usage.superseded, usage.evicted), (1, 2, 1, 0));
    assert_eq!(usage.body_bytes, 3);
}

#[test]
fn variants_coexist_up_to_their_limit() {
    let store = Store::in_memory(LIMIT);
    let settings = Settings { variants_max: 2, ..Settings::default() };
    for language in ["de", "en", "fr"] {
        let request = format!("Accept-Language: {language}");
        let spec = ResponseSpec {
            path: "/a",
            lines: &["Vary: Accept-Language", "Cache-Control: max-age=9"],
            request: &[&request],
        };
        let object = make(&store, spec, language.as_bytes());
        assert!(store.insert(&object, store.since(object.key.as_str()), &settings));
    }
    let found = bodies(&store, "/a");
    assert_eq!(found.len(), 2);
    assert!(found.contains(&"fr".into()));
}

#[test]
fn every_change_under_a_key_ends_its_epoch() {
    let store = Store::in_memory(LIMIT);
    let seen = || store.lookup(key("/a").as_str()).epoch;
    let one = object(&store, "/a", b"1");
    let two = object(&store, "/a", b"2");
    let before = seen();
    insert(&store, &one);
    assert!(!before.is_current());
    let inserted = seen();
    assert!(inserted.is_current());
    replace(&store, &one, &two);
    assert!(!inserted.is_current());
    let replaced = seen();
    one.note_hit();
    store.set_hit_for_miss(key("/a").as_str(), HitForMiss { why: NotStored::NoStore, until: NOW });
    assert!(replaced.is_current(), "neither use nor marks change an answer");
    store.purge(&Purge::All, Removal::Expire, NOW);
    assert!(!replaced.is_current());
    let expired = seen();
    store.purge(&Purge::Tag("x".into()), Removal::Delete, NOW);
    assert!(expired.is_current(), "the purge meant others");
    store.purge(&Purge::Prefix("http".into()), Removal::Delete, NOW);
    assert!(!expired.is_current());
}

#[test]
fn eviction_ends_the_epoch() {
    let store = Store::in_memory(LIMIT);
    insert(&store, &object(&store, "/a", &[0; 100_000]));
    let seen = store.lookup(key("/a").as_str()).epoch;
    let mut number = 0;
    while !bodies(&store, "/a").is_empty() {
        insert(&store, &object(&store, &format!("/{number}"), &[0; 100_000]));
        number += 1;
    }
    assert!(!seen.is_current());
}

#[test]
fn only_existing_objects_are_replaced() {
    let store = Store::in_memory(LIMIT);
    let old = object(&store, "/a", b"old");
    let new = object(&store, "/a", b"new");
    assert!(!replace(&store, &old, &new));
    insert(&store, &old);
    assert!(!replace(&store, &old, &object(&store, "/b", b"other key")));
    assert!(replace(&store, &old, &new) && !replace(&store, &old, &new));
    assert_eq!(bodies(&store, "/a"), ["new"]);
    assert_eq!((store.usage().objects, store.usage().replaced), (1, 1));
}

#[test]
fn each_kind_of_purge_removes_its_objects() {
    for (what, left) in [
        (Purge::Key(key("/a/1").as_str().into()), vec!["/a/2", "/b/1"]),
        (Purge::Prefix(key("/a/").as_str().into()), vec!["/b/1"]),
        (Purge::Pattern(Pattern::new("*/1")), vec!["/a/2"]),
        (Purge::Tag("b".into()), vec!["/a/1", "/a/2"]),
        (Purge::All, vec![]),
        (Purge::Key(key("/c").as_str().into()), vec!["/a/1", "/a/2", "/b/1"]),
    ] {
        let store = Store::in_memory(LIMIT);
        for (path, tags) in [("/a/1", "a"), ("/a/2", "a"), ("/b/1", "a2 b")] {
            let tags = format!("Surrogate-Key: {tags}");
            insert(
                &store,
                &make(&store, ResponseSpec { path, lines: &[&tags], request: &[] }, path.as_bytes()),
            );
        }
        let purged = store.purge(&what, Removal::Delete, NOW);
        let mut found: Vec<_> = store.objects().iter().map(|object| object.key.target().to_owned()).collect();
        found.sort();
        assert_eq!(
            (purged, found),
            (3 - left.len(), left.iter().map(|&path| path.into()).collect()),
            "{what:?}"
        );
    }
}

#[test]
fn soft_purge_expires_and_invalidation_forces_validation() {
    let later = WallTime(NOW.0 + 10_000);
    let store = Store::in_memory(LIMIT);
    insert(&store, &object(&store, "/a", b"1"));
    insert(&store, &object(&store, "/b", b"2"));
    assert_eq!(store.purge(&Purge::Key(key("/a").as_str().into()), Removal::Expire, later), 1);
    assert_eq!(store.invalidate(key("/b").as_str(), later), 1);
    let stored = |path| store.lookup(key(path).as_str()).objects[0].stored.clone();
    assert!(!stored("/a").is_fresh(later) && !stored("/a").is_invalid);
    assert!(stored("/b").is_fresh(later) && stored("/b").is_invalid);
    assert_eq!((bodies(&store, "/a"), bodies(&store, "/b")), (vec!["1".into()], vec!["2".into()]));
}

#[test]
fn fetches_before_a_removal_are_not_stored() {
    let store = Store::in_memory(LIMIT);
    let a = object(&store, "/a", b"1");
    let b = object(&store, "/b", b"2");
    let since = |path| store.lookup(key(path).as_str()).since;
    let insert = |object, since| store.insert(object, since, &Settings::default());
    let before_a = since("/a");
    let before_b = since("/b");
    store.invalidate(key("/a").as_str(), NOW);
    assert!(!insert(&a, before_a) && insert(&b, before_b));
    assert!(insert(&a, since("/a")));
    let before_b = since("/b");
    store.purge(&Purge::Tag("any".into()), Removal::Expire, NOW);
    assert!(!insert(&b, before_b));
}

#[test]
fn hit_for_miss_marks_last_until_a_response_is_stored() {
    let store = Store::in_memory(LIMIT);
    let hit_for_miss = HitForMiss { why: NotStored::Private, until: NOW };
    store.set_hit_for_miss(key("/a").as_str(), hit_for_miss);
    assert_eq!(store.lookup(key("/a").as_str()).hit_for_miss, Some(hit_for_miss));
    assert_eq!(store.lookup(key("/b").as_str()).hit_for_miss, None);
    let object = object(&store, "/a", b"1");
    insert(&store, &object);
    assert_eq!(store.lookup(key("/a").as_str()).hit_for_miss, None);
    store.purge(&Purge::All, Removal::Delete, NOW);
    assert_eq!(store.lookup(key("/a").as_str()).hit_for_miss, None);
}

#[test]
fn too_large_objects_are_refused_and_others_stay() {
    let store = Store::in_memory(LIMIT);
    insert(&store, &object(&store, "/a", b"1"));
    assert!(store.object_bytes_max() as u64 <= LIMIT / 4);
    assert!(!insert(&store, &object(&store, "/b", &vec![0; store.object_bytes_max()])));
    assert!(insert(&store, &object(&store, "/c", &vec![0; store.object_bytes_max() - 5000])));
    assert_eq!((store.usage().objects, store.usage().refused), (2, 1));
}

#[test]
fn memory_stays_within_its_limit_and_adds_up() {
    for limit in [1 << 20, LIMIT, 130 << 20] {
        let store = Store::in_memory(limit);
        for number in 0..6000_usize {
            let body = vec![7; number * number % 70_000];
            let object = object(&store, &format!("/{}", number % 5000), &body);
            insert(&store, &object);
            if number % 3 == 0 {
                object.note_hit();
            }
            assert!(store.usage().bytes <= limit, "{number}");
        }
        let usage = store.usage();
        let objects = store.objects();
        let cost: usize = objects.iter().map(|object| object.cost()).sum();
        let body_bytes: usize = objects.iter().map(|object| object.body.len()).sum();
        assert_eq!((usage.objects, usage.body_bytes), (objects.len() as u64, body_bytes as u64));
        let tables = usage.bytes - cost as u64;
        assert!(tables <= usage.bytes / 20, "{tables} of {}", usage.bytes);
        assert_eq!(usage.inserted, usage.objects + usage.evicted + usage.superseded + usage.purged);
    }
}

#[test]
fn an_objects_cost_is_its_memory() {
    let store = Store::in_memory(LIMIT);
    let bare = make(&store, ResponseSpec { path: "/", lines: &[], request: &[] }, b"");
    // The object and its reference counts; the key of 9 bytes.
    assert_eq!(bare.cost(), (16 + size_of_val(&*bare) + 8).next_multiple_of(16) + 32);
    let lines = ["ETag: \"12345678901234567890123456789\"", "Surrogate-Key: one two"];
    let full = make(&store, ResponseSpec { path: "/", lines: &lines, request: &[] }, &[0; 1000]);
    // Lines of 39 and 24 bytes with their ends; a tag of 29; two tags and their list; the body and its handle.
    let lines = 80;
    let tag = 48;
    let tags = 48 + 32 + 32;
    let body = 1008 + 48;
    assert_eq!(full.cost() - bare.cost(), lines + tag + tags + body);
}

#[test]
fn the_hottest_come_first() {
    let store = Store::in_memory(LIMIT);
    for hits in 0..9 {
        let object = object(&store, &format!("/{hits}"), &[0; 10]);
        insert(&store, &object);
        (0..hits).for_each(|_| object.note_hit());
    }
    let hottest = store.hottest(2);
    let found: Vec<_> = hottest.iter().map(|hot| (hot.key.as_str(), hot.hits)).collect();
    assert_eq!(found, [("http://a/8", 8), ("http://a/7", 7)]);
    assert_eq!((hottest[0].body_bytes, hottest[0].status), (10, 200));
}

/// Goal: no lock is missing and nothing deadlocks. Method: threads insert, use, replace and purge the same few keys.
#[test]
fn threads_share_a_store_safely() {
    let store = Arc::new(Store::in_memory(LIMIT));
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let store = Arc::clone(&store);
            scope.spawn(move || {
                for number in 0..2000_usize {
                    let path = format!("/{}", (number * 7 + thread) % 50);
                    let found = store.lookup(key(&path).as_str());
                    let new = object(&store, &path, path.as_bytes());
                    match found.objects.first() {
                        Some(old) if number % 5 == 0 => {
                            store.replace(old, &new, found.since);
                        }
                        Some(old) => {
                            assert_eq!(old.body, path.as_bytes());
                            old.note_hit();
                        }
                        None => {
                            store.insert(&new, found.since, &Settings::default());
                        }
                    }
                    if number % 100 == 0 {
                        store.purge(&Purge::Prefix(key("/1").as_str().into()), Removal::Delete, NOW);
                    }
                }
            });
        }
    });
    assert!(store.usage().objects <= 50 && store.usage().bytes <= LIMIT);
}
