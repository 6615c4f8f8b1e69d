//! The stored form of a detail record.
//!
//! Layout, all numbers of variable length: version; number of kinds, and for each the histogram of
//! the response times of its successful operations; number of failure histograms, and for each
//! kind, outcome and histogram, in that order; the histogram of the times to connect. Each
//! histogram stands behind its length.

use std::collections::BTreeMap;

use model::{DetailRecord, Outcome};

use super::CodecError;
use super::number::{ByteReader, put, put_histogram};
use crate::rows::RecordKey;

/// The current version; any change of the layout raises it.
const VERSION: u64 = 1;

/// Writes all fields without a column of their own; equal records give equal bytes.
pub(crate) fn encode_detail(record: &DetailRecord) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4096);
    let into = &mut bytes;
    put(VERSION, into);
    put(record.response.len() as u64, into);
    record.response.iter().for_each(|histogram| put_histogram(histogram, into));
    put(record.failed.len() as u64, into);
    for ((kind, outcome), histogram) in &record.failed {
        put(*kind, into);
        put(*outcome as u8, into);
        put_histogram(histogram, into);
    }
    put_histogram(&record.connect, into);
    bytes
}

/// Reads a record back. Any bytes are safe to pass.
pub(crate) fn decode_detail(key: &RecordKey, bytes: &[u8]) -> Result<DetailRecord, CodecError> {
    let (mut from, _) = ByteReader::new(bytes, VERSION..=VERSION)?;
    let n_kinds = from.count()?;
    let response = (0..n_kinds).map(|_| from.histogram()).collect::<Result<_, _>>()?;
    let mut failed = BTreeMap::new();
    for _ in 0..from.count()? {
        let (kind, number) = (from.u16()?, from.u64()?);
        let outcome = u8::try_from(number).ok().and_then(Outcome::from_number);
        let key = (kind, outcome.ok_or(CodecError::Outcome(number))?);
        if failed.last_key_value().is_some_and(|(last, _)| key <= *last) {
            return Err(CodecError::Outcome(number));
        }
        failed.insert(key, from.histogram()?);
    }
    let connect = from.histogram()?;
    from.finish()?;
    Ok(DetailRecord {
        load_point: key.load_point,
        agent: key.agent,
        phase: key.phase,
        start: key.start,
        end: key.end,
        response,
        failed,
        connect,
    })
}
