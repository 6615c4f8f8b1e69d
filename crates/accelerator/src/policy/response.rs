//! What policy reads of a response.

use units::{Nanos, WallTime};

use super::date::parse_date;
use super::directives::ResponseDirectives;
use super::entity_tag::EntityTag;
use super::key::Key;
use super::list::{delta_seconds, members, number};
use super::message::{Lines, Lower, Single, values};
use super::settings::Settings;
use super::targeted;
use super::vary::Vary;

/// When a response was asked for and when its head came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When the request was sent to the origin.
    pub requested: WallTime,
    /// When the head of the response was complete.
    pub received: WallTime,
}

/// What `Expires` says (RFC 9111 §5.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expires {
    /// Nothing, or a targeted field stands instead.
    #[default]
    Absent,
    /// No date, such as `0`: already over.
    Invalid,
    /// This time; of several lines the earliest.
    At(WallTime),
}

/// What the head of a response says to a cache; read once, when it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// When it was asked for and when it came.
    pub times: Times,
    /// `Date`; when it came if that is absent or no date (RFC 9110 §6.6.1).
    pub date: WallTime,
    /// `Age`; zero if that is absent or no number (RFC 9111 §5.1).
    pub age: Nanos,
    /// `Expires`.
    pub expires: Expires,
    /// `Last-Modified`; `None` if that is no date.
    pub last_modified: Option<WallTime>,
    /// `ETag`; `None` if that is no entity tag.
    pub etag: Option<EntityTag>,
    /// `Content-Length`.
    pub content_length: Option<u64>,
    /// The directives that count: of the first targeted field that can be read, else of `Cache-Control`.
    pub directives: ResponseDirectives,
    /// Whether they are those of a targeted field, so that `Expires` does not count (RFC 9213 §2.2).
    pub is_targeted: bool,
    /// `Vary`.
    pub vary: Vary,
    /// Whether it sets a cookie.
    pub sets_cookie: bool,
    /// Whether its URL has a query, so that no lifetime is guessed: see [`Response::of`].
    pub has_query: bool,
    /// Whether it has `Pragma: no-cache`. That means nothing in a response (RFC 9111 §5.4), but whoever wrote it wanted no
    /// lifetime to be guessed.
    pub has_pragma: bool,
}

/// Lines of a head as they are collected.
#[derive(Debug, Default)]
struct Heads<'a> {
    date: Single<'a>,
    last_modified: Single<'a>,
    etag: Single<'a>,
    content_length: Single<'a>,
    age: Option<&'a [u8]>,
    expires: Expires,
    cache_control: ResponseDirectives,
    sets_cookie: bool,
    has_pragma: bool,
}

impl Response {
    /// Reads a response; of fields that contradict each other or themselves, what its members say.
    pub fn read<'a>(status: u16, lines: impl Lines<'a>, times: Times, settings: &Settings) -> Response {
        let mut heads = Heads::default();
        lines.clone().for_each(|(name, value)| heads.note(name, value));
        let targeted = targeted_directives(lines.clone(), settings);
        let is_targeted = targeted.is_some();
        Response {
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

    /// Says what it is a response about: what a query brings about is not guessed to last.
    pub fn of(self, key: &Key) -> Response {
        Response { has_query: key.target().contains('?'), ..self }
    }

    /// Tells whether the origin can say whether the response is still good: it has an entity tag or a date of change.
    pub fn has_validator(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }

    /// Tells whether the date of change stands for the same bytes (RFC 9110 §8.8.2.2).
    ///
    /// It does if the response was made at least a second later by the same clock: what changed within that second
    /// changed before.
    pub fn is_last_modified_strong(&self) -> bool {
        self.last_modified.is_some_and(|changed| changed.0.saturating_add(1000) <= self.date.0)
    }

    /// Returns the fields that must not be kept for others, in lower case: what `private` and `no-cache` name.
    ///
    /// Without those named by `no-cache` the rest may be used unvalidated (RFC 9111 §5.2.2.4, §5.2.2.7).
    pub fn withheld(&self) -> impl Iterator<Item = &str> {
        let (no_cache, private) = (self.directives.no_cache.fields(), self.directives.private.fields());
        no_cache.iter().chain(private).map(String::as_str)
    }
}

impl<'a> Heads<'a> {
    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        match Lower::new(name).as_bytes() {
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

/// Takes another `Expires` line into account: one that is no date outweighs all, else the earliest counts.
fn earlier(known: Expires, line: Option<WallTime>) -> Expires {
    match (known, line) {
        (Expires::Invalid, _) | (_, None) => Expires::Invalid,
        (Expires::Absent, Some(time)) => Expires::At(time),
        (Expires::At(known), Some(time)) => Expires::At(known.min(time)),
    }
}

/// Reads the first member of a field that ought to have just one (RFC 9111 §5.1).
fn read_age(value: &[u8]) -> Option<Nanos> {
    delta_seconds(members(value).next()?)
}

/// Returns the directives of the first targeted field that can be read (RFC 9213 §2.2).
fn targeted_directives<'a>(lines: impl Lines<'a>, settings: &Settings) -> Option<ResponseDirectives> {
    settings.targets.iter().find_map(|name| {
        let found: Vec<&[u8]> = values(lines.clone(), name).collect();
        targeted::read(&found.join(&b", "[..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: WallTime = WallTime(784_111_787_000);
    const TIMES: Times = Times { requested: RECEIVED, received: RECEIVED };

    fn read(lines: &[(&str, &str)]) -> Response {
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        Response::read(200, lines.iter().copied(), TIMES, &Settings::default())
    }

    #[test]
    fn a_date_that_cannot_be_read_is_that_of_arrival() {
        let date = WallTime(RECEIVED.0 - 10_000);
        assert_eq!(read(&[("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]).date, date);
        for lines in
            [&[("X", "0")][..], &[("Date", "0")], &[("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", "0")]]
        {
            assert_eq!(read(lines).date, RECEIVED, "{lines:?}");
        }
    }

    #[test]
    fn of_several_ages_the_first_counts() {
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
    fn of_several_ends_the_earliest_counts_and_what_is_no_date_before_all() {
        let (late, early) =
            (("Expires", "Sun, 06 Nov 1994 09:49:37 GMT"), ("Expires", "Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(read(&[late, early]).expires, Expires::At(WallTime(RECEIVED.0 - 10_000)));
        assert_eq!(read(&[late, ("Expires", "0")]).expires, Expires::Invalid);
        assert_eq!(read(&[("Expires", "-1"), late]).expires, Expires::Invalid);
    }

    #[test]
    fn validators_that_contradict_each_other_are_none() {
        assert!(!read(&[("ETag", "\"a\""), ("ETag", "\"b\"")]).has_validator());
        assert!(read(&[("ETag", "\"a\""), ("ETag", "\"a\"")]).has_validator());
        assert!(!read(&[("ETag", "a")]).has_validator());
    }

    #[test]
    fn a_change_in_the_same_second_is_no_strong_validator() {
        let changed = |text| read(&[("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Last-Modified", text)]);
        assert!(changed("Sun, 06 Nov 1994 08:49:36 GMT").is_last_modified_strong());
        assert!(!changed("Sun, 06 Nov 1994 08:49:37 GMT").is_last_modified_strong());
        assert!(!changed("Sun, 06 Nov 1994 08:49:38 GMT").is_last_modified_strong());
    }
}
