//! Goal: with 100 MB the SPECweb96-style set of 100 directories is served from memory for at least 97.5 % of
//! requests, within 110 MB of resident memory. A test program of its own, because it measures the whole process.
//!
//! Method: the requests of the benchmark are simulated, each miss makes the object anew, and at the end the system
//! reports the peak memory of the process.

use std::sync::Arc;

use bytes::Bytes;
use cache_policy::{DotSegments, ExchangeTimes, Key, ResponseMeta, Settings, StoredMeta, Variant};
use cache_store::{Store, StoredResponse};
use http1::HeaderLines;
use units::{Nanos, Rng, StreamPurpose, WallTime, Weights};

const DIRECTORIES: usize = 100;

/// Shares of the classes in percent, and the size of the first file of each in bytes; file i has i times that.
///
/// Source: crates/benchmarks/src/web/web96; there the sizes of class 0 are rounded down from multiples of 102.4.
const CLASSES: [(u64, usize); 4] = [(35, 102), (50, 1024), (14, 10_240), (1, 102_400)];

/// Files of a class, by weights of 5^i / i!, as whole numbers.
const FILES: [u64; 9] = [3504, 8760, 14_600, 18_251, 18_251, 15_209, 10_863, 6790, 3772];

const LIMIT: u64 = 100_000_000;

/// A requested file.
#[derive(Debug, Clone, Copy)]
struct File {
    directory: usize,
    class: usize,
    file: usize,
}

/// Draws files as the benchmark does: class by share, directory by Zipf's law, file by its bump in the middle.
struct Requests {
    rng: Rng,
    classes: Weights,
    directories: Weights,
    files: Weights,
}

impl Requests {
    fn new() -> Requests {
        Requests {
            rng: Rng::new(96, StreamPurpose::Simulation, 0),
            classes: Weights::new(CLASSES.map(|(share, _)| share)).unwrap(),
            directories: Weights::new((1..=DIRECTORIES as u64).map(|rank| 1_000_000_000 / rank)).unwrap(),
            files: Weights::new(FILES).unwrap(),
        }
    }

    fn next(&mut self) -> File {
        File {
            directory: self.rng.weighted(&self.directories),
            class: self.rng.weighted(&self.classes),
            file: self.rng.weighted(&self.files),
        }
    }
}

fn key(file: File) -> Key {
    let File { directory, class, file } = file;
    let uri = format!("http://127.0.0.1:8080/spec/dir{directory:05}/class{class}_{file}");
    Key::parse(&uri, DotSegments::Resolved).unwrap()
}

/// Makes an object with the lines that a web server sends; its body comes in pieces, as from a connection.
fn object(store: &Store, file: File) -> Arc<StoredResponse> {
    let length = CLASSES[file.class].1 * (file.file + 1);
    let mut lines = HeaderLines::new();
    for (name, value) in [
        ("Date", "Sun, 22 Nov 2026 05:00:00 GMT"),
        ("Server", "Apache/2.4.62 (Debian)"),
        ("Last-Modified", "Sat, 21 Nov 2026 09:12:44 GMT"),
        ("ETag", "\"7d000-63f1a2b3c4d5e\""),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "max-age=3600"),
        ("Content-Type", "text/plain"),
    ] {
        lines.push(name.as_bytes(), value.as_bytes());
    }
    let at = WallTime(1_795_000_000_000);
    let response = ResponseMeta::read(
        200,
        lines.iter(),
        ExchangeTimes { requested: at, received: at },
        &Settings::default(),
    );
    let stored = StoredMeta::new(response, Variant::default(), length as u64, &Settings::default());
    let pieces: Vec<Bytes> =
        (0..length).step_by(16_384).map(|at| vec![7; (length - at).min(16_384)].into()).collect();
    Arc::new(StoredResponse::new(
        key(file),
        stored,
        lines,
        store.pack(key(file).as_str(), &pieces),
        [].into(),
        Nanos::from_millis(1),
    ))
}

/// Returns a field of `/proc/self/status` in bytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    value.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn the_web96_set_is_served_from_100_mb() {
    let store = Store::in_memory(LIMIT);
    let mut requests = Requests::new();
    let warm_up = 150_000;
    let measured = 250_000;
    let mut hits = 0;
    for number in 0..warm_up + measured {
        let file = requests.next();
        let found = store.lookup(key(file).as_str());
        match found.objects.first() {
            Some(object) => {
                object.note_hit();
                hits += u32::from(warm_up <= number);
            }
            None => {
                assert!(store.insert(&object(&store, file), found.since, &Settings::default()));
            }
        }
    }
    let ratio = f64::from(hits) / f64::from(measured);
    let usage = store.usage();
    let peak = memory("VmHWM");
    let now = memory("VmRSS");
    println!("hit ratio {ratio:.4}, {usage:?}, resident {now}, at most {peak}");
    assert!(0.975 <= ratio, "{ratio}");
    assert!(usage.bytes <= LIMIT && LIMIT / 100 * 95 <= usage.bytes, "{usage:?}");
    assert!(peak <= 110_000_000, "{peak} bytes at most, {now} at the end");
}
