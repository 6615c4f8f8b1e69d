//! Frames of our own server protocols.

use frame::app::{AppServerStats, DataSettings, FORMAT, PAYLOAD_MAX};
use frame::{REPLY_BYTES, ReplyHeader, RequestHeader};
use orders::wire::{
    CHECK_ROWS_MAX, ConditionResult, DataDescription, ExpectedData, OrderServerStats, read_input,
    read_output, read_totals, write_input, write_output, write_totals,
};
use orders::{DataScale, TransactionType};

/// Reads a reply, the request in it, and what follows as the data of a client and as the load of a server; each is written
/// as it was read.
pub fn frame(bytes: &[u8]) {
    let request = RequestHeader::read(bytes, FORMAT);
    if let Ok(Some(header)) = request {
        assert!(bytes.starts_with(&header.to_bytes(FORMAT)) && header.payload_bytes <= PAYLOAD_MAX);
    }
    match ReplyHeader::read(bytes, FORMAT) {
        Ok(Some(header)) => {
            assert!(bytes.starts_with(&header.to_bytes(FORMAT)));
            if let Some((queue, service)) = header.stamps.times() {
                assert_eq!(header.stamps.received.checked_add(queue), Some(header.stamps.started));
                assert_eq!(header.stamps.started.checked_add(service), Some(header.stamps.ended));
            }
        }
        Ok(None) => assert!(bytes.len() < REPLY_BYTES),
        Err(error) => assert_eq!(request, Err(error)),
    }
    let rest = bytes.get(REPLY_BYTES..).unwrap_or_default();
    if let Ok(settings) = DataSettings::read(rest) {
        assert_eq!(settings.to_bytes(), rest);
        assert!(4 <= settings.range_blocks());
    }
    if let Some(stats) = AppServerStats::read(rest) {
        assert_eq!(AppServerStats::read(&stats.to_bytes()), Some(stats));
    }
}

/// Reads a payload of the order-entry server as everything that it can be; each is written as it was read.
pub fn order_entry(bytes: &[u8]) {
    let scale = DataScale::new(10, 100).expect("a size that data can have");
    for kind in TransactionType::ALL {
        if let Ok(input) = read_input(kind, bytes) {
            // Whether it is within the data or not: no number makes it fail.
            let _ = input.is_within(&scale);
            assert_written(bytes, |payload| write_input(&input, payload));
        }
        if let Ok(output) = read_output(kind, bytes) {
            assert_written(bytes, |payload| write_output(&output, payload));
        }
    }
    if let Ok(Some(expected)) = ExpectedData::read(bytes) {
        assert_written(bytes, |payload| expected.write(payload));
    }
    if let Ok(data) = DataDescription::read(bytes) {
        let _ = data.population();
        assert_written(bytes, |payload| data.write(payload));
    }
    if let Ok(totals) = read_totals(bytes) {
        assert_written(bytes, |payload| write_totals(&totals, payload));
    }
    if let Ok(stats) = OrderServerStats::read(bytes) {
        assert_written(bytes, |payload| stats.write(payload));
    }
    if let Ok(result) = ConditionResult::read(bytes) {
        let mut payload = Vec::new();
        result.write(&mut payload);
        let written = ConditionResult::read(&payload).expect("what has just been written");
        assert!(written.rows.len() <= CHECK_ROWS_MAX && written.n_violations == result.n_violations);
    }
}

fn assert_written(bytes: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
    let mut payload = Vec::new();
    write(&mut payload);
    assert_eq!(payload, bytes);
}
