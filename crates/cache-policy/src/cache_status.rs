//! The field `Cache-Status`: the handling of a request (RFC 9211).

use std::fmt::Write;

use http1::is_token_byte;
use units::Nanos;

use crate::decision::MissReason;
use crate::reuse::ValidationReason;

reasons! {
    /// The reason for which a request went to the origin.
    Forward {
        /// The cache was configured not to handle it.
        Bypass = "bypass", "RFC 9211 §2.2";
        /// Its method has to be forwarded.
        Method = "method", "RFC 9211 §2.2";
        /// Nothing was stored under its key.
        UriMiss = "uri-miss", "RFC 9211 §2.2";
        /// The stored responses depend on fields in which the request differs.
        VaryMiss = "vary-miss", "RFC 9211 §2.2";
        /// No stored response was usable.
        Miss = "miss", "RFC 9211 §2.2";
        /// A fresh response was stored, but the request's own directives did not allow its use.
        Request = "request", "RFC 9211 §2.2";
        /// A response was stored, but stale.
        Stale = "stale", "RFC 9211 §2.2";
        /// A part of the response was stored.
        Partial = "partial", "RFC 9211 §2.2";
    }
}

impl From<MissReason> for Forward {
    fn from(reason: MissReason) -> Forward {
        match reason {
            MissReason::UriMiss => Forward::UriMiss,
            MissReason::VaryMiss => Forward::VaryMiss,
        }
    }
}

impl From<ValidationReason> for Forward {
    fn from(reason: ValidationReason) -> Forward {
        match reason {
            ValidationReason::RequestNoCache
            | ValidationReason::RequestMaxAge
            | ValidationReason::RequestMinFresh => Forward::Request,
            ValidationReason::Stale | ValidationReason::NoCache | ValidationReason::Invalidated => {
                Forward::Stale
            }
        }
    }
}

/// The handling of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitOrForward {
    /// Answered from the store.
    Hit,
    /// Forwarded.
    Forwarded {
        /// The reason.
        why: Forward,
        /// The status of the origin's response, if that is not what the client gets.
        status: Option<u16>,
        /// Whether the response was stored.
        is_stored: bool,
        /// Whether it was collapsed with another request, and if so, whether that one's response served it; `None` if
        /// not.
        collapsed: Option<bool>,
    },
}

/// One member of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheStatusMember<'a> {
    /// The name of this cache.
    pub cache: &'a str,
    /// The handling of the request.
    pub handled: HitOrForward,
    /// The remaining freshness of the response, or the time since it became stale.
    pub freshness: Option<Freshness>,
    /// The key, if it is to be shown.
    pub key: Option<&'a str>,
    /// Further detail, for example the name of a reason.
    pub detail: Option<&'a str>,
}

/// The remaining freshness of a response, or the time since it became stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Fresh for this time.
    Fresh(Nanos),
    /// Stale for this time.
    Stale(Nanos),
}

impl CacheStatusMember<'_> {
    /// Appends the member to a text; a field that already exists gets it after a comma (RFC 9211 §2).
    pub fn write(&self, text: &mut String) {
        write_name(text, self.cache);
        match self.handled {
            HitOrForward::Hit => text.push_str("; hit"),
            HitOrForward::Forwarded { why, status, is_stored, collapsed } => {
                write_parameter(text, "fwd", why.name());
                write_number(text, "fwd-status", status.map(i64::from));
                write_flag(text, "stored", is_stored.then_some(true));
                write_flag(text, "collapsed", collapsed);
            }
        }
        write_number(text, "ttl", self.freshness.map(Freshness::seconds));
        if let Some(key) = self.key {
            text.push_str("; key=");
            write_string(text, key);
        }
        if let Some(detail) = self.detail {
            text.push_str("; detail=");
            write_name(text, detail);
        }
    }
}

impl Freshness {
    /// Returns whole seconds, negative if the response is stale (RFC 9211 §2.4).
    ///
    /// Rounded towards the past, so that it never says fresher than it is.
    fn seconds(self) -> i64 {
        const NANOS: u64 = 1_000_000_000;
        let whole = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
        match self {
            Freshness::Fresh(time) => whole(time.0 / NANOS),
            Freshness::Stale(time) => -whole(time.0.div_ceil(NANOS)),
        }
    }
}

fn write_parameter(text: &mut String, name: &str, value: &str) {
    text.push_str("; ");
    text.push_str(name);
    text.push('=');
    text.push_str(value);
}

fn write_number(text: &mut String, name: &str, number: Option<i64>) {
    if let Some(number) = number {
        // Writing to a string does not fail.
        let _ = write!(text, "; {name}={number}");
    }
}

/// Writes a boolean: its name alone if true, as structured fields define it (RFC 9651 §4.1.1.2).
fn write_flag(text: &mut String, name: &str, flag: Option<bool>) {
    match flag {
        None => {}
        Some(true) => {
            text.push_str("; ");
            text.push_str(name);
        }
        Some(false) => write_parameter(text, name, "?0"),
    }
}

/// Writes a token if the name is one (RFC 9651 §3.3.4), else a string.
fn write_name(text: &mut String, name: &str) {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'*';
    let is_rest = |byte: u8| is_token_byte(byte) || b":/".contains(&byte);
    if name.bytes().next().is_some_and(is_first) && name.bytes().all(is_rest) {
        text.push_str(name);
    } else {
        write_string(text, name);
    }
}

/// Writes a string (RFC 9651 §3.3.3); a character that it cannot hold becomes a question mark.
fn write_string(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            ' '..='~' => text.push(character),
            _ => text.push('?'),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORWARDED: HitOrForward = HitOrForward::Forwarded {
        why: Forward::Stale,
        status: Some(304),
        is_stored: true,
        collapsed: Some(false),
    };

    fn written(status: &CacheStatusMember) -> String {
        let mut text = String::new();
        status.write(&mut text);
        text
    }

    fn status(handled: HitOrForward) -> CacheStatusMember<'static> {
        CacheStatusMember { cache: "plimsoll", handled, freshness: None, key: None, detail: None }
    }

    #[test]
    fn parameters_are_structured_fields() {
        let hit = CacheStatusMember {
            freshness: Some(Freshness::Fresh(Nanos::from_millis(30_999))),
            key: Some("http://a/\"b\\"),
            detail: Some("max-age"),
            ..status(HitOrForward::Hit)
        };
        assert_eq!(written(&hit), r#"plimsoll; hit; ttl=30; key="http://a/\"b\\"; detail=max-age"#);
        let stale = CacheStatusMember {
            cache: "cache 1",
            freshness: Some(Freshness::Stale(Nanos::from_millis(1))),
            detail: Some("\u{e9}"),
            ..status(FORWARDED)
        };
        let expected = r#""cache 1"; fwd=stale; fwd-status=304; stored; collapsed=?0; ttl=-1; detail="?""#;
        assert_eq!(written(&stale), expected);
    }

    #[test]
    fn the_member_parses_as_a_structured_field() {
        for handled in [HitOrForward::Hit, FORWARDED] {
            let status = CacheStatusMember { key: Some("\"\\\u{0}"), detail: Some(""), ..status(handled) };
            let list: sfv::List = sfv::Parser::new(&written(&status)).parse().unwrap();
            assert_eq!(list.len(), 1);
        }
    }
}
