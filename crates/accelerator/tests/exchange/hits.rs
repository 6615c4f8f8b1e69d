//! Responses from the store, and memos.

use accelerator::exchange::{CacheStatusDetail, ExchangeSettings, MemoKind, hit_lines};
use accelerator::message::{ProxyReason, ResponsePath};
use cache_store::{Purge, Removal};
use http1::HeaderLines;
use units::{Nanos, WallTime, wall};

use super::fixture::{Fixture, request, run};
use super::origin::{Step, lasting, reply, send};

#[test]
fn a_hit_has_stored_lines_length_age_and_cache_status() {
    run(async {
        let fixture = Fixture::new(|_| {
            reply(
                200,
                "Cache-Control: max-age=60\r\nAge: 7\r\nX-A: b\r\nConnection: keep-alive, X-C\r\nX-C: d\r\n",
                "abc",
            )
        })
        .await;
        fixture.get("/", &[]).await;
        let hit = fixture.get("/", &[]).await;
        assert_eq!(hit.gist(), (200, "abc", ResponsePath::Memory));
        assert_eq!(
            (hit.value("content-length"), hit.value("x-a"), hit.value("x-c")),
            (Some("3"), Some("b"), None)
        );
        assert_eq!((hit.value("age"), hit.value("via")), (Some("7"), Some("1.1 plimsoll")));
        assert_eq!(hit.told(), "plimsoll; hit");
        assert!((50..=53).contains(&hit.ttl()), "{}", hit.ttl());
        assert!(hit.value("date").is_some() && hit.value("connection").is_none());
        assert_eq!(hit.lines.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"age")).count(), 1);
    });
}

#[test]
fn detailed_cache_status_has_key_and_reason() {
    run(async {
        let settings =
            ExchangeSettings { cache_status: CacheStatusDetail::Detailed, ..ExchangeSettings::default() };
        let fixture = Fixture::with(settings, |_| lasting("abc")).await;
        let miss = fixture.get("/a?b", &[]).await;
        let key = "key=\"http://example.org/a?b\"";
        let expected = format!("plimsoll; fwd=uri-miss; stored; {key}; detail=uri-miss");
        assert_eq!(miss.told(), expected);
    });
}

#[test]
fn matching_conditions_get_304() {
    run(async {
        let fixture = Fixture::new(|_| {
            reply(200, "Cache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n", "abc")
        })
        .await;
        // On the way to the store as well as from it; the origin is asked for the whole response.
        for path in [ResponsePath::Miss, ResponsePath::Memory] {
            let answer = fixture.get("/", &[("If-None-Match", "\"b\", W/\"a\"")]).await;
            assert_eq!(answer.gist(), (304, "", path));
            assert_eq!((answer.value("etag"), answer.value("content-type")), (Some("\"a\""), None));
            assert!(answer.value("content-length").is_none() && answer.value("date").is_some());
            fixture.settled().await;
        }
        assert_eq!(fixture.origin.received()[0].value("if-none-match"), None);
        assert_eq!(
            fixture.get("/", &[("If-None-Match", "\"b\"")]).await.gist(),
            (200, "abc", ResponsePath::Memory)
        );
    });
}

#[test]
fn a_head_request_gets_the_stored_lines() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        fixture.get("/", &[]).await;
        let head = fixture.ask("HEAD", "/", &[]).await;
        assert_eq!((head.gist(), head.value("content-length")), ((200, "", ResponsePath::Memory), Some("3")));
        assert_eq!(head.memo.unwrap().kind(), MemoKind::HeadOnly);
        assert_eq!(fixture.origin.n_received(), 1);
    });
}

#[test]
fn a_status_without_body_has_no_length() {
    run(async {
        let fixture = Fixture::new(|_| {
            vec![super::origin::send("HTTP/1.1 204 No Content\r\nCache-Control: max-age=60\r\n\r\n")]
        })
        .await;
        for path in [ResponsePath::Miss, ResponsePath::Memory] {
            let answer = fixture.get("/", &[]).await;
            assert_eq!((answer.gist(), answer.value("content-length")), ((204, "", path), None));
        }
    });
}

#[test]
fn stored_errors_are_negative_hits() {
    run(async {
        let policy = cache_policy::Settings {
            lifetimes_of_statuses: vec![(404, Nanos::from_secs(10))],
            ..cache_policy::Settings::default()
        };
        let settings = ExchangeSettings {
            policy,
            cache_status: CacheStatusDetail::Detailed,
            ..ExchangeSettings::default()
        };
        let fixture = Fixture::with(settings, |_| reply(404, "", "none")).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (404, "none", ResponsePath::Miss));
        let hit = fixture.get("/", &[]).await;
        assert_eq!(hit.gist(), (404, "none", ResponsePath::Negative));
        // A memo has the same status.
        let memo = hit.memo.as_ref().unwrap();
        let now = wall();
        let object = fixture.exchange.recall(memo, now).unwrap();
        assert_eq!(memo.handling(&object).path, ResponsePath::Negative);
        let lines = hit_lines(&object, memo.kind(), now, fixture.exchange.settings());
        for told in [lines.get("cache-status"), hit.lines.get("cache-status")] {
            assert!(told.unwrap().ends_with(b"; detail=negative"));
        }
    });
}

