//! Reasons as enums, for counters, logs and `Cache-Status`.

use cache_policy::{KeyRefused, MissReason, NotStored, PassReason, StaleReason, ValidationReason, reasons};

reasons! {
    /// A reason of the proxy itself: everything that the caching rules do not decide.
    ProxyReason {
        /// A stored response was fresh.
        Fresh = "fresh";
        /// A stored error was fresh.
        Negative = "negative";
        /// A stale response is being validated in the background.
        Refresh = "refresh";
        /// The operator has the target bypass the cache.
        Bypass = "bypass";
        /// The request must not be forwarded any further.
        MaxForwards = "max-forwards";
        /// The request has been forwarded by this cache before.
        Loop = "loop";
        /// The method opens tunnels or reveals fields, and is not forwarded.
        Method = "method";
        /// The client forbids a request to the origin, and no stored response will do.
        OnlyIfCached = "only-if-cached";
        /// The fetch for several requests ended without a result.
        Abandoned = "abandoned";
        /// A URL to be prefilled is not valid.
        Url = "url";
        /// The body of a prefilled response ended early.
        Incomplete = "incomplete";
        /// The origin responded with an error.
        OriginError = "origin-error";
        /// The origin confirmed a response that was not asked about.
        OriginNotModified = "origin-not-modified";
        /// No origin server is up.
        OriginDown = "origin-down";
        /// All origin servers are at their request limit.
        OriginBusy = "origin-busy";
        /// The name of the origin server has no address.
        OriginUnresolved = "origin-unresolved";
        /// No origin server accepted a connection.
        OriginUnreachable = "origin-unreachable";
        /// No connection was established in time.
        OriginConnectTimeout = "origin-connect-timeout";
        /// There is no TLS with the origin server.
        OriginTls = "origin-tls";
        /// The connection ended before any byte of a response.
        OriginClosed = "origin-closed";
        /// The connection ended before all of the request was sent.
        OriginNotTaken = "origin-not-taken";
        /// The connection ended within the head of a response.
        OriginTruncated = "origin-truncated";
        /// The request could not be sent in time.
        OriginSendTimeout = "origin-send-timeout";
        /// The head of the response was not complete in time.
        OriginTimeout = "origin-timeout";
        /// The head of the response is not valid.
        OriginMalformed = "origin-malformed";
        /// There were too many interim responses.
        OriginInterim = "origin-interim";
        /// The origin server switched protocols without being asked to.
        OriginUpgrade = "origin-upgrade";
        /// The body of the request ended early, is malformed, too long or too slow.
        RequestBody = "request-body";
        /// The request has characters that would break its head.
        RequestUnsendable = "request-unsendable";
        /// The head is not valid HTTP.
        MalformedHead = "malformed-head";
        /// The client does not speak TLS on a port for TLS.
        PlainHttp = "plain-http";
        /// The head is too long, or has too many lines.
        HeadTooLarge = "head-too-large";
        /// The target is too long.
        TargetTooLong = "target-too-long";
        /// The head was not complete in time.
        HeadTimeout = "head-timeout";
        /// The version is not supported.
        UnsupportedVersion = "unsupported-version";
        /// The request has an unknown expectation.
        UnknownExpectation = "unknown-expectation";
        /// The announced body is too long.
        BodyTooLarge = "body-too-large";
        /// The content length is not a number.
        InvalidLength = "invalid-length";
        /// There are several different content lengths.
        ConflictingLengths = "conflicting-lengths";
        /// There are a content length and a transfer encoding.
        LengthWithTransferEncoding = "length-with-transfer-encoding";
        /// HTTP/1.0 has no transfer encoding.
        TransferEncodingOnHttp10 = "transfer-encoding-on-http10";
        /// The transfer encoding is not known.
        UnknownTransferEncoding = "unknown-transfer-encoding";
        /// The body is chunked more than once.
        RepeatedChunked = "repeated-chunked";
        /// There is no host.
        MissingHost = "missing-host";
        /// There are several hosts.
        RepeatedHost = "repeated-host";
        /// `:authority` and `Host` differ.
        TwoHosts = "two-hosts";
        /// The host is not valid.
        InvalidHost = "invalid-host";
        /// CONNECT over HTTP/2.
        Connect = "connect";
        /// The scheme is neither `http` nor `https`.
        Scheme = "scheme";
        /// The target has a fragment.
        Fragment = "fragment";
        /// The target is neither a path nor `*` of OPTIONS.
        Target = "target";
        /// A field of HTTP/2 is specific to a connection.
        FieldOfConnection = "field-of-connection";
        /// The value of a field has characters that it must not have.
        FieldValue = "field-value";
    }
}

