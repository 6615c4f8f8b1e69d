//! Requests to the origin.

use std::net::IpAddr;

use cache_policy::{
    RequestField, Scheme, ValidationConditions, accept_encoding, names_of_connection, request_field,
    via_field,
};
use http1::{HeaderLines, Http1Version};

use super::cache_request::CacheRequest;
use super::settings::{ExchangeSettings, ForwardedFields};
use crate::message::ClientVersion;
use crate::origin::UpstreamRequest;

/// The purpose of a request to the origin.
#[derive(Debug)]
pub(super) enum Purpose {
    /// For one client, uncached: all of its fields are forwarded.
    Pass,
    /// For one client, and for the store if the response may be stored: no field is forwarded that could change the
    /// response but is not part of the key.
    Own,
    /// For the store: the whole response, or the validation of a stored one.
    Fill(ValidationConditions),
}

impl Purpose {
    fn is_pass(&self) -> bool {
        matches!(self, Purpose::Pass)
    }

    /// Returns whether a field of the client's request is forwarded.
    fn sends(&self, name: &[u8], settings: &ExchangeSettings) -> bool {
        match request_field(name) {
            RequestField::Forwarded => true,
            RequestField::Connection => false,
            RequestField::Partial => !matches!(self, Purpose::Fill(_)),
            RequestField::Unkeyed => self.is_pass() && !is_replaced(name, settings.forwarded),
        }
    }
}

/// Makes the request to the origin; only [`Purpose::Pass`] forwards a body.
pub(super) fn upstream_request(
    request: &CacheRequest,
    purpose: &Purpose,
    settings: &ExchangeSettings,
) -> UpstreamRequest {
    let has_body = purpose.is_pass() && request.client_request.has_body;
    UpstreamRequest {
        method_name: request.client_request.method_name.clone(),
        target: request.target().as_bytes().to_vec(),
        authority: request.authority().as_bytes().to_vec(),
        lines: lines(request, purpose, settings),
        content_length: request.client_request.content_length.filter(|_| has_body),
        has_body,
        is_safe: request.meta.is_safe,
        upgrade: if purpose.is_pass() { upgrade(request) } else { None },
        key_hash: request.key_hash(),
    }
}

fn lines(request: &CacheRequest, purpose: &Purpose, settings: &ExchangeSettings) -> HeaderLines {
    let codings =
        if purpose.is_pass() { None } else { accept_encoding(request.lines(), &settings.policy.codings) };
    let is_rewritten = |name: &[u8]| {
        (codings.is_some() && name.eq_ignore_ascii_case(b"accept-encoding"))
            || (request.max_forwards().is_some() && name.eq_ignore_ascii_case(b"max-forwards"))
    };
    let mut sent = HeaderLines::with_capacity(request.client_request.lines.as_bytes().len() + 256);
    request
        .lines()
        .filter(|(name, _)| purpose.sends(name, settings) && !is_rewritten(name))
        .for_each(|(name, value)| sent.push(name, value));
    if let Some(codings) = &codings {
        sent.push(b"Accept-Encoding", codings.as_bytes());
    }
    if let Some(left) = request.max_forwards() {
        sent.push_number(b"Max-Forwards", left.saturating_sub(1));
    }
    if let Purpose::Fill(conditional) = purpose {
        push_conditions(&mut sent, conditional);
    }
    push_forwarded(&mut sent, request, purpose, settings.forwarded);
    sent.push(b"Via", via(request.client_request.version, &settings.name).as_bytes());
    sent
}

fn push_conditions(lines: &mut HeaderLines, conditional: &ValidationConditions) {
    if let Some(tags) = &conditional.if_none_match {
        lines.push(b"If-None-Match", tags);
    }
    if let Some(date) = &conditional.if_modified_since {
        lines.push(b"If-Modified-Since", date.as_bytes());
    }
}

/// Returns the member of `Via`: the version of the client, and the name of this cache.
fn via(version: ClientVersion, name: &str) -> String {
    match version {
        ClientVersion::Http10 => via_field(Http1Version::Http10, name),
        ClientVersion::Http11 => via_field(Http1Version::Http11, name),
        ClientVersion::Http2 => format!("2.0 {name}"),
    }
}

