//! What an operator says about the servers behind.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;
use units::Nanos;

/// Which servers are asked, and how long and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginSettings {
    /// The servers; at least one.
    pub servers: Vec<OriginServer>,
    /// Which of them gets a request.
    pub balance: Balance,
    /// What `Host` says to them; what the client named if `None`.
    pub host: Option<String>,
    /// How servers prove who they are; used if one of them is asked by TLS.
    pub tls: TlsSettings,
    /// The longest time to find a server's address, connect, and shake hands if by TLS.
    pub connect_timeout: Nanos,
    /// The longest time from the end of a request to the end of the head of its reply.
    pub first_byte_timeout: Nanos,
    /// The longest time between two pieces of a body, of the request as of the reply.
    pub between_bytes_timeout: Nanos,
    /// How long a connection is kept that nobody uses. Below what servers allow, or they close it first.
    pub idle_timeout: Nanos,
    /// The most connections to one server that nobody uses, of each thread.
    pub idle_max: usize,
    /// The most requests to one server that are under way at a time, over all threads.
    pub connections_max: usize,
    /// The most requests that wait because all servers have `connections_max`; others fail at once.
    pub waiting_max: usize,
    /// How many times more a request is sent if that can do no harm, see [`Origins::send`](super::Origins::send).
    pub retries: u32,
    /// When a server counts as down.
    pub health: HealthSettings,
}

impl Default for OriginSettings {
    fn default() -> OriginSettings {
        OriginSettings {
            servers: Vec::new(),
            balance: Balance::default(),
            host: None,
            tls: TlsSettings::default(),
            connect_timeout: Nanos::from_secs(3),
            first_byte_timeout: Nanos::from_secs(60),
            between_bytes_timeout: Nanos::from_secs(60),
            // Apache closes after 5 s, nginx after 75, Node.js after 5.
            idle_timeout: Nanos::from_secs(4),
            idle_max: 64,
            connections_max: 512,
            waiting_max: 4096,
            retries: 1,
            health: HealthSettings::default(),
        }
    }
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginServer {
    /// Its host, by name or number, an IPv6 number in brackets; and its port: `host:port`.
    pub address: String,
    /// Its share of the requests, as against those of the others; none if zero.
    pub weight: u32,
    /// Whether it is asked by TLS.
    pub tls: bool,
}

/// Why a text names no server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected `http://host:port`, `https://host:port` or `host:port` as origin, found `{0}`")]
pub struct AddressError(pub String);

impl FromStr for OriginServer {
    type Err = AddressError;

    /// Reads `http://host:port`, `https://host:port` or `host:port`; weight 1.
    ///
    /// The port may be missing if a scheme is given. A single `/` may follow, no other path.
    fn from_str(text: &str) -> Result<OriginServer, AddressError> {
        let error = || AddressError(text.to_owned());
        let schemes = [("http://", false, Some(80)), ("https://", true, Some(443)), ("", false, None)];
        let found =
            schemes.iter().find_map(|(scheme, tls, port)| Some((strip_scheme(text, scheme)?, *tls, *port)));
        let (rest, tls, default_port) = found.ok_or_else(error)?;
        let address = if default_port.is_some() { rest.strip_suffix('/').unwrap_or(rest) } else { rest };
        let (host, port) = split_port(address).ok_or_else(error)?;
        let port = port.or(default_port).ok_or_else(error)?;
        Ok(OriginServer { address: format!("{host}:{port}"), weight: 1, tls })
    }
}

/// Returns the text after a scheme, whatever its case.
fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let start = text.get(..scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
}

/// Splits `host:port`; the port may be missing. `None` if either is none.
pub(super) fn split_port(address: &str) -> Option<(&str, Option<u16>)> {
    let end_of_host = if address.starts_with('[') { address.find(']')? + 1 } else { 0 };
    let (host, port) = match address[end_of_host..].rfind(':') {
        Some(colon) => {
            let (host, port) = address.split_at(end_of_host + colon);
            (host, Some(port[1..].parse().ok().filter(|&port| port != 0)?))
        }
        None => (address, None),
    };
    is_host(host).then_some((host, port))
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(number) => number.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
    }
}

/// Which server gets a request, of those that are up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Balance {
    /// One after the other, by weight; each thread for itself.
    #[default]
    RoundRobin,
    /// The one that has the fewest requests under way for its weight.
    LeastConnections,
    /// Always the same for the same key, by weight; others only while it is down or full.
    Hash,
}

/// How servers prove who they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// The certificates (PEM) that servers' must be signed by; those that the system trusts if `None`.
    pub ca_file: Option<PathBuf>,
    /// The name that servers must prove; the host of each one's address if `None`.
    pub server_name: Option<String>,
}

/// When a server counts as down, and when as up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthSettings {
    /// How servers are asked whether they are well; they are not if `None`.
    pub probe: Option<Probe>,
    /// After how many failures in a row it is down; never if zero.
    pub fall: u32,
    /// After how many good probes in a row it is up again.
    pub rise: u32,
    /// Without probes, how long it is left alone before one request is tried with it.
    pub trial_after: Nanos,
}

impl Default for HealthSettings {
    fn default() -> HealthSettings {
        HealthSettings { probe: None, fall: 3, rise: 2, trial_after: Nanos::from_secs(2) }
    }
}

/// A question by which a server shows that it is well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The target that is asked for, by GET.
    pub path: String,
    /// The time from one question to the next.
    pub interval: Nanos,
    /// The longest time until the whole head of the reply is there.
    pub timeout: Nanos,
    /// The statuses that say so.
    pub statuses: RangeInclusive<u16>,
}

impl Default for Probe {
    fn default() -> Probe {
        Probe {
            path: "/".to_owned(),
            interval: Nanos::from_secs(2),
            timeout: Nanos::from_secs(2),
            statuses: 200..=399,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_from_addresses_and_uris() {
        let cases = [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", false),
            ("HTTP://Example.org/", "Example.org:80", false),
            ("https://example.org", "example.org:443", true),
            ("https://[::1]:8443/", "[::1]:8443", true),
            ("http://[::1]", "[::1]:80", false),
            ("app_1:3000", "app_1:3000", false),
        ];
        for (text, address, tls) in cases {
            let server = OriginServer { address: address.to_owned(), weight: 1, tls };
            assert_eq!(text.parse(), Ok(server), "{text}");
        }
    }

    #[test]
    fn texts_that_name_no_server_are_refused() {
        for text in [
            "",
            "http://",
            "http:///",
            "example.org",
            "example.org:80/",
            ":80",
            "http://a:0",
            "http://a:65536",
            "http://a:x",
            "http://a:",
            "http://a/b",
            "http://a?b",
            "http://u@a",
            "ftp://a:1",
            "[::1:80",
            "[::g]:80",
            "::1:80",
            "a b:80",
            "http://a//",
            "é:80",
        ] {
            assert_eq!(text.parse::<OriginServer>(), Err(AddressError(text.to_owned())), "{text}");
        }
    }
}
