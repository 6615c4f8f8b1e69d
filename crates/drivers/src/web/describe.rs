//! Descriptions of failed operations for people.

use http1::{HEAD_BYTES_MAX, INTERIM_BYTES_MAX, RESPONSE_HEADERS_MAX};
use languages::foreign_text;
use model::{BUFFERED_BODY_MAX, Outcome, Reply, ReplyBody, Request, WebRequest};
use rustix::io::Errno;

use super::body_check::{JSON_TOO_LONG, NOT_JSON};
use super::context::WebContext;
use super::missing_value::{BadRedirect, MissingValue, SessionNames};

/// Describes the failure: a clause without a full stop.
pub(crate) fn describe(web: &WebContext, operation: &WebRequest, reply: &Reply) -> String {
    let request = &web.prepared(operation).request;
    let path = request.path_of(operation.number);
    let what = match reply.outcome {
        Outcome::WrongStatus => format!("status {}, expected {}", reply.detail, statuses(request)),
        Outcome::WrongLength => wrong_length(web, operation, reply.detail),
        Outcome::WrongBytes => wrong_bytes(&request.reply, reply.detail),
        Outcome::WrongEncoding => "body with an unrequested `Content-Encoding`".to_owned(),
        Outcome::Truncated => format!("connection ended after {} bytes", reply.detail),
        Outcome::ConnectionLost => {
            let why = "the kept connection had ended, or ended before any byte of the reply";
            format!("{why}; a non-idempotent request is not retried on another")
        }
        Outcome::OversizedHead if INTERIM_BYTES_MAX as u64 <= reply.detail => {
            format!("more than {INTERIM_BYTES_MAX} bytes of interim responses without a final one")
        }
        Outcome::OversizedHead => {
            format!("no end of the head within {HEAD_BYTES_MAX} bytes and {RESPONSE_HEADERS_MAX} lines")
        }
        Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
        Outcome::Forbidden if let Some(address) = web.endpoint.forbidden() => {
            format!("the target policy does not allow `{address}`")
        }
        Outcome::TlsFailed if is_about_certificate(web) => {
            let problem = web.certificate_problem().map(|problem| format!(": {problem}"));
            format!("{}: certificate not accepted{}", reply.outcome.name(), problem.unwrap_or_default())
        }
        Outcome::TlsFailed
        | Outcome::StreamReset
        | Outcome::Http2Failed
        | Outcome::MalformedHead
        | Outcome::MalformedBody => {
            format!("{}: {}", reply.outcome.name(), web.explanation())
        }
        Outcome::ValueMissing => {
            let names = web.session.as_deref().map(|session| session as &dyn SessionNames);
            MissingValue::describe(reply.detail, names)
        }
        Outcome::WrongRedirect => BadRedirect::describe(reply.detail),
        Outcome::Ok => reply.outcome.name().to_owned(),
        _ => Errno::from_raw_os_error(reply.detail as i32).to_string(),
    };
    format!("{} {path}: {what}", request.method)
}

/// Returns the statuses of the right reply, for people.
fn statuses(request: &Request) -> String {
    let all = [request.status].into_iter().chain(request.other_statuses.iter().copied());
    all.map(|status| status.to_string()).collect::<Vec<String>>().join(" or ")
}

fn is_about_certificate(web: &WebContext) -> bool {
    web.explanation().starts_with("invalid peer certificate")
}

fn wrong_length(web: &WebContext, operation: &WebRequest, found: u64) -> String {
    let request = &web.prepared(operation).request;
    let seen = web.seen.object((operation.kind, operation.number)).map(|seen| seen.first_length());
    if let ReplyBody::Length { least, most } = request.reply {
        return format!("body of {found} bytes, expected {least} to {most}");
    }
    match (request.body_bytes(operation.number), seen) {
        (Some(bytes), _) => format!("body of {found} bytes, expected {bytes}"),
        (None, Some(first)) => format!("body of {found} bytes, but {first} in the first response"),
        (None, None) => format!("body of {found} bytes, longer than announced"),
    }
}

fn wrong_bytes(expected: &ReplyBody, detail: u64) -> String {
    match expected {
        ReplyBody::Seen | ReplyBody::Same => "body differs from the first response".to_owned(),
        ReplyBody::Contains(text) => format!("no `{}` in the body of {detail} bytes", foreign_text(text)),
        ReplyBody::ContentType(expected) => format!("content type is not `{expected}`"),
        ReplyBody::Json(_) if detail == NOT_JSON => "body is not JSON".to_owned(),
        ReplyBody::Json(_) if detail == JSON_TOO_LONG => {
            format!("body of more than {BUFFERED_BODY_MAX} bytes, which is not checked as JSON")
        }
        ReplyBody::Json(checks) => {
            let check = usize::try_from(detail).ok().and_then(|index| checks.get(index));
            format!(
                "not the expected value at `{}` of the body",
                check.map_or("", |check| check.pointer.as_str())
            )
        }
        _ => format!("wrong byte at position {detail} of the body"),
    }
}
