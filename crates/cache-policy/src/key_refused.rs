//! Reasons for which a request has no cache key.

reasons! {
    /// The reason for which a request has no key; it is refused, not forwarded.
    KeyRefused {
        /// The authority has user information.
        UserInformation = "user-information", "RFC 9110 §4.2.4";
        /// The authority has no host.
        EmptyHost = "empty-host", "RFC 9110 §4.2.1";
        /// The host is not valid.
        Host = "host", "RFC 9110 §7.2";
        /// The port is not valid.
        Port = "port", "RFC 9110 §4.2.1";
        /// The target is neither a path nor absolute: `*`, for example.
        TargetForm = "target-form", "RFC 9112 §3.2";
        /// The target is too long: 414.
        TooLong = "too-long", "RFC 9110 §15.5.15";
        /// The target has a character that is not allowed in a URI.
        Character = "character", "RFC 3986 §2";
        /// The path has a percent sign without two hexadecimal digits.
        PercentSign = "percent-sign", "RFC 3986 §2.1";
        /// The target has an encoded null byte.
        NullByte = "null-byte", "RFC 3986 §7.3";
        /// The path has a dot segment, and the operator refuses those.
        DotSegment = "dot-segment", "RFC 3986 §6.2.2.3";
        /// The path has a sequence that only some servers take for a dot segment.
        HiddenDotSegment = "hidden-dot-segment", "RFC 3986 §7.3";
        /// The path leads above the root.
        AboveRoot = "above-root", "RFC 3986 §5.2.4";
        /// The reference has another scheme than `http` or `https`.
        OtherScheme = "other-scheme", "RFC 9110 §4.2";
    }
}

impl KeyRefused {
    /// Returns the status that the client gets: 414, else 400.
    pub fn status(self) -> u16 {
        if self == KeyRefused::TooLong { 414 } else { 400 }
    }
}
