//! Heads of HTTP/1.

use http1::{
    FinalResponseHead, HEAD_BYTES_MAX, INTERIM_BYTES_MAX, ParseStatus, RequestMethod, headers,
    parse_encoded_response, parse_final_response, parse_request, parse_response,
};

/// Reads a response; what was partial or complete stays so, whatever follows.
pub fn response(bytes: &[u8]) {
    for method in [RequestMethod::Get, RequestMethod::Head, RequestMethod::Connect] {
        let parsed = parse_response(bytes, method);
        let Ok(ParseStatus::Complete { head, length }) = parsed else { continue };
        assert!(length <= bytes.len().min(HEAD_BYTES_MAX) && 100 <= head.status);
        // The first byte of the end decides, not what is behind it.
        assert_eq!(parse_response(&bytes[..length], method), parsed);
        assert!(matches!(parse_response(&bytes[..length - 1], method), Ok(ParseStatus::Partial)));
        let Ok(ParseStatus::Complete { head: reply, .. }) = parse_encoded_response(bytes, method) else {
            panic!("one of the two reads it");
        };
        assert_eq!(reply.head, head);
        headers(&bytes[..length]).for_each(drop);
    }
}

/// Reads a response behind interim ones; the last head is final, and ends where its length says.
pub fn final_response(bytes: &[u8]) {
    for method in [RequestMethod::Get, RequestMethod::Head, RequestMethod::Connect] {
        let parsed = parse_final_response(bytes, method);
        let Ok(ParseStatus::Complete { head: FinalResponseHead { head, start }, length }) = parsed else {
            continue;
        };
        assert!(!head.is_interim());
        let alone = ParseStatus::Complete { head, length: length - start };
        assert_eq!(parse_response(&bytes[start..length], method), Ok(alone));
        assert!(length <= bytes.len().min(INTERIM_BYTES_MAX + 2 * HEAD_BYTES_MAX));
        assert_eq!(parse_final_response(&bytes[..length], method), parsed);
        assert!(matches!(parse_final_response(&bytes[..length - 1], method), Ok(ParseStatus::Partial)));
    }
}

/// Reads a request; its target lies within it.
pub fn request(bytes: &[u8]) {
    let parsed = parse_request(bytes);
    if let Ok(ParseStatus::Complete { head, length }) = &parsed {
        assert!(*length <= bytes.len().min(HEAD_BYTES_MAX));
        let target = &bytes[..*length][head.target.clone()];
        assert!(!target.contains(&b' ') && !target.contains(&b'\n'));
        assert_eq!(parse_request(&bytes[..*length]), parsed);
    }
}
