//! The field `Range` (RFC 9110 §14.1.1, §14.2).

use crate::list::number;

/// One range as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    /// From the first position to the last, or to the end.
    From(u64, Option<u64>),
    /// The last bytes, this many.
    Last(u64),
}

/// The content of a `Range` field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RangeField {
    /// Byte ranges in their order, at least one.
    Bytes(Vec<RequestedRange>),
    /// A range in another unit.
    OtherUnit,
    /// A malformed range.
    Invalid,
    /// More than `limit` ranges.
    TooMany,
}

/// Reads a `Range`; gives up after `limit` ranges.
pub(crate) fn read(value: &[u8], limit: usize) -> RangeField {
    let Some(equals) = value.iter().position(|&byte| byte == b'=') else {
        return RangeField::Invalid;
    };
    if !value[..equals].eq_ignore_ascii_case(b"bytes") {
        return RangeField::OtherUnit;
    }
    let mut requested = Vec::new();
    let parts = value[equals + 1..].split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    for part in parts.filter(|part| !part.is_empty()) {
        if requested.len() == limit {
            return RangeField::TooMany;
        }
        match read_one(part) {
            Some(one) => requested.push(one),
            None => return RangeField::Invalid,
        }
    }
    if requested.is_empty() { RangeField::Invalid } else { RangeField::Bytes(requested) }
}

/// Reads `first-last`, `first-` or `-length`; `None` for anything else, a last position before the first for example.
fn read_one(part: &[u8]) -> Option<RequestedRange> {
    let dash = part.iter().position(|&byte| byte == b'-')?;
    let first = &part[..dash];
    let last = &part[dash + 1..];
    if first.is_empty() {
        return number(last).map(RequestedRange::Last);
    }
    let first = number(first)?;
    if last.is_empty() {
        return Some(RequestedRange::From(first, None));
    }
    let last = number(last)?;
    (first <= last).then_some(RequestedRange::From(first, Some(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_in_their_order() {
        let requested = vec![
            RequestedRange::From(500, Some(600)),
            RequestedRange::From(9, None),
            RequestedRange::Last(5),
        ];
        assert_eq!(read(b"bytes=500-600, 9-,,\t-5", 16), RangeField::Bytes(requested.clone()));
        assert_eq!(read(b"Bytes=500-600,9-,-5", 3), RangeField::Bytes(requested));
    }

    #[test]
    fn malformed_ranges_are_invalid() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=-",
            "bytes=a-b",
            "bytes=5",
            "bytes=6-5",
            "bytes=1-2-3",
            "bytes=1 -2",
        ] {
            assert_eq!(read(value.as_bytes(), 16), RangeField::Invalid, "{value}");
        }
        assert_eq!(read(b"lines=1-2", 16), RangeField::OtherUnit);
        assert_eq!(read(b"bytes =1-2", 16), RangeField::OtherUnit);
    }

    #[test]
    fn too_many_ranges_are_refused_and_numbers_saturate() {
        assert_eq!(read(b"bytes=1-2,3-4,x", 2), RangeField::TooMany);
        let large = RangeField::Bytes(vec![RequestedRange::From(0, Some(u64::MAX))]);
        assert_eq!(read(b"bytes=0-99999999999999999999999", 1), large);
    }
}
