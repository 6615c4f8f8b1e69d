//! The metadata that the policy reads of a request.

use http1::RequestMethod;

use crate::directives::RequestDirectives;
use crate::list::members;
use crate::message::{FieldLines, LowercaseName};

/// Safe methods (RFC 9110 §9.2.1), and those of the registry that are defined as safe.
const SAFE: [&[u8]; 7] = [b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PROPFIND", b"REPORT", b"SEARCH"];

/// Returns whether a method is known to be safe; names are case-sensitive.
#[inline]
pub fn is_safe(method_name: &[u8]) -> bool {
    SAFE.contains(&method_name)
}

/// The metadata of a request that decide about caching; read once, without allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestMeta {
    /// The method.
    pub method: RequestMethod,
    /// Whether the method is known to be safe.
    pub is_safe: bool,
    /// Whether the request has a body, even an empty one.
    pub has_body: bool,
    /// `Cache-Control`; `Pragma: no-cache` counts as its `no-cache` if there is no `Cache-Control`.
    pub directives: RequestDirectives,
    /// Whether it carries credentials (`Authorization`).
    pub has_authorization: bool,
    /// Whether it asks for a protocol upgrade (`Upgrade`).
    pub has_upgrade: bool,
    /// Whether it has conditions that only an origin can evaluate: `If-Match`, `If-Unmodified-Since`.
    pub has_origin_condition: bool,
    /// Whether it has conditions that a cache evaluates: `If-None-Match`, `If-Modified-Since`.
    pub has_condition: bool,
    /// Whether it asks for ranges (`Range`).
    pub has_range: bool,
}

impl RequestMeta {
    /// Reads the head of a request.
    pub fn read<'a>(method_name: &[u8], lines: impl FieldLines<'a>, has_body: bool) -> RequestMeta {
        let mut request = RequestMeta {
            method: RequestMethod::from_name(method_name),
            is_safe: is_safe(method_name),
            has_body,
            directives: RequestDirectives::default(),
            has_authorization: false,
            has_upgrade: false,
            has_origin_condition: false,
            has_condition: false,
            has_range: false,
        };
        let mut has_cache_control = false;
        let mut has_pragma = false;
        for (name, value) in lines {
            match LowercaseName::new(name).as_bytes() {
                b"cache-control" => {
                    has_cache_control = true;
                    request.directives.note_line(value);
                }
                b"pragma" => has_pragma |= members(value).any(|one| one.eq_ignore_ascii_case(b"no-cache")),
                b"authorization" => request.has_authorization = true,
                b"upgrade" => request.has_upgrade = true,
                b"if-match" | b"if-unmodified-since" => request.has_origin_condition = true,
                b"if-none-match" | b"if-modified-since" => request.has_condition = true,
                b"range" => request.has_range = true,
                _ => {}
            }
        }
        request.directives.no_cache |= has_pragma && !has_cache_control;
        request
    }

    /// Returns whether a stored response to GET may answer the request.
    #[inline]
    pub fn is_retrieval(&self) -> bool {
        matches!(self.method, RequestMethod::Get | RequestMethod::Head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[(&str, &str)]) -> RequestMeta {
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        RequestMeta::read(b"GET", lines.iter().copied(), false)
    }

    #[test]
    fn pragma_counts_only_without_cache_control() {
        assert!(read(&[("Pragma", "x, No-Cache")]).directives.no_cache);
        assert!(!read(&[("Pragma", "no-cache"), ("Cache-Control", "max-age=1")]).directives.no_cache);
        assert!(!read(&[("Pragma", "x")]).directives.no_cache);
    }

    #[test]
    fn request_fields_are_case_insensitive() {
        let request = read(&[
            ("AUTHORIZATION", "x"),
            ("upgrade", "h2c"),
            ("If-Match", "*"),
            ("if-none-match", "*"),
            ("RANGE", "bytes=0-"),
        ]);
        assert!(request.has_authorization && request.has_upgrade && request.has_range);
        assert!(request.has_origin_condition && request.has_condition);
    }

    #[test]
    fn methods_are_case_sensitive() {
        assert!(is_safe(b"GET") && !is_safe(b"get") && !is_safe(b"PATCH") && !is_safe(b"FOO"));
    }
}
