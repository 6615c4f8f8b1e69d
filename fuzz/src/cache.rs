//! Fields that the cache policy parses.

use cache_policy::{EntityTag, Variant, Vary, parse_date, write_date};

/// Checks that a parsed date is written so that it parses to the same again.
pub fn cache_fields(bytes: &[u8]) {
    let _ = EntityTag::parse(bytes);
    if let Some(date) = parse_date(bytes) {
        assert_eq!(parse_date(write_date(date).as_bytes()), Some(date));
    }
    variant(bytes);
}

/// Checks that a variant is the same after it was stored, and with lines that it does not depend on. Input lines: `Vary`,
/// then the request.
fn variant(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let vary = Vary::read([(&b"vary"[..], lines.next().unwrap_or_default())].into_iter());
    let request: Vec<(&[u8], &[u8])> = lines
        .filter_map(|line| line.iter().position(|byte| *byte == b':').map(|colon| line.split_at(colon)))
        .map(|(name, rest)| (name, rest[1..].trim_ascii()))
        .collect();
    let Some(variant) = Variant::of(&vary, request.iter().copied(), &[]) else { return };
    assert_eq!(Variant::from_bytes(variant.as_bytes().to_vec()), variant);
    // No field has such a name.
    let more = request.iter().copied().chain([(&b"\xff"[..], &b"1"[..])]);
    assert_eq!(Variant::of(&vary, more, &[]), Some(variant));
}
