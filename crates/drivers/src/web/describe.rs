//! What people are told of a failed operation.

use http1::{HEAD_BYTES_MAX, HEADERS_MAX, INTERIM_BYTES_MAX};
use model::{Outcome, Reply, ReplyBody, WebRequest, foreign_text};
use rustix::io::Errno;

use super::origin::Origin;

/// Says what was seen: a clause without a full stop.
pub(crate) fn describe(origin: &Origin, operation: &WebRequest, reply: &Reply) -> String {
    let request = &origin.prepared(operation).request;
    let path = request.path_of(operation.number);
    let what = match reply.outcome {
        Outcome::WrongStatus => format!("status {}, expected {}", reply.detail, request.status),
        Outcome::WrongLength => wrong_length(origin, operation, reply.detail),
        Outcome::WrongBytes => wrong_bytes(&request.reply, reply.detail),
        Outcome::WrongEncoding => "body with `Content-Encoding`, which nobody asked for".to_owned(),
        Outcome::Truncated => format!("connection ended after {} bytes", reply.detail),
        Outcome::OversizedHead if INTERIM_BYTES_MAX as u64 <= reply.detail => {
            format!("interim responses of more than {INTERIM_BYTES_MAX} bytes, and no final one")
        }
        Outcome::OversizedHead => {
            format!("no end of the head within {HEAD_BYTES_MAX} bytes and {HEADERS_MAX} lines")
        }
        Outcome::TimedOut => format!("no complete reply after {}", reply.marks.done - reply.marks.sent),
        Outcome::Forbidden if !origin.policy.allows(origin.address.ip()) => {
            format!("the target policy does not allow `{}`", origin.address.ip())
        }
        Outcome::TlsFailed if is_about_certificate(origin) => {
            let problem = origin.certificate_problem().map(|problem| format!(": {problem}"));
            format!("{}: certificate not accepted{}", reply.outcome.name(), problem.unwrap_or_default())
        }
        Outcome::TlsFailed | Outcome::StreamReset | Outcome::Http2Failed => {
            format!("{}: {}", reply.outcome.name(), origin.explanation())
        }
        Outcome::MalformedHead | Outcome::MalformedBody | Outcome::Ok => reply.outcome.name().to_owned(),
        _ => Errno::from_raw_os_error(reply.detail as i32).to_string(),
    };
    format!("{} {path}: {what}", request.method)
}

fn is_about_certificate(origin: &Origin) -> bool {
    origin.explanation().starts_with("invalid peer certificate")
}

fn wrong_length(origin: &Origin, operation: &WebRequest, found: u64) -> String {
    let request = &origin.prepared(operation).request;
    let seen = origin.memory.length((operation.kind, operation.number));
    match (request.body_bytes(operation.number), seen) {
        (Some(bytes), _) => format!("body of {found} bytes, expected {bytes}"),
        (None, Some(first)) => format!("body of {found} bytes, of {first} when it first came"),
        (None, None) => format!("body of {found} bytes, more than the reply announced"),
    }
}

fn wrong_bytes(expected: &ReplyBody, detail: u64) -> String {
    match expected {
        ReplyBody::Seen => "other bytes in the body than when it first came".to_owned(),
        ReplyBody::Contains(text) => format!("no `{}` in the body of {detail} bytes", foreign_text(text)),
        _ => format!("wrong byte at position {detail} of the body"),
    }
}
