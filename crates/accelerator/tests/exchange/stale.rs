//! Stale responses: while they are refreshed, and when the origin fails.

use accelerator::exchange::ExchangeSettings;
use accelerator::message::ResponsePath;
use units::Nanos;

use super::fixture::{Fixture, run};
use super::origin::{Latch, Step, lasting, reply, send};

/// A response that has been stale for ten seconds on receipt.
fn stale(directives: &str) -> Vec<Step> {
    reply(200, &format!("Cache-Control: max-age=60{directives}\r\nAge: 70\r\nETag: \"old\"\r\n"), "old")
}

#[test]
fn stale_while_revalidate_refreshes_once_in_the_background() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| match received.index {
            0 => stale(", stale-while-revalidate=60"),
            _ => [vec![Step::Wait(script_gate.clone())], lasting("new")].concat(),
        })
        .await;
        fixture.get("/", &[]).await;
        let answers = fixture.get_concurrently(50, "/", &[]).await;
        assert!(
            answers.iter().all(|answer| answer.gist() == (200, "old", ResponsePath::Stale)),
            "{answers:?}"
        );
        assert!(answers.iter().all(|answer| answer.reason == "while-revalidating"));
        assert_eq!(answers[0].told(), "plimsoll; hit");
        assert!((-15..=-10).contains(&answers[0].ttl()), "{}", answers[0].ttl());
        fixture.origin.wait_for_requests(2).await;
        assert_eq!(fixture.origin.received()[1].value("if-none-match"), Some("\"old\""));
        latch.open();
        fixture.settled().await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Memory));
        assert_eq!(fixture.origin.n_received(), 2);
    });
}

#[test]
fn a_background_refresh_is_a_plain_get() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => stale(", stale-while-revalidate=60"),
            _ => lasting("new"),
        })
        .await;
        fixture.get("/", &[]).await;
        let wishes = [("Range", "bytes=0-0"), ("If-None-Match", "\"x\""), ("Cache-Control", "no-store")];
        let head = fixture.ask("HEAD", "/", &wishes).await;
        assert_eq!(head.gist(), (200, "", ResponsePath::Stale));
        fixture.origin.wait_for_requests(2).await;
        let refresh = &fixture.origin.received()[1];
        assert_eq!((refresh.method(), refresh.value("range")), ("GET", None));
        assert_eq!(refresh.value("cache-control"), None);
        fixture.settled().await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Memory));
    });
}

#[test]
fn stale_is_served_when_the_origin_is_unreachable() {
    run(async {
        let fixture = Fixture::new(|_| stale("")).await;
        fixture.get("/", &[]).await;
        fixture.origin.die().await;
        for answer in fixture.get_concurrently(3, "/", &[]).await {
            assert_eq!((answer.gist(), answer.reason), ((200, "old", ResponsePath::Stale), "disconnected"));
            assert_eq!(answer.told(), "plimsoll; fwd=stale");
        }
    });
}

#[test]
fn stale_is_not_served_where_the_origin_forbids_it() {
    run(async {
        let fixture = Fixture::new(|_| stale(", must-revalidate")).await;
        fixture.get("/", &[]).await;
        fixture.origin.die().await;
        let answer = fixture.get("/", &[]).await;
        assert_eq!(
            (answer.status, answer.path, answer.reason),
            (502, ResponsePath::Error, "origin-unreachable")
        );
    });
}

#[test]
fn stale_if_error_replaces_server_errors() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => stale(", stale-if-error=60"),
            1 => reply(503, "", "error"),
            _ => reply(404, "Cache-Control: no-store\r\n", "gone"),
        })
        .await;
        fixture.get("/", &[]).await;
        let answer = fixture.get("/", &[]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "old", ResponsePath::Stale), "if-error"));
        assert_eq!(answer.told(), "plimsoll; fwd=stale; fwd-status=503");
        // A response that is not an error replaces the stored one, whether or not it is stored itself.
        assert_eq!(fixture.get("/", &[]).await.gist(), (404, "gone", ResponsePath::Pass));
        assert!(fixture.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn server_errors_without_stale_response_are_forwarded() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => stale(""),
            _ => reply(500, "", "error"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (500, "error", ResponsePath::Pass));
        assert_eq!(fixture.exchange.shared().store.objects().len(), 1, "the origin may recover");
    });
}

#[test]
fn unusable_responses_are_not_served_stale() {
    run(async {
        let policy = cache_policy::Settings {
            stale: cache_policy::StaleSettings { disconnected: Nanos::ZERO, ..Default::default() },
            ..cache_policy::Settings::default()
        };
        let settings = ExchangeSettings { policy, ..ExchangeSettings::default() };
        let fixture = Fixture::with(settings, |_| stale("")).await;
        fixture.get("/", &[]).await;
        fixture.origin.die().await;
        assert_eq!(fixture.get("/", &[]).await.status, 502);
    });
}

#[test]
fn head_requests_get_stale_like_get() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => stale(", stale-if-error=60"),
            _ => vec![send("HTTP/1.1 503 x\r\nContent-Length: 5\r\n\r\n")],
        })
        .await;
        fixture.get("/", &[]).await;
        let head = fixture.ask("HEAD", "/", &[]).await;
        assert_eq!((head.gist(), head.reason), ((200, "", ResponsePath::Stale), "if-error"));
    });
}

#[test]
fn replaced_responses_are_removed_with_and_without_hit_for_miss() {
    run(async {
        let policy =
            cache_policy::Settings { hit_for_miss: Nanos::ZERO, ..cache_policy::Settings::default() };
        let settings = ExchangeSettings { policy, ..ExchangeSettings::default() };
        let fixture = Fixture::with(settings, |received| match received.index {
            0 => stale(""),
            _ => reply(200, "Cache-Control: no-store\r\n", "new"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Pass));
        assert!(fixture.exchange.shared().store.objects().is_empty());
    });
}

/// Regression: with `stale-if-error=0` a stale response was used all the same while the origin could not be reached.
#[test]
fn stale_if_error_limits_stale_while_unreachable() {
    run(async {
        for (said, expected) in [
            (", stale-if-error=0", (502, ResponsePath::Error)),
            (", stale-if-error=5", (502, ResponsePath::Error)),
            (", stale-if-error=60", (200, ResponsePath::Stale)),
            ("", (200, ResponsePath::Stale)),
        ] {
            let fixture = Fixture::new(move |_| stale(said)).await;
            fixture.get("/", &[]).await;
            fixture.settled().await;
            fixture.origin.die().await;
            let answer = fixture.get("/", &[]).await;
            assert_eq!((answer.status, answer.path), expected, "{said}");
        }
    });
}
