//! The protocol of a web workload: the version of HTTP, encryption, and the lifetime of connections.

use languages::{NamedValues, names};
use serde::{Deserialize, Serialize};
use units::Nanos;

/// The most users that may share one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 1000;

/// The protocol of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebProtocol {
    /// The version that requests are made in.
    pub http: HttpVersion,
    /// Whether connections are encrypted.
    pub tls: Tls,
    /// The lifetime of a connection.
    pub connection: ConnectionLifetime,
    /// HTTP/2: the number of users that share a connection, each with one stream at a time; at least 1.
    pub streams: u32,
}

impl WebProtocol {
    /// Makes the protocol of connections of this lifetime without encryption: HTTP/1.0 with a connection per request, as
    /// in WebStone, HTTP/1.1 otherwise.
    pub fn plain(connection: ConnectionLifetime) -> WebProtocol {
        let http = match connection {
            ConnectionLifetime::PerRequest => HttpVersion::Http10,
            ConnectionLifetime::Sessions | ConnectionLifetime::KeepAlive { .. } => HttpVersion::Http11,
        };
        WebProtocol { http, tls: Tls::Off, connection, streams: 1 }
    }
}

names! {
    /// The version of HTTP that requests name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum HttpVersion {
        /// HTTP/1.0, without `Host`.
        Http10 = "1.0",
        /// HTTP/1.1.
        Http11 = "1.1",
        /// HTTP/2, agreed upon by ALPN over TLS, known beforehand without.
        Http2 = "2",
    }
}

names! {
    /// The encryption of connections and the kind of their handshakes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Tls {
        /// Plain text.
        Off = "off",
        /// TLS; every connection makes a full handshake.
        Full = "full",
        /// TLS; a user's connections after its first resume its session where the server offers that.
        Resumed = "resumed",
    }
}

impl Tls {
    /// Returns the text after the version of HTTP, for people; empty without encryption.
    pub fn clause(self) -> &'static str {
        match self {
            Tls::Off => "",
            Tls::Full => " over TLS with full handshakes",
            Tls::Resumed => " over TLS with resumed sessions",
        }
    }
}

/// The longest wait for the end of a connection after its complete last reply.
///
/// If each operation has its own connection, the peer closes it, and the operation is done when it is closed
/// (WebStone counts to after the close). A peer that leaves it open does not make a complete reply a failure: after
/// this time the driver closes it, the wait is part of the response time, and the record counts it
/// ([`crate::Flow::left_open`]). A server that closes connections does so within an iteration of its event loop,
/// which may be delayed if the server is throttled; a second is longer than that, and shorter than the 5 s and more
/// for which servers keep idle connections.
pub const CLOSE_WAIT_MAX: Nanos = Nanos::from_secs(1);

/// The lifetime of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ConnectionLifetime {
    /// A new one for every request; the body ends with it.
    PerRequest,
    /// Kept for a session, whose number of requests each user draws: 1 for 30 % of the sessions, 5 to 15 for
    /// 6.36 % each, as in SPECweb99; closed loop only.
    Sessions,
    /// Kept until one side closes it or it has carried so many requests.
    KeepAlive {
        /// Requests per connection at most; no limit if absent.
        requests_max: Option<u32>,
    },
}

/// Kept connections have no limit of requests.
impl NamedValues for ConnectionLifetime {
    const NAMES: &'static [(&'static str, ConnectionLifetime)] = &[
        ("per-request", ConnectionLifetime::PerRequest),
        ("keep-alive", ConnectionLifetime::KeepAlive { requests_max: None }),
        ("sessions", ConnectionLifetime::Sessions),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_stored_under_the_names_that_are_typed() {
        for (name, connection) in ConnectionLifetime::NAMES {
            let stored = serde_json::to_value(connection).unwrap();
            let kept = serde_json::json!({ "keep-alive": { "requests_max": null } });
            assert!(stored == *name || (stored == kept && *name == "keep-alive"), "{stored}");
        }
    }
}
