//! What status codes mean to a cache.

/// Statuses that may be stored without a word about it (RFC 9110 §15.1).
const HEURISTICALLY_CACHEABLE: [u16; 12] = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501];

/// Final statuses of RFC 9110 §15 whose rules for caches are kept here: all but those of parts and of validation.
const UNDERSTOOD: [u16; 40] = [
    200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
    408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
];

/// Statuses that a request brings about by fields, body or timing, which are no part of the cache key.
const CAUSED_BY_REQUEST: [u16; 19] =
    [400, 401, 406, 407, 408, 411, 412, 413, 415, 416, 417, 421, 422, 424, 425, 426, 428, 429, 431];

/// Statuses that `stale-if-error` covers (RFC 5861 §4).
const ERRORS: [u16; 4] = [500, 502, 503, 504];

/// Tells whether a response with this status may be stored though it says nothing about it (RFC 9110 §15.1).
pub fn is_heuristically_cacheable(status: u16) -> bool {
    HEURISTICALLY_CACHEABLE.contains(&status)
}

/// Tells whether the status's rules for caches are known and kept (RFC 9111 §5.2.2.3).
pub fn is_understood(status: u16) -> bool {
    UNDERSTOOD.contains(&status)
}

/// Tells whether the status blames what is no part of the cache key (RFC 9111 §7.1).
pub(super) fn is_caused_by_request(status: u16) -> bool {
    CAUSED_BY_REQUEST.contains(&status)
}

/// Tells whether the status is an error that a stale response may stand in for (RFC 5861 §4).
pub(super) fn is_error(status: u16) -> bool {
    ERRORS.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_validation_are_not_understood_as_responses_to_store() {
        assert!(is_heuristically_cacheable(206) && !is_understood(206));
        assert!(!is_understood(304) && !is_understood(100) && !is_understood(299) && !is_understood(599));
    }

    #[test]
    fn an_origin_in_trouble_is_no_fault_of_the_request() {
        assert!(ERRORS.iter().all(|&status| !is_caused_by_request(status)));
    }
}
