//! Pages for errors that arise here.

use bytes::Bytes;
use units::WallTime;

use super::settings::{Detail, ExchangeSettings};
use crate::message::{Handling, HeaderLines, HitPath, Reply, ReplyBody};
use crate::origin::OriginFailure;
use crate::policy::write_date;

/// Why a client gets an error of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// The status that the client gets.
    pub status: u16,
    /// The reason's name.
    pub reason: &'static str,
}

impl From<&OriginFailure> for Fault {
    fn from(failure: &OriginFailure) -> Fault {
        Fault { status: failure.status(), reason: failure.name() }
    }
}

/// What readers are told; other statuses have their name alone.
const SENTENCES: [(u16, &str); 14] = [
    (400, "The request is not valid."),
    (405, "The server does not support this method."),
    (408, "The request took too long to arrive."),
    (413, "The request is larger than the server allows."),
    (414, "The address is longer than the server allows."),
    (429, "There are too many requests from your address."),
    (431, "The request's header is larger than the server allows."),
    (500, "Something went wrong."),
    (501, "The server does not support what the request asks for."),
    (502, "The server behind this one gave no valid answer."),
    (503, "The service is not available at the moment."),
    (504, "The server behind this one did not answer in time."),
    (505, "The server does not support this version of HTTP."),
    (508, "The request has been here before."),
];

/// The methods that go through, as `Allow` of a 405 lists them.
pub(super) const ALLOWED: &[u8] = b"GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE";

/// Makes the reply to a request that is refused or has failed here.
///
/// Its lines are complete; nobody may keep it. `is_head` if the request was a HEAD: then it has no body.
pub fn error_page(
    status: u16,
    reason: &'static str,
    is_head: bool,
    settings: &ExchangeSettings,
    now: WallTime,
) -> Reply {
    let page = write_page(status);
    let mut lines = HeaderLines::with_capacity(256);
    lines.push(b"Date", write_date(now).as_bytes());
    lines.push(b"Content-Type", b"text/html; charset=utf-8");
    lines.push_number(b"Content-Length", page.len() as u64);
    lines.push(b"Cache-Control", b"no-store");
    if status == 405 {
        lines.push(b"Allow", ALLOWED);
    }
    if settings.cache_status == Detail::Detailed {
        lines.push(b"Cache-Status", format!("{}; detail={reason}", settings.name).as_bytes());
    }
    let body = if is_head { ReplyBody::Empty } else { ReplyBody::Pieces(vec![Bytes::from(page)]) };
    let handling = Handling { path: HitPath::Error, reason, origin_time: None };
    Reply { status, lines, body, handling, memo: None }
}

fn write_page(status: u16) -> String {
    let title = format!("{status} {}", http1::reason_phrase(status));
    let sentence = SENTENCES.iter().find(|(known, _)| *known == status).map_or("", |(_, text)| text);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <h1>{title}</h1>\n<p>{sentence}</p>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(status: u16, is_head: bool) -> Reply {
        error_page(status, "origin-down", is_head, &ExchangeSettings::default(), WallTime(0))
    }

    #[test]
    fn a_page_says_what_happened_and_nobody_keeps_it() {
        let reply = page(503, false);
        let ReplyBody::Pieces(pieces) = &reply.body else { panic!("{reply:?}") };
        let text = String::from_utf8_lossy(&pieces[0]);
        assert!(text.contains("503 Service Unavailable") && text.contains("not available"), "{text}");
        assert_eq!(reply.lines.get("content-length"), Some(text.len().to_string().as_bytes()));
        assert_eq!(reply.lines.get("cache-control"), Some(&b"no-store"[..]));
        assert_eq!(reply.lines.get("date"), Some(&b"Thu, 01 Jan 1970 00:00:00 GMT"[..]));
    }

    #[test]
    fn a_head_gets_the_same_lines_without_the_page() {
        let reply = page(405, true);
        assert!(matches!(reply.body, ReplyBody::Empty));
        assert_eq!(reply.lines, page(405, false).lines);
        assert_eq!(reply.lines.get("allow"), Some(ALLOWED));
    }
}
