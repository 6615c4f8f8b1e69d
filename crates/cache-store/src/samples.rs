//! Stored responses for tests.

use bytes::Bytes;
use cache_policy::{DotSegments, ExchangeTimes, Key, ResponseMeta, Scheme, Settings, StoredMeta, Variant};
use http1::HeaderLines;
use units::{Nanos, WallTime};

use crate::stored_response::StoredResponse;
use crate::tags::tags_of;

/// Makes a stored response of `http://a`, to a request without fields; lines as `Name: value`.
pub(crate) fn sample(target: &str, body: &[u8], lines: &[&str]) -> StoredResponse {
    let mut kept = HeaderLines::new();
    for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
        kept.push(name.as_bytes(), value.as_bytes());
    }
    let key = Key::new(Scheme::Http, b"a", target.as_bytes(), DotSegments::Resolved).unwrap();
    let settings = Settings::default();
    let at = WallTime(1_000_000);
    let response =
        ResponseMeta::read(200, kept.iter(), ExchangeTimes { requested: at, received: at }, &settings);
    let request: [(&[u8], &[u8]); 0] = [];
    let variant = Variant::of(&response.vary, request.iter().copied(), &[]).unwrap();
    let stored = StoredMeta::new(response, variant, body.len() as u64, &settings);
    let tags = tags_of(kept.iter());
    StoredResponse::new(key, stored, kept, Bytes::copy_from_slice(body), tags, Nanos::from_millis(7))
}
