//! Status codes from the view of a cache.

/// Statuses that are heuristically cacheable (RFC 9110 §15.1).
const HEURISTICALLY_CACHEABLE: [u16; 12] = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501];

/// Final statuses of RFC 9110 §15 whose caching rules are implemented: all except those of ranges and validation.
const UNDERSTOOD: [u16; 40] = [
    200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
    408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
];

/// Statuses that depend on a request's fields, body or timing, which are not part of the cache key.
const CAUSED_BY_REQUEST: [u16; 19] =
    [400, 401, 406, 407, 408, 411, 412, 413, 415, 416, 417, 421, 422, 424, 425, 426, 428, 429, 431];

/// Statuses that `stale-if-error` covers (RFC 5861 §4).
const ERRORS: [u16; 4] = [500, 502, 503, 504];

/// Returns whether a response with this status may be stored without explicit freshness (RFC 9110 §15.1).
pub fn is_heuristically_cacheable(status: u16) -> bool {
    HEURISTICALLY_CACHEABLE.contains(&status)
}

/// Returns whether the caching rules of the status are implemented (RFC 9111 §5.2.2.3).
pub fn is_understood(status: u16) -> bool {
    UNDERSTOOD.contains(&status)
}

/// Returns whether the status blames something that is not part of the cache key (RFC 9111 §7.1).
pub(crate) fn is_caused_by_request(status: u16) -> bool {
    CAUSED_BY_REQUEST.contains(&status)
}

/// Returns whether the status is an error that a stale response may replace (RFC 5861 §4).
pub(crate) fn is_error(status: u16) -> bool {
    ERRORS.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_and_304_responses_are_not_understood() {
        assert!(is_heuristically_cacheable(206) && !is_understood(206));
        assert!(!is_understood(304) && !is_understood(100) && !is_understood(299) && !is_understood(599));
    }

    #[test]
    fn server_errors_do_not_blame_the_request() {
        assert!(ERRORS.iter().all(|&status| !is_caused_by_request(status)));
    }
}