#[test]
fn a_memo_equals_a_hit_until_something_changes() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        assert!(fixture.get("/", &[]).await.memo.is_none(), "only of what is in the store");
        let hit = fixture.get("/", &[]).await;
        let memo = hit.memo.as_ref().unwrap();
        let now = wall();
        let object = fixture.exchange.recall(memo, now).unwrap();
        assert_eq!(
            (memo.status(&object), memo.kind(), &object.body[..]),
            (200, MemoKind::Whole, &b"abc"[..])
        );
        assert_eq!(memo.handling(&object).path, ResponsePath::Memory);
        let without = |lines: &HeaderLines, gone: [&str; 2]| {
            let mut rest = lines.clone();
            gone.iter().for_each(|name| rest.remove(name));
            rest
        };
        // Age and the time to live may have advanced by a second.
        let lines = hit_lines(&object, memo.kind(), now, fixture.exchange.settings());
        assert_eq!(without(&lines, ["age", "cache-status"]), without(&hit.lines, ["age", "cache-status"]));
        assert!(memo.object(WallTime(now.0 + 61_000)).is_none(), "no longer fresh");
        let store = &fixture.exchange.shared().store;
        store.purge(&Purge::Key("http://example.org/".to_owned()), Removal::Delete, now);
        assert!(fixture.exchange.recall(memo, now).is_none());
    });
}

#[test]
fn requests_with_directives_or_ranges_are_not_memoized() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        fixture.get("/", &[]).await;
        for line in [("Cache-Control", "max-age=30"), ("Range", "bytes=0-1"), ("Range", "lines=1")] {
            let answer = fixture.get("/", &[line]).await;
            assert!(answer.path == ResponsePath::Memory && answer.memo.is_none(), "{line:?}");
        }
        let stale = Fixture::new(|_| {
            reply(200, "Cache-Control: max-age=60, stale-while-revalidate=60\r\nAge: 70\r\n", "abc")
        })
        .await;
        stale.get("/", &[]).await;
        let answer = stale.get("/", &[]).await;
        assert!(answer.path == ResponsePath::Stale && answer.memo.is_none());
    });
}

#[test]
fn only_if_cached_is_not_forwarded() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        let answer = fixture.get("/", &[("Cache-Control", "only-if-cached")]).await;
        assert_eq!((answer.status, answer.path, answer.reason), (504, ResponsePath::Error, "only-if-cached"));
        assert_eq!(fixture.origin.n_received(), 0);
    });
}

#[test]
fn prefilled_urls_are_hits() {
    run(async {
        let fixture = Fixture::new(|received| match received.target() {
            "/private" => reply(200, "Cache-Control: private\r\n", "abc"),
            _ => lasting("abc"),
        })
        .await;
        let urls = ["http://example.org/a", "http://example.org/private", "example.org"].map(str::to_owned);
        let prefilled = fixture.exchange.prefill(&urls).await;
        assert_eq!((prefilled.stored, prefilled.passed), (1, 1));
        assert_eq!(prefilled.failed, [("example.org".to_owned(), ProxyReason::Url.into())]);
        assert_eq!(fixture.get("/a", &[]).await.path, ResponsePath::Memory);
    });
}

#[test]
fn forwarded_responses_get_a_date() {
    run(async {
        let fixture = Fixture::new(|_| reply(200, "Cache-Control: no-store\r\n", "abc")).await;
        let reply = fixture.exchange.handle(request("GET", "/", &[]), accelerator::message::NoBody).await;
        assert!(reply.lines.get("date").is_some());
        assert_eq!(reply.lines.get("cache-status"), Some(&b"plimsoll; fwd=uri-miss"[..]));
    });
}

/// Regression: `stored` was claimed for responses that then broke off or grew too large.
#[test]
fn stored_is_not_claimed_before_the_body_is_complete() {
    run(async {
        const CHUNKED: &str =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n";
        let large = format!("{CHUNKED}{:x}\r\n{}\r\n0\r\n\r\n", 1 << 20, "x".repeat(1 << 20));
        let fixture =
            Fixture::small(ExchangeSettings::default(), 1 << 20, move |received| match received.target() {
                "/whole" => lasting("whole"),
                "/chunks" => vec![send(&format!("{CHUNKED}3\r\nabc\r\n0\r\n\r\n"))],
                "/cut-chunks" => vec![send(&format!("{CHUNKED}3\r\nabc\r\n")), Step::Close],
                "/cut-length" => vec![
                    send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 9\r\n\r\nabc"),
                    Step::Close,
                ],
                _ => vec![send(&large)],
            })
            .await;
        for (target, is_stored) in [
            ("/whole", true),
            ("/chunks", true),
            ("/cut-chunks", false),
            ("/cut-length", false),
            ("/large", false),
        ] {
            let told = fixture.get(target, &[]).await.told();
            assert_eq!(told.contains("stored"), is_stored, "{target}: {told}");
            fixture.settled().await;
            let again = fixture.get(target, &[]).await;
            assert_eq!(again.path == ResponsePath::Memory, is_stored, "{target}: {}", again.told());
        }
    });
}

/// Goal: responses without a lifetime are not fetched again and again, and their heuristic lifetime is disclosed.
#[test]
fn a_heuristic_lifetime_makes_hits_and_is_disclosed_to_clients() {
    run(async {
        let fixture =
            Fixture::new(|_| reply(200, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "a")).await;
        assert_eq!(fixture.get("/", &[]).await.told(), "plimsoll; fwd=uri-miss; stored; detail=heuristic");
        fixture.settled().await;
        let hit = fixture.get("/", &[]).await;
        assert_eq!(
            (hit.gist(), hit.told()),
            ((200, "a", ResponsePath::Memory), "plimsoll; hit; detail=heuristic".to_owned())
        );
        assert!((3590..=3600).contains(&hit.ttl()), "{}", hit.ttl());
        for _ in 0..2 {
            let queried = fixture.get("/?q", &[]).await;
            assert!(
                !queried.told().contains("heuristic") && queried.path != ResponsePath::Memory,
                "{}",
                queried.told()
            );
            fixture.settled().await;
        }
        assert_eq!(fixture.origin.n_received(), 3);
    });
}
