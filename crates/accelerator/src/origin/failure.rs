//! Why an origin gave no reply.

use std::io;

use http1::HeadError;
use thiserror::Error;

use crate::message::BodyError;

/// Why a request got no reply from any server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OriginFailure {
    /// No server is up.
    #[error("all origin servers are down")]
    AllDown,
    /// All servers that are up have as many requests as they may, for longer than may be waited.
    #[error("all origin servers have as many requests as they may")]
    Busy,
    /// A server's name has no address.
    #[error("origin server's name has no address: {0}")]
    Unresolved(String),
    /// A server accepts no connection.
    #[error("no connection to the origin server: {0}")]
    Unreachable(io::ErrorKind),
    /// No connection came about in time.
    #[error("no connection to the origin server within the time limit")]
    ConnectTimedOut,
    /// A server does not prove who it is, or does not speak TLS.
    #[error("no TLS with the origin server: {0}")]
    Tls(String),
    /// The connection ended before anything of a reply came.
    #[error("origin server closed the connection before it replied")]
    Closed,
    /// The connection ended before all of the request was sent. The server may not want this body, or not wait as long
    /// as the client takes.
    #[error("origin server closed the connection before it had taken the request")]
    NotTaken,
    /// The connection ended within the head of a reply, or between an interim one and the reply.
    #[error("origin server closed the connection within the head of its reply")]
    Truncated,
    /// The request could not be sent in time.
    #[error("origin server did not take the request within the time limit")]
    SendTimedOut,
    /// The head of the reply was not complete in time.
    #[error("origin server did not reply within the time limit")]
    TimedOut,
    /// The head of the reply is not what HTTP wants, or its framing is ambiguous.
    #[error("origin server's reply is not HTTP: {0}")]
    Malformed(#[from] HeadError),
    /// Interim replies (1xx) took more bytes than anyone has use for.
    #[error("origin server sent too many interim replies")]
    TooManyInterim,
    /// The server changed the protocol without being asked to.
    #[error("origin server changed to a protocol that was not asked for")]
    UnwantedUpgrade,
    /// The body of the request ended early or was malformed; the client's fault.
    #[error("body of the request: {0}")]
    RequestBody(#[from] BodyError),
    /// The request has characters that would break its head, such as a line end in its target; the client's fault.
    #[error("request has characters that no head may have")]
    Unsendable,
}

impl OriginFailure {
    /// Returns the status that the client gets: 502, 503 or 504, of a bad request 400, 408 or 413.
    pub fn status(&self) -> u16 {
        match self {
            OriginFailure::AllDown | OriginFailure::Busy => 503,
            OriginFailure::ConnectTimedOut | OriginFailure::SendTimedOut | OriginFailure::TimedOut => 504,
            OriginFailure::Unresolved(_)
            | OriginFailure::Unreachable(_)
            | OriginFailure::Tls(_)
            | OriginFailure::Closed
            | OriginFailure::NotTaken
            | OriginFailure::Truncated
            | OriginFailure::Malformed(_)
            | OriginFailure::TooManyInterim
            | OriginFailure::UnwantedUpgrade => 502,
            OriginFailure::RequestBody(BodyError::TooLong(_)) => 413,
            OriginFailure::RequestBody(BodyError::TimedOut) => 408,
            OriginFailure::RequestBody(BodyError::Truncated | BodyError::Malformed(_))
            | OriginFailure::Unsendable => 400,
        }
    }

    /// Returns the name of the reason, for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            OriginFailure::AllDown => "origin-down",
            OriginFailure::Busy => "origin-busy",
            OriginFailure::Unresolved(_) => "origin-unresolved",
            OriginFailure::Unreachable(_) => "origin-unreachable",
            OriginFailure::ConnectTimedOut => "origin-connect-timeout",
            OriginFailure::Tls(_) => "origin-tls",
            OriginFailure::Closed => "origin-closed",
            OriginFailure::NotTaken => "origin-not-taken",
            OriginFailure::Truncated => "origin-truncated",
            OriginFailure::SendTimedOut => "origin-send-timeout",
            OriginFailure::TimedOut => "origin-timeout",
            OriginFailure::Malformed(_) => "origin-malformed",
            OriginFailure::TooManyInterim => "origin-interim",
            OriginFailure::UnwantedUpgrade => "origin-upgrade",
            OriginFailure::RequestBody(_) => "request-body",
            OriginFailure::Unsendable => "request-unsendable",
        }
    }

    /// Tells whether it says that the server is not well, rather than the request, the load or this machine.
    pub(super) fn is_of_server(&self) -> bool {
        match self {
            OriginFailure::AllDown
            | OriginFailure::Busy
            | OriginFailure::NotTaken
            | OriginFailure::RequestBody(_)
            | OriginFailure::Unsendable => false,
            OriginFailure::Unreachable(kind) => is_of_peer(*kind),
            _ => true,
        }
    }

    /// Tells whether the server cannot have seen anything of the request.
    pub(super) fn is_before_sending(&self) -> bool {
        matches!(
            self,
            OriginFailure::Unresolved(_)
                | OriginFailure::Unreachable(_)
                | OriginFailure::ConnectTimedOut
                | OriginFailure::Tls(_)
        )
    }
}

/// Tells whether an error in connecting comes from the other side: not if this one has no file or port left.
fn is_of_peer(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable, TimedOut,
    };
    matches!(
        kind,
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | NetworkUnreachable
            | TimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_gateway_errors_for_servers_and_client_errors_for_themselves() {
        use OriginFailure::*;
        let cases = [
            (AllDown, 503, false),
            (Busy, 503, false),
            (Unresolved("x".to_owned()), 502, true),
            (Unreachable(io::ErrorKind::ConnectionRefused), 502, true),
            (Unreachable(io::ErrorKind::AddrNotAvailable), 502, false),
            (ConnectTimedOut, 504, true),
            (Tls("x".to_owned()), 502, true),
            (Closed, 502, true),
            (NotTaken, 502, false),
            (Truncated, 502, true),
            (SendTimedOut, 504, true),
            (TimedOut, 504, true),
            (Malformed(HeadError::UnsupportedVersion), 502, true),
            (TooManyInterim, 502, true),
            (UnwantedUpgrade, 502, true),
            (RequestBody(BodyError::Truncated), 400, false),
            (RequestBody(BodyError::TooLong(1)), 413, false),
            (RequestBody(BodyError::TimedOut), 408, false),
            (Unsendable, 400, false),
        ];
        for (failure, status, is_of_server) in cases {
            assert_eq!((failure.status(), failure.is_of_server()), (status, is_of_server), "{failure}");
            assert!(failure.name().starts_with(if status < 500 { "request-" } else { "origin-" }));
        }
    }
}
