//! The directives of `Cache-Control` (RFC 9111 §5.2), a table for each direction.
//!
//! Names are case-insensitive, arguments plain or quoted; unknown directives are ignored (§5.2.3). A directive that
//! is repeated or malformed is read the strictest way (§4.2.1): the shortest time, and zero for what is not a number.

use units::Nanos;

use crate::list::{allocations_of, delta_seconds, directive, lower_token, members, unquote};
use crate::message::LowercaseName;

/// The directives of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseDirectives {
    /// The lifetime.
    pub max_age: Option<Nanos>,
    /// The lifetime in shared caches, which takes precedence.
    pub s_maxage: Option<Nanos>,
    /// Not to be stored.
    pub no_store: bool,
    /// Not to be used without validation, or not with these fields.
    pub no_cache: DirectiveScope,
    /// For one user only, or these fields are.
    pub private: DirectiveScope,
    /// May be stored although another rule forbids it.
    pub public: bool,
    /// Not to be used stale.
    pub must_revalidate: bool,
    /// Not to be used stale by shared caches.
    pub proxy_revalidate: bool,
    /// To be stored only by caches that understand the status, which may ignore `no-store` then.
    pub must_understand: bool,
    /// The time after expiry in which it may be used while it is validated (RFC 5861 §3).
    pub stale_while_revalidate: Option<Nanos>,
    /// The time after expiry in which it may be used instead of an error (RFC 5861 §4).
    pub stale_if_error: Option<Nanos>,
}

/// The directives of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestDirectives {
    /// The greatest acceptable age.
    pub max_age: Option<Nanos>,
    /// The time for which the response must still be fresh.
    pub min_fresh: Option<Nanos>,
    /// The acceptable time after expiry; 2³¹ s for any time.
    pub max_stale: Option<Nanos>,
    /// The acceptable time after expiry if the origin fails (RFC 5861 §4).
    pub stale_if_error: Option<Nanos>,
    /// Only after validation.
    pub no_cache: bool,
    /// Neither the request nor its response may be stored.
    pub no_store: bool,
    /// Only from the cache.
    pub only_if_cached: bool,
}

/// The scope of `no-cache` and `private`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DirectiveScope {
    /// The directive is absent.
    #[default]
    Nothing,
    /// These fields only, in lower case.
    Fields(Vec<String>),
    /// The whole response.
    Whole,
}

impl DirectiveScope {
    /// Returns the fields that the directive names; none if it is absent or applies to the whole response.
    pub fn fields(&self) -> &[String] {
        match self {
            DirectiveScope::Fields(names) => names,
            DirectiveScope::Nothing | DirectiveScope::Whole => &[],
        }
    }

    /// Returns the bytes of each heap allocation.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = usize> {
        let names = if let DirectiveScope::Fields(names) = self { Some(names) } else { None };
        names.into_iter().flat_map(allocations_of)
    }

    /// Adds another occurrence. Without an argument, or with one that is not a list of names, the scope is the whole
    /// response.
    fn widen(&mut self, argument: Option<&[u8]>) {
        let names = argument.and_then(field_names).unwrap_or_default();
        if names.is_empty() {
            *self = DirectiveScope::Whole;
            return;
        }
        match self {
            DirectiveScope::Whole => {}
            DirectiveScope::Fields(known) => known.extend(names),
            DirectiveScope::Nothing => *self = DirectiveScope::Fields(names),
        }
    }
}

/// Reads a list of field names; `None` if one of them is not a name.
fn field_names(argument: &[u8]) -> Option<Vec<String>> {
    members(&unquote(argument)).map(lower_token).collect()
}

/// The effect of a directive on what is known so far.
type Note<D> = fn(&mut D, Option<&[u8]>);

/// The directives of responses (RFC 9111 §5.2.2, RFC 5861).
const OF_RESPONSES: [(&[u8], Note<ResponseDirectives>); 11] = [
    (b"max-age", |to, argument| shorten(&mut to.max_age, argument)),
    (b"s-maxage", |to, argument| shorten(&mut to.s_maxage, argument)),
    (b"no-store", |to, _| to.no_store = true),
    (b"no-cache", |to, argument| to.no_cache.widen(argument)),
    (b"private", |to, argument| to.private.widen(argument)),
    (b"public", |to, _| to.public = true),
    (b"must-revalidate", |to, _| to.must_revalidate = true),
    (b"proxy-revalidate", |to, _| to.proxy_revalidate = true),
    (b"must-understand", |to, _| to.must_understand = true),
    (b"stale-while-revalidate", |to, argument| shorten(&mut to.stale_while_revalidate, argument)),
    (b"stale-if-error", |to, argument| shorten(&mut to.stale_if_error, argument)),
];

/// The directives of requests (RFC 9111 §5.2.1, RFC 5861).
const OF_REQUESTS: [(&[u8], Note<RequestDirectives>); 7] = [
    (b"max-age", |to, argument| shorten(&mut to.max_age, argument)),
    (b"min-fresh", |to, argument| lengthen(&mut to.min_fresh, argument)),
    (b"max-stale", |to, argument| shorten(&mut to.max_stale, Some(argument.unwrap_or(ANY_TIME)))),
    (b"stale-if-error", |to, argument| shorten(&mut to.stale_if_error, argument)),
    (b"no-cache", |to, _| to.no_cache = true),
    (b"no-store", |to, _| to.no_store = true),
    (b"only-if-cached", |to, _| to.only_if_cached = true),
];

/// The argument of a `max-stale` without one: any staleness (RFC 9111 §5.2.1.2).
const ANY_TIME: &[u8] = b"2147483648";

