//! The bodies of commands: purge, prefill.

use cache_policy::{DotSegments, Key, KeyRefused, Scheme};
use cache_store::{Pattern, Purge};
use serde::Deserialize;
use thiserror::Error;

/// The most URLs of one prefill.
const URLS_MAX: usize = 10_000;

/// A reason why a command is refused; the message is sent.
#[derive(Debug, Error)]
pub(super) enum CommandError {
    #[error("expected a JSON object: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "expected one of `url`, `prefix`, `pattern`, `tag` and `all`\n\
         hint: send `{{\"url\": \"http://example.com/page\"}}`, with `\"soft\": true` to keep it as stale"
    )]
    Selection,
    #[error("expected a URL with its scheme and host, found `{0}`\nhint: such as `http://example.com/page`")]
    Url(String),
    #[error("`{url}` cannot be a cache key: {}", .why.name())]
    Key { url: String, why: KeyRefused },
    #[error("expected at most {URLS_MAX} URLs, found {0}")]
    ManyUrls(usize),
}

/// The body of a purge: exactly one of the first five keys, and the mode.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PurgeBody {
    url: Option<String>,
    prefix: Option<String>,
    pattern: Option<String>,
    tag: Option<String>,
    all: bool,
    soft: bool,
}

/// The body of a prefill.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefillBody {
    urls: Vec<String>,
}

/// Reads the selection of a purge, and whether it is soft.
pub(super) fn purge(body: &[u8], dots: DotSegments) -> Result<(Purge, bool), CommandError> {
    let order: PurgeBody = read(body)?;
    let meant = [
        order.url.map(|url| key(&url, dots).map(Purge::Key)),
        order.prefix.map(|prefix| key(&prefix, dots).map(Purge::Prefix)),
        order.pattern.map(|pattern| Ok(Purge::Pattern(Pattern::new(&pattern)))),
        order.tag.map(|tag| Ok(Purge::Tag(tag))),
        order.all.then_some(Ok(Purge::All)),
    ];
    let mut meant = meant.into_iter().flatten();
    match (meant.next(), meant.next()) {
        (Some(what), None) => Ok((what?, order.soft)),
        _ => Err(CommandError::Selection),
    }
}

/// Reads the URLs to fetch.
pub(super) fn prefill(body: &[u8]) -> Result<Vec<String>, CommandError> {
    let order: PrefillBody = read(body)?;
    if URLS_MAX < order.urls.len() {
        return Err(CommandError::ManyUrls(order.urls.len()));
    }
    Ok(order.urls)
}

fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, CommandError> {
    Ok(serde_json::from_slice(body)?)
}

/// Returns the cache key of a URL.
fn key(url: &str, dots: DotSegments) -> Result<String, CommandError> {
    let schemes = [(Scheme::Http, "http://"), (Scheme::Https, "https://")];
    let found = schemes.iter().find_map(|(scheme, start)| {
        let given = url.get(..start.len())?;
        let rest = url.get(start.len()..)?;
        given.eq_ignore_ascii_case(start).then_some((*scheme, rest))
    });
    let (scheme, rest) = found.ok_or_else(|| CommandError::Url(url.to_owned()))?;
    let (authority, target) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let refused = |why: KeyRefused| CommandError::Key { url: url.to_owned(), why };
    let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
    let key = Key::new(scheme, authority.as_bytes(), target.as_bytes(), dots).map_err(refused)?;
    Ok(key.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purged(body: &str) -> Result<(Purge, bool), CommandError> {
        purge(body.as_bytes(), DotSegments::Resolved)
    }

    #[test]
    fn every_kind_of_purge_is_parsed() {
        let pattern = Purge::Pattern(Pattern::new("*.png"));
        for (body, what, is_soft) in [
            (r#"{"url": "HTTP://Example.com:80/a/../b"}"#, Purge::Key("http://example.com/b".into()), false),
            (r#"{"url": "http://h/café?x=5%"}"#, Purge::Key("http://h/caf%C3%A9?x=5%".into()), false),
            (r#"{"url": "https://h?x", "soft": true}"#, Purge::Key("https://h/?x".into()), true),
            (r#"{"prefix": "http://h/img/"}"#, Purge::Prefix("http://h/img/".into()), false),
            (r#"{"pattern": "*.png"}"#, pattern, false),
            (r#"{"tag": "news"}"#, Purge::Tag("news".into()), false),
            (r#"{"all": true, "soft": true}"#, Purge::All, true),
        ] {
            assert_eq!(purged(body).unwrap(), (what, is_soft), "{body}");
        }
    }

    #[test]
    fn an_ambiguous_purge_is_refused() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"all": false}"#,
            r#"{"soft": true}"#,
            r#"{"url": "http://a/", "tag": "b"}"#,
            r#"{"url": "/a"}"#,
            r#"{"url": "http://"}"#,
            r#"{"url": "ftp://h/"}"#,
            r#"{"url": "http://u@h/"}"#,
            r#"{"urls": "http://h/"}"#,
            r#"{"all": true} x"#,
        ] {
            assert!(purged(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_prefill_has_a_url_limit() {
        assert_eq!(prefill(br#"{"urls": ["http://a/"]}"#).unwrap(), ["http://a/"]);
        let many = serde_json::json!({ "urls": vec!["x"; URLS_MAX + 1] }).to_string();
        let error = prefill(many.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "expected at most 10000 URLs, found 10001");
        assert!(prefill(b"{}").is_err());
    }
}
