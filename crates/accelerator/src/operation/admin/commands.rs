//! The bodies of commands: purge, prefill.

use cache_policy::{DotSegments, Key, KeyRefused, Scheme};
use cache_store::{Pattern, Purge};
use serde::Deserialize;

/// The most URLs of one prefill.
const URLS_MAX: usize = 10_000;

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
///
/// # Errors
/// The message to send.
pub(super) fn purge(body: &[u8], dots: DotSegments) -> Result<(Purge, bool), String> {
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
        _ => Err("expected one of `url`, `prefix`, `pattern`, `tag` and `all`\n\
                  hint: send `{\"url\": \"http://example.com/page\"}`, with `\"soft\": true` to keep it as stale"
            .to_owned()),
    }
}

/// Reads the URLs to fetch.
///
/// # Errors
/// The message to send.
pub(super) fn prefill(body: &[u8]) -> Result<Vec<String>, String> {
    let order: PrefillBody = read(body)?;
    if URLS_MAX < order.urls.len() {
        return Err(format!("expected at most {URLS_MAX} URLs, found {}", order.urls.len()));
    }
    Ok(order.urls)
}

fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("expected a JSON object: {error}"))
}

/// Returns the cache key of a URL.
///
/// # Errors
/// The message to send.
fn key(url: &str, dots: DotSegments) -> Result<String, String> {
    let schemes = [(Scheme::Http, "http://"), (Scheme::Https, "https://")];
    let found = schemes.iter().find_map(|(scheme, start)| {
        let (given, rest) = (url.get(..start.len())?, url.get(start.len()..)?);
        given.eq_ignore_ascii_case(start).then_some((*scheme, rest))
    });
    let (scheme, rest) = found.ok_or_else(|| {
        format!(
            "expected a URL with its scheme and host, found `{url}`\nhint: such as `http://example.com/page`"
        )
    })?;
    let (authority, target) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let refused = |why: KeyRefused| format!("`{url}` cannot be a cache key: {}", why.name());
    let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
    let key = Key::new(scheme, authority.as_bytes(), target.as_bytes(), dots).map_err(refused)?;
    Ok(key.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purged(body: &str) -> Result<(Purge, bool), String> {
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
            assert_eq!(purged(body), Ok((what, is_soft)), "{body}");
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
        assert_eq!(prefill(br#"{"urls": ["http://a/"]}"#), Ok(vec!["http://a/".to_owned()]));
        let many = serde_json::json!({ "urls": vec!["x"; URLS_MAX + 1] }).to_string();
        assert_eq!(prefill(many.as_bytes()), Err("expected at most 10000 URLs, found 10001".to_owned()));
        assert!(prefill(b"{}").is_err());
    }
}
