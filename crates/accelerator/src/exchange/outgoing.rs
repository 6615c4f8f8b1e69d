//! Requests as they go to the origin.

use std::net::IpAddr;

use http1::Version;

use super::ask::Ask;
use super::settings::{ExchangeSettings, Forwarded};
use crate::message::{ClientVersion, HeaderLines};
use crate::origin::Outgoing;
use crate::policy::{
    Conditional, RequestField, Scheme, accept_encoding, names_of_connection, request_field, via_field,
};

/// What a request is sent for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// For this client alone: everything it says goes on.
    Pass,
    /// For this client, and for the store if the response allows that: nothing goes on that could change the response
    /// but is no part of the key.
    Own,
    /// For the store: the whole response, or the news that a stored one is still good.
    Fill(Conditional),
}

impl Purpose {
    fn is_pass(&self) -> bool {
        matches!(self, Purpose::Pass)
    }

    /// Tells whether a field of the client's goes on.
    fn sends(&self, name: &[u8], settings: &ExchangeSettings) -> bool {
        match request_field(name) {
            RequestField::Forwarded => true,
            RequestField::Connection => false,
            RequestField::Partial => !matches!(self, Purpose::Fill(_)),
            RequestField::Unkeyed => self.is_pass() && !is_replaced(name, settings.forwarded),
        }
    }
}

/// Makes the request that goes to the origin; its body, if it has one, only with [`Purpose::Pass`].
pub(super) fn outgoing(ask: &Ask, purpose: &Purpose, settings: &ExchangeSettings) -> Outgoing {
    let has_body = purpose.is_pass() && ask.inbound.has_body;
    Outgoing {
        method_name: ask.inbound.method_name.clone(),
        target: ask.target().as_bytes().to_vec(),
        authority: ask.authority().as_bytes().to_vec(),
        lines: lines(ask, purpose, settings),
        content_length: ask.inbound.content_length.filter(|_| has_body),
        has_body,
        is_safe: ask.request.is_safe,
        upgrade: if purpose.is_pass() { upgrade(ask) } else { None },
        key_hash: ask.key_hash(),
    }
}

fn lines(ask: &Ask, purpose: &Purpose, settings: &ExchangeSettings) -> HeaderLines {
    let codings =
        if purpose.is_pass() { None } else { accept_encoding(ask.lines(), &settings.policy.codings) };
    let is_rewritten = |name: &[u8]| {
        (codings.is_some() && name.eq_ignore_ascii_case(b"accept-encoding"))
            || (ask.forwards_left().is_some() && name.eq_ignore_ascii_case(b"max-forwards"))
    };
    let mut sent = HeaderLines::with_capacity(ask.inbound.lines.as_bytes().len() + 256);
    ask.lines()
        .filter(|(name, _)| purpose.sends(name, settings) && !is_rewritten(name))
        .for_each(|(name, value)| sent.push(name, value));
    if let Some(codings) = &codings {
        sent.push(b"Accept-Encoding", codings.as_bytes());
    }
    if let Some(left) = ask.forwards_left() {
        sent.push_number(b"Max-Forwards", left.saturating_sub(1));
    }
    if let Purpose::Fill(conditional) = purpose {
        push_conditions(&mut sent, conditional);
    }
    push_forwarded(&mut sent, ask, purpose, settings.forwarded);
    sent.push(b"Via", via(ask.inbound.version, &settings.name).as_bytes());
    sent
}

fn push_conditions(lines: &mut HeaderLines, conditional: &Conditional) {
    if let Some(tags) = &conditional.if_none_match {
        lines.push(b"If-None-Match", tags);
    }
    if let Some(date) = &conditional.if_modified_since {
        lines.push(b"If-Modified-Since", date.as_bytes());
    }
}

/// Returns the member for `Via`: the version that the client speaks, and our name.
fn via(version: ClientVersion, name: &str) -> String {
    match version {
        ClientVersion::Http10 => via_field(Version::Http10, name),
        ClientVersion::Http11 => via_field(Version::Http11, name),
        ClientVersion::Http2 => format!("2.0 {name}"),
    }
}

