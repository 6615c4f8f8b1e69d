//! The stored form of detail.
//!
//! Layout, all numbers of variable length: version; number of kinds, and for each the histogram of
//! the response times of its successful operations; number of failure histograms, and for each
//! kind, outcome and histogram, in that order; number of spreads of measures, and the histogram of each; number of kinds of pauses, and the histogram of each;
//! number of kinds of notices, and the histogram of each. Each
//! histogram stands behind its length.

use std::collections::BTreeMap;

use model::{DetailRecord, KindHistograms};
use stats::Histogram;

use super::CodecError;
use super::number::{ByteReader, put, put_histogram};
use crate::rows::RecordKey;

/// The current version; any change of the layout raises it.
const VERSION: u64 = 4;

/// Writes all fields without a column of their own; equal records give equal bytes.
pub(crate) fn encode_detail(detail: &KindHistograms) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4096);
    put_detail(detail, &mut bytes);
    bytes
}

/// Appends them, with their version.
pub(super) fn put_detail(detail: &KindHistograms, into: &mut Vec<u8>) {
    put(VERSION, into);
    put(detail.response.len() as u64, into);
    detail.response.iter().for_each(|histogram| put_histogram(histogram, into));
    put(detail.failed.len() as u64, into);
    for ((kind, outcome), histogram) in &detail.failed {
        put(*kind, into);
        put(*outcome as u8, into);
        put_histogram(histogram, into);
    }
    put(detail.spreads.len() as u64, into);
    detail.spreads.iter().for_each(|histogram| put_histogram(histogram, into));
    put(detail.pauses.len() as u64, into);
    detail.pauses.iter().for_each(|histogram| put_histogram(histogram, into));
    put(detail.notices.len() as u64, into);
    detail.notices.iter().for_each(|histogram| put_histogram(histogram, into));
}

/// Reads a record back. Any bytes are safe to pass.
pub(crate) fn decode_detail(key: &RecordKey, bytes: &[u8]) -> Result<DetailRecord, CodecError> {
    let mut from = ByteReader::new(bytes, VERSION)?;
    let detail = read_fields(&mut from)?;
    from.finish()?;
    let RecordKey { load_point, agent, phase, start, end } = *key;
    Ok(DetailRecord { load_point, agent, phase, start, end, detail })
}

/// Reads what [`put_detail`] appends.
pub(super) fn read_detail(from: &mut ByteReader) -> Result<KindHistograms, CodecError> {
    from.version(VERSION)?;
    read_fields(from)
}

fn read_fields(from: &mut ByteReader) -> Result<KindHistograms, CodecError> {
    let response = histograms(from)?;
    let mut failed = BTreeMap::new();
    for _ in 0..from.count()? {
        let kind = from.u16()?;
        let outcome = from.outcome()?;
        let key = (kind, outcome);
        if failed.last_key_value().is_some_and(|(last, _)| key <= *last) {
            return Err(CodecError::Outcome(outcome as u64));
        }
        failed.insert(key, from.histogram()?);
    }
    let spreads = histograms(from)?;
    let pauses = histograms(from)?;
    let notices = histograms(from)?;
    Ok(KindHistograms { response, failed, spreads, pauses, notices })
}

fn histograms(from: &mut ByteReader) -> Result<Vec<Histogram>, CodecError> {
    (0..from.count()?).map(|_| from.histogram()).collect()
}
