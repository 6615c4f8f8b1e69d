//! Error pages for errors that arise in the accelerator itself.

use bytes::Bytes;
use cache_policy::write_date;
use http1::HeaderLines;
use units::WallTime;

use super::response::{Response, ResponseBody};
use super::settings::{CacheStatusDetail, ExchangeSettings};
use crate::message::{BodyError, HandlingReason, ProxyReason, RequestHandling, ResponsePath};
use crate::origin::OriginFailure;

/// An error that arises here, not at the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LocalError {
    /// The status that the client gets.
    pub status: u16,
    /// The reason, for logs and metrics.
    pub reason: HandlingReason,
}

impl LocalError {
    /// Makes an error that the proxy itself decides.
    pub(super) fn new(status: u16, reason: ProxyReason) -> LocalError {
        LocalError { status, reason: reason.into() }
    }
}

impl From<&OriginFailure> for LocalError {
    fn from(failure: &OriginFailure) -> LocalError {
        LocalError::new(failure.status(), failure.reason())
    }
}

impl From<&BodyError> for LocalError {
    /// Makes the error of a response whose body fails before anything of it was sent.
    fn from(error: &BodyError) -> LocalError {
        match error {
            BodyError::Truncated => LocalError::new(502, ProxyReason::OriginTruncated),
            BodyError::Malformed(_) | BodyError::TooLong(_) => {
                LocalError::new(502, ProxyReason::OriginMalformed)
            }
            BodyError::TimedOut => LocalError::new(504, ProxyReason::OriginTimeout),
        }
    }
}

/// The explanations on error pages; other statuses have their name alone.
const SENTENCES: [(u16, &str); 14] = [
    (400, "The request is not valid."),
    (405, "The server does not support this method."),
    (408, "The request took too long to arrive."),
    (413, "The request is larger than the server allows."),
    (414, "The URL is longer than the server allows."),
    (429, "There are too many requests from your address."),
    (431, "The request's header is larger than the server allows."),
    (500, "Something went wrong."),
    (501, "The server does not support what the request asks for."),
    (502, "The upstream server sent no valid response."),
    (503, "The service is temporarily unavailable."),
    (504, "The upstream server did not respond in time."),
    (505, "The server does not support this version of HTTP."),
    (508, "The request was forwarded in a loop."),
];

/// The explanation for a client that does not speak TLS where it has to.
const PLAIN_HTTP: &str =
    "A plain HTTP request was sent to an HTTPS port: the URL has to begin with https://.";

/// The methods that are forwarded, as `Allow` of a 405 lists them.
pub(super) const ALLOWED: &[u8] = b"GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE";

/// Makes the response to a request that is refused or has failed here.
///
/// Its lines are complete; it must not be stored. `is_head` if the request was a HEAD: then it has no body.
pub fn error_page(
    status: u16,
    reason: HandlingReason,
    is_head: bool,
    settings: &ExchangeSettings,
    now: WallTime,
) -> Response {
    let page = write_page(status, reason);
    let mut lines = HeaderLines::with_capacity(256);
    lines.push(b"Date", write_date(now).as_bytes());
    lines.push(b"Content-Type", b"text/html; charset=utf-8");
    lines.push_number(b"Content-Length", page.len() as u64);
    lines.push(b"Cache-Control", b"no-store");
    if status == 405 {
        lines.push(b"Allow", ALLOWED);
    }
    if settings.cache_status == CacheStatusDetail::Detailed {
        lines.push(b"Cache-Status", format!("{}; detail={}", settings.name, reason.name()).as_bytes());
    }
    let body = if is_head { ResponseBody::Empty } else { ResponseBody::Pieces(vec![Bytes::from(page)]) };
    let handling = RequestHandling { path: ResponsePath::Error, reason, origin_time: None };
    Response { status, lines, body, handling, memo: None }
}

fn write_page(status: u16, reason: HandlingReason) -> String {
    let title = format!("{status} {}", http1::reason_phrase(status));
    let sentence = match reason {
        HandlingReason::Proxy(ProxyReason::PlainHttp) => PLAIN_HTTP,
        _ => SENTENCES.iter().find(|(known, _)| *known == status).map_or("", |(_, text)| text),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <h1>{title}</h1>\n<p>{sentence}</p>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(status: u16, is_head: bool) -> Response {
        error_page(status, ProxyReason::OriginDown.into(), is_head, &ExchangeSettings::default(), WallTime(0))
    }

    #[test]
    fn an_error_page_explains_the_error_and_is_not_storable() {
        let response = page(503, false);
        let ResponseBody::Pieces(pieces) = &response.body else { panic!("{response:?}") };
        let text = String::from_utf8_lossy(&pieces[0]);
        assert!(
            text.contains("503 Service Unavailable") && text.contains("temporarily unavailable"),
            "{text}"
        );
        assert_eq!(response.lines.get("content-length"), Some(text.len().to_string().as_bytes()));
        assert_eq!(response.lines.get("cache-control"), Some(&b"no-store"[..]));
        assert_eq!(response.lines.get("date"), Some(&b"Thu, 01 Jan 1970 00:00:00 GMT"[..]));
    }

    #[test]
    fn a_head_request_gets_the_lines_of_the_error_page_without_a_body() {
        let response = page(405, true);
        assert!(matches!(response.body, ResponseBody::Empty));
        assert_eq!(response.lines, page(405, false).lines);
        assert_eq!(response.lines.get("allow"), Some(ALLOWED));
    }
}
