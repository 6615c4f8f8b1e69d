//! Reasons for refusing a head.

use thiserror::Error;

use crate::{HEAD_BYTES_MAX, HEADERS_MAX, INTERIM_BYTES_MAX, RESPONSE_HEADERS_MAX};

/// The reason for refusing a head, after which its sender can no longer be understood safely.
///
/// After any of these the connection has to be closed: where the next message begins is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeadError {
    /// The bytes do not follow the grammar of RFC 9112.
    #[error("malformed head: {0}")]
    Malformed(MalformedPart),
    /// The head exceeds a limit.
    #[error("oversized head: {0}")]
    Oversized(HeadLimit),
    /// The start line names another protocol or version.
    #[error("expected version HTTP/1.0 or HTTP/1.1 in the start line")]
    UnsupportedVersion,
    /// A `Content-Length` is not a plain decimal number below 2^64 (RFC 9110 §8.6).
    #[error("expected a decimal number below 2^64 as `Content-Length`")]
    InvalidLength,
    /// Several `Content-Length` values differ (RFC 9112 §6.3 item 5).
    #[error("several `Content-Length` values that differ")]
    ConflictingLengths,
    /// Both `Content-Length` and `Transfer-Encoding` are given in a request (RFC 9112 §6.3 item 3).
    #[error("both `Content-Length` and `Transfer-Encoding`")]
    LengthWithTransferEncoding,
    /// `Transfer-Encoding` in a request of HTTP/1.0, which does not have it (RFC 9112 §6.1).
    #[error("`Transfer-Encoding` in an HTTP/1.0 request")]
    TransferEncodingOnHttp10,
    /// A transfer coding other than `chunked`, which is the only one we ever ask for.
    #[error("expected `chunked` as the only transfer coding")]
    UnknownTransferEncoding,
    /// `chunked` is given more than once (RFC 9112 §6.1).
    #[error("transfer coding `chunked` given more than once")]
    RepeatedChunked,
    /// An HTTP/1.1 request without `Host` (RFC 9112 §3.2).
    #[error("no `Host` in an HTTP/1.1 request")]
    MissingHost,
    /// A request with more than one `Host` line (RFC 9112 §3.2).
    #[error("more than one `Host` in a request")]
    RepeatedHost,
    /// A host with characters that no host or port has (RFC 3986 §3.2.2).
    #[error("expected `host` or `host:port` as `Host`")]
    InvalidHost,
}

/// The part of a head that does not follow the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MalformedPart {
    /// The status line of a response, apart from its version.
    #[error("status line is not `HTTP-version SP 3 digits [SP reason]`")]
    StatusLine,
    /// The request line, apart from its version.
    #[error("request line is not `method SP target SP HTTP-version`")]
    RequestLine,
    /// The target of a request: not a form that its method may have (RFC 9112 §3.2), or bytes
    /// outside visible ASCII, or a fragment.
    #[error("request target is not a path, an http URI, `*` of OPTIONS or `host:port` of CONNECT")]
    Target,
    /// The name of a header: not a token, or in a request a blank before the colon (RFC 9112 §5), or a line that begins
    /// with a blank, which continues the line before it in responses only (see [`unfolded`](crate::unfolded)).
    #[error("header line does not begin with `name:`")]
    FieldName,
    /// The value of a header: a control character in it (RFC 9110 §5.5).
    #[error("control character in a header value")]
    FieldValue,
    /// A line that does not end with CR LF: a bare LF is refused too in requests, and taken in responses (RFC 9112 §2.2
    /// leaves the choice).
    #[error("line does not end with CR LF")]
    LineEnd,
}

/// The limit that a head exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeadLimit {
    /// [`HEAD_BYTES_MAX`].
    #[error("more than {HEAD_BYTES_MAX} bytes")]
    Bytes,
    /// [`INTERIM_BYTES_MAX`].
    #[error("more than {INTERIM_BYTES_MAX} bytes of interim responses")]
    Interim,
    /// [`HEADERS_MAX`].
    #[error("more than {HEADERS_MAX} header lines")]
    Headers,
    /// [`RESPONSE_HEADERS_MAX`].
    #[error("more than {RESPONSE_HEADERS_MAX} header lines")]
    ResponseHeaders,
}

impl HeadError {
    /// Translates an error of the parser; `start_line` is the expected kind of first line.
    pub(crate) fn from_parser(error: httparse::Error, start_line: MalformedPart) -> HeadError {
        match error {
            httparse::Error::Version => HeadError::UnsupportedVersion,
            httparse::Error::TooManyHeaders => HeadError::Oversized(HeadLimit::Headers),
            httparse::Error::Status | httparse::Error::Token => HeadError::Malformed(start_line),
            httparse::Error::HeaderName => HeadError::Malformed(MalformedPart::FieldName),
            httparse::Error::HeaderValue => HeadError::Malformed(MalformedPart::FieldValue),
            httparse::Error::NewLine => HeadError::Malformed(MalformedPart::LineEnd),
        }
    }
}
