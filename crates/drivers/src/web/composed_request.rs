//! A request that was made for one operation, and its form in HTTP/1.

use http1::{RequestMethod, RequestTemplate};
use model::WebProtocol;

use super::context::WebContext;
use super::missing_value::MissingValue;
use super::request::{is_idempotent, request_options};
use super::transport::RequestBytes;

/// The parts of a request that go over the wire.
#[derive(Clone)]
pub(super) struct RequestParts {
    pub(super) method: String,
    /// The path with its query.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

/// A request that was made for one operation.
pub struct ComposedRequest {
    pub(super) parts: RequestParts,
    method: RequestMethod,
    /// The request in HTTP/1.
    bytes: Box<[u8]>,
    /// Whether its connection is not used again.
    pub(crate) closes: bool,
}

impl RequestParts {
    /// Adds cookies to those that the request itself has.
    pub(super) fn add_cookies(&mut self, cookies: String) {
        match self.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, own)) => *own = format!("{own}; {cookies}"),
            None => self.headers.push(("Cookie".to_owned(), cookies)),
        }
    }
}

impl ComposedRequest {
    /// Makes the request to a host.
    pub(super) fn new(
        parts: RequestParts,
        protocol: &WebProtocol,
        host: &str,
        closes: bool,
    ) -> Result<ComposedRequest, MissingValue> {
        let options = request_options(protocol, closes, host);
        let RequestParts { method, path, headers, body } = &parts;
        let template = RequestTemplate::new(method, &options, headers, body.as_bytes());
        let template = template.map_err(|_| MissingValue::Unusable)?;
        let bytes = template.bytes(path).map_err(|_| MissingValue::Unusable)?;
        Ok(ComposedRequest { method: template.method(), bytes, closes, parts })
    }

    /// Returns the method, which determines the framing of the response.
    pub(crate) fn method(&self) -> RequestMethod {
        self.method
    }

    /// Returns whether the request may be retried if the server may have processed it (RFC 9110 section 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        is_idempotent(&self.parts.method)
    }

    pub(crate) fn method_name(&self) -> &str {
        &self.parts.method
    }

    pub(crate) fn path(&self) -> &str {
        &self.parts.path
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.parts.headers
    }

    pub(crate) fn body(&self) -> &str {
        &self.parts.body
    }
}

impl RequestBytes for ComposedRequest {
    fn with_bytes<T>(&self, _: &WebContext, take: impl FnOnce(&[u8]) -> T) -> T {
        take(&self.bytes)
    }
}
