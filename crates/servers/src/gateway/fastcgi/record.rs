//! Records: a header of 8 bytes, content, padding.

use thiserror::Error;

/// Length of a record's header.
pub(super) const HEADER_BYTES: usize = 8;

/// The only protocol version.
const VERSION: u8 = 1;

/// Record types (section 8 of the specification).
pub(super) const BEGIN_REQUEST: u8 = 1;
pub(super) const ABORT_REQUEST: u8 = 2;
pub(super) const END_REQUEST: u8 = 3;
pub(super) const PARAMS: u8 = 4;
pub(super) const STDIN: u8 = 5;
pub(super) const STDOUT: u8 = 6;
pub(super) const GET_VALUES: u8 = 9;
pub(super) const GET_VALUES_RESULT: u8 = 10;
pub(super) const UNKNOWN_TYPE: u8 = 11;

/// A violation of the FastCGI protocol by the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum RecordError {
    #[error("expected FastCGI version 1, found {0}")]
    Version(u8),
    #[error("expected a begin-request record of 8 bytes, found {0}")]
    Begin(usize),
    #[error("request {0} began twice")]
    BegunTwice(u16),
    #[error("a name-value pair extends beyond the end of its record")]
    Pair,
    #[error("more than {0} bytes of parameters")]
    TooManyParameters(usize),
}

/// A FastCGI record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) kind: u8,
    /// 0 for records that concern the connection rather than a request.
    pub(super) request: u16,
    pub(super) content: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads the record at the start of `input` and returns it with its length; `None` if it is incomplete.
    pub(super) fn parse(input: &'a [u8]) -> Result<Option<(Record<'a>, usize)>, RecordError> {
        let Some(&[version, kind, id_high, id_low, length_high, length_low, padding, _]) =
            input.first_chunk::<HEADER_BYTES>()
        else {
            return Ok(None);
        };
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        let end = HEADER_BYTES + usize::from(u16::from_be_bytes([length_high, length_low]));
        let whole = end + usize::from(padding);
        if input.len() < whole {
            return Ok(None);
        }
        let request = u16::from_be_bytes([id_high, id_low]);
        Ok(Some((Record { kind, request, content: &input[HEADER_BYTES..end] }, whole)))
    }
}

/// Returns the header of a record without padding.
pub(super) fn header(kind: u8, request: u16, content_bytes: u16) -> [u8; HEADER_BYTES] {
    let ([id_high, id_low], [length_high, length_low]) = (request.to_be_bytes(), content_bytes.to_be_bytes());
    [VERSION, kind, id_high, id_low, length_high, length_low, 0, 0]
}

/// Appends a record with short content.
pub(super) fn push_record(out: &mut Vec<u8>, kind: u8, request: u16, content: &[u8]) {
    let length = u16::try_from(content.len()).expect("our own records are short");
    out.extend_from_slice(&header(kind, request, length));
    out.extend_from_slice(content);
}

/// Reads name-value pairs (section 3.4) up to the end of the bytes.
pub(super) fn read_pairs<'a>(
    mut bytes: &'a [u8],
    mut pair: impl FnMut(&'a [u8], &'a [u8]),
) -> Result<(), RecordError> {
    while !bytes.is_empty() {
        let name_length = take_length(&mut bytes)?;
        let value_length = take_length(&mut bytes)?;
        let name = take(&mut bytes, name_length)?;
        let value = take(&mut bytes, value_length)?;
        pair(name, value);
    }
    Ok(())
}

/// Appends a pair whose name and value are short.
pub(super) fn push_pair(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    debug_assert!(name.len() < 128 && value.len() < 128);
    out.extend_from_slice(&[name.len() as u8, value.len() as u8]);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
}

/// Reads a length: one byte below 128, otherwise four whose highest bit is set.
fn take_length(bytes: &mut &[u8]) -> Result<usize, RecordError> {
    let first = take(bytes, 1)?[0];
    if first < 128 {
        return Ok(usize::from(first));
    }
    let rest = take(bytes, 3)?;
    Ok(u32::from_be_bytes([first & 127, rest[0], rest[1], rest[2]]) as usize)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], RecordError> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(RecordError::Pair)?;
    *bytes = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip_and_padding_is_skipped() {
        let mut bytes = Vec::new();
        push_record(&mut bytes, STDOUT, 0x0102, b"abc");
        assert_eq!(bytes, [1, 6, 1, 2, 0, 3, 0, 0, b'a', b'b', b'c']);
        bytes[6] = 2;
        for length in 0..bytes.len() + 2 {
            let part: Vec<u8> = bytes.iter().copied().chain([0xff; 2]).take(length).collect();
            assert_eq!(Record::parse(&part), Ok(None), "{length} bytes");
        }
        bytes.extend_from_slice(b"??next");
        let record = Record { kind: STDOUT, request: 0x0102, content: b"abc" };
        assert_eq!(Record::parse(&bytes), Ok(Some((record, 13))));
        assert_eq!(Record::parse(&[2, 1, 0, 1, 0, 0, 0, 0]), Err(RecordError::Version(2)));
    }

    #[test]
    fn pairs_support_short_and_long_lengths() {
        let long = [b'v'; 300];
        let mut bytes = vec![];
        push_pair(&mut bytes, b"A", b"");
        bytes.extend_from_slice(&[1, 0x80, 0, 1, 44, b'B']);
        bytes.extend_from_slice(&long);
        let mut found = Vec::new();
        read_pairs(&bytes, |name, value| found.push((name.to_vec(), value.to_vec()))).unwrap();
        assert_eq!(found, [(b"A".to_vec(), vec![]), (b"B".to_vec(), long.to_vec())]);
        for end in [1, 2, 4, 8, bytes.len() - 1] {
            assert_eq!(read_pairs(&bytes[..end], |_, _| {}), Err(RecordError::Pair), "{end}");
        }
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(read_pairs(&huge, |_, _| {}), Err(RecordError::Pair));
    }
}