/// Returns whether this cache writes the field itself, in place of the client's.
fn is_replaced(name: &[u8], forwarded: ForwardedFields) -> bool {
    const SAID: [&[u8]; 4] = [b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"];
    forwarded != ForwardedFields::Off && SAID.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Appends the fields about the client's side of the request; the client's address only to uncached requests.
///
/// The client's own claims precede its address, as with many gateways; the origin may believe them or not.
fn push_forwarded(
    lines: &mut HeaderLines,
    request: &CacheRequest,
    purpose: &Purpose,
    forwarded: ForwardedFields,
) {
    let scheme = request.client_request.scheme;
    let client = purpose.is_pass().then(|| request.client_request.client.ip().to_canonical());
    match forwarded {
        ForwardedFields::Off => {}
        ForwardedFields::Separate => {
            lines.push(b"X-Forwarded-Proto", scheme.as_str().as_bytes());
            lines.push(b"X-Forwarded-Host", request.authority().as_bytes());
            if let Some(client) = client {
                let claimed = claims(request, "x-forwarded-for");
                lines
                    .push(b"X-Forwarded-For", [claimed, client.to_string().into_bytes()].concat().as_slice());
            }
        }
        ForwardedFields::Standard => {
            let claimed = if client.is_some() { claims(request, "forwarded") } else { Vec::new() };
            let own = standard(scheme, request.authority(), client);
            lines.push(b"Forwarded", [claimed, own.into_bytes()].concat().as_slice());
        }
    }
}

/// Returns the values of the client's own lines of this name, each followed by a comma.
fn claims(request: &CacheRequest, name: &str) -> Vec<u8> {
    let lines = request.lines().filter(|(one, _)| one.eq_ignore_ascii_case(name.as_bytes()));
    lines.flat_map(|(_, value)| [value, b", "]).collect::<Vec<_>>().concat()
}

/// Writes an element of `Forwarded` (RFC 7239 §4); a value that is not a token is quoted.
fn standard(scheme: Scheme, authority: &str, client: Option<IpAddr>) -> String {
    let client = match client {
        None => String::new(),
        Some(IpAddr::V4(address)) => format!("for={address};"),
        Some(IpAddr::V6(address)) => format!("for=\"[{address}]\";"),
    };
    format!("{client}host=\"{authority}\";proto={}", scheme.as_str())
}

/// Returns the protocols that the client wants to upgrade to; `None` without a valid request for one.
///
/// Never `h2c`: it would carry requests past this cache.
fn upgrade(request: &CacheRequest) -> Option<Vec<u8>> {
    let is_asked = names_of_connection(request.lines()).iter().any(|name| name == "upgrade");
    if !is_asked || request.client_request.version != ClientVersion::Http11 {
        return None;
    }
    let lines = request.lines().filter(|(name, _)| name.eq_ignore_ascii_case(b"upgrade"));
    let protocols: Vec<&[u8]> = lines
        .flat_map(|(_, value)| value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|one| !one.is_empty() && !one.to_ascii_lowercase().starts_with(b"h2c"))
        .collect();
    (!protocols.is_empty()).then(|| protocols.join(&b", "[..]))
}

#[cfg(test)]
mod tests {
    use super::super::test_support::client_request;
    use super::*;

    const NO_CONDITIONS: Purpose =
        Purpose::Fill(ValidationConditions { if_none_match: None, if_modified_since: None });

    fn settings(forwarded: ForwardedFields) -> ExchangeSettings {
        ExchangeSettings { forwarded, ..ExchangeSettings::default() }
    }

    fn sent(lines: &[(&str, &str)], purpose: &Purpose, settings: &ExchangeSettings) -> String {
        let request = CacheRequest::read(client_request("GET", "/", lines), settings).unwrap();
        String::from_utf8(upstream_request(&request, purpose, settings).lines.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn unkeyed_fields_are_forwarded_only_with_uncached_requests() {
        let lines =
            [("X-Rewrite-URL", "/b"), ("Range", "bytes=0-1"), ("If-None-Match", "\"a\""), ("Accept", "b")];
        let settings = settings(ForwardedFields::Off);
        let all = "X-Rewrite-URL: /b\r\nRange: bytes=0-1\r\nIf-None-Match: \"a\"\r\nAccept: b\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &Purpose::Pass, &settings), all);
        let own = "Range: bytes=0-1\r\nIf-None-Match: \"a\"\r\nAccept: b\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &Purpose::Own, &settings), own);
        assert_eq!(sent(&lines, &NO_CONDITIONS, &settings), "Accept: b\r\nVia: 1.1 plimsoll\r\n");
    }

    #[test]
    fn validation_replaces_the_clients_conditions() {
        let conditional = ValidationConditions {
            if_none_match: Some(b"\"s\"".to_vec()),
            if_modified_since: Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
        };
        let sent =
            sent(&[("If-None-Match", "\"c\"")], &Purpose::Fill(conditional), &settings(ForwardedFields::Off));
        let expected = "If-None-Match: \"s\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent, expected);
    }

    #[test]
    fn the_client_address_is_forwarded_only_with_uncached_requests() {
        let lines =
            [("X-Forwarded-For", "9.9.9.9"), ("Forwarded", "for=8.8.8.8"), ("X-Forwarded-Host", "evil")];
        let common = "X-Forwarded-Proto: http\r\nX-Forwarded-Host: example.org\r\n";
        let separate = settings(ForwardedFields::Separate);
        assert_eq!(sent(&lines, &NO_CONDITIONS, &separate), format!("{common}Via: 1.1 plimsoll\r\n"));
        let all = format!("{common}X-Forwarded-For: 9.9.9.9, 192.0.2.1\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent(&lines, &Purpose::Pass, &separate), all);
        let standard = settings(ForwardedFields::Standard);
        let own = "for=192.0.2.1;host=\"example.org\";proto=http";
        let all = format!("Forwarded: for=8.8.8.8, {own}\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent(&lines, &Purpose::Pass, &standard), all);
        let nobody = "Forwarded: host=\"example.org\";proto=http\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &NO_CONDITIONS, &standard), nobody);
    }

    #[test]
    fn accept_encoding_is_reduced_for_storable_requests() {
        let mut settings = settings(ForwardedFields::Off);
        settings.policy =
            cache_policy::Settings { codings: vec!["gzip".to_owned()], ..cache_policy::Settings::default() };
        let lines = [("Accept-Encoding", "br, gzip;q=0.5")];
        assert_eq!(sent(&lines, &NO_CONDITIONS, &settings), "Accept-Encoding: gzip\r\nVia: 1.1 plimsoll\r\n");
        assert!(sent(&lines, &Purpose::Pass, &settings).starts_with("Accept-Encoding: br, gzip;q=0.5\r\n"));
    }

    #[test]
    fn fields_named_by_connection_are_not_forwarded() {
        let lines = [("Connection", "close, X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "5"), ("X-Other", "2")];
        let sent = sent(&lines, &Purpose::Pass, &settings(ForwardedFields::Off));
        assert_eq!(sent, "X-Other: 2\r\nVia: 1.1 plimsoll\r\n");
    }

    #[test]
    fn upgrade_to_h2c_is_not_forwarded() {
        for (connection, protocols, expected) in [
            ("Upgrade", "websocket", Some("websocket")),
            ("keep-alive, upgrade", "h2c, websocket, H2C-14", Some("websocket")),
            ("upgrade, http2-settings", "h2c", None),
            ("close", "websocket", None),
        ] {
            let lines = [("Connection", connection), ("Upgrade", protocols)];
            let settings = ExchangeSettings::default();
            let request = CacheRequest::read(client_request("GET", "/", &lines), &settings).unwrap();
            let found = upstream_request(&request, &Purpose::Pass, &settings).upgrade;
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{connection} {protocols}");
            assert_eq!(upstream_request(&request, &NO_CONDITIONS, &settings).upgrade, None);
        }
    }

    #[test]
    fn max_forwards_is_decremented() {
        let request = CacheRequest::read(
            client_request("OPTIONS", "*", &[("Max-Forwards", "3")]),
            &settings(ForwardedFields::Off),
        )
        .unwrap();
        let sent = upstream_request(&request, &Purpose::Pass, &settings(ForwardedFields::Off));
        assert_eq!(sent.lines.as_bytes(), b"Max-Forwards: 2\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent.target, b"*");
    }
}
