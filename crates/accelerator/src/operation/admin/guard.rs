//! Protection of the admin page against requests that other sites make a browser send.
//!
//! With DNS rebinding, another site's name leads to this address; the browser then hands the response to that site,
//! but sends its name as `Host`. A cross-site request to this page's own name is sent, though its response is
//! withheld from the other site; such a request tells its origin in `Origin` and `Sec-Fetch-Site`.

use std::net::{IpAddr, Ipv6Addr};

use http_lite::{ServerRequest, ServerResponse};
use http1::RequestMethod;

use super::AdminSettings;
use super::response::refused;

/// The most characters of a host that an error message repeats.
const SHOWN_MAX: usize = 100;

/// Checks that a request names this page as its host, and that no other site made it.
///
/// # Errors
/// The response to send instead.
pub(super) fn check(request: &ServerRequest, admin: &AdminSettings) -> Result<(), ServerResponse> {
    let host = request.host.as_deref().unwrap_or_default();
    if !is_own_host(host, admin) {
        let shown: String = host.chars().take(SHOWN_MAX).collect();
        let why = format!(
            "expected an address of this page or a name that it has as `Host`, found `{shown}`\n\
             hint: ask for `{}`, or name it in `hosts` of `[admin]`",
            admin.listen.ip()
        );
        return Err(refused(421, &why));
    }
    if is_cross_site(request, host) {
        return Err(refused(403, "cross-site requests are not allowed"));
    }
    Ok(())
}

/// Returns whether a host is the address of the listener, `localhost` if that is on loopback, or a name that the
/// operator has configured. The port does not count: it may be forwarded from another, and rebinding does not depend
/// on it.
///
/// On a wildcard address every address counts: those of other sites do not lead here.
fn is_own_host(host: &str, admin: &AdminSettings) -> bool {
    let name = without_port(host);
    let own = admin.listen.ip().to_canonical();
    if let Some(address) = address(name) {
        return address == own || own.is_unspecified();
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_local = (own.is_loopback() || own.is_unspecified()) && name.eq_ignore_ascii_case("localhost");
    is_local || admin.hosts.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Returns whether a browser says that another site's page made the request. Following a link to the page is allowed.
fn is_cross_site(request: &ServerRequest, host: &str) -> bool {
    let is_own = |origin: &str| {
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
    };
    if request.header_text("origin").is_some_and(|origin| !is_own(&origin)) {
        return true;
    }
    let is_navigation = matches!(request.header("sec-fetch-mode"), Some(b"navigate"));
    let is_link = is_navigation && request.method == RequestMethod::Get;
    matches!(request.header("sec-fetch-site"), Some(b"cross-site" | b"same-site")) && !is_link
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

    fn status(method: RequestMethod, listen: &str, host: &str, lines: &[(&str, &str)]) -> u16 {
        let listen: SocketAddr = listen.parse().unwrap();
        let admin = AdminSettings { listen, token: None, hosts: vec!["status.example".to_owned()] };
        let fields: String = lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = ServerRequest {
            method,
            path: "/".to_owned(),
            host: Some(host.to_owned()),
            head: format!("GET / HTTP/1.1\r\n{fields}\r\n").into_bytes(),
            body: Vec::new(),
        };
        check(&request, &admin).err().map_or(200, |answer| answer.status)
    }

    #[test]
    fn rebound_host_names_are_refused() {
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
            assert_eq!(status(RequestMethod::Get, listen, host, &[]), expected, "{listen} {host}");
        }
    }

    #[test]
    fn cross_site_requests_are_refused() {
        use RequestMethod::{Get, Post};
        let site = "Sec-Fetch-Site";
        let mode = "Sec-Fetch-Mode";
        for (method, lines, expected) in [
            (Get, &[][..], 200),
            (Get, &[("Origin", "http://127.0.0.1:8079")], 200),
            (Get, &[("Origin", "https://127.0.0.1:8079")], 200),
            (Get, &[("Origin", "http://127.0.0.1:9000")], 403),
            (Get, &[("Origin", "http://evil.test")], 403),
            (Get, &[("Origin", "null")], 403),
            (Get, &[(site, "same-origin")], 200),
            (Get, &[(site, "none"), (mode, "navigate")], 200),
            (Get, &[(site, "cross-site"), (mode, "no-cors")], 403),
            (Get, &[(site, "same-site"), (mode, "cors")], 403),
            (Get, &[(site, "cross-site"), (mode, "navigate")], 200),
            (Post, &[(site, "cross-site"), (mode, "navigate")], 403),
        ] {
            let found = status(method, "127.0.0.1:8079", "127.0.0.1:8079", lines);
            assert_eq!(found, expected, "{method:?} {lines:?}");
        }
    }
}
