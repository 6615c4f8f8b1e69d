//! Header lines of responses.

use cache_policy::{
    ResponseField, ResponseMeta, StoredMeta, age_field, names_of_connection, response_field,
    stays_in_not_modified, stored_lines, via_field, write_date,
};
use cache_store::StoredResponse;
use http1::{HeaderLines, Http1Version};
use units::WallTime;

use super::cache_status::CacheStatus;
use super::memo::MemoKind;
use super::settings::ExchangeSettings;
use crate::message::ResponsePath;

/// Room for what is added to stored lines: `Content-Length`, `Age`, `Cache-Status`.
const ADDED_BYTES: usize = 160;

/// Returns the lines of a response from the store: the stored lines, `Content-Length`, `Age` and `Cache-Status`.
///
/// Pure; changes with the second of `now`.
pub fn hit_lines(
    object: &StoredResponse,
    kind: MemoKind,
    now: WallTime,
    settings: &ExchangeSettings,
) -> HeaderLines {
    let cache_status = CacheStatus::fresh(ResponsePath::Memory, object);
    stored_head(object, kind, now, &cache_status, settings)
}

/// As [`hit_lines`], with any cache status.
pub(super) fn stored_head(
    object: &StoredResponse,
    kind: MemoKind,
    now: WallTime,
    cache_status: &CacheStatus,
    settings: &ExchangeSettings,
) -> HeaderLines {
    let mut lines = match kind {
        MemoKind::NotModified => of_not_modified(&object.lines),
        MemoKind::Whole | MemoKind::HeadOnly => object.lines.with_room(ADDED_BYTES),
    };
    if kind != MemoKind::NotModified {
        push_length(&mut lines, object.status(), Some(object.body.len() as u64));
    }
    finish_stored(&mut lines, object, now, cache_status, settings);
    lines
}

/// Appends `Age` and `Cache-Status`, which every response from the store has.
pub(super) fn finish_stored(
    lines: &mut HeaderLines,
    object: &StoredResponse,
    now: WallTime,
    cache_status: &CacheStatus,
    settings: &ExchangeSettings,
) {
    lines.push_number(b"Age", age_field(object.stored.age(now)));
    cache_status.write(lines, Some((&object.stored, now)), &object.key, settings);
}

/// Returns the lines of a response that is still on its way into the store: the lines to store and `Age`.
pub(super) fn stored_lines_with_age(kept: &HeaderLines, stored: &StoredMeta, now: WallTime) -> HeaderLines {
    let mut lines = kept.with_room(ADDED_BYTES);
    lines.push_number(b"Age", age_field(stored.age(now)));
    lines
}

/// Returns the lines that a 304 keeps.
pub(super) fn of_not_modified(lines: &HeaderLines) -> HeaderLines {
    only(lines, stays_in_not_modified)
}

/// Returns the lines that a 416 keeps: none that describe the response, or let a cache store the refusal.
pub(super) fn of_range_refused(lines: &HeaderLines) -> HeaderLines {
    only(lines, |name| name.eq_ignore_ascii_case(b"date"))
}

/// Returns the wanted lines, and `Via`.
fn only(lines: &HeaderLines, is_wanted: impl Fn(&[u8]) -> bool) -> HeaderLines {
    let mut kept = HeaderLines::with_capacity(256);
    lines
        .iter()
        .filter(|(name, _)| is_wanted(name) || name.eq_ignore_ascii_case(b"via"))
        .for_each(|(name, value)| kept.push(name, value));
    kept
}

/// Appends `Content-Length` if the length is known and the status allows it (RFC 9110 §8.6).
pub(super) fn push_length(lines: &mut HeaderLines, status: u16, length: Option<u64>) {
    if let Some(length) = length.filter(|_| !is_without_body(status)) {
        lines.push_number(b"Content-Length", length);
    }
}

/// Returns whether a response with this status never has a body (RFC 9110 §6.4.1).
pub(super) fn is_without_body(status: u16) -> bool {
    status < 200 || status == 204 || status == 304
}

/// Returns the lines of an origin's response to forward to the client that asked; without `Content-Length`.
pub(super) fn forwarded(
    lines: &HeaderLines,
    version: Http1Version,
    received: WallTime,
    settings: &ExchangeSettings,
) -> HeaderLines {
    let ended = names_of_connection(lines.iter());
    let is_ended = |name: &[u8]| {
        response_field(name) == ResponseField::Connection
            || ended.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(name))
    };
    let kept = lines.iter().filter(|(name, _)| !is_ended(name));
    with_date_and_via(kept, version, received, settings)
}

/// Returns the lines of an origin's response to store for all; without `Content-Length` and `Age`.
pub(super) fn kept(
    lines: &HeaderLines,
    meta: &ResponseMeta,
    version: Http1Version,
    settings: &ExchangeSettings,
) -> HeaderLines {
    let kept = stored_lines(lines.iter(), meta).into_iter();
    let kept = kept.filter(|(name, _)| !name.eq_ignore_ascii_case(b"age"));
    with_date_and_via(kept, version, meta.times.received, settings)
}

/// Collects lines and adds `Date` if it is missing (RFC 9110 §6.6.1), and `Via`.
fn with_date_and_via<'a>(
    lines: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    version: Http1Version,
    received: WallTime,
    settings: &ExchangeSettings,
) -> HeaderLines {
    let mut passed = HeaderLines::with_capacity(512);
    let mut has_date = false;
    for (name, value) in lines.filter(|(name, _)| !name.eq_ignore_ascii_case(b"content-length")) {
        has_date |= name.eq_ignore_ascii_case(b"date");
        passed.push(name, value);
    }
    if !has_date {
        passed.push(b"Date", write_date(received).as_bytes());
    }
    passed.push(b"Via", via_field(version, &settings.name).as_bytes());
    passed
}
