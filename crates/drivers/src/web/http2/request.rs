//! Requests in the form that `h2` takes.

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderName, HeaderValue, Method, Request as Head, Uri};
use http1::content_length;
use model::Request;

use crate::web::composed_request::ComposedRequest;

/// A request with its constant parts prepared.
#[derive(Debug)]
pub(super) struct RequestTemplate {
    head: Head<()>,
    pub(super) body: Bytes,
}

/// The parts of a request.
struct Parts<'a> {
    method: &'a str,
    path: &'a str,
    headers: &'a [(String, String)],
    body: &'a str,
}

impl RequestTemplate {
    /// Prepares a request to a host. It was validated for HTTP/1, which allows nothing more.
    pub(super) fn new(request: &Request, host: &str, secure: bool) -> RequestTemplate {
        let parts = Parts {
            method: &request.method,
            path: &request.path_of(0),
            headers: &request.headers,
            body: &request.body,
        };
        RequestTemplate::of(&parts, host, secure)
    }

    /// Makes a request that was made for one operation.
    pub(super) fn composed(request: &ComposedRequest, host: &str, secure: bool) -> RequestTemplate {
        let parts = Parts {
            method: request.method_name(),
            path: request.path(),
            headers: request.headers(),
            body: request.body(),
        };
        RequestTemplate::of(&parts, host, secure)
    }

    fn of(request: &Parts<'_>, host: &str, secure: bool) -> RequestTemplate {
        let mut head = Head::new(());
        *head.method_mut() = Method::from_bytes(request.method.as_bytes()).unwrap_or(Method::GET);
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(if secure { Scheme::HTTPS } else { Scheme::HTTP });
        uri.authority = Authority::try_from(host).ok();
        uri.path_and_query = PathAndQuery::try_from(request.path).ok();
        *head.uri_mut() = Uri::from_parts(uri).unwrap_or_default();
        let length = content_length(request.method, request.body.as_bytes()).map(|n| n.to_string());
        let length = length.map(|length| ("content-length".to_owned(), length));
        let accept = ("accept".to_owned(), "*/*".to_owned());
        let has_accept = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept"));
        let accept = Some(accept).filter(|_| !has_accept);
        for (name, value) in accept.iter().chain(request.headers).chain(&length) {
            let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            if let (Ok(name), Ok(value)) = pair {
                head.headers_mut().append(name, value);
            }
        }
        RequestTemplate { head, body: Bytes::copy_from_slice(request.body.as_bytes()) }
    }

    /// Returns the head of the request for its first object.
    pub(super) fn into_head(self) -> Head<()> {
        self.head
    }

    /// Builds the head of one request. Clones the constant parts, and builds a path with parameters.
    pub(super) fn head(&self, request: &Request, number: u64) -> Head<()> {
        let mut head = self.head.clone();
        if !request.parameters.is_empty() {
            let mut path = Vec::with_capacity(64);
            request.write_path(number, &mut path);
            let mut uri = std::mem::take(head.uri_mut()).into_parts();
            uri.path_and_query = PathAndQuery::from_maybe_shared(Bytes::from(path)).ok();
            *head.uri_mut() = Uri::from_parts(uri).unwrap_or_default();
        }
        head
    }
}
