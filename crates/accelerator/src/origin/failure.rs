//! Failures of requests to the origin.

use std::io;

use thiserror::Error;
use units::Nanos;

use super::head::MalformedHead;
use super::health::HealthEvent;
use crate::message::{BodyError, ProxyReason};

/// The reason for which no server has answered a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OriginFailure {
    /// No server is up.
    #[error("all origin servers are down")]
    AllDown,
    /// All servers that are up are at their request limit, and no permit came free in time.
    #[error("all origin servers are at their request limit")]
    Busy,
    /// The name of the server has no address.
    #[error("origin server's name cannot be resolved: {0}")]
    Unresolved(String),
    /// No server accepted a connection.
    #[error("no connection to the origin server: {0}")]
    Unreachable(io::ErrorKind),
    /// No connection was established in time.
    #[error("no connection to the origin server within the time limit")]
    ConnectTimedOut,
    /// The server did not prove its identity, or does not speak TLS.
    #[error("no TLS with the origin server: {0}")]
    Tls(String),
    /// The connection ended before any byte of a response.
    #[error("origin server closed the connection before it responded")]
    Closed,
    /// The connection ended before all of the request was sent. The server may refuse this body, or not wait as long
    /// as the client takes.
    #[error("origin server closed the connection before it had received the request")]
    NotTaken,
    /// The connection ended within the head of a response, or between an interim response and the final one.
    #[error("origin server closed the connection within the head of its response")]
    Truncated,
    /// The request could not be sent in time.
    #[error("origin server did not receive the request within the time limit")]
    SendTimedOut,
    /// The head of the response was not complete in time.
    #[error("origin server did not respond within the time limit")]
    TimedOut,
    /// The head of the response is not valid HTTP, or its framing is ambiguous.
    #[error("origin server's response is not valid HTTP: {0}")]
    Malformed(#[from] MalformedHead),
    /// The interim responses (1xx) took too many bytes.
    #[error("origin server sent too many interim responses")]
    TooManyInterim,
    /// The server switched protocols without being asked to.
    #[error("origin server switched to a protocol that was not requested")]
    UnwantedUpgrade,
    /// The body of the request ended early or was malformed: the client's fault.
    #[error("body of the request: {0}")]
    RequestBody(#[from] BodyError),
    /// The request has characters that would break its head, a line end in its target for example: the client's
    /// fault.
    #[error("request has characters that are not allowed in a head")]
    Unsendable,
}

impl OriginFailure {
    /// Returns the status for the client: 502, 503 or 504, for a bad request 400, 408 or 413.
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

    /// Returns the reason, for logs and metrics.
    pub fn reason(&self) -> ProxyReason {
        match self {
            OriginFailure::AllDown => ProxyReason::OriginDown,
            OriginFailure::Busy => ProxyReason::OriginBusy,
            OriginFailure::Unresolved(_) => ProxyReason::OriginUnresolved,
            OriginFailure::Unreachable(_) => ProxyReason::OriginUnreachable,
            OriginFailure::ConnectTimedOut => ProxyReason::OriginConnectTimeout,
            OriginFailure::Tls(_) => ProxyReason::OriginTls,
            OriginFailure::Closed => ProxyReason::OriginClosed,
            OriginFailure::NotTaken => ProxyReason::OriginNotTaken,
            OriginFailure::Truncated => ProxyReason::OriginTruncated,
            OriginFailure::SendTimedOut => ProxyReason::OriginSendTimeout,
            OriginFailure::TimedOut => ProxyReason::OriginTimeout,
            OriginFailure::Malformed(_) => ProxyReason::OriginMalformed,
            OriginFailure::TooManyInterim => ProxyReason::OriginInterim,
            OriginFailure::UnwantedUpgrade => ProxyReason::OriginUpgrade,
            OriginFailure::RequestBody(_) => ProxyReason::RequestBody,
            OriginFailure::Unsendable => ProxyReason::RequestUnsendable,
        }
    }

    /// Returns whether the failure is the server's, rather than the client's, the load's or this machine's.
    pub(super) fn is_server_fault(&self) -> bool {
        match self {
            OriginFailure::AllDown
            | OriginFailure::Busy
            | OriginFailure::NotTaken
            | OriginFailure::RequestBody(_)
            | OriginFailure::Unsendable => false,
            OriginFailure::Unreachable(kind) => is_peer_error(*kind),
            _ => true,
        }
    }

    /// Returns the failure's event in the server's health, of a request for this URL made at this time; `None` if it
    /// is none, because it tells about the request alone.
    pub(super) fn health_event(&self, url: u64, since: Nanos, is_url_answered: bool) -> Option<HealthEvent> {
        match self {
            OriginFailure::TimedOut | OriginFailure::SendTimedOut => {
                Some(HealthEvent::Overdue { url, since, is_url_answered })
            }
            failure if failure.is_before_sending() && failure.is_server_fault() => {
                Some(HealthEvent::Unreached)
            }
            _ => None,
        }
    }

    /// Returns whether the server cannot have seen any part of the request.
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

/// Returns whether a connect error comes from the other side: not if this machine has no file or port left.
fn is_peer_error(kind: io::ErrorKind) -> bool {
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
    fn failures_map_to_gateway_or_client_errors() {
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
            (Malformed(http1::HeadError::UnsupportedVersion.into()), 502, true),
            (TooManyInterim, 502, true),
            (UnwantedUpgrade, 502, true),
            (RequestBody(BodyError::Truncated), 400, false),
            (RequestBody(BodyError::TooLong(1)), 413, false),
            (RequestBody(BodyError::TimedOut), 408, false),
            (Unsendable, 400, false),
        ];
        for (failure, status, is_server_fault) in cases {
            assert_eq!((failure.status(), failure.is_server_fault()), (status, is_server_fault), "{failure}");
            assert!(failure.reason().name().starts_with(if status < 500 { "request-" } else { "origin-" }));
        }
    }

    #[test]
    fn only_missing_connections_and_silence_count_against_health() {
        use OriginFailure::*;
        let refused = io::ErrorKind::ConnectionRefused;
        let no_port = io::ErrorKind::AddrNotAvailable;
        let url = 7;
        let since = Nanos::from_secs(1);
        let event = |failure: OriginFailure| failure.health_event(url, since, true);
        for failure in
            [Unresolved("x".to_owned()), Unreachable(refused), ConnectTimedOut, Tls("x".to_owned())]
        {
            assert_eq!(event(failure), Some(HealthEvent::Unreached));
        }
        for failure in [TimedOut, SendTimedOut] {
            assert_eq!(event(failure), Some(HealthEvent::Overdue { url, since, is_url_answered: true }));
        }
        let of_one_request = [
            AllDown,
            Busy,
            Unreachable(no_port),
            Closed,
            NotTaken,
            Truncated,
            Malformed(http1::HeadError::UnsupportedVersion.into()),
            TooManyInterim,
            UnwantedUpgrade,
            RequestBody(BodyError::Truncated),
            Unsendable,
        ];
        for failure in of_one_request {
            assert_eq!(event(failure.clone()), None, "{failure}");
        }
    }
}
