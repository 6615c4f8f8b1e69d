//! A user's cookies (RFC 6265), of one origin.
//!
//! Cookies are kept from replies of the target's own origin only, and sent to it only, so the jar has no domains: a
//! cookie for another domain is not taken. `HttpOnly` and `SameSite` say nothing to a client without scripts and other
//! sites. Every number is bounded: a server that floods a user with cookies displaces its own.

use std::fmt;
use std::time::SystemTime;

use languages::REDACTED;
use units::Nanos;

use super::origin::Origin;

/// The most cookies of a user (RFC 6265 §6.1 asks for at least 50 per domain).
const COOKIES_MAX: usize = 50;

/// The longest name and value of a cookie together, in bytes (RFC 6265 §6.1: at least 4096).
const COOKIE_BYTES_MAX: usize = 4096;

/// The longest `Cookie` field that is sent, in bytes: servers refuse longer heads.
const FIELD_BYTES_MAX: usize = 16 << 10;

/// A user's cookies.
#[derive(Default)]
pub(crate) struct CookieJar {
    /// In the order of their creation.
    cookies: Vec<Cookie>,
}

struct Cookie {
    name: String,
    value: String,
    path: String,
    secure: bool,
    /// The time on the run's clock after which it is gone; `None` at the end of the session.
    expires: Option<Nanos>,
}

impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CookieJar({})", self.cookies.len())
    }
}

/// The reply that sets cookies.
pub(crate) struct CookieSource<'a> {
    pub(crate) origin: &'a Origin,
    /// The path of the request, with its query.
    pub(crate) path: &'a str,
    /// The `Date` of the reply, against which `Expires` is read.
    pub(crate) date: Option<SystemTime>,
    pub(crate) now: Nanos,
}

impl CookieJar {
    /// Takes the cookie of a `Set-Cookie` field; one that is not valid is ignored (RFC 6265 §5.2).
    pub(crate) fn set(&mut self, field: &[u8], by: &CookieSource) {
        let Some((cookie, lifetime)) = std::str::from_utf8(field).ok().and_then(|field| parse(field, by))
        else {
            return;
        };
        let known =
            self.cookies.iter().position(|known| known.name == cookie.name && known.path == cookie.path);
        match (lifetime, known) {
            (Lifetime::Over, Some(known)) => drop(self.cookies.remove(known)),
            (Lifetime::Over, None) => {}
            (Lifetime::Lasts, Some(known)) => self.cookies[known] = cookie,
            (Lifetime::Lasts, None) => {
                self.cookies.retain(|cookie| cookie.expires.is_none_or(|expires| by.now < expires));
                if self.cookies.len() == COOKIES_MAX {
                    self.cookies.remove(0);
                }
                self.cookies.push(cookie);
            }
        }
    }

    /// Returns the value of the `Cookie` field of a request; `None` without a cookie for it.
    pub(crate) fn field(&self, path: &str, secure: bool, now: Nanos) -> Option<String> {
        let path = without_query(path);
        let is_sent = |cookie: &&Cookie| {
            path_matches(path, &cookie.path)
                && (secure || !cookie.secure)
                && cookie.expires.is_none_or(|expires| now < expires)
        };
        let mut sent: Vec<&Cookie> = self.cookies.iter().filter(is_sent).collect();
        // Longer paths first, and of equal ones the older first: the sort is stable.
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut field = String::new();
        for cookie in sent {
            let before = if field.is_empty() { "" } else { "; " };
            if FIELD_BYTES_MAX < field.len() + before.len() + cookie.name.len() + cookie.value.len() + 1 {
                break;
            }
            field.extend([before, &cookie.name, "=", &cookie.value]);
        }
        (!field.is_empty()).then_some(field)
    }

    /// Forgets all cookies.
    pub(crate) fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Returns a text without the values of cookies that are at least so many bytes long.
    pub(crate) fn redact(&self, text: String, bytes_min: usize) -> String {
        let telling = self.cookies.iter().filter(|cookie| bytes_min <= cookie.value.len());
        telling.fold(text, |text, cookie| text.replace(&cookie.value, REDACTED))
    }
}

