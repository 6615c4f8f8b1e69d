//! What an error of `h2` comes to.

use std::io::{self, ErrorKind};

use h2::Reason;
use model::Outcome;
use rustix::io::Errno;

use crate::web::connection::errno;
use crate::web::failure::Failure;
use crate::web::origin::Origin;

/// Returns whether a request was certainly not looked at: the server ends the connection in an orderly way, and
/// our stream came too late. Servers do so after a number of requests; it is nobody's failure (RFC 9113 §6.8).
pub(super) fn came_too_late(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR)
}

/// Sorts an error into an outcome, after so many bytes of a body.
#[cold]
pub(super) fn failure(origin: &Origin, error: &h2::Error, body_bytes: u64) -> Failure {
    if let Some(error) = error.get_io() {
        return io_failure(origin, error, body_bytes);
    }
    let is_theirs_alone = error.is_reset() && error.is_remote();
    origin.explain(if is_theirs_alone { Outcome::StreamReset } else { Outcome::Http2Failed }, error)
}

/// Sorts an error of the stream below.
#[cold]
pub(super) fn io_failure(origin: &Origin, error: &io::Error, body_bytes: u64) -> Failure {
    let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
    match error.kind() {
        _ if is_tls => origin.explain(Outcome::TlsFailed, error),
        _ if error.raw_os_error().is_some() => {
            errno(io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(0))).into()
        }
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Failure::new(Outcome::Truncated, body_bytes),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => Errno::CONNRESET.into(),
        _ => origin.explain(Outcome::Http2Failed, error),
    }
}
