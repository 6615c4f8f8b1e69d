//! What all connections of a load thread to one server share.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;

use http1::{RequestError, RequestOptions, RequestTemplate};
use model::{Connection, Content, HttpVersion, Protocol, Request, WebRequest, Workload};
use thiserror::Error;
use units::RealClock;

use super::reply::Expected;
use crate::Policy;
use crate::policy::bare_host;

/// Size of the read buffer that all connections of a thread use in turn: the larger it is, the fewer calls
/// a large body takes; 128 KiB still fits the second-level cache beside the content block.
const READ_BUFFER_BYTES: usize = 128 * 1024;

/// The server as a user names it: `http://host:port/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name or address; an IPv6 address in brackets.
    pub host: String,
    /// Port; 80 if not named.
    pub port: u16,
}

/// Why a target cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("target `{url}`: {problem}")]
pub struct TargetError {
    url: String,
    problem: &'static str,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(url: &str) -> Result<Target, TargetError> {
        let fail = |problem| TargetError { url: url.to_owned(), problem };
        let rest = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(fail("only `http://` targets are supported")),
            None => return Err(fail("expected `http://HOST:PORT/`")),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !path.is_empty() {
            return Err(fail("a target has no path: the benchmark brings its own"));
        }
        if authority.contains('@') {
            return Err(fail("a target has no user name"));
        }
        let (host, port) = match authority.rfind(':') {
            Some(colon) if !authority[colon..].contains(']') => {
                (&authority[..colon], &authority[colon + 1..])
            }
            _ => (authority, "80"),
        };
        if bare_host(host).is_none() {
            return Err(fail("expected a host name or address, an IPv6 address in brackets"));
        }
        let port = port_number(port).ok_or_else(|| fail("expected a port from 1 to 65535"))?;
        Ok(Target { host: host.to_owned(), port })
    }
}

/// Reads a port; unlike the standard library takes no sign.
fn port_number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port != 0 && text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}/", self.host, self.port)
    }
}

/// Why a workload cannot be fetched.
#[derive(Debug, Error)]
pub enum OriginError {
    /// A path cannot stand in a request.
    #[error("object `{path}`: {problem}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: RequestError,
    },
}

/// What all connections of a load thread to one server share. Not for more than one thread.
#[derive(Debug)]
pub struct Origin {
    pub(crate) address: SocketAddr,
    pub(crate) policy: Policy,
    pub(crate) clock: RealClock,
    pub(crate) content: Content,
    pub(crate) requests: Vec<Ready>,
    options: OwnedOptions,
    pub(crate) connection: Connection,
    pub(crate) buffer: RefCell<Vec<u8>>,
}

/// A kind of request, with its bytes where they are always the same.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) request: Request,
    bytes: Option<RequestTemplate>,
}

#[derive(Debug)]
struct OwnedOptions {
    protocol: Protocol,
    host: String,
}

impl Origin {
    /// Prepares the requests of a workload. `address` must be one that [`Policy::resolve`] returned for `target`;
    /// it is checked again at every connection.
    ///
    /// # Errors
    /// If a path cannot stand in a request.
    pub fn new(
        target: &Target,
        address: SocketAddr,
        policy: Policy,
        workload: &Workload,
        protocol: &Protocol,
        clock: RealClock,
    ) -> Result<Rc<Origin>, OriginError> {
        let host = format!("{}:{}", target.host, target.port);
        let options = request_options(protocol, &host);
        let ready = |request: &Request| {
            let path = request.path_of(0);
            let bytes = RequestTemplate::get(&path, &options)
                .map_err(|problem| OriginError::Path { path, problem })?;
            Ok(Ready {
                request: request.clone(),
                bytes: Some(bytes).filter(|_| request.parameters.is_empty()),
            })
        };
        Ok(Rc::new(Origin {
            address,
            policy,
            clock,
            content: Content::new(workload.content_seed),
            requests: workload.requests.iter().map(ready).collect::<Result<_, OriginError>>()?,
            options: OwnedOptions { protocol: protocol.clone(), host: host.clone() },
            connection: protocol.connection,
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
        }))
    }
}

impl Origin {
    /// Returns the bytes of a request.
    pub(crate) fn request(&self, operation: &WebRequest) -> Cow<'_, [u8]> {
        let ready = &self.requests[usize::from(operation.kind)];
        match &ready.bytes {
            Some(template) => Cow::Borrowed(template.bytes()),
            None => {
                let path = ready.request.path_of(operation.number);
                let options = request_options(&self.options.protocol, &self.options.host);
                let template = RequestTemplate::get(&path, &options).expect("checked at the start");
                Cow::Owned(template.bytes().to_vec())
            }
        }
    }

    /// Returns what the reply must be.
    pub(crate) fn expected(&self, operation: &WebRequest) -> Expected<'_> {
        let request = &self.requests[usize::from(operation.kind)].request;
        let object = operation.number * self.requests.len() as u64 + u64::from(operation.kind);
        let bytes = request.body_bytes(operation.number).unwrap_or(0);
        Expected { content: &self.content, object: object as u32, bytes }
    }
}

fn request_options<'a>(protocol: &Protocol, host: &'a str) -> RequestOptions<'a> {
    match (protocol.http, protocol.connection) {
        (HttpVersion::Http10, Connection::PerRequest) => RequestOptions::webstone(),
        (HttpVersion::Http10, _) => RequestOptions::http10_keep_alive(),
        (HttpVersion::Http11 | HttpVersion::Http2, Connection::PerRequest) => {
            RequestOptions::http11_close(host)
        }
        (HttpVersion::Http11 | HttpVersion::Http2, _) => RequestOptions::http11(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn targets_are_host_and_port() {
        for (url, host, port) in [
            ("http://localhost:8080/", "localhost", 8080),
            ("http://10.0.0.1", "10.0.0.1", 80),
            ("HTTP://[::1]:81/", "[::1]", 81),
            ("http://[::1]/", "[::1]", 80),
        ] {
            assert_eq!(url.parse(), Ok(Target { host: host.to_owned(), port }), "{url}");
        }
        for url in [
            "",
            "localhost",
            "https://x/",
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

    proptest! {
        #[test]
        fn any_text_is_a_target_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<Target>();
        }

        /// Goal: what is taken as a target is written back as the same one, and can stand in a request.
        #[test]
        fn what_is_taken_comes_back(rest in r"[a-z0-9\[\]:@./%+-]{0,20}") {
            if let Ok(target) = format!("http://{rest}").parse::<Target>() {
                prop_assert_eq!(target.to_string().parse(), Ok(target.clone()));
                prop_assert!(!target.host.contains(['/', '@', '%', '+']));
                let host = format!("{}:{}", target.host, target.port);
                prop_assert!(RequestTemplate::get("/", &RequestOptions::http11(&host)).is_ok());
            }
        }
    }
}
