//! What the policy of the cache reads from fields.

use accelerator::policy::{EntityTag, parse_date, write_date};

/// A date that was read is written so that it reads the same again.
pub fn cache_fields(bytes: &[u8]) {
    let _ = EntityTag::parse(bytes);
    if let Some(date) = parse_date(bytes) {
        assert_eq!(parse_date(write_date(date).as_bytes()), Some(date));
    }
}