/// Whether a cookie that a reply sets exists afterwards.
enum Lifetime {
    Lasts,
    Over,
}

/// Reads a `Set-Cookie` field.
fn parse(field: &str, by: &CookieSource) -> Option<(Cookie, Lifetime)> {
    let mut parts = field.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    // Blanks only: a line break is no part of a field.
    let [name, value] = [name, value].map(|part| part.trim_matches([' ', '\t']));
    let is_plain = |text: &str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if name.is_empty() || COOKIE_BYTES_MAX < name.len() + value.len() || !is_plain(name) || !is_plain(value) {
        return None;
    }
    let mut path = None;
    let mut secure = false;
    let mut max_age = None;
    let mut expires = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let key = key.trim().to_ascii_lowercase();
        let value = value.trim();
        match key.as_str() {
            "path" => {
                path = Some(value).filter(|path| path.starts_with('/') && path.len() <= COOKIE_BYTES_MAX)
            }
            "domain" if !domain_matches(&by.origin.host, value) => return None,
            "secure" => secure = true,
            "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
            "expires" => expires = httpdate::parse_http_date(value).ok().or(expires),
            _ => {}
        }
    }
    if (secure && !by.origin.secure) || !has_allowed_prefix(name, secure, path) {
        return None;
    }
    let left = seconds_left(max_age, expires, by.date);
    let lifetime = if left.is_some_and(|left| left <= 0) { Lifetime::Over } else { Lifetime::Lasts };
    let expires = left.and_then(|left| u64::try_from(left).ok());
    let expires = expires.map(|left| by.now.saturating_add(Nanos(left.saturating_mul(1_000_000_000))));
    let path = path.map_or_else(|| default_path(by.path).to_owned(), str::to_owned);
    Some((Cookie { name: name.to_owned(), value: value.to_owned(), path, secure, expires }, lifetime))
}

/// Returns whether a name that makes a promise about its cookie keeps it (`__Secure-`, `__Host-`).
fn has_allowed_prefix(name: &str, secure: bool, path: Option<&str>) -> bool {
    let begins =
        |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    (!begins("__secure-") || secure) && (!begins("__host-") || secure && path == Some("/"))
}

/// Returns the seconds until a cookie ends; `None` if it ends with the session. `Max-Age` outweighs `Expires`, which is
/// read against the date of the reply, or, without one, is over if it lies in the last century.
fn seconds_left(max_age: Option<i64>, expires: Option<SystemTime>, date: Option<SystemTime>) -> Option<i64> {
    const CENTURY: u64 = 946_684_800;
    if max_age.is_some() {
        return max_age;
    }
    let expires = expires?;
    match date {
        Some(date) => {
            let left =
                expires.duration_since(date).map(|left| i64::try_from(left.as_secs()).unwrap_or(i64::MAX));
            Some(left.unwrap_or(-1))
        }
        None => {
            let is_over =
                expires.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since.as_secs() < CENTURY);
            is_over.then_some(-1)
        }
    }
}

