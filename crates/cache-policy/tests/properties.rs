//! Properties for any head, any settings and any time.

use cache_policy::{
    CacheDecision, DotSegments, EntityTag, ExchangeTimes, Key, NotStored, Ranges, RequestMeta, ResponseMeta,
    ReuseDecision, Scheme, Settings, StoreDecision, StoredMeta, Variant, conditional, content_range, decide,
    freshen, lifetime, merge, parse_date, ranges, reuse, store, stored_lines, write_date,
};
use proptest::prelude::*;
use units::{Nanos, WallTime};

/// The time of receipt of all responses: Sun, 06 Nov 1994 08:49:37 GMT.
const RECEIVED: i64 = 784_111_777_000;

type Fields = Vec<(String, String)>;

/// Pieces of values that reach deep into the parsers, and some that fit nowhere.
fn value() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "max-age=60",
        "max-age=",
        "s-maxage=10",
        "no-store",
        "no-cache",
        "no-cache=\"x-a",
        "private",
        "public",
        "must-revalidate",
        "stale-while-revalidate=9",
        "stale-if-error=9",
        "max-stale",
        "min-fresh=5",
        "\"",
        "\\",
        ",",
        "=",
        " ",
        ";",
        "*",
        "q=0.5",
        "gzip",
        "W/\"a\"",
        "\"a\"",
        "bytes=",
        "0-5",
        "-5",
        "5-",
        "99999999999999999999",
        "\u{e9}",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:50:37 GMT",
        "GMT",
        "0",
        "x-a",
        "1",
    ]);
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn fields() -> impl Strategy<Value = Fields> {
    let name = prop::sample::select(vec![
        "Cache-Control",
        "CDN-Cache-Control",
        "Expires",
        "Date",
        "Age",
        "Last-Modified",
        "ETag",
        "Vary",
        "Set-Cookie",
        "Content-Length",
        "Connection",
        "Range",
        "If-Range",
        "If-None-Match",
        "If-Modified-Since",
        "Authorization",
        "Pragma",
        "Accept-Encoding",
        "X-A",
    ]);
    prop::collection::vec((name.prop_map(str::to_owned), value()), 0..6)
}

fn lines(fields: &Fields) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
    fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
}

fn request(fields: &Fields) -> RequestMeta {
    RequestMeta::read(b"GET", lines(fields), false)
}

fn response(status: u16, fields: &Fields) -> ResponseMeta {
    let times = ExchangeTimes { requested: WallTime(RECEIVED), received: WallTime(RECEIVED) };
    ResponseMeta::read(status, lines(fields), times, &Settings::default())
}

fn stored(fields: &Fields) -> StoredMeta {
    let response = response(200, fields);
    let variant = Variant::of(&response.vary, lines(&Vec::new()), &[]).unwrap_or_default();
    StoredMeta::new(response, variant, 1000, &Settings::default())
}

fn later(milliseconds: u32) -> WallTime {
    WallTime(RECEIVED + i64::from(milliseconds))
}

/// Fields with another `Cache-Control` line somewhere: any value, and this directive at its end.
fn with_directive(directive: &'static str) -> impl Strategy<Value = Fields> {
    (fields(), value(), any::<prop::sample::Index>()).prop_map(move |(mut fields, value, index)| {
        fields.retain(|(name, _)| name != "CDN-Cache-Control");
        let line = ("cache-control".to_owned(), format!("{value}, {directive}"));
        fields.insert(index.index(fields.len() + 1), line);
        fields
    })
}

