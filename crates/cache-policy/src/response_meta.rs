//! The metadata that the policy reads of a response.

use units::{Nanos, WallTime};

use crate::date::parse_date;
use crate::directives::ResponseDirectives;
use crate::entity_tag::EntityTag;
use crate::key::Key;
use crate::list::{delta_seconds, members, number};
use crate::message::{FieldLines, LowercaseName, SingletonField, values};
use crate::settings::Settings;
use crate::targeted;
use crate::vary::Vary;

/// The times at which a response was requested and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeTimes {
    /// The time at which the request was sent to the origin.
    pub requested: WallTime,
    /// The time at which the head of the response was complete.
    pub received: WallTime,
}

/// The content of `Expires` (RFC 9111 §5.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expires {
    /// Absent, or replaced by a targeted field.
    #[default]
    Absent,
    /// Not a date, `0` for example: already expired.
    Invalid,
    /// This time; of several lines the earliest.
    At(WallTime),
}

/// The metadata of a response that decide about caching; read once, on receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMeta {
    /// The status code.
    pub status: u16,
    /// The times of request and receipt.
    pub times: ExchangeTimes,
    /// `Date`; the time of receipt if that is absent or malformed (RFC 9110 §6.6.1).
    pub date: WallTime,
    /// `Age`; zero if that is absent or malformed (RFC 9111 §5.1).
    pub age: Nanos,
    /// `Expires`.
    pub expires: Expires,
    /// `Last-Modified`; `None` if malformed.
    pub last_modified: Option<WallTime>,
    /// `ETag`; `None` if malformed.
    pub etag: Option<EntityTag>,
    /// `Content-Length`.
    pub content_length: Option<u64>,
    /// The directives that count: of the first targeted field that is well-formed, else of `Cache-Control`.
    pub directives: ResponseDirectives,
    /// Whether they are from a targeted field, so that `Expires` does not count (RFC 9213 §2.2).
    pub is_targeted: bool,
    /// `Vary`.
    pub vary: Vary,
    /// Whether it sets a cookie.
    pub sets_cookie: bool,
    /// Whether its URL has a query, so that it gets no heuristic lifetime: see [`ResponseMeta::of`].
    pub has_query: bool,
    /// Whether it has `Pragma: no-cache`. That has no meaning in a response (RFC 9111 §5.4), but its author wanted no
    /// heuristic lifetime.
    pub has_pragma: bool,
}

/// The fields of a head, while they are collected.
#[derive(Debug, Default)]
struct Heads<'a> {
    date: SingletonField<'a>,
    last_modified: SingletonField<'a>,
    etag: SingletonField<'a>,
    content_length: SingletonField<'a>,
    age: Option<&'a [u8]>,
    expires: Expires,
    cache_control: ResponseDirectives,
    sets_cookie: bool,
    has_pragma: bool,
}

impl ResponseMeta {
    /// Reads the head of a response; fields that contradict each other or themselves are read as their types
    /// describe.
    pub fn read<'a>(
        status: u16,
        lines: impl FieldLines<'a>,
        times: ExchangeTimes,
        settings: &Settings,
    ) -> ResponseMeta {
        let mut heads = Heads::default();
        lines.clone().for_each(|(name, value)| heads.note(name, value));
        let targeted = targeted_directives(lines.clone(), settings);
        let is_targeted = targeted.is_some();
        ResponseMeta {
            status,
            times,
            date: heads.date.value().and_then(parse_date).unwrap_or(times.received),
            age: heads.age.and_then(read_age).unwrap_or(Nanos::ZERO),
            expires: if is_targeted { Expires::Absent } else { heads.expires },
            last_modified: heads.last_modified.value().and_then(parse_date),
            etag: heads.etag.value().and_then(EntityTag::parse),
            content_length: heads.content_length.value().and_then(number),
            directives: targeted.unwrap_or(heads.cache_control),
            is_targeted,
            vary: Vary::read(lines),
            sets_cookie: heads.sets_cookie,
            has_query: false,
            has_pragma: heads.has_pragma,
        }
    }

    /// Sets the URL of the response: a URL with a query gets no heuristic lifetime.
    pub fn of(self, key: &Key) -> ResponseMeta {
        ResponseMeta { has_query: key.target().contains('?'), ..self }
    }

    /// Returns whether the origin can validate the response: it has an entity tag or `Last-Modified`.
    pub(crate) fn has_validator(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// Returns whether `Last-Modified` is a strong validator (RFC 9110 §8.8.2.2).
    ///
    /// It is if the response was generated at least a second later by the same clock: a later change would then have
    /// another date.
    pub(crate) fn is_last_modified_strong(&self) -> bool {
        self.last_modified.is_some_and(|changed| changed.0.saturating_add(1000) <= self.date.0)
    }

    /// Returns the fields that must not be stored for others, in lower case: those that `private` and `no-cache`
    /// name.
    ///
    /// Without those named by `no-cache` the rest may be used unvalidated (RFC 9111 §5.2.2.4, §5.2.2.7).
    pub fn withheld(&self) -> impl Iterator<Item = &str> {
        let no_cache = self.directives.no_cache.fields();
        let private = self.directives.private.fields();
        no_cache.iter().chain(private).map(String::as_str)
    }
}