/// Returns whether a host belongs to a domain (RFC 6265 §5.1.3).
fn domain_matches(host: &str, domain: &str) -> bool {
    let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
    let is_address = host.starts_with('[') || host.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    domain.is_empty()
        || host == domain
        || (!is_address && host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.')))
}

/// Returns the path of a cookie whose reply names none: the folder of the request (RFC 6265 §5.1.4).
fn default_path(path: &str) -> &str {
    match without_query(path).rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

fn path_matches(path: &str, cookie: &str) -> bool {
    path.strip_prefix(cookie)
        .is_some_and(|rest| rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/'))
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn origin(secure: bool) -> Origin {
        Origin { secure, host: "shop.example.org".into(), port: 80 }
    }

    /// Returns the field of a request for `/a/b?c` after replies at `/a/x` with these fields, at these seconds.
    fn after(fields: &[(u64, &str)], secure: bool, at: u64) -> String {
        let date = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").ok();
        let mut jar = CookieJar::default();
        let origin = origin(secure);
        for (second, field) in fields {
            let now = Nanos::from_secs(*second);
            jar.set(field.as_bytes(), &CookieSource { origin: &origin, path: "/a/x?y=/z/", date, now });
        }
        jar.field("/a/b?c", secure, Nanos::from_secs(at)).unwrap_or_default()
    }

    #[test]
    fn cookies_are_sent_back_where_they_belong() {
        for (fields, secure, expected) in [
            (
                &[(0, "a=1"), (0, "b=2; Path=/"), (0, "c=x=y; HttpOnly; SameSite=Lax")][..],
                false,
                "a=1; c=x=y; b=2",
            ),
            (&[(0, "a=1"), (0, "a=2")], false, "a=2"),
            (&[(0, "a=1"), (0, "a=; Max-Age=0")], false, ""),
            (&[(0, "a=1"), (0, "a=; Expires=Sun, 06 Nov 1994 08:49:36 GMT")], false, ""),
            (&[(0, "a=1; Max-Age=5")], false, ""),
            (&[(6, "a=1; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT")], false, "a=1"),
            (&[(6, "a=1; Expires=Sun, 06 Nov 1994 08:49:42 GMT")], false, "a=1"),
            (
                &[(0, "a=1; Path=/a/b"), (0, "b=1; Path=/a/"), (0, "c=1; Path=/b"), (0, "d=1; Path=/a/b/c")],
                false,
                "a=1; b=1",
            ),
            (&[(0, "a=1; Path=/a/bc"), (0, "b=1; path=x")], false, "b=1"),
            (
                &[
                    (0, "a=1; Domain=example.org"),
                    (0, "b=1; Domain=.shop.example.org"),
                    (0, "c=1; Domain=other.org"),
                ],
                false,
                "a=1; b=1",
            ),
            (&[(0, "a=1; Domain=hop.example.org")], false, ""),
            (&[(0, "a=1; Secure"), (0, "__Secure-b=1"), (0, "__Host-c=1; Secure")], false, ""),
            (
                &[(0, "a=1; Secure"), (0, "__Secure-b=1"), (0, "__Host-c=1; Secure; Path=/")],
                true,
                "a=1; __Host-c=1",
            ),
            (&[(0, "=1"), (0, "a"), (0, ""), (0, "a=\u{e4}"), (0, "a=\r\nX: y")], false, ""),
        ] {
            assert_eq!(after(fields, secure, 7), expected, "{fields:?}");
        }
    }

    #[test]
    fn an_address_has_no_domains() {
        assert!(domain_matches("127.0.0.1", "127.0.0.1") && !domain_matches("127.0.0.1", "0.1"));
        assert!(!domain_matches("[::1]", "1]") && domain_matches("localhost", "localhost"));
    }

    #[test]
    fn a_flood_displaces_its_own_cookies() {
        let fields: Vec<String> = (0..1000).map(|n| format!("c{n}={}", "x".repeat(1000))).collect();
        let fields: Vec<(u64, &str)> = fields.iter().map(|field| (0, field.as_str())).collect();
        let sent = after(&fields, false, 1);
        assert!(sent.starts_with("c950=") && sent.len() <= FIELD_BYTES_MAX, "{} bytes", sent.len());
        assert_eq!(after(&[(0, &format!("a={}", "x".repeat(COOKIE_BYTES_MAX)))], false, 1), "");
    }

    #[test]
    fn values_are_not_shown() {
        let mut jar = CookieJar::default();
        let by = CookieSource { origin: &origin(false), path: "/", date: None, now: Nanos::ZERO };
        jar.set(b"sid=s3cret", &by);
        assert_eq!(
            (format!("{jar:?}"), jar.redact("a s3cret".into(), 4)),
            ("CookieJar(1)".into(), "a [redacted]".into())
        );
        jar.set(b"sid=; expires=Thu, 01 Jan 1970 00:00:00 GMT", &by);
        assert_eq!(jar.field("/", false, Nanos::ZERO), None);
    }

    proptest! {
        #[test]
        fn any_field_is_a_cookie_that_can_be_sent_or_none(field in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut jar = CookieJar::default();
            jar.set(&field, &CookieSource { origin: &origin(true), path: "/", date: None, now: Nanos::ZERO });
            if let Some(sent) = jar.field("/", true, Nanos::ZERO) {
                prop_assert!(sent.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
            }
        }
    }
}
