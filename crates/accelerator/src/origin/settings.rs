//! The settings of the origin servers.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use languages::{HttpUrl, UrlScheme};
use thiserror::Error;
use units::Nanos;

/// The origin servers, with time limits and connection limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginSettings {
    /// The servers; at least one.
    pub servers: Vec<OriginServer>,
    /// The load balancing between them.
    pub balance: Balance,
    /// The value of `Host`; that of the client if `None`.
    pub host: Option<String>,
    /// The verification of servers with TLS.
    pub tls: OriginTlsSettings,
    /// The longest time to resolve a server's name, connect, and complete a TLS handshake.
    pub connect_timeout: Nanos,
    /// The longest time from the end of a request to the end of the head of its response.
    pub first_byte_timeout: Nanos,
    /// The longest time between two pieces of a body, of the request as of the response.
    pub between_bytes_timeout: Nanos,
    /// The time that an idle connection is kept. It should be shorter than the servers' own, or they close it first.
    pub idle_timeout: Nanos,
    /// The most idle connections to one server, per thread.
    pub idle_max: usize,
    /// The most requests in progress to one server, over all threads.
    pub connections_max: usize,
    /// The most requests that wait while all servers have `connections_max`; others fail at once.
    pub waiting_max: usize,
    /// The most retries of a request, see [`OriginClient::send`](super::OriginClient::send).
    pub retries: u32,
    /// The health checks.
    pub health: HealthSettings,
}

impl Default for OriginSettings {
    fn default() -> OriginSettings {
        OriginSettings {
            servers: Vec::new(),
            balance: Balance::default(),
            host: None,
            tls: OriginTlsSettings::default(),
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
    /// Its host, a name or a number, an IPv6 number in brackets; and its port: `host:port`.
    pub address: String,
    /// Its weight relative to the others; no requests if zero.
    pub weight: u32,
    /// Whether it speaks TLS.
    pub tls: bool,
}

/// The error for a text that names no server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected `http://host:port`, `https://host:port` or `host:port` as origin, found `{0}`")]
pub struct OriginAddressError(pub String);

impl FromStr for OriginServer {
    type Err = OriginAddressError;

    /// Parses `http://host:port`, `https://host:port` or `host:port`; weight 1.
    ///
    /// The port may be missing if a scheme is given. A single `/` may follow, no other path.
    fn from_str(text: &str) -> Result<OriginServer, OriginAddressError> {
        let error = || OriginAddressError(text.to_owned());
        let url: HttpUrl = text.parse().map_err(|_| error())?;
        let is_whole = match url.scheme {
            Some(_) => matches!(url.target.as_str(), "" | "/"),
            None => url.target.is_empty() && url.port.is_some(),
        };
        let tls = url.scheme == Some(UrlScheme::Https);
        if is_whole { Ok(OriginServer { address: url.address(), weight: 1, tls }) } else { Err(error()) }
    }
}

/// Returns the host of an address `host:port`; `None` if it is not one.
pub(super) fn host_of_address(address: &str) -> Option<String> {
    let url: HttpUrl = address.parse().ok()?;
    let is_address = url.scheme.is_none() && url.port.is_some() && url.target.is_empty();
    is_address.then_some(url.host)
}

/// The load balancing between the servers that are up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Balance {
    /// One after the other, by weight; each thread for itself.
    #[default]
    RoundRobin,
    /// The server with the fewest requests in progress for its weight.
    LeastConnections,
    /// The same server for the same key, by weight; others only while it is down or full.
    Hash,
}

/// The verification of servers with TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginTlsSettings {
    /// The certificates (PEM) of the trusted authorities; those of the system if `None`.
    pub ca_file: Option<PathBuf>,
    /// The name that servers must prove; the host of each address if `None`.
    pub server_name: Option<String>,
}

/// The health checks of servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthSettings {
    /// The probe; `None` for no probes.
    pub probe: Option<Probe>,
    /// The failures in a row after which a server is down; never if zero.
    ///
    /// A failure is a connection that cannot be made, a URL whose response is overdue, or a bad probe.
    pub fall: u32,
    /// The time after which a response is overdue, if the server has answered nothing since; never if zero.
    pub overdue_after: Nanos,
    /// The good probes in a row after which it is up again.
    pub rise: u32,
    /// Without probes, the time until a server that is down is tried.
    pub trial_after: Nanos,
}

impl Default for HealthSettings {
    fn default() -> HealthSettings {
        HealthSettings {
            probe: None,
            fall: 3,
            overdue_after: Nanos::from_secs(4),
            rise: 2,
            trial_after: Nanos::from_secs(2),
        }
    }
}

/// A health probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The target of the GET request.
    pub path: String,
    /// The time from one probe to the next.
    pub interval: Nanos,
    /// The longest time until the whole head of the response has arrived.
    pub timeout: Nanos,
    /// The statuses that count as good.
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
    fn servers_are_parsed_from_addresses_and_urls() {
        let cases = [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", false),
            ("HTTP://Example.org/", "Example.org:80", false),
            ("https://example.org", "example.org:443", true),
            ("é:80", "xn--9ca:80", false),
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
    fn invalid_server_addresses_are_refused() {
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
        ] {
            assert_eq!(text.parse::<OriginServer>(), Err(OriginAddressError(text.to_owned())), "{text}");
        }
    }
}
