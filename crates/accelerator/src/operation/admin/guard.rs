//! Requests to the operator's page that a stranger's page has a browser make.
//!
//! A stranger's name that leads here (DNS rebinding) makes a browser take what is answered for the stranger's own, and
//! hand it over; but it says that name as `Host`. A request from a stranger's page to this page's own name is not handed
//! over by browsers, but made; they say where it comes from.

use std::net::{IpAddr, Ipv6Addr};

use http1::RequestMethod;

use super::AdminSettings;
use super::http::{Answer, Asked};

/// How many characters of a host are told to whoever named it.
const SHOWN_MAX: usize = 100;

/// Checks that a request means this page, and that no other page made it. Errors: what it gets instead.
pub(super) fn check(asked: &Asked, admin: &AdminSettings) -> Result<(), Answer> {
    let host = asked.host.as_deref().unwrap_or_default();
    if !is_of_page(host, admin) {
        let shown: String = host.chars().take(SHOWN_MAX).collect();
        let why = format!(
            "expected an address of this page or a name that it has as `Host`, found `{shown}`\n\
             hint: ask for `{}`, or name it in `hosts` of `[admin]`",
            admin.listen.ip()
        );
        return Err(Answer::refused(421, &why));
    }
    if is_of_other_page(asked, host) {
        return Err(Answer::refused(403, "the page does not answer requests that another site makes"));
    }
    Ok(())
}

/// Tells whether a host is the address that is listened at, `localhost` if that is on loopback, or a name that the
/// operator has given it. The port does not count: it may be forwarded from another, and no name is rebound by it.
///
/// At all addresses of the machine every address counts: those of strangers do not lead here.
fn is_of_page(host: &str, admin: &AdminSettings) -> bool {
    let name = without_port(host);
    let own = admin.listen.ip().to_canonical();
    if let Some(address) = address(name) {
        return address == own || own.is_unspecified();
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_local = (own.is_loopback() || own.is_unspecified()) && name.eq_ignore_ascii_case("localhost");
    is_local || admin.hosts.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Tells whether a browser says that a page of another site made the request. Following a link to the page is fine.
fn is_of_other_page(asked: &Asked, host: &str) -> bool {
    let is_own = |origin: &String| {
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
    };
    if asked.origin.as_ref().is_some_and(|origin| !is_own(origin)) {
        return true;
    }
    let (site, mode) = (asked.fetch.0.as_deref(), asked.fetch.1.as_deref());
    let is_link = mode == Some("navigate") && asked.method == RequestMethod::Get;
    matches!(site, Some("cross-site" | "same-site")) && !is_link
}

fn without_port(host: &str) -> &str {
    let end = host.rfind(']').map_or(0, |bracket| bracket + 1);
    host[end..].find(':').map_or(host, |colon| &host[..end + colon])
}

fn address(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical()),
        None => name.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn status(listen: &str, host: &str, lines: &[(&str, &str)]) -> u16 {
        let listen: SocketAddr = listen.parse().unwrap();
        let admin = AdminSettings { listen, token: None, hosts: vec!["status.example".to_owned()] };
        let line = |name| lines.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned());
        let asked = Asked {
            method: if line("method").is_some() { RequestMethod::Post } else { RequestMethod::Get },
            path: "/".to_owned(),
            host: Some(host.to_owned()),
            authorization: None,
            origin: line("origin"),
            fetch: (line("site"), line("mode")),
            body: Vec::new(),
        };
        check(&asked, &admin).err().map_or(200, |answer| answer.status)
    }

    #[test]
    fn names_of_others_that_lead_here_are_refused() {
        for (listen, host, expected) in [
            ("127.0.0.1:8079", "127.0.0.1:8079", 200),
            ("127.0.0.1:8079", "127.0.0.1", 200),
            ("127.0.0.1:8079", "localhost:9000", 200),
            ("127.0.0.1:8079", "LocalHost.", 200),
            ("127.0.0.1:8079", "Status.Example:8079", 200),
            ("127.0.0.1:8079", "evil.test", 421),
            ("127.0.0.1:8079", "evil.test:8079", 421),
            ("127.0.0.1:8079", "127.0.0.1.evil.test", 421),
            ("127.0.0.1:8079", "localhost.evil.test", 421),
            ("127.0.0.1:8079", "127.0.0.2", 421),
            ("127.0.0.1:8079", "2130706433", 421),
            ("127.0.0.1:8079", "", 421),
            ("127.0.0.1:8079", "[::1]", 421),
            ("[::1]:8079", "[::1]:8079", 200),
            ("[::1]:8079", "localhost", 200),
            ("[::1]:8079", "[::1", 421),
            ("192.0.2.1:80", "192.0.2.1", 200),
            ("192.0.2.1:80", "localhost", 421),
            ("192.0.2.1:80", "evil.test", 421),
            ("0.0.0.0:80", "192.0.2.7:80", 200),
            ("[::]:80", "[2001:db8::1]", 200),
            ("0.0.0.0:80", "evil.test", 421),
        ] {
            assert_eq!(status(listen, host, &[]), expected, "{listen} {host}");
        }
    }

    #[test]
    fn pages_of_others_make_no_requests() {
        let own = "http://127.0.0.1:8079";
        for (lines, expected) in [
            (&[][..], 200),
            (&[("origin", own)], 200),
            (&[("origin", "https://127.0.0.1:8079")], 200),
            (&[("origin", "http://127.0.0.1:9000")], 403),
            (&[("origin", "http://evil.test")], 403),
            (&[("origin", "null")], 403),
            (&[("site", "same-origin")], 200),
            (&[("site", "none"), ("mode", "navigate")], 200),
            (&[("site", "cross-site"), ("mode", "no-cors")], 403),
            (&[("site", "same-site"), ("mode", "cors")], 403),
            (&[("site", "cross-site"), ("mode", "navigate")], 200),
            (&[("site", "cross-site"), ("mode", "navigate"), ("method", "POST")], 403),
        ] {
            assert_eq!(status("127.0.0.1:8079", "127.0.0.1:8079", lines), expected, "{lines:?}");
        }
    }
}
