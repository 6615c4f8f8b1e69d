//! The server as given by the user.

use std::fmt;
use std::str::FromStr;

use std::path::{Path, PathBuf};

use languages::{
    HttpUrl, HttpUrlError, REDACTED, UrlScheme, authority, foreign_text, percent_decoded, percent_encoded,
    without_credentials,
};
use model::{Tls, WebProtocol};
use thiserror::Error;

use super::access::{ConnectTo, TargetAccess};
use super::setup_error::WebSetupError;

/// The scheme of a target at a Unix socket, whose path stands percent-encoded in place of the host.
const SOCKET_SCHEME: &str = "http+unix://";

/// The host of a target at a Unix socket, as in the `Host` field.
const SOCKET_HOST: &str = "localhost";

/// A server as given by the user: `http://host:port/`, `https://host:port/`, or `host:port` for the first; or a Unix socket,
/// `http+unix://%2Frun%2Fapp.sock/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name or address; an IPv6 address in brackets.
    pub host: String,
    /// Port; 80 by default, 443 with TLS.
    pub port: u16,
    /// Whether it uses TLS (`https`).
    pub secure: bool,
    /// The way in which connections to it are made.
    pub access: TargetAccess,
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
        if let Some(socket) = at_socket(url) {
            let (target, path) = socket.map_err(fail)?;
            return if path.len() <= 1 { Ok(target) } else { Err(fail(NO_PATH)) };
        }
        let parsed: HttpUrl = url.parse().map_err(|error| fail(problem(error)))?;
        if 1 < parsed.target.len() {
            return Err(fail(NO_PATH));
        }
        let port = parsed.port_or_default();
        let secure = parsed.scheme == Some(UrlScheme::Https);
        Ok(Target { host: parsed.host, port, secure, access: TargetAccess::default() })
    }
}

/// Reads a URL of a page at a Unix socket, `http+unix://%2Frun%2Fapp.sock/page`, as its server and its path; `None` of
/// other URLs.
///
/// # Errors
/// It names no absolute path of a socket: what was expected.
pub fn at_socket(url: &str) -> Option<Result<(Target, &str), &'static str>> {
    let scheme = url.get(..SOCKET_SCHEME.len()).filter(|start| start.eq_ignore_ascii_case(SOCKET_SCHEME))?;
    let rest = &url[scheme.len()..];
    let (socket, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let expected =
        "expected the path of a socket with `%2F` in place of each slash, `http+unix://%2Frun%2Fapp.sock/`";
    let socket = percent_decoded(socket).map(PathBuf::from).filter(|socket| socket.is_absolute());
    Some(socket.map(|socket| (Target::of_socket(socket), path)).ok_or(expected))
}

const NO_PATH: &str = "expected no path, because the benchmark defines its own";

/// Returns what was expected instead.
fn problem(error: HttpUrlError) -> &'static str {
    match error {
        HttpUrlError::Scheme => "only `http://` and `https://` targets are supported",
        HttpUrlError::UserInfo => "expected no user name",
        HttpUrlError::Host => "expected a host name or address, an IPv6 address in brackets",
        HttpUrlError::Port => "expected a port from 1 to 65535",
        HttpUrlError::Character => NO_PATH,
    }
}

impl Target {
    /// Makes a target at a Unix socket, without TLS.
    pub fn of_socket(path: PathBuf) -> Target {
        let access = TargetAccess { connect_to: ConnectTo::Socket(path), identity: None };
        Target { host: SOCKET_HOST.to_owned(), port: UrlScheme::Http.port(), secure: false, access }
    }

    /// Returns host and port that connections go to; of a Unix socket, the loopback address, where nothing is sent.
    pub fn connect_host_and_port(&self) -> (&str, u16) {
        match &self.access.connect_to {
            ConnectTo::Address { host, port } => (host, *port),
            ConnectTo::Target => (&self.host, self.port),
            ConnectTo::Socket(_) => ("127.0.0.1", self.port),
        }
    }

    /// Returns the path of the Unix socket that connections go to, if they do.
    pub fn socket(&self) -> Option<&Path> {
        match &self.access.connect_to {
            ConnectTo::Socket(path) => Some(path),
            ConnectTo::Target | ConnectTo::Address { .. } => None,
        }
    }

    /// Returns host and port as in a `Host` field: without a port that the scheme implies.
    pub fn authority(&self) -> String {
        authority(if self.secure { UrlScheme::Https } else { UrlScheme::Http }, &self.host, self.port)
    }

    /// Returns the path of a socket that the target is by its URL.
    fn socket_in_url(&self) -> Option<&Path> {
        let is_plain =
            !self.secure && (self.host.as_str(), self.port) == (SOCKET_HOST, UrlScheme::Http.port());
        self.socket().filter(|_| is_plain)
    }

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
        if let Some(path) = self.socket_in_url() {
            let path = percent_encoded(&path.to_string_lossy());
            return write!(f, "{SOCKET_SCHEME}{path}/");
        }
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
            assert_eq!(
                url.parse(),
                Ok(Target { host: host.to_owned(), port, secure, access: TargetAccess::default() }),
                "{url}"
            );
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
            "http://ä b/",
        ] {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }

    #[test]
    fn a_target_may_be_a_unix_socket() {
        for (url, path, shown) in [
            ("http+unix://%2Frun%2Fapp.sock/", "/run/app.sock", "http+unix://%2Frun%2Fapp.sock/"),
            ("HTTP+UNIX://%2frun%2fan%20app", "/run/an app", "http+unix://%2Frun%2Fan%20app/"),
        ] {
            let target: Target = url.parse().unwrap();
            assert_eq!((target.socket(), target.to_string().as_str()), (Some(Path::new(path)), shown));
            assert_eq!(target.authority(), "localhost");
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        let named = Target { host: "shop.example".to_owned(), ..Target::of_socket("/run/app.sock".into()) };
        assert_eq!(named.to_string(), "http://shop.example:80/", "the URL that was given");
        for url in
            ["http+unix://", "http+unix:///run/app.sock", "http+unix://app.sock/", "http+unix://%2Fa%/"]
        {
            assert!(url.parse::<Target>().unwrap_err().to_string().contains("expected the path of a socket"));
        }
        assert!("http+unix://%2Fa/b".parse::<Target>().unwrap_err().to_string().contains("no path"));
    }

    #[test]
    fn the_host_field_has_no_port_that_the_scheme_implies() {
        for (url, authority) in [
            ("http://h/", "h"),
            ("http://h:443/", "h:443"),
            ("https://[::1]/", "[::1]"),
            ("https://h:80/", "h:80"),
        ] {
            assert_eq!(url.parse::<Target>().unwrap().authority(), authority);
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
                prop_assert!(RequestTemplate::get(&RequestOptions::http11(&target.authority())).is_ok());
            }
        }
    }
}
