//! The parsers of what servers send to users with sessions, without a socket: for tests with arbitrary bytes.

use units::Nanos;

use super::cookies::{CookieJar, CookieSource};
use super::extract::{first_group, json_text};
use super::origin::{Origin, Url};

fn origin(secure: bool) -> Origin {
    Origin { secure, host: "www.example.com".to_owned(), port: 8080 }
}

/// Returns the `Cookie` field of a request for this path, over TLS, after replies to the same path with these
/// `Set-Cookie` fields; `None` without a cookie.
pub fn cookies_sent(fields: &[&[u8]], path: &str) -> Option<String> {
    let origin = origin(true);
    let by = CookieSource { origin: &origin, path, date: None, now: Nanos::ZERO };
    let mut jar = CookieJar::default();
    fields.iter().for_each(|field| jar.set(field, &by));
    jar.field(path, true, Nanos::ZERO)
}

/// Returns the path with its query to which a `Location` in a reply to `/a/b?q=1` leads; `None` if it is not followed.
pub fn redirect_path(location: &[u8]) -> Option<String> {
    let base = Url { origin: origin(false), path: "/a/b?q=1".to_owned() };
    base.resolve(location).map(|url| url.path)
}

/// Returns the value at a pointer into a JSON body; `None` if there is no string, number or truth value.
pub fn json_value(body: &[u8], pointer: &str) -> Option<String> {
    json_text(&serde_json::from_slice(body).ok()?, pointer)
}

/// Returns the value that a regular expression finds in a body; `None` without a match, or if the expression is refused.
pub fn regex_value(body: &[u8], expression: &str) -> Option<String> {
    first_group(&model::compile_regex(expression).ok()?, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parsers_read_what_servers_send() {
        let fields: [&[u8]; 3] = [b"a=1; Path=/", b"b=2; Path=/other", b"=3"];
        assert_eq!(cookies_sent(&fields, "/a").as_deref(), Some("a=1"));
        assert_eq!(redirect_path(b"../c?d").as_deref(), Some("/c?d"));
        assert_eq!(json_value(b"{\"a\": [7]}", "/a/0").as_deref(), Some("7"));
        assert_eq!(regex_value(b"token=abc;", "token=([a-z]+)").as_deref(), Some("abc"));
        assert_eq!(regex_value(b"token=abc;", "("), None);
    }
}
