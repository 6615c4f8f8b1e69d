//! Frames that come back as they were written, and bytes of strangers.

use frame::app::{AppOperation, AppStatus, DataSettings, FORMAT, FileIo, PAYLOAD_MAX};
use frame::{FrameError, REPLY_BYTES, REQUEST_BYTES, ReplyHeader, RequestHeader, ServerStamps};
use proptest::prelude::*;

fn any_request() -> impl Strategy<Value = RequestHeader> {
    let numbers = (any::<u8>(), any::<u16>(), any::<u64>(), any::<u64>(), 0..=PAYLOAD_MAX, any::<u32>());
    numbers.prop_map(|(operation, flags, number, argument, payload_bytes, checksum)| RequestHeader {
        operation,
        flags,
        number,
        argument,
        payload_bytes,
        checksum,
    })
}

fn any_reply() -> impl Strategy<Value = ReplyHeader> {
    (any_request(), any::<[u64; 3]>()).prop_map(|(request, [received, started, ended])| ReplyHeader {
        operation: request.operation,
        status: request.flags,
        number: request.number,
        result: request.argument,
        payload_bytes: request.payload_bytes,
        checksum: request.checksum,
        stamps: ServerStamps { received, started, ended },
    })
}

proptest! {
    #[test]
    fn headers_come_back_as_they_were_written(request in any_request(), reply in any_reply(), more: Vec<u8>) {
        let with_more = |bytes: &[u8]| [bytes, &more].concat();
        prop_assert_eq!(RequestHeader::read(&with_more(&request.to_bytes(FORMAT)), FORMAT), Ok(Some(request)));
        prop_assert_eq!(ReplyHeader::read(&with_more(&reply.to_bytes(FORMAT)), FORMAT), Ok(Some(reply)));
    }

    /// A part of a header that has arrived is never an error, and never a header.
    #[test]
    fn a_part_of_a_header_is_no_header(request in any_request(), reply in any_reply()) {
        for end in 0..REQUEST_BYTES {
            prop_assert_eq!(RequestHeader::read(&request.to_bytes(FORMAT)[..end], FORMAT), Ok(None));
        }
        for end in 0..REPLY_BYTES {
            prop_assert_eq!(ReplyHeader::read(&reply.to_bytes(FORMAT)[..end], FORMAT), Ok(None));
        }
    }

    /// Of any bytes: a header that is read is written as they are; an error stays one whatever follows.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..80), is_ours: bool) {
        let mut bytes = bytes;
        if is_ours {
            let start = FORMAT.magic.to_le_bytes().into_iter().chain([FORMAT.version]);
            bytes.iter_mut().zip(start).for_each(|(byte, ours)| *byte = ours);
        }
        match ReplyHeader::read(&bytes, FORMAT) {
            Ok(Some(header)) => {
                prop_assert_eq!(&header.to_bytes(FORMAT)[..], &bytes[..REPLY_BYTES]);
                prop_assert!(header.payload_bytes <= PAYLOAD_MAX);
            }
            Ok(None) => prop_assert!(bytes.len() < REPLY_BYTES),
            Err(error) => {
                bytes.push(0);
                prop_assert_eq!(RequestHeader::read(&bytes, FORMAT), Err(error));
            }
        }
    }

    #[test]
    fn the_data_of_a_client_come_back(file in 0u64..40, range in 0u64..40, io in 0u8..4, cold in 0u8..3, odd in 0u64..2) {
        let file_bytes = file * 4096;
        let range_bytes = range * 4096 + odd;
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&file_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&range_bytes.to_le_bytes());
        (bytes[16], bytes[17]) = (io, cold);
        let is_valid = 4 <= range && range <= file && odd == 0 && io < 3 && cold < 2;
        match DataSettings::read(&bytes) {
            Ok(settings) => {
                prop_assert!(is_valid);
                prop_assert_eq!(settings.to_bytes(), bytes);
            }
            Err(_) => prop_assert!(!is_valid),
        }
    }

    #[test]
    fn any_payload_of_a_greeting_is_answered(bytes: Vec<u8>) {
        if let Ok(settings) = DataSettings::read(&bytes) {
            prop_assert_eq!(&settings.to_bytes()[..], &bytes[..]);
        }
    }
}

#[test]
fn errors_are_found_with_the_first_byte_that_shows_them() {
    let request = RequestHeader {
        operation: AppOperation::Hello as u8,
        flags: 0,
        number: 0,
        argument: 0,
        payload_bytes: PAYLOAD_MAX + 1,
        checksum: 0,
    };
    let bytes = request.to_bytes(FORMAT);
    assert_eq!(RequestHeader::read(&bytes[..27], FORMAT), Ok(None));
    let too_long = FrameError::Payload { found: PAYLOAD_MAX + 1, most: PAYLOAD_MAX };
    assert_eq!(RequestHeader::read(&bytes[..28], FORMAT), Err(too_long));
    assert_eq!(RequestHeader::read(b"G", FORMAT), Err(FrameError::Magic));
    let newer = [&bytes[..4], &[2]].concat();
    assert_eq!(RequestHeader::read(&newer, FORMAT), Err(FrameError::Version { expected: 1, found: 2 }));
}

/// A server's clock that goes back is a fault, not a long time.
#[test]
fn stamps_in_the_wrong_order_have_no_times() {
    let stamps = |received, started, ended| ServerStamps { received, started, ended }.times();
    assert_eq!(stamps(5, 7, 12), Some((2, 5)));
    assert_eq!(stamps(5, 5, 5), Some((0, 0)));
    assert_eq!(stamps(5, 4, 12), None);
    assert_eq!(stamps(5, 7, 6), None);
    assert_eq!(stamps(u64::MAX, 0, 0), None);
}

#[test]
fn numbers_name_operations_and_statuses() {
    for operation in AppOperation::ALL {
        assert_eq!(AppOperation::from_number(operation as u8), Some(operation));
    }
    for number in [0, 13, 255] {
        assert_eq!(AppOperation::from_number(number), None);
    }
    for status in AppStatus::ALL {
        assert_eq!(AppStatus::from_number(status as u16), Some(status));
    }
    assert_eq!(AppStatus::from_number(9), None);
    assert_eq!(FileIo::Direct as u8, 1);
}
