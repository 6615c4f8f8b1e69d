//! Frames and contents byte for byte: what another implementation must write and read.

use frame::app::{
    AppOperation, AppServerStats, BLOCK_BYTES, DataSettings, FORMAT, FileIo, SplitMix64, WorkTable,
    block_number, fill_block, fill_payload, sized_content,
};
use frame::{Crc32c, ReplyHeader, RequestHeader, ServerStamps};

fn hex(bytes: &[u8]) -> String {
    let groups =
        bytes.chunks(8).map(|group| group.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    groups.collect::<Vec<_>>().join(" ")
}

/// `CS` with the payload `hello`: the example of `docs/protocols/application-server.md`.
#[test]
fn a_request_has_these_bytes() {
    let header = RequestHeader {
        operation: AppOperation::ClientServer as u8,
        flags: 0,
        number: 7,
        argument: 0,
        payload_bytes: 5,
        checksum: Crc32c::of(b"hello"),
    };
    assert_eq!(
        hex(&header.to_bytes(FORMAT)),
        "5452425301030000 0700000000000000 0000000000000000 050000004cbb719a"
    );
    assert_eq!(RequestHeader::read(&header.to_bytes(FORMAT), FORMAT), Ok(Some(header)));
}

#[test]
fn a_reply_has_these_bytes() {
    let header = ReplyHeader {
        operation: AppOperation::ClientServer as u8,
        status: 1,
        number: 7,
        result: 5,
        payload_bytes: 0,
        checksum: 0,
        stamps: ServerStamps { received: 0x0102, started: 0x0203, ended: 0x0304 },
    };
    assert_eq!(
        hex(&header.to_bytes(FORMAT)),
        "5452425301030100 0700000000000000 0500000000000000 0000000000000000 \
         0201000000000000 0302000000000000 0403000000000000"
    );
    assert_eq!(ReplyHeader::read(&header.to_bytes(FORMAT), FORMAT), Ok(Some(header)));
}

#[test]
fn the_data_of_a_client_have_these_bytes() {
    let settings =
        DataSettings { file_bytes: 20 << 20, range_bytes: 10 << 20, io: FileIo::Durable, is_cold: true };
    assert_eq!(hex(&settings.to_bytes()), "0000400100000000 0000a00000000000 0201000000000000");
    assert_eq!(sized_content(512, 3), 0x0000_0003_0000_0200);
}

#[test]
fn the_load_of_a_server_has_these_bytes() {
    let stats = AppServerStats {
        threads: 49,
        busy_threads: 48,
        queued: 12,
        queue_max: 1024,
        connections: 61,
        performed: 0x0102_0304_0506,
        refused: 7,
    };
    let bytes = stats.to_bytes();
    let expected = "3100000030000000 0c00000000040000 3d00000000000000 0605040302010000 0700000000000000";
    assert_eq!(hex(&bytes), expected);
    assert_eq!(AppServerStats::read(&bytes), Some(stats));
    assert_eq!(AppServerStats::read(&bytes[1..]), None);
}

/// The values of the specification, which an independent program has computed.
#[test]
fn processing_has_these_results() {
    let results = [
        (1, 0, 0x1),
        (1, 1, 0x305b_7670_f056_41c0),
        (1, 1000, 0x9669_c47c_6e81_8559),
        (42, 1000, 0x9e06_a91d_07d3_5052),
        (42, 200_000, 0x7e5e_e5b5_28f4_a2be),
    ];
    // One table for all: a computation leaves nothing that the next one sees.
    let mut table = WorkTable::default();
    for (seed, rounds, expected) in results {
        assert_eq!(table.compute(seed, rounds), expected, "({seed}, {rounds})");
    }
}

#[test]
fn contents_are_streams_of_splitmix64() {
    assert_eq!(SplitMix64::new(0).draw(), 0xe220_a839_7b1d_cdaf);
    let mut payload = [0; 10];
    fill_payload(0, &mut payload);
    assert_eq!(hex(&payload), "afcd1d7b39a820e2 f465");
    let mut block = [0; BLOCK_BYTES];
    fill_block(3, 5, &mut block);
    assert_eq!(block_number(&block), 5);
    assert_eq!(block[8..16], SplitMix64::new(3 << 32 ^ 5).draw().to_le_bytes());
}
