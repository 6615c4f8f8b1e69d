//! Ranges of a stored response (RFC 9110 §14).

use http1::RequestMethod;

use crate::date::parse_date;
use crate::entity_tag::EntityTag;
use crate::message::{FieldLines, SingletonField, values};
use crate::range_field::{RangeField, RequestedRange, read};
use crate::request_meta::RequestMeta;
use crate::settings::Settings;
use crate::stored_meta::StoredMeta;

/// A range of a body, both positions included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    /// The position of its first byte.
    pub first: u64,
    /// The position of its last byte; not before the first.
    pub last: u64,
}

reasons! {
    /// The reason for which a client that asks for ranges gets the whole response, or none.
    RangeReason {
        /// Ranges are for GET only.
        Method = "method", "RFC 9110 §14.2";
        /// The stored response is not a 200.
        Status = "status", "RFC 9110 §14.2";
        /// The field is repeated with different values.
        Repeated = "repeated", "RFC 9110 §14.2";
        /// The unit is not bytes.
        Unit = "unit", "RFC 9110 §14.2";
        /// The field is malformed.
        Invalid = "invalid", "RFC 9110 §14.2";
        /// `If-Range` names another response.
        IfRange = "if-range", "RFC 9110 §13.1.5";
        /// There are more ranges than the operator allows.
        TooMany = "too-many", "RFC 9110 §14.2";
        /// More than two ranges overlap.
        Overlapping = "overlapping", "RFC 9110 §14.2";
        /// The body ends before all of them.
        Unsatisfiable = "unsatisfiable", "RFC 9110 §15.5.17";
    }
}

/// The ranges of a stored response that a request gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranges {
    /// The whole: the request did not ask for ranges.
    NotAsked,
    /// The whole, although the request asked for ranges.
    Ignored(RangeReason),
    /// A single range: 206.
    One(ByteRange),
    /// Several ranges, at least two: 206 as `multipart/byteranges`.
    Several(Vec<ByteRange>),
    /// None: 416.
    Refused(RangeReason),
}

/// Decides which ranges of a stored response answer a request.
pub fn ranges<'a>(
    request: &RequestMeta,
    lines: impl FieldLines<'a>,
    stored: &StoredMeta,
    settings: &Settings,
) -> Ranges {
    if !request.has_range {
        return Ranges::NotAsked;
    }
    if request.method != RequestMethod::Get {
        return Ranges::Ignored(RangeReason::Method);
    }
    if stored.response.status != 200 {
        return Ranges::Ignored(RangeReason::Status);
    }
    let mut field = SingletonField::Absent;
    values(lines.clone(), "range").for_each(|value| field.note(value));
    let Some(value) = field.value() else {
        return Ranges::Ignored(RangeReason::Repeated);
    };
    if !if_range(lines, stored) {
        return Ranges::Ignored(RangeReason::IfRange);
    }
    match read(value, settings.ranges_max) {
        RangeField::OtherUnit => Ranges::Ignored(RangeReason::Unit),
        RangeField::Invalid => Ranges::Ignored(RangeReason::Invalid),
        RangeField::TooMany => Ranges::Refused(RangeReason::TooMany),
        RangeField::Bytes(requested) => within(&requested, stored.body_bytes),
    }
}

/// Evaluates `If-Range`: returns whether the client's ranges belong to the stored response; `true` without the field.
///
/// Only identical bytes count: a strong tag, or exactly the stored `Last-Modified` if that is strong.
fn if_range<'a>(lines: impl FieldLines<'a>, stored: &StoredMeta) -> bool {
    let mut field = SingletonField::Absent;
    values(lines, "if-range").for_each(|value| field.note(value));
    let value = match field {
        SingletonField::Absent => return true,
        SingletonField::Conflict => return false,
        SingletonField::Value(value) => value,
    };
    if let Some(tag) = EntityTag::parse(value) {
        return stored.response.etag.as_ref().is_some_and(|stored| stored.strongly_matches(&tag));
    }
    let date = parse_date(value);
    date.is_some() && date == stored.response.last_modified && stored.response.is_last_modified_strong()
}

