//! The endpoint that metrics are pushed to: `http://HOST[:PORT]/PATH`.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use http1::{Http1Version, RequestError, RequestOptions, RequestTemplate};
use languages::{HttpUrl, HttpUrlError, foreign_text, without_credentials};
use model::{ForbiddenObserver, check_observer};
use thiserror::Error;

/// The default path of collectors.
const DEFAULT_PATH: &str = "/v1/metrics";

/// An address that takes metrics by OTLP over plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(HttpUrl);

/// A reason why a text is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// TLS.
    #[error(
        "metrics are pushed over plain HTTP only, found `{0}`\n\
         hint: push to a collector on this machine or network, and let it pass them on over TLS"
    )]
    Tls(String),
    /// Another scheme, or none.
    #[error("expected `http://HOST:4318/v1/metrics`, found `{0}`")]
    Scheme(String),
    /// A text that is not a URL.
    #[error("expected `http://HOST:4318/v1/metrics`, found `{0}`: {1}")]
    Url(String, HttpUrlError),
    /// A host that metrics must not be pushed to.
    #[error("metrics are not pushed to `{host}`: {why}")]
    Forbidden {
        /// The host as given.
        host: String,
        /// The forbidden address of the host.
        why: ForbiddenObserver,
    },
    /// A host or path that no request can have.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Endpoint, EndpointError> {
        // It may name a password.
        let shown = foreign_text(&without_credentials(text));
        if text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")) {
            return Err(EndpointError::Tls(shown));
        }
        let mut url: HttpUrl = text.parse().map_err(|why| match why {
            HttpUrlError::Scheme => EndpointError::Scheme(shown.clone()),
            _ => EndpointError::Url(shown.clone(), why),
        })?;
        if url.scheme.is_none() {
            return Err(EndpointError::Scheme(shown));
        }
        if url.target.len() <= 1 {
            DEFAULT_PATH.clone_into(&mut url.target);
        }
        let endpoint = Endpoint(url);
        // A mistake is reported now and not with every push.
        endpoint.request(b"")?;
        Ok(endpoint)
    }
}

/// Writes the endpoint without credentials in its query.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.0.authority(), without_credentials(&self.0.target))
    }
}

impl Endpoint {
    /// Resolves the host and checks its addresses. A name that has none yet may have some when metrics are pushed,
    /// and is checked then too.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Forbidden`].
    pub fn check(&self) -> Result<(), EndpointError> {
        let addresses = self.address().to_socket_addrs();
        let addresses: Vec<SocketAddr> = addresses.map_or_else(|_| Vec::new(), Iterator::collect);
        check_observer(&addresses).map_err(|why| EndpointError::Forbidden { host: self.0.authority(), why })
    }

    /// Returns host and port to connect to.
    pub(crate) fn address(&self) -> String {
        self.0.address()
    }

    /// Returns the request that posts a body of JSON, over a connection of its own.
    pub(crate) fn request(&self, body: &[u8]) -> Result<Vec<u8>, RequestError> {
        let authority = self.0.authority();
        let options = RequestOptions {
            version: Http1Version::Http11,
            user_agent: Some("plimsoll"),
            ..RequestOptions::http11_close(&authority)
        };
        let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
        let template = RequestTemplate::new("POST", &options, &headers, body)?;
        Ok(template.bytes(&self.0.target)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_parsed() {
        for (text, address, shown) in [
            ("http://collector:4318/v1/metrics", "collector:4318", "http://collector:4318/v1/metrics"),
            ("http://127.0.0.1:4318", "127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://collector/", "collector:80", "http://collector/v1/metrics"),
            ("http://[::1]:9/x?y=z", "[::1]:9", "http://[::1]:9/x?y=z"),
            ("http://[::1]", "[::1]:80", "http://[::1]/v1/metrics"),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!((endpoint.address().as_str(), endpoint.to_string().as_str()), (address, shown));
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        let refused = |text: &str| text.parse::<Endpoint>().unwrap_err().to_string();
        assert!(
            refused("https://c/v1/metrics")
                .starts_with("metrics are pushed over plain HTTP only, found `https")
        );
        for (text, why) in [
            ("", "expected a host name"),
            ("collector:4318", "found `collector:4318`"),
            ("ftp://collector/", "found `ftp://collector/`"),
            ("http://", "expected a host name"),
            ("http://:1/", "expected a host name"),
            ("http://a b/", "expected a host name"),
            ("http://a:b/", "expected a port"),
            ("http://a:0/", "expected a port"),
            ("http://u@a/", "user names"),
            ("http://a/b c", "blanks"),
        ] {
            let error = refused(text);
            assert!(error.starts_with("expected `http://HOST:4318/v1/metrics`"), "{error}");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn metadata_services_are_refused() {
        let check = |text: &str| text.parse::<Endpoint>().unwrap().check();
        for host in [
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "[::ffff:169.254.169.254]",
            "[::ffff:a9fe:a9fe]",
            "[fe80::1]",
            "[fd00:ec2::254]",
            "0.0.0.0",
        ] {
            let error = check(&format!("http://{host}:4318/v1/metrics")).unwrap_err();
            assert!(matches!(error, EndpointError::Forbidden { .. }), "{host}: {error}");
        }
        // Most collectors are somewhere on the Internet; 134744072 is 8.8.8.8. The check sends nothing there.
        for host in ["127.0.0.1", "[::1]", "10.0.0.1", "8.8.8.8", "134744072", "localhost"] {
            assert_eq!(check(&format!("http://{host}:4318")), Ok(()), "{host}");
        }
    }

    #[test]
    fn a_token_in_the_path_is_sent_and_not_shown() {
        let endpoint: Endpoint = "http://collector/v1?api_key=abc".parse().unwrap();
        assert_eq!(endpoint.to_string(), "http://collector/v1?api_key=[redacted]");
        let request = String::from_utf8(endpoint.request(b"{}").unwrap()).unwrap();
        assert!(request.starts_with("POST /v1?api_key=abc HTTP/1.1\r\n"), "{request}");
        let refused = "http://me:secret@collector/".parse::<Endpoint>().unwrap_err().to_string();
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_request_closes_its_connection() {
        let endpoint: Endpoint = "http://collector:4318".parse().unwrap();
        let request = String::from_utf8(endpoint.request(b"{}").unwrap()).unwrap();
        assert!(request.starts_with("POST /v1/metrics HTTP/1.1\r\nHost: collector:4318\r\n"), "{request}");
        assert!(request.contains("\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"), "{request}");
        assert!(
            request.contains("\r\nConnection: close\r\n") && request.ends_with("\r\n\r\n{}"),
            "{request}"
        );
    }
}
