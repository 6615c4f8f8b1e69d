//! Stored responses for tests, and lookups.

use std::sync::Arc;

use bytes::Bytes;
use cache_policy::{DotSegments, ExchangeTimes, Key, ResponseMeta, Settings, StoredMeta, Variant, Vary};
use cache_store::{Store, StoredResponse, tags_of};
use http1::HeaderLines;
use units::{Nanos, WallTime};

/// The time of receipt of all responses.
pub(crate) const NOW: WallTime = WallTime(1_000_000);

/// Returns the key of a path.
pub(crate) fn key(path: &str) -> Key {
    Key::parse(&format!("http://a{path}"), DotSegments::Resolved).unwrap()
}

/// A stored response to make.
pub(crate) struct ResponseSpec<'a> {
    pub path: &'a str,
    /// Its header lines as `Name: value`; by default its lifetime is a minute.
    pub lines: &'a [&'a str],
    /// The lines of the request.
    pub request: &'a [&'a str],
}

/// Makes a stored response for a path.
pub(crate) fn object(store: &Store, path: &str, body: &[u8]) -> Arc<StoredResponse> {
    make(store, ResponseSpec { path, lines: &["Cache-Control: max-age=60"], request: &[] }, body)
}

/// Makes a stored response.
pub(crate) fn make(store: &Store, spec: ResponseSpec, body: &[u8]) -> Arc<StoredResponse> {
    let lines = lines(spec.lines);
    let response = ResponseMeta::read(
        200,
        lines.iter(),
        ExchangeTimes { requested: NOW, received: NOW },
        &Settings::default(),
    );
    let variant = variant(&response.vary, spec.request);
    let stored = StoredMeta::new(response, variant, body.len() as u64, &Settings::default());
    let body = store.pack(key(spec.path).as_str(), &[Bytes::copy_from_slice(body)]);
    let tags = tags_of(lines.iter());
    Arc::new(StoredResponse::new(key(spec.path), stored, lines, body, tags, Nanos::from_millis(3)))
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

/// Inserts a response into the store; returns whether it was stored.
pub(crate) fn insert(store: &Store, object: &Arc<StoredResponse>) -> bool {
    store.insert(object, store.since(object.key.as_str()), &Settings::default())
}

/// Replaces a response; returns whether the new one was stored.
pub(crate) fn replace(store: &Store, old: &Arc<StoredResponse>, new: &Arc<StoredResponse>) -> bool {
    store.replace(old, new, store.since(old.key.as_str()))
}

/// Returns the bodies in memory under a path.
pub(crate) fn bodies(store: &Store, path: &str) -> Vec<Bytes> {
    let mut bodies: Vec<Bytes> =
        store.lookup(key(path).as_str()).objects.iter().map(|object| object.body.clone()).collect();
    bodies.sort();
    bodies
}

/// Returns the responses that a fetch from disk finds under a path, oldest first.
pub(crate) fn fetch(store: &Store, path: &str) -> Vec<Arc<StoredResponse>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.fetch(&key(path), &Settings::default()))
}
