//! The server as given by the user.

use std::fmt;
use std::str::FromStr;

use languages::{HttpUrl, HttpUrlError, REDACTED, UrlScheme, foreign_text, without_credentials};
use model::{Tls, WebProtocol};
use thiserror::Error;

use super::context::WebSetupError;

/// A server as given by the user: `http://host:port/`, `https://host:port/`, or `host:port` for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name or address; an IPv6 address in brackets.
    pub host: String,
    /// Port; 80 by default, 443 with TLS.
    pub port: u16,
    /// Whether it uses TLS (`https`).
    pub secure: bool,
}

/// A target that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("target `{url}`: {problem}")]
pub struct TargetError {
    url: String,
    problem: &'static str,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(url: &str) -> Result<Target, TargetError> {
        let fail = |problem| TargetError { url: shown(url), problem };
        if url.is_empty() {
            return Err(fail("expected `http://HOST:PORT/` or `https://HOST:PORT/`"));
        }
        let parsed: HttpUrl = url.parse().map_err(|error| fail(problem(error)))?;
        if 1 < parsed.target.len() {
            return Err(fail("expected no path, because the benchmark defines its own"));
        }
        let (port, secure) = (parsed.port_or_default(), parsed.scheme == Some(UrlScheme::Https));
        Ok(Target { host: parsed.host, port, secure })
    }
}

/// Returns what was expected instead.
fn problem(error: HttpUrlError) -> &'static str {
    match error {
        HttpUrlError::Scheme => "only `http://` and `https://` targets are supported",
        HttpUrlError::UserInfo => "expected no user name",
        HttpUrlError::Host => "expected a host name or address, an IPv6 address in brackets",
        HttpUrlError::Port => "expected a port from 1 to 65535",
        HttpUrlError::Character => "expected no path, because the benchmark defines its own",
    }
}

impl Target {
    /// Checks that a plan uses TLS if, and only if, the target's scheme says so.
    ///
    /// # Errors
    /// [`WebSetupError::Scheme`] otherwise.
    pub fn check(&self, protocol: &WebProtocol) -> Result<(), WebSetupError> {
        if self.secure == (protocol.tls != Tls::Off) {
            return Ok(());
        }
        Err(WebSetupError::Scheme { target: self.to_string(), secure: self.secure })
    }
}

/// Returns a URL for messages, without its password.
fn shown(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((_, host)) if !url.contains("://") => foreign_text(&format!("{REDACTED}@{host}")),
        _ => foreign_text(&without_credentials(url)),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}/", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http1::{RequestOptions, RequestTemplate};
    use proptest::prelude::*;

    #[test]
    fn targets_are_host_and_port() {
        for (url, host, port, secure) in [
            ("http://localhost:8080/", "localhost", 8080, false),
            ("http://10.0.0.1", "10.0.0.1", 80, false),
            ("HTTP://[::1]:81/", "[::1]", 81, false),
            ("http://[::1]/", "[::1]", 80, false),
            ("https://localhost", "localhost", 443, true),
            ("HttpS://[::1]:80/", "[::1]", 80, true),
            ("localhost:8085", "localhost", 8085, false),
            ("localhost", "localhost", 80, false),
            ("10.0.0.1:81/", "10.0.0.1", 81, false),
            ("[::1]:81", "[::1]", 81, false),
        ] {
            assert_eq!(url.parse(), Ok(Target { host: host.to_owned(), port, secure }), "{url}");
        }
        for url in [
            "",
            "/",
            ":80",
            "localhost:8085/a",
            "::1",
            "u@x",
            "ftp://x/",
            "https://x:/",
            "http://x/a",
            "http://x?a",
            "http://x:0/",
            "http://x:65536/",
            "http://x:+80/",
            "http://x:/",
            "http://x:y/",
            "http://u@x/",
            "http:///",
            "http://:80/",
            "http://::1/",
            "http://::1:80/",
            "http://a:b:80/",
            "http://[::1/",
            "http://[::1]x/",
            "http://[[::1]]/",
            "http://[127.0.0.1]/",
            "http://[fe80::1%25lo]/",
            "http://x y/",
            "http://x\r\nHost: y/",
            "http://ä/",
        ] {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }

    #[test]
    fn passwords_are_redacted_in_errors() {
        for url in ["http://me:secret@h/", "me:secret@h:80", "ftp://me:secret@h/"] {
            let error = url.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains("[redacted]@h") && !error.contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_target_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<Target>();
        }

        /// Goal: an accepted target is displayed as an equal one and is valid in a request.
        #[test]
        fn accepted_targets_round_trip(rest in r"s?://[a-z0-9\[\]:@./%+-]{0,20}") {
            if let Ok(target) = format!("http{rest}").parse::<Target>() {
                prop_assert_eq!(target.to_string().parse(), Ok(target.clone()));
                prop_assert!(!target.host.contains(['/', '@', '%', '+']));
                let host = format!("{}:{}", target.host, target.port);
                prop_assert!(RequestTemplate::get(&RequestOptions::http11(&host)).is_ok());
            }
        }
    }
}
