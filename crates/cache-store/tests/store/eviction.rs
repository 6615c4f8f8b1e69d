//! The eviction policy, compared with LRU on traces whose popularity follows Zipf's law.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cache_store::{Store, StoredResponse};
use units::{Rng, StreamPurpose, Weights};

use crate::fixture::{bodies, insert, key, object};

/// Returns the indices of the requested objects, in order: object i with weight 1 / (i + 1)^exponent.
fn zipf(n_objects: u32, n_requests: usize, exponent: f64) -> Vec<usize> {
    let weight = |rank: u32| (1e9 / f64::from(rank + 1).powf(exponent)) as u64;
    let weights = Weights::new((0..n_objects).map(weight)).unwrap();
    let mut dice = Rng::new(7, StreamPurpose::Simulation, 0);
    (0..n_requests).map(|_| dice.weighted(&weights)).collect()
}

/// Returns the hit ratio of a store with this limit.
fn hit_ratio(objects: &[Arc<StoredResponse>], trace: &[usize], limit: u64) -> f64 {
    let store = Store::in_memory(limit);
    let mut hits = 0;
    for &wanted in trace {
        match store.lookup(objects[wanted].key.as_str()).objects.first() {
            Some(found) => {
                found.note_hit();
                hits += 1;
            }
            None => {
                let fresh = object(&store, objects[wanted].key.target(), &objects[wanted].body);
                assert!(insert(&store, &fresh));
            }
        }
    }
    hits as f64 / trace.len() as f64
}

/// Returns the hit ratio of LRU with the same limit, its own tables not counted.
fn hit_ratio_of_lru(objects: &[Arc<StoredResponse>], trace: &[usize], limit: u64) -> f64 {
    let mut last_use = HashMap::new();
    let mut by_use = BTreeMap::new();
    let mut bytes = 0;
    let mut hits = 0;
    for (time, &wanted) in trace.iter().enumerate() {
        match last_use.insert(wanted, time) {
            Some(before) => {
                hits += 1;
                by_use.remove(&before);
            }
            None => bytes += objects[wanted].cost() as u64,
        }
        by_use.insert(time, wanted);
        while limit < bytes {
            let (_, oldest) = by_use.pop_first().unwrap();
            last_use.remove(&oldest);
            bytes -= objects[oldest].cost() as u64;
        }
    }
    hits as f64 / trace.len() as f64
}

/// Compares both on one trace; sizes by the object's index. The store must be better by this much.
fn check(exponent: f64, limit_part: f64, better_by: f64, size: fn(usize) -> usize) {
    let maker = Store::in_memory(1 << 30);
    let objects: Vec<_> =
        (0..2000).map(|number| object(&maker, &format!("/{number}"), &vec![0; size(number)])).collect();
    let total: usize = objects.iter().map(|object| object.cost()).sum();
    let limit = (total as f64 * limit_part) as u64;
    let trace = zipf(2000, 30_000, exponent);
    let ours = hit_ratio(&objects, &trace, limit);
    let lru = hit_ratio_of_lru(&objects, &trace, limit);
    assert!(lru + better_by <= ours, "exponent {exponent}, part {limit_part}: {ours:.4}, LRU {lru:.4}");
}

#[test]
fn objects_of_one_size_are_hit_more_often_than_with_lru() {
    check(0.8, 0.1, 0.05, |_| 4000);
    check(1.0, 0.1, 0.03, |_| 4000);
    check(1.2, 0.1, 0.01, |_| 4000);
}

/// Sizes from 1 KB to 200 KB, most of them small, independent of how popular an object is.
#[test]
fn objects_of_many_sizes_are_hit_more_often_than_with_lru() {
    let size = |number: usize| 200_000 / (1 + units::mix_bits(number as u64) as usize % 200);
    check(0.8, 0.2, 0.05, size);
    check(1.0, 0.2, 0.04, size);
    check(1.2, 0.2, 0.01, size);
}

/// Goal: a scan does not evict popular objects. Method: ten objects in use, then many that are requested once.
#[test]
fn a_scan_does_not_evict_objects_in_use() {
    let store = Store::in_memory(2 << 20);
    for number in 0..10 {
        let object = object(&store, &format!("/hot/{number}"), &[0; 10_000]);
        insert(&store, &object);
        object.note_hit();
    }
    for number in 0..1000 {
        insert(&store, &object(&store, &format!("/once/{number}"), &[0; 10_000]));
    }
    let left = (0..10).filter(|number| !bodies(&store, &format!("/hot/{number}")).is_empty()).count();
    assert_eq!(left, 10);
    assert!(100 < store.usage().evicted);
}

/// Goal: a ghost is remembered. Method: evict an object unused, request it again, then scan.
#[test]
fn ghosts_let_returning_objects_stay_longer() {
    let store = Store::in_memory(2 << 20);
    insert(&store, &object(&store, "/again", &[0; 10_000]));
    let mut number = 0;
    let mut scan = |n: usize| {
        for _ in 0..n {
            insert(&store, &object(&store, &format!("/once/{number}"), &[0; 10_000]));
            number += 1;
        }
    };
    scan(200);
    assert!(store.lookup(key("/again").as_str()).objects.is_empty());
    insert(&store, &object(&store, "/again", &[0; 10_000]));
    scan(250);
    assert!(!store.lookup(key("/again").as_str()).objects.is_empty());
}
