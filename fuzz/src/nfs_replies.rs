//! Messages of NFS servers: records in fragments, replies to requests, and those that open a session.

use drivers::file::nfs::NfsVersion;
use drivers::file::nfs::untrusted::{opening, record, reply};

/// The most bytes of a record.
const RECORD_BYTES_MAX: usize = 1 << 16;

/// The first byte says which version and request are answered. No reply has more data or names than bytes.
pub fn replies(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let version = NfsVersion::ALL[usize::from(kind & 1)];
    let found = reply(version, usize::from(kind >> 1), rest);
    assert!(found.n_data <= rest.len() && found.n_names <= rest.len());
}

/// Each record has its length before it, in two bytes.
pub fn login(bytes: &[u8]) {
    let mut records = Vec::new();
    let mut left = bytes;
    while let Some((length, behind)) = left.split_first_chunk::<2>() {
        let (one, next) = behind.split_at(behind.len().min(usize::from(u16::from_be_bytes(*length))));
        records.push(one);
        left = next;
    }
    opening(&records);
}

/// The first byte says in what pieces the stream arrives: the record is the same, however it does.
pub fn stream(bytes: &[u8]) {
    let Some((n_piece, rest)) = bytes.split_first() else { return };
    let whole = record(rest, usize::from(*n_piece), RECORD_BYTES_MAX);
    if let Some(whole) = &whole {
        assert!(whole.len() < rest.len() && whole.len() <= RECORD_BYTES_MAX);
    }
}
