//! Variants of a server: configurations that differ in a few lines, such as the encryption of connections.
//!
//! A recipe names its variants freely, and the family of the benchmark maps its settings to names. Web benchmarks have
//! the variants of [`WebVariant`]; an application server that speaks HTTP has the variant `http`.

use languages::names;
use model::{AppProtocol, Family};

use super::Recipe;

names! {
    /// A variant that web benchmarks ask for.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum WebVariant without serde {
        /// HTTP/1 over TCP.
        #[default]
        Http1 = "h1",
        /// HTTP/1 over TLS.
        Tls = "tls",
        /// HTTP/2 over TLS, negotiated by ALPN.
        Http2 = "h2",
    }
}

impl WebVariant {
    /// Returns whether it uses TLS.
    pub fn is_tls(self) -> bool {
        self != WebVariant::Http1
    }

    /// Returns the scheme of its URLs.
    pub fn scheme(self) -> &'static str {
        if self.is_tls() { "https" } else { "http" }
    }

    /// Returns the transport of its requests, for people. The version of HTTP/1 depends on the client and is not part of
    /// it.
    pub fn title(self) -> &'static str {
        match self {
            WebVariant::Http1 => "TCP",
            WebVariant::Tls => "TLS over TCP",
            WebVariant::Http2 => "TLS over TCP, with HTTP/2",
        }
    }
}

impl Recipe {
    /// Returns the names of the variants. A web server has at least `h1`.
    pub fn variant_names(&self) -> Vec<&str> {
        if !self.is_of(Family::Web) {
            return self.variants.keys().map(String::as_str).collect();
        }
        if self.variants.is_empty() {
            return vec![WebVariant::Http1.name()];
        }
        let names = WebVariant::ALL.into_iter().map(WebVariant::name);
        names.filter(|name| self.variants.contains_key(*name)).collect()
    }

    /// Returns the protocol of an application server: HTTP if it has the variant of this name.
    pub fn app_protocol(&self) -> AppProtocol {
        if self.variants.contains_key(AppProtocol::Http.name()) {
            AppProtocol::Http
        } else {
            AppProtocol::Binary
        }
    }
}
