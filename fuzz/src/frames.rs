//! Frames of our own server protocols.

use frame::app::{AppServerStats, DataSettings, FORMAT, PAYLOAD_MAX};
use frame::{REPLY_BYTES, ReplyHeader, RequestHeader};

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