reasons! {
    /// The reason for which a client connection was refused or aborted.
    DisconnectReason {
        /// There are too many connections.
        ConnectionsMax = "connections-max";
        /// There are too many connections from one address.
        ConnectionsPerAddress = "connections-per-address";
        /// The socket could not be registered with the event loop.
        NotRegistered = "not-registered";
        /// The PROXY header is missing, not valid, or too slow.
        ProxyHeader = "proxy-header";
        /// There is no certificate.
        TlsNotSetUp = "tls-not-set-up";
        /// The TLS handshake took too long.
        TlsTimeout = "tls-timeout";
        /// The TLS handshake failed.
        TlsHandshake = "tls-handshake";
        /// The preface of HTTP/2 did not come.
        Http2Preface = "http2-preface";
        /// The client took nothing any more.
        Http2Gone = "http2-gone";
        /// The client reset too many requests.
        Http2Resets = "http2-resets";
        /// A protocol error, or a flood.
        Http2Failed = "http2-failed";
    }
}

/// The reason for which a request was handled as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlingReason {
    /// The proxy itself.
    Proxy(ProxyReason),
    /// No stored response matches.
    Miss(MissReason),
    /// The stored response must be validated.
    Validation(ValidationReason),
    /// A stale response may be used.
    Stale(StaleReason),
    /// The request bypasses the cache.
    Pass(PassReason),
    /// The response must not be stored.
    NotStored(NotStored),
    /// The request has no key.
    Key(KeyRefused),
}

const MISS_START: usize = ProxyReason::ALL.len();
const VALIDATION_START: usize = MISS_START + MissReason::ALL.len();
const STALE_START: usize = VALIDATION_START + ValidationReason::ALL.len();
const PASS_START: usize = STALE_START + StaleReason::ALL.len();
const NOT_STORED_START: usize = PASS_START + PassReason::ALL.len();
const KEY_START: usize = NOT_STORED_START + NotStored::ALL.len();

impl HandlingReason {
    /// The number of reasons.
    pub const COUNT: usize = KEY_START + KeyRefused::ALL.len();

    /// Returns every reason, in the order of [`HandlingReason::index`].
    pub fn all() -> impl Iterator<Item = HandlingReason> {
        let proxy = ProxyReason::ALL.iter().map(|reason| HandlingReason::Proxy(*reason));
        let miss = MissReason::ALL.iter().map(|reason| HandlingReason::Miss(*reason));
        let validation = ValidationReason::ALL.iter().map(|reason| HandlingReason::Validation(*reason));
        let stale = StaleReason::ALL.iter().map(|reason| HandlingReason::Stale(*reason));
        let pass = PassReason::ALL.iter().map(|reason| HandlingReason::Pass(*reason));
        let not_stored = NotStored::ALL.iter().map(|reason| HandlingReason::NotStored(*reason));
        let key = KeyRefused::ALL.iter().map(|reason| HandlingReason::Key(*reason));
        proxy.chain(miss).chain(validation).chain(stale).chain(pass).chain(not_stored).chain(key)
    }

    /// Returns the index of the reason, below [`HandlingReason::COUNT`].
    #[inline]
    pub fn index(self) -> usize {
        match self {
            HandlingReason::Proxy(reason) => reason as usize,
            HandlingReason::Miss(reason) => MISS_START + reason as usize,
            HandlingReason::Validation(reason) => VALIDATION_START + reason as usize,
            HandlingReason::Stale(reason) => STALE_START + reason as usize,
            HandlingReason::Pass(reason) => PASS_START + reason as usize,
            HandlingReason::NotStored(reason) => NOT_STORED_START + reason as usize,
            HandlingReason::Key(reason) => KEY_START + reason as usize,
        }
    }

    /// Returns the reason's name: `no-store` or `uri-miss`, for example. Some reasons share a name.
    #[inline]
    pub fn name(self) -> &'static str {
        match self {
            HandlingReason::Proxy(reason) => reason.name(),
            HandlingReason::Miss(reason) => reason.name(),
            HandlingReason::Validation(reason) => reason.name(),
            HandlingReason::Stale(reason) => reason.name(),
            HandlingReason::Pass(reason) => reason.name(),
            HandlingReason::NotStored(reason) => reason.name(),
            HandlingReason::Key(reason) => reason.name(),
        }
    }
}

/// Makes a reason of each kind a [`HandlingReason`].
macro_rules! from_reasons {
    ($($case:ident($reason:ident),)+) => {
        $(impl From<$reason> for HandlingReason {
            fn from(reason: $reason) -> HandlingReason {
                HandlingReason::$case(reason)
            }
        })+
    };
}

from_reasons! {
    Proxy(ProxyReason),
    Miss(MissReason),
    Validation(ValidationReason),
    Stale(StaleReason),
    Pass(PassReason),
    NotStored(NotStored),
    Key(KeyRefused),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_indexed_in_their_order() {
        let indices: Vec<usize> = HandlingReason::all().map(HandlingReason::index).collect();
        assert_eq!(indices, (0..HandlingReason::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn names_are_lower_case_with_dashes() {
        let disconnects = DisconnectReason::ALL.iter().map(|reason| reason.name());
        for name in HandlingReason::all().map(HandlingReason::name).chain(disconnects) {
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(!name.is_empty() && name.bytes().all(is_plain), "{name}");
        }
    }
}
