//! Messages of SMB servers: replies to requests, and those that open a session.

use drivers::file::smb::untrusted::{REQUEST_KINDS, opening, replies};
use drivers::file::smb::{SmbAccount, SmbDialect, SmbOptions, SmbTarget};

/// The first byte says which request is answered. No frame has more data or names than bytes.
pub fn reply(bytes: &[u8]) {
    let Some((kind, frame)) = bytes.split_first() else { return };
    let found = replies(usize::from(*kind) % REQUEST_KINDS, frame);
    assert!(found.n_data <= frame.len() && found.n_names <= frame.len());
}

/// The first byte says which dialect and options are asked for; each frame has its length before it, in two bytes. A
/// session of 3.1.1, or a signed one, needs a password, which no bytes have.
pub fn login(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let dialect = SmbDialect::ALL[usize::from(choice & 1)];
    let Ok(options) = SmbOptions::new(dialect, choice & 2 != 0, choice & 4 != 0) else { return };
    let account = SmbAccount { user: "u".to_owned(), domain: String::new(), password: "p".to_owned() };
    let target = SmbTarget {
        address: ([127, 0, 0, 1], 445).into(),
        host: "h".to_owned(),
        share: "s".to_owned(),
        folder: String::new(),
        account,
        options,
    };
    let mut frames = Vec::new();
    let mut left = rest;
    while let Some((length, behind)) = left.split_first_chunk::<2>() {
        let (frame, next) = behind.split_at(behind.len().min(usize::from(u16::from_be_bytes(*length))));
        frames.push(frame);
        left = next;
    }
    let is_open = opening(&target, &frames);
    assert!(!is_open || dialect == SmbDialect::V2_1 && !options.signs());
}
