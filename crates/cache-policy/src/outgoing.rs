//! Fields of forwarded and stored messages (RFC 9110 §7.6, RFC 9111 §3.1).

use http1::Http1Version;
use units::Nanos;

use crate::list::{SECONDS_MAX, lower_token, members};
use crate::message::{FieldLines, LowercaseName, values};
use crate::response_meta::ResponseMeta;

/// The treatment of a field of a forwarded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestField {
    /// It is forwarded to the origin.
    Forwarded,
    /// It is connection-specific and not forwarded (RFC 9110 §7.6.1).
    Connection,
    /// It asks for a range, or is conditional: left out when the whole response is wanted for the store.
    Partial,
    /// It can change the response but is not part of the key: left out when the response may be stored, so that no
    /// client decides what others get (RFC 9111 §7.1).
    Unkeyed,
}

/// The treatment of a field of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseField {
    /// It is stored and forwarded.
    Stored,
    /// It is connection-specific and not forwarded (RFC 9110 §7.6.1).
    Connection,
    /// It is forwarded to the client that asked but not stored (RFC 9111 §3.1, §7.3).
    Unstored,
}

/// Returns the treatment of a field of a request, by its name in any case. See also [`names_of_connection`].
pub fn request_field(name: &[u8]) -> RequestField {
    match LowercaseName::new(name).as_bytes() {
        b"connection"
        | b"keep-alive"
        | b"proxy-connection"
        | b"proxy-authorization"
        | b"te"
        | b"transfer-encoding"
        | b"upgrade"
        | b"http2-settings" => RequestField::Connection,
        b"range" | b"if-range" | b"if-none-match" | b"if-modified-since" => RequestField::Partial,
        b"forwarded"
        | b"x-forwarded-for"
        | b"x-forwarded-host"
        | b"x-forwarded-port"
        | b"x-forwarded-prefix"
        | b"x-forwarded-proto"
        | b"x-forwarded-scheme"
        | b"x-forwarded-server"
        | b"x-forwarded-ssl"
        | b"x-host"
        | b"x-original-host"
        | b"x-original-url"
        | b"x-rewrite-url"
        | b"x-override-url"
        | b"x-real-ip"
        | b"x-http-host-override"
        | b"x-http-method"
        | b"x-http-method-override"
        | b"x-method-override" => RequestField::Unkeyed,
        _ => RequestField::Forwarded,
    }
}

/// Returns the treatment of a field of a response, by its name in any case. See also [`names_of_connection`].
pub fn response_field(name: &[u8]) -> ResponseField {
    match LowercaseName::new(name).as_bytes() {
        b"connection" | b"keep-alive" | b"proxy-connection" | b"te" | b"trailer" | b"transfer-encoding"
        | b"upgrade" => ResponseField::Connection,
        b"proxy-authenticate"
        | b"proxy-authentication-info"
        | b"proxy-authorization"
        | b"set-cookie"
        | b"set-cookie2"
        | b"cache-status" => ResponseField::Unstored,
        _ => ResponseField::Stored,
    }
}

/// Returns the names that `Connection` lists, in lower case: those fields are not forwarded either (RFC 9110 §7.6.1).
///
/// Fields without which a message means something else are not among them: no sender can have them removed.
pub fn names_of_connection<'a>(lines: impl FieldLines<'a>) -> Vec<String> {
    const NEEDED: [&str; 8] = [
        "cache-control",
        "content-length",
        "content-type",
        "content-encoding",
        "date",
        "host",
        "set-cookie",
        "vary",
    ];
    let names = values(lines, "connection").flat_map(members).filter_map(lower_token);
    names.filter(|name| !NEEDED.contains(&name.as_str())).collect()
}

/// Returns the lines of a response that are stored: all except those that are connection-specific, for one client
/// only, or withheld by the response itself ([`ResponseMeta::withheld`]).
pub fn stored_lines<'a>(lines: impl FieldLines<'a>, response: &ResponseMeta) -> Vec<(&'a [u8], &'a [u8])> {
    let ended = names_of_connection(lines.clone());
    let is_stored = |name: &[u8]| {
        let is_name = |one: &str| one.as_bytes().eq_ignore_ascii_case(name);
        response_field(name) == ResponseField::Stored
            && !ended.iter().any(|one| is_name(one))
            && !response.withheld().any(is_name)
    };
    lines.filter(|(name, _)| is_stored(name)).collect()
}

/// Returns whether a 304 made here keeps this field of the stored response, by its name in any case (RFC 9110
/// §15.4.5).
///
/// `Last-Modified` only helps a client without a tag; it does no harm either.
pub fn stays_in_not_modified(name: &[u8]) -> bool {
    matches!(
        LowercaseName::new(name).as_bytes(),
        b"cache-control" | b"content-location" | b"date" | b"etag" | b"expires" | b"last-modified" | b"vary"
    )
}

/// Returns the value of `Age` in whole seconds (RFC 9111 §5.1).
///
/// Every response that is served without validation has one; it replaces any stored `Age`.
#[inline]
pub fn age_field(age: Nanos) -> u64 {
    (age.0 / 1_000_000_000).min(SECONDS_MAX)
}

/// Returns the member that this cache appends to `Via` (RFC 9110 §7.6.3): the version of the message received, and
/// its name.
pub fn via_field(version: Http1Version, pseudonym: &str) -> String {
    let number = match version {
        Http1Version::Http10 => "1.0",
        Http1Version::Http11 => "1.1",
    };
    format!("{number} {pseudonym}")
}

/// Returns whether a message has passed this cache before: its `Via` names it, so forwarding it would never end.
pub fn passed_through<'a>(lines: impl FieldLines<'a>, pseudonym: &str) -> bool {
    let received_by =
        |member: &'a [u8]| member.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).nth(1);
    values(lines, "via").flat_map(members).filter_map(received_by).any(|name| name == pseudonym.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_in_whole_seconds() {
        for (age, seconds) in [(0, 0), (999_999_999, 0), (1_000_000_000, 1), (u64::MAX, SECONDS_MAX)] {
            assert_eq!(age_field(Nanos(age)), seconds);
        }
    }

    #[test]
    fn a_loop_is_detected_by_the_name_in_via() {
        let passed = |value: &str| {
            let lines: [(&[u8], &[u8]); 2] = [(b"Via", b"1.0 fred"), (b"via", value.as_bytes())];
            passed_through(lines.iter().copied(), "plimsoll")
        };
        let own = via_field(Http1Version::Http11, "plimsoll");
        assert_eq!(own, "1.1 plimsoll");
        assert!(
            passed(&own) && passed("HTTP/1.1  plimsoll (a comment), 1.1 b") && passed("1.1 a,1.0 plimsoll")
        );
        assert!(
            !passed("") && !passed("plimsoll") && !passed("1.1 plimsoll2") && !passed("1.1 a (1.1 plimsoll)")
        );
    }

    #[test]
    fn field_names_are_case_insensitive() {
        assert_eq!(request_field(b"X-FORWARDED-HOST"), RequestField::Unkeyed);
        assert_eq!(request_field(b"transfer-ENCODING"), RequestField::Connection);
        assert_eq!(response_field(b"SET-COOKIE"), ResponseField::Unstored);
        assert!(stays_in_not_modified(b"ETAG") && !stays_in_not_modified(b"content-type"));
    }
}