/// Tells whether we say ourselves what this field of the client's claims.
fn is_replaced(name: &[u8], forwarded: Forwarded) -> bool {
    const SAID: [&[u8]; 4] = [b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"];
    forwarded != Forwarded::Off && SAID.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Says what the client asked for, and of a request that is passed on also who it is.
///
/// Whom the client claims to speak for stands before its own address, as many gateways have it; that is for the origin
/// to believe or not.
fn push_forwarded(lines: &mut HeaderLines, ask: &Ask, purpose: &Purpose, forwarded: Forwarded) {
    let scheme = ask.inbound.scheme;
    let client = purpose.is_pass().then(|| ask.inbound.client.ip().to_canonical());
    match forwarded {
        Forwarded::Off => {}
        Forwarded::Separate => {
            lines.push(b"X-Forwarded-Proto", scheme.as_str().as_bytes());
            lines.push(b"X-Forwarded-Host", ask.authority().as_bytes());
            if let Some(client) = client {
                let claimed = claims(ask, "x-forwarded-for");
                lines
                    .push(b"X-Forwarded-For", [claimed, client.to_string().into_bytes()].concat().as_slice());
            }
        }
        Forwarded::Standard => {
            let claimed = if client.is_some() { claims(ask, "forwarded") } else { Vec::new() };
            let own = standard(scheme, ask.authority(), client);
            lines.push(b"Forwarded", [claimed, own.into_bytes()].concat().as_slice());
        }
    }
}

/// Returns what the client's own lines of this name say, each followed by a comma.
fn claims(ask: &Ask, name: &str) -> Vec<u8> {
    let lines = ask.lines().filter(|(one, _)| one.eq_ignore_ascii_case(name.as_bytes()));
    lines.flat_map(|(_, value)| [value, b", "]).collect::<Vec<_>>().concat()
}

/// Writes an element of `Forwarded` (RFC 7239 §4); what is no token stands in quotes.
fn standard(scheme: Scheme, authority: &str, client: Option<IpAddr>) -> String {
    let client = match client {
        None => String::new(),
        Some(IpAddr::V4(address)) => format!("for={address};"),
        Some(IpAddr::V6(address)) => format!("for=\"[{address}]\";"),
    };
    format!("{client}host=\"{authority}\";proto={}", scheme.as_str())
}

/// Returns the protocols that the client would change to; `None` if it does not ask for any by the rules.
///
/// Never `h2c`: it would carry requests past this cache that it does not see.
fn upgrade(ask: &Ask) -> Option<Vec<u8>> {
    let is_asked = names_of_connection(ask.lines()).iter().any(|name| name == "upgrade");
    if !is_asked || ask.inbound.version != ClientVersion::Http11 {
        return None;
    }
    let lines = ask.lines().filter(|(name, _)| name.eq_ignore_ascii_case(b"upgrade"));
    let protocols: Vec<&[u8]> = lines
        .flat_map(|(_, value)| value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|one| !one.is_empty() && !one.to_ascii_lowercase().starts_with(b"h2c"))
        .collect();
    (!protocols.is_empty()).then(|| protocols.join(&b", "[..]))
}

#[cfg(test)]
mod tests {
    use super::super::test_support::inbound;
    use super::*;
    use crate::policy;

    const NO_CONDITIONS: Purpose =
        Purpose::Fill(Conditional { if_none_match: None, if_modified_since: None });

    fn settings(forwarded: Forwarded) -> ExchangeSettings {
        ExchangeSettings { forwarded, ..ExchangeSettings::default() }
    }

    fn sent(lines: &[(&str, &str)], purpose: &Purpose, settings: &ExchangeSettings) -> String {
        let ask = Ask::read(inbound("GET", "/", lines), settings).unwrap();
        String::from_utf8(outgoing(&ask, purpose, settings).lines.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn what_is_no_part_of_the_key_goes_only_with_what_nobody_else_gets() {
        let lines =
            [("X-Rewrite-URL", "/b"), ("Range", "bytes=0-1"), ("If-None-Match", "\"a\""), ("Accept", "b")];
        let settings = settings(Forwarded::Off);
        let all = "X-Rewrite-URL: /b\r\nRange: bytes=0-1\r\nIf-None-Match: \"a\"\r\nAccept: b\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &Purpose::Pass, &settings), all);
        let own = "Range: bytes=0-1\r\nIf-None-Match: \"a\"\r\nAccept: b\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &Purpose::Own, &settings), own);
        assert_eq!(sent(&lines, &NO_CONDITIONS, &settings), "Accept: b\r\nVia: 1.1 plimsoll\r\n");
    }

    #[test]
    fn the_conditions_of_a_validation_take_the_place_of_the_clients() {
        let conditional = Conditional {
            if_none_match: Some(b"\"s\"".to_vec()),
            if_modified_since: Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
        };
        let sent =
            sent(&[("If-None-Match", "\"c\"")], &Purpose::Fill(conditional), &settings(Forwarded::Off));
        let expected = "If-None-Match: \"s\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent, expected);
    }

    #[test]
    fn the_client_is_named_only_where_nobody_else_gets_the_response() {
        let lines =
            [("X-Forwarded-For", "9.9.9.9"), ("Forwarded", "for=8.8.8.8"), ("X-Forwarded-Host", "evil")];
        let common = "X-Forwarded-Proto: http\r\nX-Forwarded-Host: example.org\r\n";
        let separate = settings(Forwarded::Separate);
        assert_eq!(sent(&lines, &NO_CONDITIONS, &separate), format!("{common}Via: 1.1 plimsoll\r\n"));
        let all = format!("{common}X-Forwarded-For: 9.9.9.9, 192.0.2.1\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent(&lines, &Purpose::Pass, &separate), all);
        let standard = settings(Forwarded::Standard);
        let own = "for=192.0.2.1;host=\"example.org\";proto=http";
        let all = format!("Forwarded: for=8.8.8.8, {own}\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent(&lines, &Purpose::Pass, &standard), all);
        let nobody = "Forwarded: host=\"example.org\";proto=http\r\nVia: 1.1 plimsoll\r\n";
        assert_eq!(sent(&lines, &NO_CONDITIONS, &standard), nobody);
    }

    #[test]
    fn codings_are_reduced_for_what_may_be_stored() {
        let mut settings = settings(Forwarded::Off);
        settings.policy =
            policy::Settings { codings: vec!["gzip".to_owned()], ..policy::Settings::default() };
        let lines = [("Accept-Encoding", "br, gzip;q=0.5")];
        assert_eq!(sent(&lines, &NO_CONDITIONS, &settings), "Accept-Encoding: gzip\r\nVia: 1.1 plimsoll\r\n");
        assert!(sent(&lines, &Purpose::Pass, &settings).starts_with("Accept-Encoding: br, gzip;q=0.5\r\n"));
    }

    #[test]
    fn lines_that_the_connection_names_end_here() {
        let lines = [("Connection", "close, X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "5"), ("X-Other", "2")];
        let sent = sent(&lines, &Purpose::Pass, &settings(Forwarded::Off));
        assert_eq!(sent, "X-Other: 2\r\nVia: 1.1 plimsoll\r\n");
    }

    #[test]
    fn protocols_that_would_hide_requests_are_not_changed_to() {
        for (connection, protocols, expected) in [
            ("Upgrade", "websocket", Some("websocket")),
            ("keep-alive, upgrade", "h2c, websocket, H2C-14", Some("websocket")),
            ("upgrade, http2-settings", "h2c", None),
            ("close", "websocket", None),
        ] {
            let lines = [("Connection", connection), ("Upgrade", protocols)];
            let settings = ExchangeSettings::default();
            let ask = Ask::read(inbound("GET", "/", &lines), &settings).unwrap();
            let found = outgoing(&ask, &Purpose::Pass, &settings).upgrade;
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{connection} {protocols}");
            assert_eq!(outgoing(&ask, &NO_CONDITIONS, &settings).upgrade, None);
        }
    }

    #[test]
    fn an_option_request_says_how_much_further_it_may_go() {
        let ask =
            Ask::read(inbound("OPTIONS", "*", &[("Max-Forwards", "3")]), &settings(Forwarded::Off)).unwrap();
        let sent = outgoing(&ask, &Purpose::Pass, &settings(Forwarded::Off));
        assert_eq!(sent.lines.as_bytes(), b"Max-Forwards: 2\r\nVia: 1.1 plimsoll\r\n");
        assert_eq!(sent.target, b"*");
    }
}
