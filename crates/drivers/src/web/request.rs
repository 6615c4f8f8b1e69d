//! A prepared request: its bytes, and the check of its response.

use http1::{RequestError, RequestMethod, RequestOptions, RequestTemplate, check_path};
use model::{
    ConnectionLifetime, Content, GeneratedText, HttpVersion, Outcome, ReplyBody, Request, WebProtocol,
    WebRequest,
};

use super::body_check::{BodyCheck, BodyDigest, Needle, SeenCheck};
use super::media_type::media_type;
use super::seen::SeenBodies;
use units::Nanos;

use crate::net::OperationFailure;

/// A request with its constant parts prepared.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    /// The request as in the plan, without secrets: safe to show.
    pub(crate) request: Request,
    /// The request with its secrets.
    pub(crate) sent: Request,
    template: RequestTemplate,
    /// The head for the last request of a connection.
    closing: RequestTemplate,
    /// The complete request if it has no parameters.
    whole: Option<Box<[u8]>>,
    /// Whether a body may be encoded: the request asks for it, or any body is accepted.
    pub(crate) may_be_encoded: bool,
    /// Whether the response has a body.
    has_body: bool,
    needle: Option<Needle>,
}

impl PreparedRequest {
    /// Prepares a request to a host; `sent` is the same request with its secrets.
    pub(crate) fn new(
        request: &Request,
        sent: Request,
        protocol: &WebProtocol,
        host: &str,
    ) -> Result<PreparedRequest, RequestError> {
        let path = sent.path_of(0);
        check_path(&path)?;
        let in_path = sent.parameters.iter().filter(|parameter| sent.path.names().contains(&parameter.name));
        for text in in_path.flat_map(|parameter| &parameter.texts) {
            check_path(&format!("/{text}"))?;
        }
        let template = |closes| {
            let options = request_options(protocol, closes, host);
            RequestTemplate::new(&sent.method, &options, &sent.headers, sent.body.as_bytes())
        };
        let usual = template(false)?;
        let whole = if request.parameters.is_empty() { Some(usual.bytes(&path)?) } else { None };
        let needle = match &request.reply {
            ReplyBody::Contains(text) => Some(Needle::new(text)),
            _ => None,
        };
        let asks = |(name, _): &(String, String)| name.eq_ignore_ascii_case("accept-encoding");
        let takes_any = matches!(sent.reply, ReplyBody::Any | ReplyBody::ContentType(_));
        Ok(PreparedRequest {
            request: request.clone(),
            template: usual,
            closing: template(true)?,
            whole,
            may_be_encoded: takes_any || sent.headers.iter().any(asks),
            sent,
            has_body: request.allows_body(),
            needle,
        })
    }

    /// Returns the method, which determines the framing of the response.
    #[inline]
    pub(crate) fn method(&self) -> RequestMethod {
        self.template.method()
    }

    /// Returns whether the request may be retried if the server may have processed it (RFC 9110 section
    /// 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        is_idempotent(&self.request.method)
    }

    /// Checks a status that is not the first of those expected; a response with a status that has no body is checked
    /// for none.
    #[cold]
    pub(crate) fn check_status(
        &self,
        status: u16,
        check: &mut BodyCheck<'_>,
    ) -> Result<(), OperationFailure> {
        if !self.request.expects_status(status) {
            return Err(OperationFailure::new(Outcome::WrongStatus, u64::from(status)));
        }
        if matches!(status, 204 | 304) {
            *check = BodyCheck::Any;
        }
        Ok(())
    }

    /// Passes the bytes of a request to `take`; those of a request with parameters are written to `buffer`.
    #[inline]
    pub(crate) fn bytes<T>(
        &self,
        operation: &WebRequest,
        buffer: &mut Vec<u8>,
        take: impl FnOnce(&[u8]) -> T,
    ) -> T {
        match &self.whole {
            Some(bytes) if !operation.closes => take(bytes),
            _ => {
                let template = if operation.closes { &self.closing } else { &self.template };
                buffer.clear();
                template.write(|out| self.sent.write_path(operation.number, out), buffer);
                take(buffer)
            }
        }
    }

    /// Returns the check of the response body; `content_object` is the content number of a file, `sent` the time of the
    /// request.
    #[inline]
    pub(crate) fn check<'a>(
        &'a self,
        operation: &WebRequest,
        content: &'a Content,
        (content_object, sent): (u32, Nanos),
        seen: &'a SeenBodies,
    ) -> BodyCheck<'a> {
        if !self.has_body {
            return BodyCheck::Any;
        }
        match &self.request.reply {
            ReplyBody::File(_) | ReplyBody::Empty => {
                let bytes = self.request.body_bytes(operation.number).unwrap_or(0);
                BodyCheck::Content { content, object: content_object, bytes }
            }
            ReplyBody::Letters { bytes, markup } => {
                let letters = GeneratedText::new(self.request.letters_seed(operation.number));
                BodyCheck::Letters { letters, markup: *markup, bytes: *bytes }
            }
            ReplyBody::Seen | ReplyBody::Same => BodyCheck::Seen(SeenCheck {
                seen,
                object: (operation.kind, operation.number),
                may_change: self.request.reply == ReplyBody::Seen,
                sent,
                media_type: 0,
                digest: BodyDigest::default(),
            }),
            ReplyBody::Contains(_) => self
                .needle
                .as_ref()
                .map_or(BodyCheck::Any, |needle| BodyCheck::Contains { needle, matched: 0 }),
            ReplyBody::Any | ReplyBody::ContentType(_) => BodyCheck::Any,
            ReplyBody::Length { least, most } => BodyCheck::Length { least: *least, most: *most },
            ReplyBody::Json(checks) => BodyCheck::Json { checks, body: Vec::new() },
        }
    }

    /// Returns whether a reply may have this `Content-Type`; `field` returns its value and is called only if it
    /// matters.
    #[inline]
    pub(crate) fn takes_type<'a>(&self, field: impl FnOnce() -> Option<&'a [u8]>) -> bool {
        match &self.request.reply {
            ReplyBody::ContentType(expected) => {
                field().is_some_and(|value| media_type(value).eq_ignore_ascii_case(expected.as_bytes()))
            }
            _ => true,
        }
    }
}

/// Returns whether a request of this method may be repeated (RFC 9110 section 9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
}

/// HTTP/1.0 closes unless asked to keep the connection, HTTP/1.1 keeps it unless asked to close.
pub(crate) fn request_options<'a>(protocol: &WebProtocol, closes: bool, host: &'a str) -> RequestOptions<'a> {
    match (protocol.http, closes || protocol.connection == ConnectionLifetime::PerRequest) {
        (HttpVersion::Http10, true) => RequestOptions::webstone(),
        (HttpVersion::Http10, false) => RequestOptions::http10_keep_alive(),
        (HttpVersion::Http11 | HttpVersion::Http2, true) => RequestOptions::http11_close(host),
        (HttpVersion::Http11 | HttpVersion::Http2, false) => RequestOptions::http11(host),
    }
}
