//! Stored records: bytes that are read come back as the same bytes.

use model::{Phase, ResourceRecord};
use stats::Histogram;
use units::Nanos;

use crate::codec::{
    LastReadings, decode_detail, decode_interval, decode_resource, encode_detail, encode_interval,
    encode_resource, wire,
};
use crate::rows::RecordKey;

const KEY: RecordKey =
    RecordKey { load_point: 0, agent: 0, phase: Phase::Steady, start: Nanos::ZERO, end: Nanos::from_secs(1) };

/// Reads an interval; written again and read, it is the same.
pub fn interval(bytes: &[u8]) {
    if let Ok(record) = decode_interval(&KEY, 0, bytes) {
        let again = encode_interval(&record);
        assert_eq!(decode_interval(&KEY, 0, &again).as_ref(), Ok(&record));
    }
}

/// The same for a record with its detail as agents send it.
pub fn wire(bytes: &[u8]) {
    if let Ok(record) = wire::decode(bytes) {
        assert_eq!(wire::decode(&wire::encode(&record)).as_ref(), Ok(&record));
    }
}

/// The same for a detail.
pub fn detail(bytes: &[u8]) {
    if let Ok(record) = decode_detail(&KEY, bytes) {
        let again = encode_detail(&record.detail);
        assert_eq!(decode_detail(&KEY, &again).as_ref(), Ok(&record));
    }
}

/// The same for what a machine told.
pub fn resource(bytes: &[u8]) {
    if let Ok(values) = decode_resource(&mut LastReadings::default(), 0, 0, bytes) {
        let record = ResourceRecord { load_point: 0, machine: 0, at: Nanos::ZERO, values };
        let again = encode_resource(&mut LastReadings::default(), &record);
        assert_eq!(decode_resource(&mut LastReadings::default(), 0, 0, &again).as_ref(), Ok(&record.values));
    }
}

/// The same for a histogram.
pub fn histogram(bytes: &[u8]) {
    if let Ok(histogram) = Histogram::from_bytes(bytes) {
        assert_eq!(Histogram::from_bytes(&histogram.to_bytes()).as_ref(), Ok(&histogram));
    }
}
