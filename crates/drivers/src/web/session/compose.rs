//! Requests made for one operation from templates and the user's values.

use http1::{RequestMethod, RequestTemplate};
use languages::is_credential;
use model::{Request, RequestPart};

use super::SessionContext;
use super::missing::Missing;
use super::template::{Template, ValueEncoding};
use super::user::UserValues;
use crate::web::context::WebContext;
use crate::web::request::request_options;
use crate::web::transport::RequestBytes;

/// The templates of one kind of request.
#[derive(Debug)]
pub(super) struct Composer {
    /// The request with its secrets.
    sent: Request,
    path: Template,
    headers: Vec<(String, Template)>,
    /// Header fields that are secrets, sent as they are.
    secret_headers: Vec<(String, String)>,
    /// `None` where the body is a secret, sent as it is.
    body: Option<Template>,
}

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

impl Composer {
    /// Resolves the placeholders of a request; `sent` is the same request with its secrets.
    pub(super) fn new(request: &Request, sent: &Request, session: &SessionContext) -> Composer {
        let template = |text: &str, encoding| Template::new(text, encoding, sent, session);
        let has_secret_body = request.secrets.iter().any(|secret| secret.part == RequestPart::Body);
        let headers = request.headers.iter();
        Composer {
            sent: sent.clone(),
            path: template(&sent.path.to_string(), ValueEncoding::Path),
            headers: headers
                .map(|(name, value)| (name.clone(), template(value, ValueEncoding::Header)))
                .collect(),
            secret_headers: sent.headers[request.headers.len()..].to_vec(),
            body: (!has_secret_body)
                .then(|| template(&request.body, ValueEncoding::Body(request.body_encoding))),
        }
    }

    /// Makes the parts of the request for an object.
    pub(super) fn compose(&self, number: u64, user: &UserValues) -> Result<RequestParts, Missing> {
        let write = |template: &Template| template.write(&self.sent, number, user);
        let mut headers = Vec::with_capacity(self.headers.len() + self.secret_headers.len() + 1);
        for (name, template) in &self.headers {
            headers.push((name.clone(), write(template)?));
        }
        headers.extend_from_slice(&self.secret_headers);
        Ok(RequestParts {
            method: self.sent.method.clone(),
            path: write(&self.path)?,
            headers,
            body: self.body.as_ref().map_or_else(|| Ok(self.sent.body.clone()), write)?,
        })
    }

    /// Returns the header fields of a request that another server may see: those without a value of the user, and
    /// without a credential.
    pub(super) fn public_headers(&self) -> Vec<(String, String)> {
        let literal =
            self.headers.iter().zip(&self.sent.headers).filter(|((_, template), _)| !template.varies());
        let public = literal.map(|(_, header)| header).filter(|(name, value)| !is_credential(name, value));
        public.cloned().collect()
    }
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
        session: &SessionContext,
        host: &str,
        closes: bool,
    ) -> Result<ComposedRequest, Missing> {
        let options = request_options(&session.protocol, closes, host);
        let RequestParts { method, path, headers, body } = &parts;
        let template = RequestTemplate::new(method, &options, headers, body.as_bytes());
        let template = template.map_err(|_| Missing::Unusable)?;
        let bytes = template.bytes(path).map_err(|_| Missing::Unusable)?;
        Ok(ComposedRequest { method: template.method(), bytes, closes, parts })
    }

    /// Returns the method, which determines the framing of the response.
    pub(crate) fn method(&self) -> RequestMethod {
        self.method
    }

    /// Returns whether the request may be retried if the server may have processed it (RFC 9110 section 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        crate::web::request::is_idempotent(&self.parts.method)
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