proptest! {
    #[test]
    fn any_two_heads_get_a_decision(asking in fields(), answering in fields(), status in 100u16..1000, after in any::<i32>()) {
        let request = request(&asking);
        let response = response(status, &answering);
        let settings = Settings::default();
        let now = WallTime(RECEIVED + i64::from(after));
        let _ = store(&request, &response, &settings);
        let stored = stored(&answering);
        let _ = decide(&request, lines(&asking), [&stored, &stored], now, &settings);
        let _ = conditional(&[&stored]);
        let _ = freshen(&[&stored], &response);
        let _ = merge(lines(&answering), lines(&asking), &response);
    }

    #[test]
    fn parsers_accept_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let names: [&[u8]; 6] = [b"Cache-Control", b"CDN-Cache-Control", b"ETag", b"Vary", b"Age", b"Range"];
        let head: Vec<(&[u8], &[u8])> = names.iter().map(|&name| (name, bytes.as_slice())).collect();
        let times = ExchangeTimes { requested: WallTime(RECEIVED), received: WallTime(RECEIVED) };
        let response = ResponseMeta::read(200, head.iter().copied(), times, &Settings::default());
        prop_assert!(response.vary.fields().len() <= bytes.len());
        let _ = RequestMeta::read(&bytes, head.iter().copied(), true);
        let _ = parse_date(&bytes);
        if let Some(tag) = EntityTag::parse(&bytes) {
            prop_assert_eq!(tag.to_bytes(), bytes.clone());
        }
        let _ = Key::new(Scheme::Http, &bytes, &bytes, DotSegments::Resolved);
    }

    /// Stale responses stay stale: time makes nothing fresher.
    #[test]
    fn stale_responses_stay_stale(answering in fields(), asking in fields(), first in any::<u32>(), second in any::<u32>()) {
        let stored = stored(&answering);
        let request = request(&asking);
        let settings = Settings::default();
        let early = later(first.min(second));
        let late = later(first.max(second));
        prop_assert!(stored.age(early) <= stored.age(late));
        prop_assert!(stored.is_fresh(early) || !stored.is_fresh(late));
        let is_fresh = |now| matches!(reuse(&stored, &request, now, &settings), ReuseDecision::Fresh { .. });
        prop_assert!(is_fresh(early) || !is_fresh(late));
    }

    #[test]
    fn responses_with_no_store_are_never_stored(answering in with_directive("no-store"), asking in fields()) {
        let decision = store(&request(&asking), &response(200, &answering), &Settings::default());
        prop_assert!(matches!(decision, StoreDecision::No(_)), "{decision:?}");
    }

    #[test]
    fn requests_with_no_store_are_never_stored(answering in fields(), asking in with_directive("no-store")) {
        let decision = store(&request(&asking), &response(200, &answering), &Settings::default());
        prop_assert_eq!(decision, StoreDecision::No(NotStored::RequestNoStore));
    }

    /// Checks that a cookie reaches only the client that asked, whatever else the response says.
    #[test]
    fn cookies_are_never_among_stored_lines(answering in fields()) {
        let response = response(200, &answering);
        let kept = stored_lines(lines(&answering), &response);
        prop_assert!(!kept.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie")));
        let merged = merge(lines(&Vec::new()), lines(&answering), &response);
        prop_assert!(!merged.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie")));
    }

    #[test]
    fn responses_that_need_validation_are_never_served(
        answering in with_directive("no-cache"), asking in fields(), after in any::<u32>(),
    ) {
        let stored = stored(&answering);
        let decision = decide(&request(&asking), lines(&asking), [&stored], later(after), &Settings::default());
        let is_served = matches!(decision, CacheDecision::Serve { .. });
        prop_assert!(!is_served, "{decision:?}");
    }

    /// Ranges lie in the body, none is empty, and together they are no more than the request asked for.
    #[test]
    fn ranges_lie_in_the_body(value in "bytes=([0-9]{0,3}-[0-9]{0,4},?){1,4}", body_bytes in 0u64..2000) {
        let asking = vec![("Range".to_owned(), value)];
        let stored = StoredMeta { body_bytes, ..stored(&Vec::new()) };
        let found = match ranges(&request(&asking), lines(&asking), &stored, &Settings::default()) {
            Ranges::One(range) => vec![range],
            Ranges::Several(ranges) => ranges,
            Ranges::NotAsked | Ranges::Ignored(_) | Ranges::Refused(_) => Vec::new(),
        };
        for range in &found {
            prop_assert!(range.first <= range.last && range.last < body_bytes, "{range:?}");
            prop_assert!(content_range(Some(*range), body_bytes).starts_with("bytes "));
        }
        let total: u64 = found.iter().map(|range| range.last - range.first + 1).sum();
        prop_assert!(total <= body_bytes);
    }

    #[test]
    fn lifetimes_are_bounded(answering in fields(), bound in 0u64..100) {
        let settings = Settings { lifetime_max: Nanos::from_secs(bound), ..Settings::default() };
        prop_assert!(lifetime(&response(200, &answering), &settings).length <= Nanos::from_secs(bound));
    }

    #[test]
    fn dates_round_trip(seconds in 0i64..253_402_300_800) {
        let time = WallTime(seconds * 1000);
        prop_assert_eq!(parse_date(write_date(time).as_bytes()), Some(time));
    }

    /// A key is its own key: normalizing a normalized target changes nothing.
    #[test]
    fn keys_are_in_normal_form(target in "/[a-zA-Z0-9%./;|{}?=&~-]{0,20}") {
        if let Ok(key) = Key::new(Scheme::Http, b"Example.org:80", target.as_bytes(), DotSegments::Resolved) {
            let again = Key::new(Scheme::Http, b"example.org", key.target().as_bytes(), DotSegments::Resolved);
            prop_assert_eq!(again, Ok(key));
        }
    }

    #[test]
    fn paths_never_keep_dot_segments(target in "/[.%2eEfFc5;/\\\\]{0,16}") {
        if let Ok(key) = Key::new(Scheme::Http, b"a", target.as_bytes(), DotSegments::Resolved) {
            let path = key.target().split('?').next().unwrap();
            prop_assert!(!path.split('/').any(|segment| segment == "." || segment == ".."), "{path}");
        }
    }
}
