//! Objects and how they are looked for.

use std::sync::Arc;

use accelerator::message::HeaderLines;
use accelerator::policy::{DotSegments, Key, Response, Settings, Stored, Times, Variant, Vary};
use accelerator::store::{Object, Store, tags_of};
use bytes::Bytes;
use units::{Nanos, WallTime};

/// When all responses came.
pub const NOW: WallTime = WallTime(1_000_000);

/// Returns the key of a path.
pub fn key(path: &str) -> Key {
    Key::parse(&format!("http://a{path}"), DotSegments::Resolved).unwrap()
}

/// An object to be made.
pub struct Making<'a> {
    pub path: &'a str,
    /// Its header lines as `Name: value`; by default it lives for a minute.
    pub lines: &'a [&'a str],
    /// The lines of the request.
    pub request: &'a [&'a str],
}

/// Makes an object of a path.
pub fn object(store: &Store, path: &str, body: &[u8]) -> Arc<Object> {
    make(store, Making { path, lines: &["Cache-Control: max-age=60"], request: &[] }, body)
}

/// Makes an object.
pub fn make(store: &Store, making: Making, body: &[u8]) -> Arc<Object> {
    let lines = lines(making.lines);
    let response =
        Response::read(200, lines.iter(), Times { requested: NOW, received: NOW }, &Settings::default());
    let variant = variant(&response.vary, making.request);
    let stored = Stored::new(response, variant, body.len() as u64, &Settings::default());
    let body = store.pack(&[Bytes::copy_from_slice(body)]);
    let tags = tags_of(lines.iter());
    Arc::new(Object::new(key(making.path), stored, lines, body, tags, Nanos::from_millis(3)))
}

fn variant(vary: &Vary, request: &[&str]) -> Variant {
    Variant::of(vary, lines(request).iter(), &[]).unwrap()
}

fn lines(lines: &[&str]) -> HeaderLines {
    let mut made = HeaderLines::new();
    for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
        made.push(name.as_bytes(), value.as_bytes());
    }
    made
}

/// Puts an object into the store; returns whether it was kept.
pub fn insert(store: &Store, object: &Arc<Object>) -> bool {
    store.insert(object, store.since(object.key.as_str()), &Settings::default())
}

/// Puts an object in the place of another; returns whether it was kept.
pub fn replace(store: &Store, old: &Arc<Object>, new: &Arc<Object>) -> bool {
    store.replace(old, new, store.since(old.key.as_str()))
}

/// Returns the bodies in memory under a path.
pub fn bodies(store: &Store, path: &str) -> Vec<Bytes> {
    let mut bodies: Vec<Bytes> =
        store.lookup(key(path).as_str()).objects.iter().map(|object| object.body.clone()).collect();
    bodies.sort();
    bodies
}

/// Returns the bodies that a request finds under a path that are not in memory, in the order of their age.
pub fn fetch(store: &Store, path: &str) -> Vec<Arc<Object>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.fetch(&key(path), &Settings::default()))
}