/// Resolves the ranges in a body of this many bytes; those beyond its end are dropped.
fn within(requested: &[RequestedRange], length: u64) -> Ranges {
    let found: Vec<ByteRange> = requested.iter().filter_map(|one| resolve(*one, length)).collect();
    if 1 < overlaps(&found) {
        return Ranges::Refused(RangeReason::Overlapping);
    }
    let parts = if overlaps(&found) == 0 { found } else { merged(found) };
    match parts.as_slice() {
        [] => Ranges::Refused(RangeReason::Unsatisfiable),
        [one] => Ranges::One(*one),
        _ => Ranges::Several(parts),
    }
}

/// Resolves one range in a body; `None` if it is beyond the end.
fn resolve(requested: RequestedRange, length: u64) -> Option<ByteRange> {
    let end = length.checked_sub(1)?;
    match requested {
        RequestedRange::From(first, last) => {
            (first <= end).then(|| ByteRange { first, last: last.unwrap_or(end).min(end) })
        }
        RequestedRange::Last(0) => None,
        RequestedRange::Last(count) => Some(ByteRange { first: length.saturating_sub(count), last: end }),
    }
}

fn in_order(ranges: &[ByteRange]) -> Vec<ByteRange> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| (range.first, range.last));
    sorted
}

/// Counts the ranges that begin before all those in front of them have ended.
fn overlaps(ranges: &[ByteRange]) -> usize {
    let mut end = None;
    let overlaps_earlier = |range: &&ByteRange| {
        let is_inside = end.is_some_and(|end| range.first <= end);
        end = end.max(Some(range.last));
        is_inside
    };
    in_order(ranges).iter().filter(overlaps_earlier).count()
}

/// Joins ranges that overlap, in the order of their positions (RFC 9110 §15.3.7.2).
fn merged(ranges: Vec<ByteRange>) -> Vec<ByteRange> {
    let mut parts: Vec<ByteRange> = Vec::new();
    for range in in_order(&ranges) {
        match parts.last_mut() {
            Some(before) if range.first <= before.last => before.last = before.last.max(range.last),
            _ => parts.push(range),
        }
    }
    parts
}

/// Returns the value of `Content-Range`: `bytes 0-499/1234`, or `bytes */1234` for 416 (RFC 9110 §14.4).
pub fn content_range(range: Option<ByteRange>, length: u64) -> String {
    match range {
        Some(ByteRange { first, last }) => format!("bytes {first}-{last}/{length}"),
        None => format!("bytes */{length}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, length: u64, expected: Ranges) {
        let RangeField::Bytes(requested) = read(value.as_bytes(), 16) else { panic!("{value}") };
        assert_eq!(within(&requested, length), expected, "{value}");
    }

    fn range(first: u64, last: u64) -> ByteRange {
        ByteRange { first, last }
    }

    /// The examples of RFC 9110 §14.1.2, a body of 10,000 bytes.
    #[test]
    fn ranges_are_resolved_in_the_body() {
        check("bytes=0-499", 10_000, Ranges::One(range(0, 499)));
        check("bytes=500-999", 10_000, Ranges::One(range(500, 999)));
        check("bytes=-500", 10_000, Ranges::One(range(9500, 9999)));
        check("bytes=9500-", 10_000, Ranges::One(range(9500, 9999)));
        check("bytes=0-0,-1", 10_000, Ranges::Several(vec![range(0, 0), range(9999, 9999)]));
        check("bytes=0-, -20000", 0, Ranges::Refused(RangeReason::Unsatisfiable));
        check("bytes=-20000", 10_000, Ranges::One(range(0, 9999)));
    }

    #[test]
    fn two_overlapping_ranges_are_joined_and_more_are_refused() {
        check("bytes=0-9,5-14", 100, Ranges::One(range(0, 14)));
        check("bytes=0-9,9-14", 100, Ranges::One(range(0, 14)));
        check("bytes=0-14,5-9", 100, Ranges::One(range(0, 14)));
        check("bytes=50-59,0-9,5-14", 100, Ranges::Several(vec![range(0, 14), range(50, 59)]));
        check("bytes=0-,0-,0-", 100, Ranges::Refused(RangeReason::Overlapping));
        check("bytes=0-9,10-19", 100, Ranges::Several(vec![range(0, 9), range(10, 19)]));
    }

    #[test]
    fn the_order_of_ranges_is_kept() {
        check("bytes=20-29,0-9", 100, Ranges::Several(vec![range(20, 29), range(0, 9)]));
    }

    #[test]
    fn content_range_has_range_and_length() {
        assert_eq!(content_range(Some(range(0, 4)), 10), "bytes 0-4/10");
        assert_eq!(content_range(None, 10), "bytes */10");
    }
}
