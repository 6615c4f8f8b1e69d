//! The transport of requests to a server.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// The transport of requests to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// HTTP/1 over TCP.
    #[default]
    Plain,
    /// HTTP/1 over TLS.
    Tls,
    /// HTTP/2 over TLS, negotiated by ALPN.
    TlsHttp2,
}

impl Transport {
    /// All of them.
    pub const ALL: [Transport; 3] = [Transport::Plain, Transport::Tls, Transport::TlsHttp2];

    /// Returns its name, as in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Plain => "plain",
            Transport::Tls => "tls",
            Transport::TlsHttp2 => "tls-http2",
        }
    }

    /// Returns whether it uses TLS.
    pub fn is_tls(self) -> bool {
        self != Transport::Plain
    }

    /// Returns the scheme of its URLs.
    pub fn scheme(self) -> &'static str {
        if self.is_tls() { "https" } else { "http" }
    }

    /// Returns it for people. The version of HTTP/1 depends on the client and is not part of it.
    pub fn title(self) -> &'static str {
        match self {
            Transport::Plain => "TCP",
            Transport::Tls => "TLS over TCP",
            Transport::TlsHttp2 => "TLS over TCP, with HTTP/2",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
