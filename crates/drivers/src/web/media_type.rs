//! Types of bodies.

/// Returns type and subtype of a `Content-Type` field, without its parameters.
pub(crate) fn media_type(value: &[u8]) -> &[u8] {
    value.split(|c| *c == b';').next().unwrap_or_default().trim_ascii()
}
