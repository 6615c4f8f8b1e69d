//! The transport of requests to a server.

use languages::names;
use schemars::JsonSchema;

names! {
    /// The transport of requests to a server.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
    pub enum Transport {
        /// HTTP/1 over TCP.
        #[default]
        Plain = "plain",
        /// HTTP/1 over TLS.
        Tls = "tls",
        /// HTTP/2 over TLS, negotiated by ALPN.
        TlsHttp2 = "tls-http2",
    }
}

impl Transport {
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