impl<'a> Heads<'a> {
    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        match LowercaseName::new(name).as_bytes() {
            b"cache-control" => self.cache_control.note_line(value),
            b"date" => self.date.note(value),
            b"last-modified" => self.last_modified.note(value),
            b"etag" => self.etag.note(value),
            b"content-length" => self.content_length.note(value),
            b"age" => self.age = self.age.or(Some(value)),
            b"expires" => self.expires = earlier(self.expires, parse_date(value)),
            b"set-cookie" | b"set-cookie2" => self.sets_cookie = true,
            b"pragma" => self.has_pragma |= members(value).any(|one| one.eq_ignore_ascii_case(b"no-cache")),
            _ => {}
        }
    }
}

/// Adds another `Expires` line: a malformed one takes precedence, else the earliest counts.
fn earlier(known: Expires, line: Option<WallTime>) -> Expires {
    match (known, line) {
        (Expires::Invalid, _) | (_, None) => Expires::Invalid,
        (Expires::Absent, Some(time)) => Expires::At(time),
        (Expires::At(known), Some(time)) => Expires::At(known.min(time)),
    }
}

/// Reads the first member of a field that should have just one (RFC 9111 §5.1).
fn read_age(value: &[u8]) -> Option<Nanos> {
    delta_seconds(members(value).next()?)
}

/// Returns the directives of the first targeted field that is well-formed (RFC 9213 §2.2).
fn targeted_directives<'a>(lines: impl FieldLines<'a>, settings: &Settings) -> Option<ResponseDirectives> {
    settings.targets.iter().find_map(|name| {
        let found: Vec<&[u8]> = values(lines.clone(), name).collect();
        targeted::read(&found.join(&b", "[..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: WallTime = WallTime(784_111_787_000);
    const TIMES: ExchangeTimes = ExchangeTimes { requested: RECEIVED, received: RECEIVED };

    fn read(lines: &[(&str, &str)]) -> ResponseMeta {
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        ResponseMeta::read(200, lines.iter().copied(), TIMES, &Settings::default())
    }

    #[test]
    fn a_malformed_date_becomes_the_time_of_receipt() {
        let date = WallTime(RECEIVED.0 - 10_000);
        assert_eq!(read(&[("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]).date, date);
        for lines in
            [&[("X", "0")][..], &[("Date", "0")], &[("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", "0")]]
        {
            assert_eq!(read(lines).date, RECEIVED, "{lines:?}");
        }
    }

    #[test]
    fn the_first_of_several_ages_counts() {
        for (value, seconds) in [
            ("7", 7),
            ("7, 3", 7),
            ("3,7", 3),
            ("x, 7", 0),
            ("-7", 0),
            ("7.5", 0),
            ("\"7\"", 0),
            ("7;a", 0),
            ("", 0),
        ] {
            assert_eq!(read(&[("Age", value)]).age, Nanos::from_secs(seconds), "{value}");
        }
        assert_eq!(read(&[("Age", "7"), ("Age", "3")]).age, Nanos::from_secs(7));
    }

    #[test]
    fn the_earliest_expires_counts_and_an_invalid_one_first() {
        let late = ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT");
        let early = ("Expires", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(read(&[late, early]).expires, Expires::At(WallTime(RECEIVED.0 - 10_000)));
        assert_eq!(read(&[late, ("Expires", "0")]).expires, Expires::Invalid);
        assert_eq!(read(&[("Expires", "-1"), late]).expires, Expires::Invalid);
    }

    #[test]
    fn conflicting_validators_are_ignored() {
        assert!(!read(&[("ETag", "\"a\""), ("ETag", "\"b\"")]).has_validator());
        assert!(read(&[("ETag", "\"a\""), ("ETag", "\"a\"")]).has_validator());
        assert!(!read(&[("ETag", "a")]).has_validator());
    }

    #[test]
    fn last_modified_in_the_same_second_is_weak() {
        let changed = |text| read(&[("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Last-Modified", text)]);
        assert!(changed("Sun, 06 Nov 1994 08:49:36 GMT").is_last_modified_strong());
        assert!(!changed("Sun, 06 Nov 1994 08:49:37 GMT").is_last_modified_strong());
        assert!(!changed("Sun, 06 Nov 1994 08:49:38 GMT").is_last_modified_strong());
    }
}