/// Keeps the shorter time; an argument that is not a time counts as zero.
fn shorten(known: &mut Option<Nanos>, argument: Option<&[u8]>) {
    let time = read_seconds(argument).unwrap_or(Nanos::ZERO);
    *known = Some(known.map_or(time, |known| known.min(time)));
}

/// Keeps the longer time; an argument that is not a time counts as longer than any.
fn lengthen(known: &mut Option<Nanos>, argument: Option<&[u8]>) {
    let time = read_seconds(argument).unwrap_or(Nanos::MAX);
    *known = Some(known.map_or(time, |known| known.max(time)));
}

fn read_seconds(argument: Option<&[u8]>) -> Option<Nanos> {
    delta_seconds(&unquote(argument?))
}

impl ResponseDirectives {
    /// Adds one directive.
    pub(crate) fn note(&mut self, name: &[u8], argument: Option<&[u8]>) {
        let name = LowercaseName::new(name);
        if let Some((_, note)) = OF_RESPONSES.iter().find(|(known, _)| *known == name.as_bytes()) {
            note(self, argument);
        }
    }

    /// Adds the value of one `Cache-Control` line.
    pub(crate) fn note_line(&mut self, value: &[u8]) {
        for (name, argument) in members(value).map(directive) {
            self.note(name, argument);
        }
    }
}

impl RequestDirectives {
    /// Adds the value of one `Cache-Control` line. Allocates nothing for what clients send.
    pub(crate) fn note_line(&mut self, value: &[u8]) {
        for (name, argument) in members(value).map(directive) {
            let name = LowercaseName::new(name);
            if let Some((_, note)) = OF_REQUESTS.iter().find(|(known, _)| *known == name.as_bytes()) {
                note(self, argument);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_response(lines: &[&str]) -> ResponseDirectives {
        let mut directives = ResponseDirectives::default();
        lines.iter().for_each(|line| directives.note_line(line.as_bytes()));
        directives
    }

    fn of_request(line: &str) -> RequestDirectives {
        let mut directives = RequestDirectives::default();
        directives.note_line(line.as_bytes());
        directives
    }

    fn seconds(seconds: u64) -> Option<Nanos> {
        Some(Nanos::from_secs(seconds))
    }

    fn fields(names: &[&str]) -> DirectiveScope {
        DirectiveScope::Fields(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn directives_are_case_insensitive() {
        let lower = "max-age=1, s-maxage=2, no-store, no-cache, private, public, must-revalidate, proxy-revalidate, \
                     must-understand, stale-while-revalidate=3, stale-if-error=4";
        let expected = ResponseDirectives {
            max_age: seconds(1),
            s_maxage: seconds(2),
            no_store: true,
            no_cache: DirectiveScope::Whole,
            private: DirectiveScope::Whole,
            public: true,
            must_revalidate: true,
            proxy_revalidate: true,
            must_understand: true,
            stale_while_revalidate: seconds(3),
            stale_if_error: seconds(4),
        };
        assert_eq!(of_response(&[lower]), expected);
        assert_eq!(of_response(&[&lower.to_uppercase()]), expected);
        assert_eq!(of_response(&lower.split(", ").collect::<Vec<_>>()), expected);
    }

    #[test]
    fn unknown_and_malformed_directives_are_ignored() {
        let lines = [
            "",
            ",,,",
            "max-ages=5",
            "xmax-age=5",
            "=",
            "\"",
            "max age=5",
            "community=\"no-store\"",
            "\u{fc}",
        ];
        assert_eq!(of_response(&lines), ResponseDirectives::default());
        assert_eq!(of_request("nonsense, max-ages=5, \"no-cache\""), RequestDirectives::default());
    }

    #[test]
    fn the_shortest_of_several_lifetimes_counts() {
        assert_eq!(of_response(&["max-age=60, max-age=30", "max-age=90"]).max_age, seconds(30));
        assert_eq!(of_response(&["max-age=60, max-age=x"]).max_age, seconds(0));
    }

    #[test]
    fn a_non_numeric_lifetime_is_zero() {
        for argument in ["", "=", "=-1", "=1.5", "=6o", "='60'", "= 60", " =60", "=\"60"] {
            assert_eq!(of_response(&[&format!("max-age{argument}")]).max_age, seconds(0), "{argument}");
        }
        assert_eq!(of_response(&["max-age=\"60\""]).max_age, seconds(60));
    }

    #[test]
    fn scopes_are_fields_or_the_whole_response() {
        let no_cache = |line: &str| of_response(&[line]).no_cache;
        assert_eq!(no_cache("no-cache=\"Set-Cookie, X-A\""), fields(&["set-cookie", "x-a"]));
        assert_eq!(no_cache("no-cache=Set-Cookie"), fields(&["set-cookie"]));
        assert_eq!(no_cache("no-cache=\"a\", no-cache=\"b\""), fields(&["a", "b"]));
        for whole in
            ["no-cache", "no-cache=", "no-cache=\"\"", "no-cache=\"a b\"", "no-cache=\"a\", no-cache"]
        {
            assert_eq!(no_cache(whole), DirectiveScope::Whole, "{whole}");
        }
    }

    #[test]
    fn request_directives_are_read_the_strictest_way() {
        assert_eq!(of_request("max-age=60, MAX-AGE=30").max_age, seconds(30));
        assert_eq!(of_request("min-fresh=60, min-fresh=30").min_fresh, seconds(60));
        assert_eq!(of_request("min-fresh=x").min_fresh, Some(Nanos::MAX));
        assert_eq!(of_request("max-stale=x").max_stale, seconds(0));
        assert_eq!(of_request("max-stale").max_stale, seconds(2_147_483_648));
        assert_eq!(of_request("max-stale, max-stale=10").max_stale, seconds(10));
    }
}
