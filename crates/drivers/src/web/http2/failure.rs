//! The mapping of `h2` errors to outcomes.

use std::io::{self, ErrorKind};

use h2::Reason;
use model::Outcome;
use rustix::io::Errno;

use crate::net::OperationFailure;
use crate::net::tcp::errno;
use crate::web::context::WebContext;

/// Returns whether a request was certainly not processed: the server ends the connection gracefully, and the
/// stream came too late. Servers do so after a number of requests; it is not a failure (RFC 9113 §6.8).
pub(super) fn came_too_late(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR)
}

/// Returns whether a request was not processed: its stream is above the last one of a GOAWAY, whatever its reason (RFC
/// 9113 §6.8).
pub(super) fn was_not_processed(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote()
}

/// Returns whether the server has refused a stream before it processed the request (RFC 9113 §8.7).
pub(super) fn is_refused(error: &h2::Error) -> bool {
    error.is_reset() && error.is_remote() && error.reason() == Some(Reason::REFUSED_STREAM)
}

/// Returns whether the connection has ended, as far as a stream without any part of a reply can see.
pub(super) fn ended_before_reply(error: &h2::Error) -> bool {
    let has_ended = |error: &io::Error| {
        let is_end = matches!(
            error.kind(),
            ErrorKind::UnexpectedEof
                | ErrorKind::BrokenPipe
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
        );
        is_end && !error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
    };
    was_not_processed(error) || error.get_io().is_some_and(has_ended)
}

/// Maps an error to an outcome, after this many bytes of a body.
#[cold]
pub(super) fn failure(web: &WebContext, error: &h2::Error, body_bytes: u64) -> OperationFailure {
    if let Some(error) = error.get_io() {
        return io_failure(web, error, body_bytes);
    }
    let is_theirs_alone = error.is_reset() && error.is_remote();
    web.explain(if is_theirs_alone { Outcome::StreamReset } else { Outcome::Http2Failed }, error)
}

/// Maps an error of the underlying stream.
#[cold]
pub(super) fn io_failure(web: &WebContext, error: &io::Error, body_bytes: u64) -> OperationFailure {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match error.kind() {
        _ if let Some(error) = tls => web.tls_failure(error),
        _ if error.raw_os_error().is_some() => {
            errno(io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(0))).into()
        }
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => {
            OperationFailure::new(Outcome::Truncated, body_bytes)
        }
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => Errno::CONNRESET.into(),
        _ => web.explain(Outcome::Http2Failed, error),
    }
}
